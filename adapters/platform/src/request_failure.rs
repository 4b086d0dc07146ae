//! Why a request to a platform failed, and what follows from that on every platform.

use std::time::Duration;

/// What to do about a request that failed. Each adapter classifies its client's errors once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFailure {
    /// Rate limited, for this long if the platform said so.
    Limited(Option<Duration>),
    /// The platform is unreachable or unwell; a retry may succeed.
    Away,
    /// The token or session is not accepted: nothing succeeds until somebody changes it.
    LoggedOut,
    /// A retry will not succeed.
    Refused,
}

impl RequestFailure {
    /// Whether the same request may succeed later. A new token may be set, so this includes
    /// [`RequestFailure::LoggedOut`].
    pub const fn is_temporary(self) -> bool {
        match self {
            Self::Limited(_) | Self::Away | Self::LoggedOut => true,
            Self::Refused => false,
        }
    }
}
