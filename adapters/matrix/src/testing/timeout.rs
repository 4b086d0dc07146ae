//! How long a test waits.

use std::time::Duration;

/// Longer than anything takes, also on a loaded machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);
