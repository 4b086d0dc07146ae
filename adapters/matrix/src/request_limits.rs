//! Limits of requests to the homeserver.

use std::time::Duration;

/// Maximum time of a request, in addition to the long poll of a sync.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Number of retries by the SDK itself.
pub(crate) const RETRIES: usize = 3;
