//! Remembers until when a platform's events were seen, so that messages from an outage are read
//! when the adapter listens again.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

use crate::count_with_noun;

/// The settings for reading missed messages.
#[derive(Clone, Debug)]
pub struct Missed {
    /// The file of the time; `None`: only messages missed within one process are read.
    pub file: Option<PathBuf>,
    /// Maximum age of messages that are still answered.
    pub age: Duration,
}

impl Default for Missed {
    fn default() -> Self {
        Self {
            file: None,
            age: Duration::from_secs(24 * 3_600),
        }
    }
}

impl Missed {
    /// Returns the time before which messages are not answered.
    pub fn oldest(&self) -> DateTime<Utc> {
        let age = TimeDelta::from_std(self.age).ok();
        age.and_then(|age| Utc::now().checked_sub_signed(age))
            .unwrap_or(DateTime::UNIX_EPOCH)
    }

    /// Says how many messages are too old to be answered.
    pub fn report_too_old(messages: usize) {
        if messages > 0 {
            let number = count_with_noun(messages, "message");
            tracing::warn!("{number} older than MISSED_MESSAGES_AGE are not answered");
        }
    }
}

/// Minimum time between two writes. Messages read twice after a crash are recognised by their ids.
const KEEP_EVERY: TimeDelta = TimeDelta::seconds(5);

/// Allowance for this machine's clock being ahead of the platform's, where the difference is not
/// [known](SeenUntil::record_platform_time). Messages read twice are recognised by their ids.
const CLOCK_SKEW_ALLOWANCE: TimeDelta = TimeDelta::seconds(5);

/// The connection of a platform that has but one, or whose connections are all told the same.
pub const ONE_CONNECTION: usize = 0;

/// Until when everything was seen, by each of the connections that events come by. Kept in a file: on its first line the
/// earliest of these times; where there are several connections, one line more for each, with its name.
#[derive(Debug)]
pub struct SeenUntil {
    file: Option<PathBuf>,
    /// Empty of a single connection.
    names: Vec<String>,
    state: Mutex<SeenUntilState>,
}

#[derive(Debug, Default)]
struct SeenUntilState {
    connections: Vec<ConnectionWatermark>,
    /// How far this machine's clock is ahead of the platform's, or as long as the newest message was on its way.
    ahead: TimeDelta,
}

/// What one connection has seen.
#[derive(Clone, Debug, Default)]
struct ConnectionWatermark {
    until: Option<DateTime<Utc>>,
    kept: Option<DateTime<Utc>>,
    /// When each unfinished read of missed messages began, in their order. Until all of them are
    /// accepted, the time does not advance with new events.
    unfinished: Vec<DateTime<Utc>>,
}

impl SeenUntil {
    /// Opens the file. A damaged file counts as absent, as at the very first start: nothing was
    /// missed.
    pub fn open(missed: &Missed) -> Self {
        Self::of_several(missed, Vec::new())
    }

    /// Of connections with these names, which are numbered from 0. One that the file does not name has seen what all have.
    pub fn of_several(missed: &Missed, names: Vec<String>) -> Self {
        let read = missed.file.as_deref().map(read);
        let kept = match read {
            Some(Ok(kept)) => kept,
            Some(Err(error)) => {
                tracing::warn!(%error, "until when was listened cannot be read; what was said meanwhile is not read");
                SeenUntilFile::default()
            }
            None => SeenUntilFile::default(),
        };
        let names = if names.len() > 1 { names } else { Vec::new() };
        let seen = |name: Option<&String>| {
            let own = name.and_then(|name| kept.by_name.get(name)).copied();
            let until = own.or(kept.earliest);
            ConnectionWatermark {
                until,
                kept: until,
                unfinished: Vec::new(),
            }
        };
        let connections = if names.is_empty() {
            vec![seen(None)]
        } else {
            names.iter().map(|name| seen(Some(name))).collect()
        };
        Self {
            file: missed.file.clone(),
            names,
            state: Mutex::new(SeenUntilState {
                connections,
                ahead: TimeDelta::zero(),
            }),
        }
    }

    /// None at the very first start. Never in the future: a clock may have been set back.
    pub fn get(&self, connection: usize) -> Option<DateTime<Utc>> {
        let until = self.state.lock().of(connection).until;
        until.map(|until| until.min(Utc::now()))
    }

    /// Records that a message was sent at this time by the platform's clock, which is used to read
    /// missed messages.
    pub fn record_platform_time(&self, sent_at: DateTime<Utc>) {
        self.state.lock().ahead = (Utc::now() - sent_at).max(TimeDelta::zero());
    }

    /// Everything until then, by this machine's clock, was seen by a connection.
    pub fn record_seen(&self, connection: usize, until: DateTime<Utc>) {
        let mut state = self.state.lock();
        let until = until - state.ahead;
        let seen = state.of(connection);
        if !seen.unfinished.is_empty() {
            return;
        }
        seen.until = Some(until);
        let is_old = |kept: DateTime<Utc>| (until - kept).abs() >= KEEP_EVERY;
        if seen.kept.is_none_or(is_old) {
            self.write(&mut state);
        }
    }

