//! What adapters deliver to the bot.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_texts::{Language, Languages};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::attachment::Attachment;
use crate::{Addressees, Announce, Command, Reply, TimeZone, Withdraw};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
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
    /// One thread of talk, and so one session in the graph: `terminal/<name>`, `slack/T…/C…/<thread
    /// ts>`. It begins with the platform's name, which finds the platform that withdraws the bot's
    /// messages there.
    ConversationId
}
impl ConversationId {
    /// The name of its platform.
    pub fn platform(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }
}

id! {
    /// The people who can read a conversation: a channel, a room, a direct message.
    AudienceId
}
impl AudienceId {
    /// Returns its channel: private questions in a channel have an audience below it, at
    /// `/private/` and the person.
    #[must_use]
    pub fn channel(&self) -> Self {
        let (channel, _) = self.0.split_once("/private/").unwrap_or((&self.0, ""));
        Self::new(channel)
    }

    /// Whether it is `place`, or below it: private questions in a channel are below the channel.
    pub fn is_within(&self, place: &Self) -> bool {
        let below = self.0.strip_prefix(&place.0);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

id! {
    /// One event of a platform. Two deliveries with the same id are the same event.
    EventId
}
id! {
    /// One message that the bot sent, by its platform's id.
    MessageId
}

impl EventId {
    /// Returns the ids of the bot's messages that this event may have posted: on each platform the
    /// id of a message's event ends with the message's own id.
    pub fn as_messages(&self) -> impl Iterator<Item = MessageId> {
        let id = self.as_str();
        let ends = id.match_indices('/').map(|(at, _)| &id[at + 1..]);
        ends.filter(|end| !end.is_empty()).map(MessageId::new)
    }
}

/// Who can read a conversation. Recall never leaves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audience {
    pub id: AudienceId,
    pub platform: String,
    /// The team, guild or server it belongs to; empty on platforms without one.
    pub workspace: String,
    /// Its display name.
    pub name: String,
    /// The only account that can read it, if there is just one: its direct messages with the bot,
    /// or what it asks privately elsewhere.
    #[serde(default)]
    pub private_to: Option<String>,
}

/// Who wrote a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// Stable per person, and unique across platforms.
    pub id: String,
    /// The display name.
    pub name: String,
    /// Whether they may forget what others said in this audience.
    pub is_admin: bool,
    /// Their time zone, where the platform says.
    #[serde(default)]
    pub time_zone: Option<TimeZone>,
    /// The language of their client, where the platform says.
    #[serde(default)]
    pub language: Option<Language>,
}

impl Author {
    /// Somebody of whom the platform says only an id.
    pub fn somebody(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: "somebody".to_owned(),
            is_admin: false,
            time_zone: None,
            language: None,
        }
    }
}

/// What somebody asks of the bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    Text(String),
    Command(Command),
    /// An earlier message was edited. The conversation is the earlier message's, as far as the
    /// adapter could find out.
    Edit {
        of: EventId,
        text: String,
    },
    /// An earlier message was deleted; the conversation as for an edit.
    Deletion {
        of: EventId,
    },
}

/// Whether a message is meant for the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Addressed {
    /// It mentions the bot, replies to it, or nobody else is there.
    Directly,
    /// It is, if the bot takes part in the conversation, which only the bot knows.
    InConversation,
    /// It is said to others, where talk between people [is remembered](crate::HeardAudiences).
    Overheard,
}

/// A message addressed to the bot, or overheard by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncomingMessage {
    pub event: EventId,
    pub conversation: ConversationId,
    pub audience: Audience,
    /// Another audience whose memory is recalled too: its author belongs to it and asks where
    /// nobody else sees the question or the answer.
    #[serde(default)]
    pub also_recalls: Option<AudienceId>,
    /// Private audiences of its author's other accounts, whose memory is recalled too. The bot
    /// fills this in when it answers; it is never stored.
    #[serde(skip)]
    pub private_elsewhere: Vec<AudienceId>,
    pub author: Author,
    /// The program that asks for its author, if it did not come from a platform: the program gets
    /// the answer, and nothing that its author said elsewhere is recalled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
    /// The author's linked accounts on other platforms. Known to the bot, not to adapters.
    #[serde(skip)]
    pub other_accounts: Vec<String>,
    pub addressed: Addressed,
    #[serde(default)]
    pub toward: Addressees,
    pub body: Body,
    pub attachments: Vec<Attachment>,
    /// The message that it replies to, where the platform says so.
    #[serde(default)]
    pub reply_to: Option<EventId>,
    /// Its URL; `None` on platforms without one.
    pub link: Option<String>,
    /// By the platform's clock, but at most [`FURTHEST_AHEAD`] of ours.
    pub sent_at: DateTime<Utc>,
    /// When the bot first received it, by its own clock, also when it is delivered again after a
    /// crash. This gives messages of several platforms one order.
    #[serde(default = "Utc::now")]
    pub received_at: DateTime<Utc>,
    /// The trace it belongs to, as a `traceparent` header of W3C Trace Context, if the sender gave
    /// one.
    #[serde(skip)]
    pub traceparent: Option<String>,
    /// The language of its workspace or machine, where the platform says.
    #[serde(default)]
    pub workspace_language: Option<Language>,
    /// The languages of its answer. Filled in by the bot.
    #[serde(default)]
    pub languages: Languages,
}

