//! How long calls of a model may take.

use std::time::Duration;

/// Time-outs for a service.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For connecting, including TLS.
    pub connect: Duration,
    /// For the next bytes: the first ones (a local model may have to be loaded), and those between two
    /// chunks.
    pub read: Duration,
    /// For the whole call, including waits, retries and streaming.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(60),
            total: Duration::from_secs(300),
        }
    }
}
