//! Keeps when a source was last refreshed, and the result, in a small file in `DATA_DIR/sources`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use private_files::{create_private_folder, replace_lines};
use serde::{Deserialize, Serialize};

use super::settings::{Configured, Every, Origin};
use crate::knowledge::record::hash_text;

/// The longest and the shortest pause after a failure, unless the schedule says otherwise.
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);
const SHORTEST_PAUSE: Duration = Duration::from_secs(60);
/// Shortest pause for folders: one on this machine may be back soon.
const PAUSE_OF_FOLDERS: Duration = Duration::from_secs(5);

/// The last refresh.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct LastRefresh {
    pub tried: DateTime<Utc>,
    /// The last time it was read completely, or found unchanged.
    pub succeeded: Option<DateTime<Utc>>,
    /// The error of the last refresh.
    pub error: Option<String>,
    /// Number of failures since the last success.
    #[serde(default)]
    pub failures: u32,
    /// Number of refreshes since the last one for which every document could be read.
    #[serde(default)]
    pub incomplete: u32,
    /// A note for people about the served version.
    pub note: Option<String>,
    /// Fingerprint of what was read last: while it is the same, nothing has changed.
    pub mark: Option<String>,
    /// Hash of the settings of the last try: with others it is due at once.
    pub settings: Option<String>,
    /// Hash of the settings by which the served version was made.
    pub applied: Option<String>,
    /// The origin of the served version: its sources are removed when the section has another one.
    #[serde(default)]
    pub origin: Option<String>,
}

/// The result of a refresh.
pub(super) enum RefreshResult {
    Read {
        mark: Option<String>,
        note: Option<String>,
        /// Whether every document could be read, or will not be readable soon.
        is_whole: bool,
    },
    Failed(String),
    /// What was read before was made again by changed settings. The origin was not asked.
    Applied,
}

impl LastRefresh {
    /// Reads the state; `None` if there was no refresh, or the file is unreadable.
    pub fn read(data_dir: &Path, name: &str) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path(data_dir, name)).ok()?).ok()
    }

    /// Returns the new state after a refresh with these settings.
    fn after(
        before: Option<Self>,
        came: RefreshResult,
        of: &Configured,
        now: DateTime<Utc>,
    ) -> Self {
        let settings = hash_text(&of.settings);
        let origin = Some(of.origin.to_string());
        let before = before.unwrap_or_default();
        match came {
            RefreshResult::Read {
                mark,
                note,
                is_whole,
            } => Self {
                tried: now,
                succeeded: Some(now),
                error: None,
                failures: 0,
                incomplete: match is_whole {
                    true => 0,
                    false => before.incomplete.saturating_add(1),
                },
                note,
                mark,
                settings: Some(settings.clone()),
                applied: Some(settings),
                origin,
            },
            RefreshResult::Failed(error) => Self {
                tried: now,
                error: Some(error),
                failures: before.failures.saturating_add(1),
                settings: Some(settings),
                ..before
            },
            RefreshResult::Applied => Self {
                applied: Some(settings),
                origin,
                ..before
            },
        }
    }
}

fn path(data_dir: &Path, name: &str) -> PathBuf {
    data_dir.join("sources").join(format!("{name}.json"))
}

pub(super) fn write(data_dir: &Path, of: &Configured, came: RefreshResult) -> std::io::Result<()> {
    let before = LastRefresh::read(data_dir, &of.name);
    let last = LastRefresh::after(before, came, of, Utc::now());
    create_private_folder(&data_dir.join("sources"))?;
    replace_lines(&path(data_dir, &of.name), [last])
}

/// What to do with a source now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    Now,
    /// Refresh it if its fingerprint differs.
    IfChanged,
    NotYet,
}

impl Configured {
    /// Returns what to do now, given the last refresh.
    pub fn due(&self, last: Option<&LastRefresh>, now: DateTime<Utc>) -> Due {
        // Somebody may have limited what is served. Only the first try is at once: if it fails, the others wait as
        // always.
        if last.is_some_and(|last| self.differs_from(last.settings.as_deref())) {
            return Due::Now;
        }
        if self.every == Every::Never {
            return Due::NotYet;
        }
        let Some(last) = last else {
            return Due::Now;
        };
        // A clock that was set back would delay it forever.
        let since = (now - last.tried).to_std();
        let has_passed = |time| since.is_err() || since.is_ok_and(|since| since >= time);
        // Other people's servers are spared.
        let is_own = !matches!(self.origin, Origin::Site(_));
        let is_tried_again = is_own && last.incomplete > 0;
        let is_time = match (last.failures, self.every) {
            (0, every) if is_tried_again && has_passed(pause(last.incomplete, every)) => true,
            (0, Every::Change) => return Due::IfChanged,
            (0, Every::Time(time)) => has_passed(time),
            (failures, every) => has_passed(pause(failures, every)),
        };
        if is_time { Due::Now } else { Due::NotYet }
    }