/// Maximum lead of a platform's clock; a larger one is wrong. Smaller leads are kept, so that
/// events have one order for several processes, also when the clock of one of them is behind.
pub const FURTHEST_AHEAD: TimeDelta = TimeDelta::days(1);

/// Returns the send time by the platform's clock, within [`FURTHEST_AHEAD`].
pub fn clamp_platform_time(told: DateTime<Utc>) -> DateTime<Utc> {
    told.min(Utc::now() + FURTHEST_AHEAD)
}

impl IncomingMessage {
    /// Creates a message to the bot, sent now, with all else empty.
    pub fn new(
        event: EventId,
        conversation: ConversationId,
        audience: Audience,
        author: Author,
        body: Body,
    ) -> Self {
        Self {
            event,
            conversation,
            audience,
            also_recalls: None,
            private_elsewhere: Vec::new(),
            author,
            through: None,
            other_accounts: Vec::new(),
            addressed: Addressed::Directly,
            toward: Addressees::default(),
            body,
            attachments: Vec::new(),
            reply_to: None,
            link: None,
            sent_at: Utc::now(),
            received_at: Utc::now(),
            traceparent: None,
            workspace_language: None,
            languages: Languages::default(),
        }
    }

    /// Creates the message that a place is gone from its platform, with all conversations below it.
    /// `remover`: who stands for whoever removed it, as platforms do not always tell.
    pub fn place_gone(
        event: EventId,
        place: AudienceId,
        workspace: String,
        remover: impl Into<String>,
    ) -> Self {
        let conversation = ConversationId::new(place.as_str());
        let audience = Audience {
            id: place,
            platform: conversation.platform().to_owned(),
            workspace,
            name: String::new(),
            private_to: None,
        };
        let author = Author {
            is_admin: true,
            ..Author::somebody(remover)
        };
        let body = Body::Command(Command::PlaceGone);
        Self {
            addressed: Addressed::InConversation,
            ..Self::new(event, conversation, audience, author, body)
        }
    }

    /// Returns the language of an answer in its place: its author's, if nobody else reads the
    /// answer.
    pub fn language(&self) -> Language {
        let is_private = self.audience.private_to.is_some() || self.also_recalls.is_some();
        if is_private {
            self.languages.person
        } else {
            self.languages.place
        }
    }

    /// Returns the channel it is asked in. The channel's settings and access to the team's
    /// knowledge apply to the question too.
    pub fn channel(&self) -> &AudienceId {
        self.also_recalls.as_ref().unwrap_or(&self.audience.id)
    }

    /// Returns the audiences whose memory is recalled for it, its own first.
    pub fn recalled_audiences(&self) -> Vec<&AudienceId> {
        std::iter::once(&self.audience.id)
            .chain(&self.also_recalls)
            .chain(&self.private_elsewhere)
            .collect()
    }

    /// Returns what delivers its answer: its platform, or the program that asks.
    pub fn answered_by(&self) -> &str {
        self.through.as_deref().unwrap_or(&self.audience.platform)
    }

    /// Whether its author may change and forget what others said in an audience: moderators may,
    /// and whoever is alone with the bot there.
    pub fn may_moderate(&self, audience: &AudienceId) -> bool {
        let is_alone_there = self.audience.private_to.is_some() && self.audience.id == *audience;
        self.author.is_admin || is_alone_there
    }

    /// Returns the ids of all accounts of its author, starting with the one that wrote it.
    pub fn accounts(&self) -> Vec<String> {
        let own = std::iter::once(&self.author.id);
        own.chain(&self.other_accounts).cloned().collect()
    }

    /// Returns one id for its author, the same for all of their accounts.
    pub fn person(&self) -> String {
        match self.other_accounts.iter().min() {
            Some(other) => other.min(&self.author.id).clone(),
            None => format!("{}/{}", self.audience.platform, self.author.id),
        }
    }

    /// Whether it is a direct message to the bot. Private questions in a channel are below the
    /// channel.
    pub fn is_direct(&self) -> bool {
        let channel = self.also_recalls.as_ref();
        let is_in_channel = channel.is_some_and(|channel| self.audience.id.is_within(channel));
        self.audience.private_to.is_some() && !is_in_channel
    }

