//! Notices that the clock of this machine was set, so that what depends on age can wait until it is surely right.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

/// How far the wall clock may move beyond the time that passed. A machine that slept and a wrong clock both move it further.
pub(super) const MAX_JUMP: TimeDelta = TimeDelta::hours(1);
/// How long after a jump the clock is not believed: a wrong one is corrected within minutes, and what it deletes is lost.
const WAIT_AFTER_JUMP: Duration = Duration::from_hours(4);

/// Compares the wall clock with the time that passed.
#[derive(Debug)]
pub(super) struct ClockWatch {
    /// The wall clock and the steady one, which stands still while the machine sleeps, when it was last asked.
    looked_at: (DateTime<Utc>, Instant),
    /// The wall clock is not believed before.
    earliest: Instant,
}

impl ClockWatch {
    /// Believes the first times.
    pub(super) fn new(now: DateTime<Utc>, at: Instant) -> Self {
        Self {
            looked_at: (now, at),
            earliest: at,
        }
    }

    /// Whether the wall clock can be believed. To be asked from time to time.
    pub(super) fn is_believed(&mut self, now: DateTime<Utc>, at: Instant) -> bool {
        let (before, looked_at) = std::mem::replace(&mut self.looked_at, (now, at));
        let passed = TimeDelta::from_std(at - looked_at).unwrap_or_default();
        if now - before > passed + MAX_JUMP {
            tracing::warn!(%before, %now, "the clock moved ahead; nothing is deleted or ended for its age until it has stayed there for a while");
            self.earliest = at + WAIT_AFTER_JUMP;
        }
        at >= self.earliest
    }
}
