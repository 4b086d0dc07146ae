//! What a fuzzer calls: whatever Discord or anybody says is read without a panic.

use serde::Deserialize as _;
use serde_json::Value;
use serenity::model::event::GatewayEvent;

use crate::{event, text};

/// Reads what the gateway sends.
pub fn decode(payload: Value) {
    if let Ok(GatewayEvent::Dispatch(_, event)) = GatewayEvent::deserialize(payload) {
        // Errors are shown, so all of it can be.
        drop(format!("{:?}", event::read(event)));
    }
}

/// Markdown as Discord is sent it.
pub fn shown(markdown: &str) -> String {
    text::convert(markdown)
}
