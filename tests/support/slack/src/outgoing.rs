//! What is on its way to the app, before it is known by which way it goes.

use serde_json::Value;

/// What kind of thing is told; each has its own envelope and its own address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OutgoingKind {
    /// An event that the app subscribed to: retried until it is acknowledged.
    Event,
    /// A button, a shortcut, a modal: told once.
    Interaction,
    /// A slash command: told once.
    Command,
}

/// One thing to tell the app.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) kind: OutgoingKind,
    pub(crate) payload: Value,
    /// Things of one lane reach an address one after the other; lanes run beside each other.
    pub(crate) lane: String,
    /// Names it to whoever waits for its acknowledgement.
    pub(crate) id: usize,
}
