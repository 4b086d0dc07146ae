//! Turns for the unit tests of this crate.

mod rooms;
mod stored;

use muninn_platform::{
    Audience, AudienceId, Author, Body, ConversationId, EventId, IncomingMessage,
};

use crate::graph::{NewTurn, Turn};

/// A turn of `author`, whose session is `terminal/a`.
pub(crate) fn turn(author: &str, input: &str, output: &str) -> Turn {
    Turn {
        position: 1,
        // As on platforms: what is kept of a forgotten event says nothing of the turn.
        event: uuid::Uuid::now_v7().to_string(),
        ..Turn::of("terminal/a", author, input, output)
    }
}

/// A turn of `session` to append.
pub(crate) fn new_turn(session: &str, input: &str) -> NewTurn {
    NewTurn {
        recalls_also: Vec::new(),
        audience: Audience {
            id: AudienceId::new("terminal"),
            platform: "terminal".to_owned(),
            workspace: String::new(),
            name: "terminal".to_owned(),
            private_to: None,
        },
        turn: Turn {
            session: session.to_owned(),
            ..turn("ada", input, "Noted.")
        },
        context: Vec::new(),
        recalled: Vec::new(),
        trace: Default::default(),
    }
}

/// A message of the session `terminal/a`.
pub(crate) fn message(event: &str) -> IncomingMessage {
    let author = Author {
        id: "ada".to_owned(),
        name: "ada".to_owned(),
        is_admin: false,
        time_zone: None,
        language: None,
    };
    let audience = new_turn("terminal/a", "").audience;
    let (event, conversation) = (EventId::new(event), ConversationId::new("terminal/a"));
    let body = Body::Text("hello".to_owned());
    IncomingMessage::new(event, conversation, audience, author, body)
}