    /// Whether its settings in the file are others than these, as far as these are known.
    pub(super) fn differs_from(&self, settings: Option<&str>) -> bool {
        settings.is_some_and(|settings| settings != hash_text(&self.settings))
    }

    /// Returns why it is not as fresh as it should be; `None` if it is. `is_changed`: whether its
    /// files differ from what was read, where that was checked.
    pub fn lag(
        &self,
        last: Option<&LastRefresh>,
        is_changed: bool,
        now: DateTime<Utc>,
    ) -> Option<String> {
        let Some(last) = last else {
            return Some(format!(
                "it was never read; `muninn serve` reads it, and `muninn source refresh {}` does now",
                self.name
            ));
        };
        let has_other_settings = self.differs_from(last.applied.as_deref());
        if let Some(error) = &last.error {
            return Some(failure(last, error, has_other_settings));
        }
        let late = match (self.every, last.succeeded) {
            (Every::Time(time), Some(at)) => (now - at).to_std().is_ok_and(|age| age > 2 * time),
            (_, _) => false,
        };
        let read = last.succeeded.map_or("never".to_owned(), when);
        let name = &self.name;
        if has_other_settings {
            return Some(format!(
                "its settings have changed since it was read on {read}, and are not applied yet; `muninn serve` applies them, and `muninn source refresh {name}` does now"
            ));
        }
        if late || is_changed {
            let why = if late { "" } else { ", and has changed since" };
            return Some(format!(
                "stale: it was read last on {read}{why}; `muninn serve` reads it {}, and `muninn source refresh {name}` does now",
                self.every
            ));
        }
        None
    }
}