    /// From now on what a connection missed is read, up to `until` by this machine's clock. Gives since when; none at the very
    /// first start, when nothing was missed. Several reads may overlap, and one that fails is never finished.
    pub fn begin_reading_missed(
        &self,
        connection: usize,
        until: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let since = self.get(connection)?;
        self.state.lock().of(connection).unfinished.push(until);
        Some(since - CLOCK_SKEW_ALLOWANCE)
    }

    /// What a connection missed was read, by the read that began with this `until`.
    pub fn finish_reading_missed(&self, connection: usize, until: DateTime<Utc>) {
        let mut state = self.state.lock();
        let ahead = state.ahead;
        let seen = state.of(connection);
        // As the time stood still, a read includes what those before it are to read. One that began later has a gap of its own.
        let Some(finished) = seen.unfinished.iter().position(|it| *it == until) else {
            return;
        };
        seen.unfinished.drain(..=finished);
        seen.until = Some(until - ahead);
        self.write(&mut state);
    }

    /// Writes the time before the adapter ends.
    pub fn save(&self) {
        self.write(&mut self.state.lock());
    }

    fn write(&self, state: &mut SeenUntilState) {
        let earliest = state.connections.iter().filter_map(|seen| seen.until).min();
        let (Some(file), Some(earliest)) = (&self.file, earliest) else {
            return;
        };
        let untils = state.connections.iter().map(|seen| seen.until);
        let by_name = self.names.iter().zip(untils);
        let kept = SeenUntilFile {
            earliest: Some(earliest),
            by_name: by_name
                .filter_map(|(name, until)| Some((name.clone(), until?)))
                .collect(),
        };
        match write(file, &kept) {
            Ok(()) => {
                for seen in &mut state.connections {
                    seen.kept = seen.until;
                }
            }
            // At worst something is read twice.
            Err(error) => {
                tracing::error!(%error, path = %file.display(), "until when was listened could not be kept");
            }
        }
    }
}

impl SeenUntilState {
    fn of(&mut self, connection: usize) -> &mut ConnectionWatermark {
        &mut self.connections[connection]
    }
}

/// What a file says.
#[derive(Debug, Default, PartialEq, Eq)]
struct SeenUntilFile {
    earliest: Option<DateTime<Utc>>,
    by_name: BTreeMap<String, DateTime<Utc>>,
}

fn read(file: &Path) -> io::Result<SeenUntilFile> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(SeenUntilFile::default());
        }
        Err(error) => return Err(error),
    };
    let time = |text: &str| {
        let time = DateTime::parse_from_rfc3339(text.trim()).map_err(io::Error::other)?;
        Ok::<_, io::Error>(time.to_utc())
    };
    let mut lines = text.trim().lines();
    let earliest = time(lines.next().unwrap_or_default())?;
    let named = lines.map(|line| {
        let (name, until) = line.split_once(' ').ok_or(io::ErrorKind::InvalidData)?;
        Ok((name.to_owned(), time(until)?))
    });
    Ok(SeenUntilFile {
        earliest: Some(earliest),
        by_name: named.collect::<io::Result<_>>()?,
    })
}

fn write(file: &Path, kept: &SeenUntilFile) -> io::Result<()> {
    let earliest = kept.earliest.iter().map(DateTime::to_rfc3339);
    let named = kept.by_name.iter();
    let named = named.map(|(name, until)| format!("{name} {}", until.to_rfc3339()));
    let text: String = earliest.chain(named).map(|line| line + "\n").collect();
    replace_file(file, &text)
}

