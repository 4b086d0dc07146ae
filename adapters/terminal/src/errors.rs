//! How a lost terminal is reported.

use std::io;

use muninn_platform::PlatformError;

use crate::name::NAME;

pub(crate) fn disconnected(source: io::Error) -> PlatformError {
    PlatformError::disconnected(NAME, source)
}
