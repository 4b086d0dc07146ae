//! A file attached to a message.

use serde::{Deserialize, Serialize};

/// A file attached to a message. It has not been downloaded yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// The id with which the adapter downloads it.
    pub id: String,
    /// Its file name; untrusted.
    pub name: String,
    /// The sender's claim; empty without one.
    pub media_type: String,
    /// In bytes, by the sender's claim; `None` without one.
    pub size: Option<u64>,
}
