//! Deletes once a day what is older than the retention settings allow.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{AudienceId, Channels};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::conversation::audit::{Audit, AuditAction, MUNINN};
use crate::memory::{Archive, MessageError};

/// How often to check whether a day has passed: a machine may sleep, and settings may change.
const POLL_INTERVAL: Duration = Duration::from_secs(60);
const DAY: TimeDelta = TimeDelta::days(1);

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
        let mut applied_at: Option<DateTime<Utc>> = None;
        loop {
            let now = Utc::now();
            let is_due = applied_at.is_none_or(|at| now - at >= DAY || now < at);
            if is_due && !self.archive.is_away() {
                match self.apply(now).await {
                    Ok(_) => applied_at = Some(now),
                    Err(error) => {
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

    /// Deletes what is old enough at a moment, and returns the number of deleted turns.
    ///
    /// # Errors
    /// Fails when the graph or a file cannot be used. Earlier deletions remain in effect.
    pub async fn apply(&self, now: DateTime<Utc>) -> Result<usize, MessageError> {
        if let Err(error) = self.audit.sweep(now, self.audit_days) {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "old files of the audit could not be removed");
        }
        let store = self.archive.store();
        let mut deleted = 0;
        for audience in store.audiences().await? {
            let Some(before) = self.kept_since(&audience, now) else {
                continue;
            };
            let turns = self.archive.forget_old(&audience, before).await?;
            if turns > 0 {
                let about = audience.as_str();
                tracing::info!(%audience, turns, %before, "deleted what was kept long enough");
                let noted = self.audit.record_action(
                    MUNINN,
                    AuditAction::RetentionApplied,
                    about,
                    Some(turns),
                );
                noted.await;
            }
            deleted += turns;
        }
        Ok(deleted)
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
