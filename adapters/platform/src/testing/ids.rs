//! The name of the test platform, and ids of its events.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::Utc;

pub(super) const NAME: &str = "test";

/// Numbers the events of all rooms, so that they are unique.
static EVENTS: AtomicUsize = AtomicUsize::new(1);

/// When this process began to number them.
static RUN: OnceLock<i64> = OnceLock::new();

/// Returns an event id that no other message has, nor one of an earlier test run on the same
/// server.
pub fn next_event() -> String {
    let run = RUN.get_or_init(|| Utc::now().timestamp_micros());
    let number = EVENTS.fetch_add(1, Ordering::Relaxed);
    format!("test/event/{run}/{}/{number}", std::process::id())
}
