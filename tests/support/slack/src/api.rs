//! Implements the methods: one function each, over the workspace and checked arguments.

pub(crate) mod agents;
pub(crate) mod basics;
pub(crate) mod chat;
pub(crate) mod conversations;
pub(crate) mod files;
pub(crate) mod people;
pub(crate) mod streams;
pub(crate) mod views;

use serde_json::{Map, Value, json};

use crate::ids::BOT_USER;
use crate::state::State;
use crate::workspace::{ChannelKind, StoredConversation};

/// The implementation of a method.
pub(crate) type Act = fn(&mut State, &Arguments) -> Result<Value, MethodError>;

/// An `ok: false` response.
#[derive(Clone, Debug)]
pub(crate) struct MethodError {
    pub(crate) error: &'static str,
    /// Fields beside the error: `needed`, `response_metadata`…
    pub(crate) beside: Map<String, Value>,
}

impl MethodError {
    pub(crate) fn new(error: &'static str) -> Self {
        let beside = Map::new();
        Self { error, beside }
    }

    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.beside.insert(name.to_owned(), value);
        self
    }

    pub(crate) fn json(&self) -> Value {
        let mut told = self.beside.clone();
        told.insert("ok".to_owned(), json!(false));
        told.insert("error".to_owned(), json!(self.error));
        Value::Object(told)
    }
}

/// The arguments of a call, converted to their types.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments(pub(crate) Map<String, Value>);

impl Arguments {
    /// Returns an argument; null if it is missing.
    pub(crate) fn value(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_default()
    }

    /// Returns an argument; empty if it is missing.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.optional(name).unwrap_or_default()
    }

    pub(crate) fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        let number = self.0.get(name).and_then(Value::as_u64)?;
        usize::try_from(number).ok()
    }
}

/// Returns a conversation that the bot may read: `channel_not_found` hides private ones that it is
/// not in.
pub(crate) fn readable<'a>(
    state: &'a State,
    channel: &str,
) -> Result<&'a StoredConversation, MethodError> {
    let room = state.workspace.rooms.get(channel);
    let room = room.ok_or_else(|| MethodError::new("channel_not_found"))?;
    if room.has(BOT_USER) {
        return Ok(room);
    }
    match room.kind {
        ChannelKind::Public => Err(MethodError::new("not_in_channel")),
        ChannelKind::Private | ChannelKind::Direct | ChannelKind::Group => {
            Err(MethodError::new("channel_not_found"))
        }
    }
}

/// Returns a conversation that the bot may write in.
pub(crate) fn writable<'a>(
    state: &'a State,
    channel: &str,
) -> Result<&'a StoredConversation, MethodError> {
    let room = readable(state, channel)?;
    if room.is_archived {
        return Err(MethodError::new("is_archived"));
    }
    Ok(room)
}
