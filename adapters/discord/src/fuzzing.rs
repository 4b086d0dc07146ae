//! Entry points for the fuzzer: reading anything from Discord or a person must not panic.

use serde::Deserialize as _;
use serde_json::Value;
use serenity::model::event::GatewayEvent;

use crate::{event, text};

/// Reads a gateway payload.
pub fn decode(payload: Value) {
    if let Ok(GatewayEvent::Dispatch(_, event)) = GatewayEvent::deserialize(payload) {
        // Errors are logged in full, so formatting must not panic either.
        drop(format!("{:?}", event::read(event)));
    }
}

/// Converts Markdown to what Discord is sent.
pub fn shown(markdown: &str) -> String {
    text::convert(markdown)
}
