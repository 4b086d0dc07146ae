//! Deletes once a day what is older than the retention settings allow.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{AudienceId, Channels};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::conversation::audit::{Audit, AuditAction, MUNINN};
use crate::conversation::clock::{ClockWatch, MAX_JUMP};
use crate::memory::{Archive, MessageError};

/// How often to check whether a day has passed: a machine may sleep, and settings may change.
const POLL_INTERVAL: Duration = Duration::from_secs(60);
const DAY: TimeDelta = TimeDelta::days(1);
/// How long after a failure the next pass begins, as each one reads every channel.
const WAIT_AFTER_FAILURE: Duration = Duration::from_hours(1);

/// Deletes what is old enough.
#[derive(Debug)]
pub struct Retention {
    archive: Arc<Archive>,
    channels: Arc<Channels>,
    audit: Audit,
    /// How long the audit log itself is kept, in days.
    audit_days: u32,
}

impl Retention {
    pub fn new(
        archive: Arc<Archive>,
        channels: Arc<Channels>,
        audit: Audit,
        audit_days: u32,
    ) -> Self {
        archive.store().hold_by(Arc::clone(&channels));
        Self {
            archive,
            channels,
            audit,
            audit_days,
        }
    }

    /// Deletes what is old enough, first at once and then every day, until `done`.
    pub async fn run(&self, done: CancellationToken) {
        let mut schedule = Schedule::new(Utc::now(), Instant::now());
        loop {
            let now = Utc::now();
            if schedule.is_due(now, Instant::now()) && !self.archive.is_away() {
                match self.apply_unless_ahead(now).await {
                    Ok(true) => schedule.applied_at = Some(now),
                    Ok(false) => schedule.wait(Instant::now(), WAIT_AFTER_FAILURE),
                    Err(error) => {
                        schedule.wait(Instant::now(), WAIT_AFTER_FAILURE);
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(error, "what is old enough is deleted later");
                    }
                }
            }
            tokio::select! {
                () = done.cancelled() => return,
                () = sleep(POLL_INTERVAL) => {}
            }
        }
    }

    /// Deletes what is old enough, unless the clock of this machine is ahead of that of the graph's server. Returns whether it
    /// did: one of them may be wrong since before the start.
    async fn apply_unless_ahead(&self, now: DateTime<Utc>) -> Result<bool, MessageError> {
        let server = self.archive.store().server_time().await?;
        if let Some(server) = server.filter(|server| now - *server > MAX_JUMP) {
            tracing::warn!(%now, %server, "the clock is ahead of that of the graph's server; what is old enough is deleted when both agree");
            return Ok(false);
        }
        self.apply(now).await.map(|_deleted| true)
    }

    /// Deletes what is old enough at a moment, and returns the number of deleted turns. A channel that fails holds no other
    /// one back.
    ///
    /// # Errors
    /// Fails with the first error when the graph or a file cannot be used. Other deletions remain in effect.
    pub async fn apply(&self, now: DateTime<Utc>) -> Result<usize, MessageError> {
        if let Err(error) = self.audit.sweep(now, self.audit_days) {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "old files of the audit could not be removed");
        }
        let store = self.archive.store();
        let (mut deleted, mut failed) = (0, None);
        for audience in store.audiences().await? {
            let Some(before) = self.kept_since(&audience, now) else {
                continue;
            };
            match self.forget_old(&audience, before).await {
                Ok(turns) => deleted += turns,
                Err(error) => {
                    warn_of(&audience, &error);
                    failed = failed.or(Some(error));
                    // Without the graph, each of the others would only take its time to fail.
                    store.probe().await?;
                }
            }
        }
        failed.map_or(Ok(deleted), Err)
    }

    /// Deletes what was said in an audience before a moment, and returns the number of deleted turns.
    async fn forget_old(
        &self,
        audience: &AudienceId,
        before: DateTime<Utc>,
    ) -> Result<usize, MessageError> {
        let turns = self.archive.forget_old(audience, before).await?;
        if turns > 0 {
            tracing::info!(%audience, turns, %before, "deleted what was kept long enough");
            let action = AuditAction::RetentionApplied;
            let noted = self
                .audit
                .record_action(MUNINN, action, audience.as_str(), Some(turns));
            noted.await;
        }
        Ok(turns)
    }

    /// The time since which messages of an audience are kept; `None` if all of them are, also because of a
    /// legal hold.
    fn kept_since(&self, audience: &AudienceId, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        if self.archive.store().is_held(audience) {
            return None;
        }
        let days = self.channels.retain_days(audience)?;
        now.checked_sub_signed(TimeDelta::days(i64::from(days.get())))
    }
}

fn warn_of(audience: &AudienceId, error: &MessageError) {
    let error = error as &dyn std::error::Error;
    tracing::warn!(error, %audience, "what is old enough there is deleted later");
}

