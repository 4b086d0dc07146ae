//! Determines who may see a source.

use super::source::is_name_below;
use crate::graph::ingest::SourceOverview;

/// Opens a source to everybody where channels are given.
pub const EVERYBODY: &str = "everybody";

/// Checks the channels that somebody gave for a source.
///
/// # Errors
/// Fails with the reason if `everybody` stands beside channels, as a channel of this name.
pub fn check_channels(given: &[String]) -> Result<(), String> {
    let is_everybody = |channel: &String| channel.trim() == EVERYBODY;
    if given.len() > 1 && given.iter().any(is_everybody) {
        return Err(format!(
            "{EVERYBODY} opens a source, so no channels may stand beside it"
        ));
    }
    Ok(())
}

/// Returns the channels that may see the next version of a source; empty: everybody.
///
/// Where none are given, a restricted source stays as it is: nobody would notice that it was opened.
/// A new source of the same call, such as a file that was added to a restricted folder, is as
/// restricted as the sources beside it, even if some of them were opened one by one. `call` is the
/// name of the call's sources; `is_beside` says of one with this name or one below it whether it has
/// the same origin, as `team.api` may be a section of its own beside `team`.
pub fn channels_of(
    source: &str,
    call: &str,
    given: &[String],
    known: &[SourceOverview],
    is_beside: impl Fn(&SourceOverview) -> bool,
) -> Vec<String> {
    let mut channels = match given {
        [] => {
            let mut served = known.iter().filter(|of| of.version > 0);
            let beside = served
                .clone()
                .filter(|of| is_name_below(&of.name, call) && is_beside(of))
                .min_by_key(|of| (of.of.channels.is_empty(), &of.name));
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
            ("files.a.csv", 1, &[]),
            ("files.b.csv", 1, &["C5"]),
            ("team.api", 1, &["C6"]),
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
            // One file was opened alone.
            ("files.new.csv", "files", &[], &["C5"]),
            // It comes from elsewhere.
            ("team", "team", &[], &[]),
            ("team.ports.csv", "team", &[], &[]),
            ("team.api.a.csv", "team.api", &[], &["C6"]),
            ("wiki", "wiki", &[], &[]),
        ] {
            let given: Vec<String> = given.iter().map(|&it| it.to_owned()).collect();
            let is_beside = |of: &SourceOverview| of.name != "team.api" || call == "team.api";
            let channels = channels_of(source, call, &given, &known, is_beside);
            assert_eq!(channels, expected, "{source} {given:?}");
        }
    }

    #[test]
    fn everybody_stands_alone() {
        for (given, is_right) in [
            (&["C1", "C2"][..], true),
            (&["everybody"], true),
            (&[], true),
            (&["everybody", "C2"], false),
            (&["C2", " everybody"], false),
        ] {
            let channels: Vec<String> = given.iter().map(|&it| it.to_owned()).collect();
            assert_eq!(check_channels(&channels).is_ok(), is_right, "{given:?}");
        }
    }
}