/// Replaces a small file as a whole: after a crash it is the old or the new one.
pub fn replace_file(file: &Path, text: &str) -> io::Result<()> {
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    std::fs::write(&new, text)?;
    std::fs::rename(&new, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    #[test]
    fn a_clock_that_is_ahead_of_the_platforms_hides_nothing() {
        let seen = SeenUntil::open(&Missed::default());
        // The platform's clock is ten minutes behind.
        let now = Utc::now();
        seen.record_platform_time(now - TimeDelta::minutes(10));
        seen.record_seen(ONE_CONNECTION, now);
        let until = seen.get(ONE_CONNECTION).unwrap();
        assert!(until <= now - TimeDelta::minutes(10), "{until}");
        // If the platform's clock is ahead, messages are only read twice.
        seen.record_platform_time(now + TimeDelta::minutes(10));
        seen.record_seen(ONE_CONNECTION, now);
        assert_eq!(seen.get(ONE_CONNECTION), Some(now));
    }

    #[test]
    fn it_is_found_again_and_stands_still_while_what_was_missed_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let missed = Missed {
            file: Some(folder.path().join("seen")),
            ..Missed::default()
        };
        let seen = SeenUntil::open(&missed);
        assert_eq!(
            (
                seen.get(ONE_CONNECTION),
                seen.begin_reading_missed(ONE_CONNECTION, at(0))
            ),
            (None, None)
        );
        seen.record_seen(ONE_CONNECTION, at(0));
        seen.record_seen(ONE_CONNECTION, at(1));
        assert_eq!(SeenUntil::open(&missed).get(ONE_CONNECTION), Some(at(0)));
        seen.save();
        assert_eq!(SeenUntil::open(&missed).get(ONE_CONNECTION), Some(at(1)));
        assert_eq!(
            seen.begin_reading_missed(ONE_CONNECTION, at(3)),
            Some(at(1) - CLOCK_SKEW_ALLOWANCE)
        );
        seen.record_seen(ONE_CONNECTION, at(60));
        seen.save();
        assert_eq!(SeenUntil::open(&missed).get(ONE_CONNECTION), Some(at(1)));
        seen.finish_reading_missed(ONE_CONNECTION, at(3));
        assert_eq!(SeenUntil::open(&missed).get(ONE_CONNECTION), Some(at(3)));
        std::fs::write(folder.path().join("seen"), "yesterday").unwrap();
        assert_eq!(SeenUntil::open(&missed).get(ONE_CONNECTION), None);
    }

    #[test]
    fn a_clock_that_was_set_back_finds_it_in_no_future() {
        let seen = SeenUntil::open(&Missed::default());
        let tomorrow = Utc::now() + TimeDelta::days(1);
        seen.record_seen(ONE_CONNECTION, tomorrow);
        assert!(seen.get(ONE_CONNECTION).unwrap() < tomorrow);
        seen.record_seen(ONE_CONNECTION, at(0));
        assert_eq!(seen.get(ONE_CONNECTION), Some(at(0)));
    }

    #[test]
    fn what_one_connection_sees_hides_nothing_that_another_missed() {
        let folder = tempfile::tempdir().unwrap();
        let missed = Missed {
            file: Some(folder.path().join("seen")),
            ..Missed::default()
        };
        let names = |total: usize| (0..total).map(|one| format!("{one}/{total}")).collect();
        let single = SeenUntil::open(&missed);
        single.record_seen(ONE_CONNECTION, at(0));
        // The first is connected again and reads what it missed; the second is not yet.
        let both = SeenUntil::of_several(&missed, names(2));
        assert_eq!(
            both.begin_reading_missed(0, at(60)),
            Some(at(0) - CLOCK_SKEW_ALLOWANCE)
        );
        both.record_seen(1, at(-1));
        both.finish_reading_missed(0, at(60));
        both.record_seen(0, at(90));
        assert_eq!(
            both.begin_reading_missed(1, at(95)),
            Some(at(-1) - CLOCK_SKEW_ALLOWANCE)
        );
        both.save();
        // Each is found again by its name, and whoever is not named has seen what all have.
        let again = SeenUntil::of_several(&missed, names(2));
        assert_eq!((again.get(0), again.get(1)), (Some(at(90)), Some(at(-1))));
        let others = SeenUntil::of_several(&missed, names(3));
        let all: Vec<_> = (0..3).map(|one| others.get(one)).collect();
        assert_eq!(all, [Some(at(-1)); 3]);
        assert_eq!(SeenUntil::open(&missed).get(ONE_CONNECTION), Some(at(-1)));
    }

    #[test]
    fn at_the_very_first_start_none_has_missed_anything() {
        let names = ["0/2", "1/2"].map(str::to_owned);
        let seen = SeenUntil::of_several(&Missed::default(), names.to_vec());
        seen.record_seen(0, at(0));
        let begun = [0, 1].map(|one| seen.begin_reading_missed(one, at(1)));
        assert_eq!(begun, [Some(at(0) - CLOCK_SKEW_ALLOWANCE), None]);
    }

    #[test]
    fn a_gap_while_an_earlier_one_is_read_is_not_lost() {
        // Two gaps, the second while the first is read; what finished, and what was seen then.
        for (finished, expected) in [
            (&[][..], at(0)),
            // The second read still has the gap after the first.
            (&[at(10)][..], at(10)),
            (&[at(10), at(20)][..], at(90)),
            // The second began where the first did, so the first need not finish, and sets nothing back if it does.
            (&[at(20)][..], at(90)),
            (&[at(20), at(10)][..], at(90)),
        ] {
            let seen = SeenUntil::open(&Missed::default());
            seen.record_seen(ONE_CONNECTION, at(0));
            let since = Some(at(0) - CLOCK_SKEW_ALLOWANCE);
            for until in [at(10), at(20)] {
                assert_eq!(seen.begin_reading_missed(ONE_CONNECTION, until), since);
                seen.record_seen(ONE_CONNECTION, until);
            }
            for until in finished {
                seen.finish_reading_missed(ONE_CONNECTION, *until);
            }
            seen.record_seen(ONE_CONNECTION, at(90));
            assert_eq!(seen.get(ONE_CONNECTION), Some(expected), "{finished:?}");
        }
    }
}
