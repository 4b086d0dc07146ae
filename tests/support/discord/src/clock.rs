//! The server's clock, which a test may advance.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::time::Instant;

/// Follows the runtime's clock, so that paused time is paused here too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: Instant,
    started_at: DateTime<Utc>,
    ahead: Duration,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            started: Instant::now(),
            started_at: Utc::now(),
            ahead: Duration::ZERO,
        }
    }

    /// Since the server started.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed() + self.ahead
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.started_at + self.elapsed()
    }

    pub(crate) fn put_forward(&mut self, by: Duration) {
        self.ahead += by;
    }
}
