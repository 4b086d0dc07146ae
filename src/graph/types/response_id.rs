//! The id of a turn.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A response's ID: time-ordered (UUID version 7), and made by the process that answered, so that a save with an
/// unknown outcome can be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResponseId(pub Uuid);

impl ResponseId {
    pub fn fresh() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for ResponseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