/// When what is old enough is deleted.
#[derive(Debug)]
struct Schedule {
    clock: ClockWatch,
    applied_at: Option<DateTime<Utc>>,
    /// Nothing is deleted before.
    earliest: Instant,
}

impl Schedule {
    /// The first pass is due at once.
    fn new(now: DateTime<Utc>, at: Instant) -> Self {
        Self {
            clock: ClockWatch::new(now, at),
            applied_at: None,
            earliest: at,
        }
    }

    /// Whether a pass is due, and the wall clock can be believed.
    fn is_due(&mut self, now: DateTime<Utc>, at: Instant) -> bool {
        let is_believed = self.clock.is_believed(now, at);
        let is_over = |applied: DateTime<Utc>| now - applied >= DAY || now < applied;
        is_believed && at >= self.earliest && self.applied_at.is_none_or(is_over)
    }

    fn wait(&mut self, at: Instant, pause: Duration) {
        self.earliest = self.earliest.max(at + pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::session::Sessions;
    use crate::graph::testing::write;
    use crate::graph::{GraphConfig, open};
    use crate::memory::TurnSaveOutcome;
    use crate::memory::journal::Journal;
    use crate::testing::new_turn;

    #[test]
    fn a_clock_that_jumps_ahead_deletes_nothing_until_it_stayed_there() {
        let (now, at) = (Utc::now(), Instant::now());
        let mut schedule = Schedule::new(now, at);
        assert!(schedule.is_due(now, at));
        schedule.applied_at = Some(now);
        let minute = |n: u32| at + POLL_INTERVAL * n;
        // It is a year ahead for two minutes.
        for n in [1, 2] {
            assert!(!schedule.is_due(now + TimeDelta::days(365), minute(n)));
        }
        let passed = now + TimeDelta::minutes(3);
        assert!(!schedule.is_due(passed, minute(3)));
        assert!(!schedule.is_due(now + DAY - TimeDelta::seconds(1), minute(24 * 60 - 1)));
        assert!(schedule.is_due(now + DAY, minute(24 * 60)));
        schedule.applied_at = Some(now + DAY);
        // The machine slept for two days.
        let awake = |n: i64| now + TimeDelta::days(3) + TimeDelta::minutes(n);
        let first = 24 * 60 + 1;
        assert!(!schedule.is_due(awake(0), minute(first)));
        assert!(!schedule.is_due(awake(239), minute(first + 239)));
        assert!(schedule.is_due(awake(240), minute(first + 240)));
        // The clock is set back.
        assert!(schedule.is_due(now - DAY, minute(first + 241)));
    }

    #[test]
    fn a_failure_is_followed_by_a_pause() {
        let (now, at) = (Utc::now(), Instant::now());
        let mut schedule = Schedule::new(now, at);
        schedule.wait(at, WAIT_AFTER_FAILURE);
        let minute = |n: i64| now + TimeDelta::minutes(n);
        assert!(!schedule.is_due(minute(59), at + POLL_INTERVAL * 59));
        assert!(schedule.is_due(minute(60), at + POLL_INTERVAL * 60));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_channel_that_fails_holds_no_other_one_back() {
        let folder = tempfile::tempdir().unwrap();
        let place = format!("embedded:{}", folder.path().join("graph").display());
        let store = open(&GraphConfig::at(place)).await.unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let sessions = Arc::new(Sessions::default());
        let archive = Archive::new(Arc::clone(&store), journal, Arc::clone(&sessions), 8);
        let archive = Arc::new(archive);
        let turn = new_turn("terminal/a", "The quokka is fed on Tuesdays.");
        let session = muninn_platform::ConversationId::new("terminal/a");
        let kept = archive.keep(&sessions.lock(&session).await, &turn).await;
        assert!(matches!(kept, TurnSaveOutcome::Graph), "{kept:?}");
        // Its ID is none, so nothing there can be deleted.
        for statement in [
            "CREATE (:Channel {id: 'broken'})",
            "CREATE (:Response {id: 'none', audience: 'broken', position: 1, createdAt: datetime('2020-01-01T00:00:00Z')})",
        ] {
            write(&store, statement).await.unwrap();
        }

        let settings = folder.path().join("channels.toml");
        std::fs::write(&settings, "['*']\nretain_days = 30\n").unwrap();
        let channels = Arc::new(Channels::load(&settings).unwrap());
        let audit = Audit::new(folder.path());
        let retention = Retention::new(archive, channels, audit, 365);
        let failed = retention.apply(Utc::now() + TimeDelta::days(31)).await;
        assert!(failed.is_err(), "{failed:?}");
        assert!(store.turns_of("terminal/a").await.unwrap().is_empty());
    }
}
