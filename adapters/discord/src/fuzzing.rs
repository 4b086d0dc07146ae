//! Entry points for the fuzzer: reading anything from Discord or a person must not panic.

use serde::Deserialize as _;
use serde_json::Value;
use serenity::model::event::{Event, GatewayEvent};
use serenity::model::id::UserId;

use crate::{event, missing_fields, text};

/// Reads a gateway payload.
pub fn decode(payload: Value) {
    let Ok(GatewayEvent::Dispatch(_, event)) = GatewayEvent::deserialize(payload) else {
        return;
    };
    let completed = match event {
        Event::Unknown(raw) => missing_fields::read_completed(raw),
        event => Ok(Some(event)),
    };
    // Errors are logged in full, so formatting must not panic either.
    let read = completed.map(|event| event::read(event?, UserId::new(1)));
    drop(format!("{read:?}"));
}

/// Converts Markdown to what Discord is sent.
pub fn shown(markdown: &str) -> String {
    text::convert(markdown)
}
