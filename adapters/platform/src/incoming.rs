//! What arrives from a platform.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_texts::{Language, Languages};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::{Announce, Command, Reply, TimeZone, Toward, Withdraw};

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
    /// One thread of talk, and so one session in the graph: `terminal/<name>`,
    /// `slack/T…/C…/<thread ts>`. It begins with the platform's name, by which what the bot said there is withdrawn.
    ConversationId
}
impl ConversationId {
    /// The name of its platform.
    pub fn platform(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }
}

id! {
    /// Those who can read a conversation: a channel, a room, a direct message.
    AudienceId
}
impl AudienceId {
    /// The channel it is: what somebody asks privately in a channel is below it, at `/private/` and the person.
    #[must_use]
    pub fn channel(&self) -> Self {
        let (channel, _) = self.0.split_once("/private/").unwrap_or((&self.0, ""));
        Self::new(channel)
    }

    /// Whether it is this place, or one below it: what somebody asks privately in a channel is below the channel.
    pub fn is_within(&self, place: &Self) -> bool {
        let below = self.0.strip_prefix(&place.0);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

id! {
    /// One event of a platform. The same id twice is the same event, delivered again.
    EventId
}
id! {
    /// One message the bot sent, as its platform calls it.
    MessageId
}

impl EventId {
    /// What the messages of the bot are called that this may be the event of: on each platform the id
    /// of an event of a message ends with what names the message.
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
    /// The team, guild or server it belongs to; empty where the platform has none.
    pub workspace: String,
    /// As people call it.
    pub name: String,
    /// The account that alone can read it: its direct messages with the bot, or what it asks privately elsewhere.
    #[serde(default)]
    pub private_to: Option<String>,
}

/// Who wrote a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// Stable for the person, and the same on no other platform.
    pub id: String,
    /// As people see it.
    pub name: String,
    /// May forget what others said in the place that this is said in, or beside.
    pub is_admin: bool,
    /// By which their days begin, where the platform says.
    #[serde(default)]
    pub time_zone: Option<TimeZone>,
    /// In which they read the platform, where it says.
    #[serde(default)]
    pub language: Option<Language>,
}

/// What somebody wants of the bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    Text(String),
    Command(Command),
    /// An earlier message says something else now. The conversation is the earlier message's,
    /// whatever the adapter could find out of it.
    Edit {
        of: EventId,
        text: String,
    },
    /// An earlier message was taken back; the conversation as for an edit.
    Deletion {
        of: EventId,
    },
}

/// Whether a message is meant for the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Addressed {
    /// It names the bot, answers it, or nobody else is there.
    Directly,
    /// It is, if the bot takes part in the conversation; only the bot knows.
    InConversation,
    /// It is said to others, where what people say to one another [is remembered](crate::HeardAudiences).
    Overheard,
}

/// A file that came with a message. Nothing of it was read yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// By which the adapter finds it again.
    pub id: String,
    /// As people call it; it may be anything.
    pub name: String,
    /// As the sender claims; empty where nothing was.
    pub media_type: String,
    /// In bytes, as the sender claims; none where nothing was.
    pub size: Option<u64>,
}

/// A message somebody addressed to the bot, or said where it listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncomingMessage {
    pub event: EventId,
    pub conversation: ConversationId,
    pub audience: Audience,
    /// Another audience, whose memory is recalled for it as well: its author is one of them and
    /// asks where nobody else sees the question or the answer.
    #[serde(default)]
    pub also_recalls: Option<AudienceId>,
    /// What its author said to the bot alone from other accounts, which is recalled for it as well. The bot finds out
    /// when it answers; it is never kept.
    #[serde(skip)]
    pub private_elsewhere: Vec<AudienceId>,
    pub author: Author,
    /// What its author asks it through, where that is a program that asks for them and no platform: it gets the answer, and
    /// nothing that its author said elsewhere is recalled for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
    /// The author's accounts on other platforms, as far as they linked them. The bot knows, and no adapter.
    #[serde(skip)]
    pub other_accounts: Vec<String>,
    pub addressed: Addressed,
    #[serde(default)]
    pub toward: Toward,
    pub body: Body,
    pub attachments: Vec<Attachment>,
    /// The message that it answers, where the platform says so.
    #[serde(default)]
    pub reply_to: Option<EventId>,
    /// Where people can look at it; none where the platform has no such address.
    pub link: Option<String>,
    /// By the platform's clock, or [`FURTHEST_AHEAD`] of ours where that says more.
    pub sent_at: DateTime<Utc>,
    /// When the bot got it first, by its own clock, also where it is told again after a crash: so messages of several
    /// platforms have one order.
    #[serde(default = "Utc::now")]
    pub received_at: DateTime<Utc>,
    /// The trace that it is part of, as the `traceparent` header of W3C Trace Context says it, where whoever sent it said so.
    #[serde(skip)]
    pub traceparent: Option<String>,
    /// That of its workspace or machine, where the platform says.
    #[serde(default)]
    pub workspace_language: Option<Language>,
    /// In which it is answered. The bot finds out.
    #[serde(default)]
    pub languages: Languages,
}

/// A platform's clock that is further ahead of ours is wrong. It is not held to ours: what several processes are told has one
/// order, also where the clock of one of them is behind.
pub const FURTHEST_AHEAD: TimeDelta = TimeDelta::days(1);