    /// Marks it as readable by its author alone.
    #[must_use]
    pub fn said_alone(mut self) -> Self {
        self.audience.private_to = Some(self.author.id.clone());
        self
    }
}

/// A person's rating of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Opinion {
    Good,
    Bad,
}

/// Somebody rated an answer, or took their rating back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Feedback {
    Given {
        /// The id of the feedback itself, for taking it back.
        event: EventId,
        /// Any of the messages in which the answer was delivered.
        answer: MessageId,
        /// The person's id.
        person: String,
        opinion: Opinion,
    },
    Withdrawn {
        /// The feedback's event.
        event: EventId,
    },
}

/// A conversation in which a person asked something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSession {
    pub conversation: ConversationId,
    /// The person's first question there.
    pub title: String,
    /// How many questions the person asked there.
    pub turns: u64,
    pub last_at: DateTime<Utc>,
}

/// A message that the bot keeps or is about to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptMessage {
    pub event: EventId,
    pub conversation: ConversationId,
}

/// What a platform delivers to the bot, or asks it.
pub enum Incoming {
    /// A message, with the reply for its answer.
    Message {
        message: IncomingMessage,
        reply: Box<dyn Reply>,
    },
    /// A message between people in a heard audience, as [`Addressed::Overheard`]; it gets no
    /// answer. People's edits and deletions arrive as messages, because only the bot knows which
    /// message they concern.
    Overheard(IncomingMessage),
    /// The platform is connected: unfinished withdrawals of an earlier process and announcements
    /// are possible now.
    Connected {
        platform: &'static str,
        withdraw: Arc<dyn Withdraw>,
        announce: Arc<dyn Announce>,
    },
    /// Somebody wants to stop the turn in flight of this conversation.
    Stop(ConversationId),
    /// Nobody waits any more for the answer to a message, and nobody saw any of it.
    GivenUp(EventId),
    Feedback {
        audience: AudienceId,
        feedback: Feedback,
    },
    /// Asks which conversations the bot remembers, newest first, for a platform that checks whether
    /// they still exist.
    Conversations {
        /// The prefix of their ids.
        prefix: String,
        most: usize,
        /// Dropped when the graph does not answer.
        found: oneshot::Sender<Vec<ConversationId>>,
    },
    /// Asks which messages of people in an audience the bot keeps, or has accepted and not answered
    /// yet, for a platform that checks what became of them while it was offline.
    Kept {
        audience: AudienceId,
        since: DateTime<Utc>,
        most: usize,
        /// Receives the newest, possibly with duplicates; dropped when the graph does not answer.
        found: oneshot::Sender<Vec<KeptMessage>>,
    },
    /// Asks which conversations a person has, for a platform that offers a choice.
    Sessions {
        /// The author's id.
        person: String,
        /// The prefix of their ids.
        prefix: String,
        /// Receives at most [`Incoming::MOST_SESSIONS`], newest first; dropped when the graph does
        /// not answer.
        found: oneshot::Sender<Vec<OwnSession>>,
    },
}

impl Incoming {
    /// Discord's maximum number of choices.
    pub const MOST_SESSIONS: usize = 25;
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message { message, .. } => f.debug_tuple("Message").field(message).finish(),
            Self::Overheard(message) => f.debug_tuple("Overheard").field(message).finish(),
            Self::Connected { platform, .. } => f
                .debug_struct("Connected")
                .field("platform", platform)
                .finish_non_exhaustive(),
            Self::Stop(conversation) => f.debug_tuple("Stop").field(conversation).finish(),
            Self::GivenUp(event) => f.debug_tuple("GivenUp").field(event).finish(),
            Self::Feedback { audience, feedback } => f
                .debug_struct("Feedback")
                .field("audience", audience)
                .field("feedback", feedback)
                .finish(),
            Self::Conversations { prefix, .. } => f
                .debug_struct("Conversations")
                .field("prefix", prefix)
                .finish_non_exhaustive(),
            Self::Kept { audience, .. } => f
                .debug_struct("Kept")
                .field("audience", audience)
                .finish_non_exhaustive(),
            Self::Sessions { person, prefix, .. } => f
                .debug_struct("Sessions")
                .field("person", person)
                .field("prefix", prefix)
                .finish_non_exhaustive(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_gone_is_told_as_one_conversation_by_whoever_may_forget_all_of_it() {
        let (event, place) = (EventId::new("test/gone/a"), AudienceId::new("test/w/a"));
        let gone = IncomingMessage::place_gone(event, place.clone(), "w".to_owned(), "test/me");
        assert_eq!(gone.conversation, ConversationId::new("test/w/a"));
        assert_eq!(gone.audience.id, place);
        assert_eq!(gone.answered_by(), "test");
        assert_eq!(gone.body, Body::Command(Command::PlaceGone));
        assert_eq!(gone.addressed, Addressed::InConversation);
        assert!(gone.may_moderate(&place));
    }
}
