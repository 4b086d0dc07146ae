//! What arrives from a platform.

use std::fmt;

use chrono::{DateTime, Utc};

use crate::{Command, Reply};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id! {
    /// One thread of talk, and so one session in the graph: `terminal/<name>`,
    /// `slack/T…/C…/<thread ts>`.
    ConversationId
}
id! {
    /// Those who can read a conversation: a channel, a room, a direct message.
    AudienceId
}
id! {
    /// One event of a platform. The same id twice is the same event, delivered again.
    EventId
}

/// Who can read a conversation. Recall never leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience {
    pub id: AudienceId,
    pub platform: String,
    /// The team, guild or server it belongs to; empty where the platform has none.
    pub workspace: String,
    /// As people call it.
    pub name: String,
}

/// Who wrote a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Stable for the person on this platform.
    pub id: String,
    /// As people see it.
    pub name: String,
    /// May forget what others said here.
    pub is_admin: bool,
}

/// What somebody wants of the bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Text(String),
    Command(Command),
}

/// A message somebody addressed to the bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingMessage {
    pub event: EventId,
    pub conversation: ConversationId,
    pub audience: Audience,
    pub author: Author,
    pub body: Body,
    pub sent_at: DateTime<Utc>,
}

/// What a platform tells the bot.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are messages, so a box would only add an allocation"
)]
pub enum Incoming {
    /// A message, and the way its answer goes back.
    Message {
        message: IncomingMessage,
        reply: Box<dyn Reply>,
    },
    /// Somebody wants the turn under way in this conversation stopped.
    Stop(ConversationId),
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message { message, .. } => f.debug_tuple("Message").field(message).finish(),
            Self::Stop(conversation) => f.debug_tuple("Stop").field(conversation).finish(),
        }
    }
}
