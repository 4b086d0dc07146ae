//! Determines who may see a source.

use super::source::is_name_below;
use crate::graph::ingest::SourceOverview;

/// Opens a source to everybody where channels are given.
pub const EVERYBODY: &str = "everybody";

/// Returns the channels that may see the next version of a source; empty: everybody.
///
/// Where none are given, a restricted source stays as it is: nobody would notice that it was opened.
/// A new source of the same call, such as a file that was added to a restricted folder, is as
/// restricted as the sources beside it. `call` is the name of the call's sources.
pub fn channels_of(
    source: &str,
    call: &str,
    given: &[String],
    known: &[SourceOverview],
) -> Vec<String> {
    let mut channels = match given {
        [] => {
            let mut served = known.iter().filter(|of| of.version > 0);
            let beside = served
                .clone()
                .filter(|of| is_name_below(&of.name, call))
                .min_by(|one, other| one.name.cmp(&other.name));
            let before = served.find(|of| of.name == source).or(beside);
            before.map_or_else(Vec::new, |of| of.of.channels.clone())
        }
        [only] if only == EVERYBODY => Vec::new(),
        given => given.to_vec(),
    };
    channels.sort_unstable();
    channels.dedup();
    channels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restricted_source_is_opened_by_word_only() {
        let named = |(name, version, channels): (&str, i64, &[&str])| {
            let mut source = SourceOverview {
                name: name.to_owned(),
                version,
                ..SourceOverview::default()
            };
            source.of.channels = channels.iter().map(|&it| it.to_owned()).collect();
            source
        };
        let known = [
            ("hr", 2, &["C1", "C2"][..]),
            ("hr.a.csv", 1, &[]),
            ("hrs", 1, &["C9"]),
            ("list.a.csv", 1, &["C3"]),
            ("begun", 0, &["C4"]),
        ]
        .map(named);
        for (source, call, given, expected) in [
            ("hr", "hr", &["C5", "C3", "C5"][..], &["C3", "C5"][..]),
            ("hr", "hr", &[], &["C1", "C2"]),
            ("hr", "hr", &["everybody"], &[]),
            ("hr.a.csv", "hr", &[], &[]),
            ("hr.new.csv", "hr", &[], &["C1", "C2"]),
            ("list.new.csv", "list", &[], &["C3"]),
            ("begun", "begun", &[], &[]),
            ("wiki", "wiki", &[], &[]),
        ] {
            let given: Vec<String> = given.iter().map(|&it| it.to_owned()).collect();
            let channels = channels_of(source, call, &given, &known);
            assert_eq!(channels, expected, "{source} {given:?}");
        }
    }
}