/// When something was sent, by its platform's clock.
pub fn by_platform_clock(told: DateTime<Utc>) -> DateTime<Utc> {
    told.min(Utc::now() + FURTHEST_AHEAD)
}

impl IncomingMessage {
    /// A message to the bot that comes with nothing else and was sent now.
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
            toward: Toward::default(),
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

    /// In which it is answered where it was said: its author's, where nobody else reads the answer.
    pub fn language(&self) -> Language {
        let is_private = self.audience.private_to.is_some() || self.also_recalls.is_some();
        if is_private {
            self.languages.person
        } else {
            self.languages.place
        }
    }

    /// The channel it is asked in: what is set for it, and what it may see of the team's knowledge,
    /// holds for the question too.
    pub fn channel(&self) -> &AudienceId {
        self.also_recalls.as_ref().unwrap_or(&self.audience.id)
    }

    /// Whose memory is recalled for it, its own audience's first.
    pub fn recalls(&self) -> Vec<&AudienceId> {
        std::iter::once(&self.audience.id)
            .chain(&self.also_recalls)
            .chain(&self.private_elsewhere)
            .collect()
    }

    /// Where its answer goes: its platform, or the program that asks.
    pub fn answered_by(&self) -> &str {
        self.through.as_deref().unwrap_or(&self.audience.platform)
    }

    /// Whether its author may change and forget what others said in an audience: who may on the platform, and who is alone
    /// with the bot there.
    pub fn may_moderate(&self, audience: &AudienceId) -> bool {
        let is_alone_there = self.audience.private_to.is_some() && self.audience.id == *audience;
        self.author.is_admin || is_alone_there
    }

    /// The ids of all accounts of its author, the one that wrote it first.
    pub fn accounts(&self) -> Vec<String> {
        let own = std::iter::once(&self.author.id);
        own.chain(&self.other_accounts).cloned().collect()
    }

    /// One name for its author, whichever of their accounts wrote it.
    pub fn person(&self) -> String {
        match self.other_accounts.iter().min() {
            Some(other) => other.min(&self.author.id).clone(),
            None => format!("{}/{}", self.audience.platform, self.author.id),
        }
    }

    /// Whether it is said in direct messages with the bot. What is asked privately in a channel is below the channel.
    pub fn is_direct(&self) -> bool {
        let channel = self.also_recalls.as_ref();
        let is_in_channel = channel.is_some_and(|channel| self.audience.id.is_within(channel));
        self.audience.private_to.is_some() && !is_in_channel
    }

    /// The same, where nobody but its author reads it.
    #[must_use]
    pub fn said_alone(mut self) -> Self {
        self.audience.private_to = Some(self.author.id.clone());
        self
    }
}

/// What somebody thinks of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Opinion {
    Good,
    Bad,
}

/// Somebody said what they think of an answer, or took that back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Feedback {
    Given {
        /// Of the feedback itself, by which it can be taken back.
        event: EventId,
        /// Any of the messages the answer was delivered as.
        answer: MessageId,
        /// The person's id.
        person: String,
        opinion: Opinion,
    },
    Withdrawn {
        /// That of the feedback.
        event: EventId,
    },
}

/// A conversation in which a person asked something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSession {
    pub conversation: ConversationId,
    /// What the person asked there first.
    pub title: String,
    /// How often the person asked something there.
    pub turns: u64,
    pub last_at: DateTime<Utc>,
}

/// A message that the bot keeps, or will.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptMessage {
    pub event: EventId,
    pub conversation: ConversationId,
}

/// What a platform tells the bot, or asks it.
pub enum Incoming {
    /// A message, and the way its answer goes back.
    Message {
        message: IncomingMessage,
        reply: Box<dyn Reply>,
    },
    /// What people say to one another where that is remembered, as [`Addressed::Overheard`]: nothing is answered.
    /// Edits and deletions by people come as messages, for only the bot knows what they are about.
    Overheard(IncomingMessage),
    /// The platform can be reached now: what an earlier process did not take away can be, and what is to be said
    /// unasked.
    Connected {
        platform: &'static str,
        withdraw: Arc<dyn Withdraw>,
        announce: Arc<dyn Announce>,
    },
    /// Somebody wants the turn under way in this conversation stopped.
    Stop(ConversationId),
    Feedback {
        audience: AudienceId,
        feedback: Feedback,
    },
    /// Which conversations the bot remembers, the newest first, for a platform that looks whether they are still
    /// there.
    Conversations {
        /// With which their ids begin.
        prefix: String,
        most: usize,
        /// Dropped where the graph does not tell.
        found: oneshot::Sender<Vec<ConversationId>>,
    },
    /// Which messages of people in an audience the bot keeps, or has accepted and not answered yet, for a platform that
    /// looks what became of them while nobody listened.
    Kept {
        audience: AudienceId,
        since: DateTime<Utc>,
        most: usize,
        /// Gets the newest, some perhaps twice; dropped where the graph does not tell.
        found: oneshot::Sender<Vec<KeptMessage>>,
    },
    /// Which conversations a person has, for a platform that offers them to choose from.
    Sessions {
        /// The author's id.
        person: String,
        /// With which their ids begin.
        prefix: String,
        /// Gets the newest, at most [`Incoming::MOST_SESSIONS`], newest first; dropped where the
        /// graph does not tell.
        found: oneshot::Sender<Vec<OwnSession>>,
    },
}

impl Incoming {
    /// As many as Discord offers.
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
