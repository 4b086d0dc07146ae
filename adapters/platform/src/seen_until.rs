//! Until when a platform's events were seen: what was said after it, while nobody listened, is read
//! when somebody listens again.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

/// How an adapter finds what it missed.
#[derive(Clone, Debug)]
pub struct Missed {
    /// Where it keeps until when it listened; none: only what was missed within one process is found.
    pub file: Option<PathBuf>,
    /// What is older is not answered any more.
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
    /// What was said before is not answered.
    pub fn oldest(&self) -> DateTime<Utc> {
        let age = TimeDelta::from_std(self.age).ok();
        age.and_then(|age| Utc::now().checked_sub_signed(age))
            .unwrap_or(DateTime::UNIX_EPOCH)
    }
}

/// How often it is written at most. What is read twice after a crash is known by its id.
const KEEP_EVERY: TimeDelta = TimeDelta::seconds(5);

/// How far this machine's clock may be ahead of the platform's where that is not [known](SeenUntil::heard). What is read
/// twice is known by its id.
const CLOCKS: TimeDelta = TimeDelta::seconds(5);

/// Until when everything was seen. Kept in a file.
#[derive(Debug)]
pub struct SeenUntil {
    file: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    until: Option<DateTime<Utc>>,
    kept: Option<DateTime<Utc>>,
    /// What was missed is being read: as long as not all of it is in good hands, it stands still.
    is_held: bool,
    /// How far this machine's clock is ahead of the platform's, or as long as the newest message was on its way.
    ahead: TimeDelta,
}

impl SeenUntil {
    /// A damaged file counts as none, as at the very first start: nothing was missed.
    pub fn open(missed: &Missed) -> Self {
        let read = missed.file.as_deref().map(read);
        let until = match read {
            Some(Ok(until)) => until,
            Some(Err(error)) => {
                tracing::warn!(%error, "until when was listened cannot be read; what was said meanwhile is not read");
                None
            }
            None => None,
        };
        Self {
            file: missed.file.clone(),
            state: Mutex::new(State {
                until,
                kept: until,
                ..State::default()
            }),
        }
    }

    /// None at the very first start. Never in the future: a clock may have been set back.
    pub fn get(&self) -> Option<DateTime<Utc>> {
        let until = self.state.lock().until;
        until.map(|until| until.min(Utc::now()))
    }

    /// A message came that was sent at this time by the platform's clock, which all that was missed is read by.
    pub fn heard(&self, sent_at: DateTime<Utc>) {
        self.state.lock().ahead = (Utc::now() - sent_at).max(TimeDelta::zero());
    }

    /// Everything until then, by this machine's clock, was seen.
    pub fn note(&self, until: DateTime<Utc>) {
        let mut state = self.state.lock();
        if state.is_held {
            return;
        }
        let until = until - state.ahead;
        state.until = Some(until);
        let is_old = |kept: DateTime<Utc>| (until - kept).abs() >= KEEP_EVERY;
        if state.kept.is_none_or(is_old) {
            self.write(&mut state);
        }
    }

    /// From now on what was missed is read. Gives since when; none at the very first start, when nothing was missed.
    pub fn hold(&self) -> Option<DateTime<Utc>> {
        let until = self.get()?;
        self.state.lock().is_held = true;
        Some(until - CLOCKS)
    }

    /// What was missed is in good hands, up to then by this machine's clock.
    pub fn release(&self, until: DateTime<Utc>) {
        let mut state = self.state.lock();
        state.is_held = false;
        state.until = Some(until - state.ahead);
        self.write(&mut state);
    }

    /// Writes it down before the end.
    pub fn keep(&self) {
        self.write(&mut self.state.lock());
    }

    fn write(&self, state: &mut State) {
        let (Some(file), Some(until)) = (&self.file, state.until) else {
            return;
        };
        match write(file, until) {
            Ok(()) => state.kept = Some(until),
            // At worst something is read twice.
            Err(error) => {
                tracing::error!(%error, path = %file.display(), "until when was listened could not be kept");
            }
        }
    }
}

fn read(file: &Path) -> io::Result<Option<DateTime<Utc>>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let until = DateTime::parse_from_rfc3339(text.trim()).map_err(io::Error::other)?;
    Ok(Some(until.to_utc()))
}

fn write(file: &Path, until: DateTime<Utc>) -> io::Result<()> {
    let new = file.with_extension("new");
    std::fs::write(&new, format!("{}\n", until.to_rfc3339()))?;
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
        // By the platform's clock it is ten minutes earlier than here.
        let now = Utc::now();
        seen.heard(now - TimeDelta::minutes(10));
        seen.note(now);
        let until = seen.get().unwrap();
        assert!(until <= now - TimeDelta::minutes(10), "{until}");
        // Behind it, what is seen is only read once more.
        seen.heard(now + TimeDelta::minutes(10));
        seen.note(now);
        assert_eq!(seen.get(), Some(now));
    }

    #[test]
    fn it_is_found_again_and_stands_still_while_what_was_missed_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let missed = Missed {
            file: Some(folder.path().join("seen")),
            ..Missed::default()
        };
        let seen = SeenUntil::open(&missed);
        assert_eq!((seen.get(), seen.hold()), (None, None));
        seen.note(at(0));
        seen.note(at(1));
        assert_eq!(SeenUntil::open(&missed).get(), Some(at(0)));
        seen.keep();
        assert_eq!(SeenUntil::open(&missed).get(), Some(at(1)));
        assert_eq!(seen.hold(), Some(at(1) - CLOCKS));
        seen.note(at(60));
        seen.keep();
        assert_eq!(SeenUntil::open(&missed).get(), Some(at(1)));
        seen.release(at(3));
        assert_eq!(SeenUntil::open(&missed).get(), Some(at(3)));
        std::fs::write(folder.path().join("seen"), "yesterday").unwrap();
        assert_eq!(SeenUntil::open(&missed).get(), None);
    }

    #[test]
    fn a_clock_that_was_set_back_finds_it_in_no_future() {
        let seen = SeenUntil::open(&Missed::default());
        let tomorrow = Utc::now() + TimeDelta::days(1);
        seen.note(tomorrow);
        assert!(seen.get().unwrap() < tomorrow);
        seen.note(at(0));
        assert_eq!(seen.get(), Some(at(0)));
    }
}
