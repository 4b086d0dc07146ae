//! What people took back of their hearing rules: whoever reads an old message later must know what applied when it was
//! said.

use chrono::{DateTime, SecondsFormat, Utc};

/// Maximum number of entries of an audience.
const MAX_ENTRIES: usize = 1_000;

/// What a change of the rules was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastKind {
    /// A place went off the record.
    Off,
    /// A place was put on the record again.
    On,
    /// An author who had opted out is remembered from then on.
    OptedIn,
    /// Earlier entries were dropped, so everything before counts as off the record.
    Covered,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PastChange {
    at: DateTime<Utc>,
    kind: PastKind,
    item: String,
}

/// The changes of an audience, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastHearing(Vec<PastChange>);

impl PastKind {
    fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::OptedIn => "opted-in",
            Self::Covered => "covered",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        let all = [Self::Off, Self::On, Self::OptedIn, Self::Covered];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

impl PastHearing {
    pub(super) fn parse<'a>(entries: impl Iterator<Item = &'a str>) -> Self {
        let parsed = |entry: &'a str| {
            let mut parts = entry.splitn(3, ' ');
            let at = DateTime::parse_from_rfc3339(parts.next()?).ok()?;
            Some(PastChange {
                at: at.to_utc(),
                kind: PastKind::parse(parts.next()?)?,
                item: parts.next()?.to_owned(),
            })
        };
        Self(entries.filter_map(parsed).collect())
    }

    pub(super) fn add(&mut self, at: DateTime<Utc>, kind: PastKind, item: &str) {
        self.push(at, kind, item);
        if let Some(since) = self.too_long_until() {
            self.0.retain(|it| it.at >= since);
            self.push(since, PastKind::Covered, "");
        }
    }

    fn push(&mut self, at: DateTime<Utc>, kind: PastKind, item: &str) {
        let item = item.to_owned();
        self.0.push(PastChange { at, kind, item });
    }

    /// The time before which entries must be dropped, if there are too many.
    pub(super) fn too_long_until(&self) -> Option<DateTime<Utc>> {
        if self.0.len() <= MAX_ENTRIES {
            return None;
        }
        let newer = self.0.len() - MAX_ENTRIES / 2;
        self.0.get(newer).map(|it| it.at)
    }

    /// Whether an author was not to be remembered at that time. Whoever opts out also has everything forgotten that they
    /// said before, so only what they said after they opted in counts.
    pub fn had_opted_out(&self, author: &str, at: DateTime<Utc>) -> bool {
        let mut all = self.0.iter();
        all.any(|it| it.kind == PastKind::OptedIn && it.item == author && at < it.at)
    }

    /// Whether a place was off the record at that time, and is no longer.
    pub fn was_off_record(&self, place: &str, at: DateTime<Utc>) -> bool {
        let mut off_since: Option<DateTime<Utc>> = None;
        for change in &self.0 {
            let is_of_place = change.item == place;
            match change.kind {
                PastKind::Off if is_of_place => off_since = off_since.or(Some(change.at)),
                PastKind::On if is_of_place => {
                    // Of a place that went off the record before entries were kept, the beginning is unknown.
                    let is_after_begin = off_since.take().is_none_or(|since| since <= at);
                    if is_after_begin && at < change.at {
                        return true;
                    }
                }
                PastKind::Covered if at < change.at => return true,
                PastKind::Off | PastKind::On | PastKind::OptedIn | PastKind::Covered => {}
            }
        }
        false
    }
}

/// The time as the beginning of an entry: of one length, so that entries compare as text.
pub(super) fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// A change as it is kept.
pub(super) fn entry(at: DateTime<Utc>, kind: PastKind, item: &str) -> String {
    format!("{} {} {item}", time(at), kind.name())
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn at(hour: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::hours(hour)
    }

    #[test]
    fn a_place_was_off_the_record_from_off_until_on() {
        let mut past = PastHearing::default();
        for (hour, kind, place) in [
            (1, PastKind::On, "older"),
            (2, PastKind::Off, "a b"),
            (4, PastKind::On, "a b"),
            (6, PastKind::Off, "a b"),
            (8, PastKind::On, "a b"),
            (9, PastKind::Off, "a b"),
        ] {
            past.add(at(hour), kind, place);
        }
        let entries = past.0.iter().map(|it| entry(it.at, it.kind, &it.item));
        let entries: Vec<String> = entries.collect();
        let read = PastHearing::parse(entries.iter().map(String::as_str));
        assert_eq!(read, past);
        let off = (0..10).filter(|hour| past.was_off_record("a b", at(*hour)));
        assert_eq!(off.collect::<Vec<i64>>(), [2, 3, 6, 7]);
        assert!(past.was_off_record("older", at(0)) && !past.was_off_record("older", at(1)));
        assert!(!past.was_off_record("b", at(3)));
    }

    #[test]
    fn of_an_author_nothing_from_before_they_opted_in_counts() {
        let mut past = PastHearing::default();
        past.add(at(3), PastKind::OptedIn, "ada");
        assert!(past.had_opted_out("ada", at(2)) && !past.had_opted_out("ada", at(3)));
        assert!(!past.had_opted_out("bob", at(2)) && !past.was_off_record("ada", at(2)));
    }

    #[test]
    fn what_is_dropped_of_too_many_stays_covered() {
        let mut past = PastHearing::default();
        for pair in 0..2_000 {
            past.add(at(2 * pair), PastKind::Off, "place");
            past.add(at(2 * pair + 1), PastKind::On, "place");
            assert!(past.0.len() <= MAX_ENTRIES);
        }
        assert!((0..2_000).all(|pair| past.was_off_record("place", at(2 * pair))));
        assert!(past.was_off_record("place", at(1)) && past.was_off_record("other", at(1)));
        assert!(!past.was_off_record("place", at(3_999)));
    }
}