fn when(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// Says that it cannot be refreshed, and what is served therefore.
fn failure(last: &LastRefresh, error: &str, has_other_settings: bool) -> String {
    let served = last.succeeded.map_or("nothing".to_owned(), |at| {
        format!("what was read on {}", when(at))
    });
    let settings = match has_other_settings {
        true => " without the settings that have changed since",
        false => "",
    };
    format!(
        "it cannot be refreshed, so {served} is served{settings} (failed {}, last on {}): {error}",
        muninn_platform::count_with_noun(last.failures, "time"),
        when(last.tried),
    )
}

/// Returns the pause after failures, which grows with their number.
fn pause(failures: u32, every: Every) -> Duration {
    let (first, longest) = match every {
        Every::Time(time) => (time.min(SHORTEST_PAUSE), time.max(LONGEST_PAUSE)),
        Every::Change | Every::Never => (PAUSE_OF_FOLDERS, LONGEST_PAUSE),
    };
    let doubled = 1_u32
        .checked_shl(failures.saturating_sub(1))
        .unwrap_or(u32::MAX);
    first.saturating_mul(doubled).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::folder::Filter;
    use crate::knowledge::origins::Origin;

    fn docs(every: Every) -> Configured {
        Configured {
            name: "docs".to_owned(),
            origin: Origin::Folder("docs".into()),
            every,
            mapping: None,
            channels: Vec::new(),
            filter: Filter::default(),
            nested: Vec::new(),
            settings: [0; 16],
        }
    }

    fn at(text: &str) -> DateTime<Utc> {
        format!("2026-01-02T{text}Z").parse().unwrap()
    }

    const HOUR: Every = Every::Time(Duration::from_secs(3_600));

    #[test]
    fn it_is_due_after_its_time_and_after_a_growing_pause() {
        let last = |failures| LastRefresh {
            tried: at("03:00:00"),
            failures,
            ..LastRefresh::default()
        };
        for (every, failures, now, expected) in [
            (HOUR, 0, "03:59:00", Due::NotYet),
            (HOUR, 0, "04:00:00", Due::Now),
            // The clock was set back.
            (HOUR, 0, "02:00:00", Due::Now),
            (HOUR, 1, "03:00:59", Due::NotYet),
            (HOUR, 1, "03:01:00", Due::Now),
            (HOUR, 3, "03:03:59", Due::NotYet),
            (HOUR, 3, "03:04:00", Due::Now),
            (HOUR, u32::MAX, "03:59:59", Due::NotYet),
            (HOUR, u32::MAX, "04:00:00", Due::Now),
            (Every::Change, 0, "03:00:00", Due::IfChanged),
            (Every::Change, 1, "03:00:04", Due::NotYet),
            (Every::Change, 1, "03:00:05", Due::Now),
            (Every::Never, 0, "23:00:00", Due::NotYet),
        ] {
            let due = docs(every).due(Some(&last(failures)), at(now));
            assert_eq!(due, expected, "{every:?} {failures} {now}");
        }
        // What could not be read is tried again, and changes are not waited with for that.
        let last = |incomplete| LastRefresh {
            tried: at("03:00:00"),
            incomplete,
            ..LastRefresh::default()
        };
        for (every, incomplete, now, expected) in [
            (HOUR, 1, "03:00:59", Due::NotYet),
            (HOUR, 1, "03:01:00", Due::Now),
            (HOUR, u32::MAX, "03:59:59", Due::NotYet),
            (Every::Change, 1, "03:00:04", Due::IfChanged),
            (Every::Change, 1, "03:00:05", Due::Now),
            (Every::Change, 2, "03:00:09", Due::IfChanged),
            (Every::Never, 1, "23:00:00", Due::NotYet),
        ] {
            let due = docs(every).due(Some(&last(incomplete)), at(now));
            assert_eq!(due, expected, "{every:?} {incomplete} {now}");
        }
        assert_eq!(docs(HOUR).due(None, at("03:00:00")), Due::Now);
        assert_eq!(docs(Every::Never).due(None, at("03:00:00")), Due::NotYet);
    }

    #[test]
    fn changed_settings_are_due_at_once_and_told_until_they_are_applied() {
        let (old, now) = (hash_text(&[1; 16]), hash_text(&docs(HOUR).settings));
        let last = |settings: Option<&str>, applied: Option<&str>, failures| LastRefresh {
            tried: at("03:00:00"),
            succeeded: Some(at("03:00:00")),
            error: (failures > 0).then(|| "no route".to_owned()),
            failures,
            settings: settings.map(str::to_owned),
            applied: applied.map(str::to_owned),
            ..LastRefresh::default()
        };
        let (old, now) = (Some(old.as_str()), Some(now.as_str()));
        for (every, last, due, lag) in [
            (HOUR, last(now, now, 0), Due::NotYet, ""),
            (HOUR, last(None, None, 0), Due::NotYet, ""),
            (
                HOUR,
                last(old, old, 0),
                Due::Now,
                "its settings have changed since",
            ),
            (
                Every::Never,
                last(old, old, 0),
                Due::Now,
                "its settings have changed since",
            ),
            (Every::Never, last(now, now, 0), Due::NotYet, ""),
            // Whatever failed before may have been the settings.
            (
                HOUR,
                last(old, old, 9),
                Due::Now,
                "is served without the settings that have changed",
            ),
            (
                HOUR,
                last(now, old, 1),
                Due::NotYet,
                "is served without the settings that have changed",
            ),
            (
                HOUR,
                last(now, now, 1),
                Due::NotYet,
                "is served (failed 1 time",
            ),
        ] {
            let case = format!("{every:?} {last:?}");
            assert_eq!(docs(every).due(Some(&last), at("03:00:01")), due, "{case}");
            let told = docs(every).lag(Some(&last), false, at("03:00:01"));
            let told = told.unwrap_or_default();
            assert!(
                told.contains(lag) && told.is_empty() == lag.is_empty(),
                "{case}: {told}"
            );
        }
        let tried = |came| {
            let before = Some(last(old, old, 0));
            let last = LastRefresh::after(before, came, &docs(HOUR), at("04:00:00"));
            (last.settings.unwrap(), last.applied.unwrap())
        };
        let (old, new) = (old.unwrap().to_owned(), now.unwrap().to_owned());
        let failed = RefreshResult::Failed("no route".to_owned());
        assert_eq!(tried(failed), (new.clone(), old.clone()));
        assert_eq!(tried(RefreshResult::Applied), (old, new));
    }

    #[test]
    fn what_lags_is_told_and_a_failure_keeps_what_was_known() {
        let read = RefreshResult::Read {
            mark: Some("m".to_owned()),
            note: None,
            is_whole: true,
        };
        let read = LastRefresh::after(None, read, &docs(HOUR), at("03:00:00"));
        assert_eq!(read.origin.as_deref(), Some("docs"));
        let told = |every, last: &LastRefresh, is_changed, now| {
            docs(every)
                .lag(Some(last), is_changed, at(now))
                .unwrap_or_default()
        };
        assert_eq!(told(HOUR, &read, false, "05:00:00"), "");
        assert!(
            told(HOUR, &read, false, "05:00:01")
                .starts_with("stale: it was read last on 2026-01-02 03:00")
        );
        assert!(told(Every::Change, &read, true, "03:00:01").contains("has changed since"));
        assert_eq!(told(Every::Change, &read, false, "23:00:00"), "");
        assert!(
            docs(HOUR)
                .lag(None, false, at("03:00:00"))
                .unwrap()
                .contains("never read")
        );

        // What is served is still from the origin before.
        let moved = Configured {
            origin: Origin::Folder("elsewhere".into()),
            ..docs(HOUR)
        };
        let failed = LastRefresh::after(
            Some(read),
            RefreshResult::Failed("no route".to_owned()),
            &moved,
            at("04:00:00"),
        );
        let failed = LastRefresh::after(
            Some(failed),
            RefreshResult::Failed("no route".to_owned()),
            &moved,
            at("04:01:00"),
        );
        assert_eq!(failed.mark.as_deref(), Some("m"));
        assert_eq!(failed.origin.as_deref(), Some("docs"));
        assert_eq!(
            told(HOUR, &failed, false, "04:02:00"),
            "it cannot be refreshed, so what was read on 2026-01-02 03:00 UTC is served (failed 2 times, last on 2026-01-02 04:01 UTC): no route"
        );
    }
}
