//! Deliveries to the app, independent of the transport.

use serde_json::Value;

/// The kind of a delivery; each has its own envelope and its own URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OutgoingKind {
    /// An event that the app subscribed to: retried until it is acknowledged.
    Event,
    /// A button, a shortcut, a modal: delivered once.
    Interaction,
    /// A slash command: delivered once.
    Command,
}

/// One delivery to the app.
#[derive(Clone, Debug)]
pub(crate) struct OutgoingDelivery {
    pub(crate) kind: OutgoingKind,
    pub(crate) payload: Value,
    /// Deliveries of one lane reach a URL one after the other; lanes run in parallel.
    pub(crate) lane: String,
    /// Identifies it to whoever waits for its acknowledgement.
    pub(crate) id: usize,
}
