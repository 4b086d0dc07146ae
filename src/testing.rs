//! Turns for the unit tests of this crate.

mod rooms;
mod stored;

use chrono::{DateTime, Utc};
use muninn_platform::{
    Audience, AudienceId, Author, Body, ConversationId, EventId, IncomingMessage, TimeZone,
};

use crate::graph::{NewTurn, ResponseId, Trust, Turn};
use crate::memory::{Features, Recalled};

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
        asked_at: None,
    }
}

/// What Ada said, recalled, and replaced at the same moment.
pub(crate) fn recalled(at: DateTime<Utc>) -> Recalled {
    Recalled {
        id: ResponseId::fresh(),
        session: "terminal/a".into(),
        at,
        author: "ada".into(),
        input: "The gate is green.".to_owned(),
        output: String::new(),
        score: 1.0,
        probability: 0.9,
        features: Features::default(),
        superseded: Some(at),
        is_newer: false,
        is_message: true,
        is_pinned: false,
        trust: Trust::Person,
    }
}

/// Moments with a time zone in which they are on another day than in UTC, and that day.
pub(crate) fn days_of_zones() -> [(DateTime<Utc>, TimeZone, &'static str); 2] {
    let at = |moment: &str| moment.parse().unwrap();
    [
        (
            at("2026-11-25T20:30:00Z"),
            TimeZone::Pacific__Auckland,
            "2026-11-26",
        ),
        (
            at("2026-11-26T03:30:00Z"),
            TimeZone::America__Los_Angeles,
            "2026-11-25",
        ),
    ]
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
