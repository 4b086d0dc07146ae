//! What is kept of a turn, and what is asked and told of it.

use std::collections::HashMap;
use std::fmt;

use chrono::{DateTime, Utc};
use muninn_platform::{Audience, AudienceId, ConversationId, Delivered, EventId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::answers::{Spoken, Votes};
use super::forgetting::REDACTED_ANSWER;
use super::outgrown::Outgrown;
use super::reading::Reading;
use super::trace::Trace;
use super::trust::Trust;
use crate::retrieval::speech::states;

/// One response in the graph: what was asked, what was answered, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub id: ResponseId,
    /// The session's id.
    pub session: String,
    /// Place among the turns of the audience, counted from 1; gaps mean something was forgotten.
    /// Zero before it is saved.
    pub position: i64,
    pub created_at: DateTime<Utc>,
    pub source: Source,
    pub input: String,
    pub rephrased_question: Option<String>,
    pub output: String,
    /// The Cypher that was run for it.
    pub cypher: Option<String>,
    pub event: String,
    /// Stable id of the person on the platform.
    pub author: String,
    /// As people see the person.
    pub author_name: String,
    /// Made from live results, so never recalled.
    pub volatile: bool,
    pub embedding: Option<Embedding>,
    pub model: Option<String>,
    pub prompt_tokens: u32,
    pub completion_tokens: u32,
    pub duration_ms: u32,
    /// Where people can look at the message; none where the platform has no such address.
    #[serde(default)]
    pub link: Option<String>,
    /// The messages it went out as; none as long as nothing says that it did.
    #[serde(default)]
    pub delivered: Option<Delivered>,
    /// When its message was edited last, as far as the answer knows.
    #[serde(default)]
    pub revised_at: Option<DateTime<Utc>>,
    /// What was read of the files that came with the message. Only a window has it.
    #[serde(default)]
    pub attached: Vec<AttachedText>,
    /// The event of the message that it answers, where the platform says it.
    #[serde(default)]
    pub reply_to: Option<String>,
    /// Of the answer; of what was only heard or noted, that a person said it.
    #[serde(default)]
    pub trust: Trust,
}

impl Turn {
    /// An exchange of which nothing else is known: answered now, without a vector, and not yet saved. Its
    /// event is called as it is itself.
    pub fn of(session: &str, author: &str, input: &str, output: &str) -> Self {
        let id = ResponseId::fresh();
        Self {
            id,
            session: session.to_owned(),
            position: 0,
            created_at: Utc::now(),
            source: Source::Model,
            input: input.to_owned(),
            rephrased_question: None,
            output: output.to_owned(),
            cypher: None,
            event: id.to_string(),
            author: author.to_owned(),
            author_name: author.to_owned(),
            volatile: false,
            embedding: None,
            model: None,
            prompt_tokens: 0,
            completion_tokens: 0,
            duration_ms: 0,
            link: None,
            delivered: None,
            revised_at: None,
            attached: Vec::new(),
            reply_to: None,
            trust: Trust::Talk,
        }
    }

    /// What somebody said to others, of which nothing else is known: heard now, without a vector, and not
    /// yet saved. Its event is called as it is itself.
    pub fn message(session: &str, author: &str, text: &str) -> Self {
        Self {
            source: Source::Message,
            trust: Trust::Person,
            ..Self::of(session, author, text, "")
        }
    }

    /// Whether people said it to one another, and the bot only heard it.
    pub fn is_message(&self) -> bool {
        match self.source {
            Source::Message => true,
            Source::Model
            | Source::Knowledge
            | Source::Retrieval
            | Source::Memory
            | Source::Note => false,
        }
    }

    /// What somebody wants to be kept in mind, of which nothing else is known: said now, without a vector, and not yet
    /// saved. Its event is called as it is itself.
    pub fn note(session: &str, author: &str, text: &str) -> Self {
        Self {
            source: Source::Note,
            trust: Trust::Person,
            ..Self::of(session, author, text, "")
        }
    }

    /// Whether somebody had it kept in mind.
    pub fn is_note(&self) -> bool {
        match self.source {
            Source::Note => true,
            Source::Model
            | Source::Knowledge
            | Source::Retrieval
            | Source::Memory
            | Source::Message => false,
        }
    }

    /// Whether the bot answered it.
    pub fn is_answered(&self) -> bool {
        self.source.is_answer()
    }
}

impl Source {
    /// Whether the bot said it.
    pub fn is_answer(self) -> bool {
        match self {
            Self::Model | Self::Knowledge | Self::Retrieval | Self::Memory => true,
            Self::Message | Self::Note => false,
        }
    }
}

/// The text of a file that came with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedText {
    pub name: String,
    pub text: String,
}

/// A response's id: time-ordered (UUID version 7), made by the process that answered, so that a
/// save whose outcome is unknown can be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResponseId(pub Uuid);

impl ResponseId {
    pub fn fresh() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for ResponseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What made an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A model wrote it.
    Model,
    /// A model wrote it, from what it found in the team's knowledge.
    Knowledge,
    /// A model wrote it from passages of what the team has ingested, or it quotes them.
    Retrieval,
    /// It only quotes memory: no model was there. Not embedded, so what it quotes is not recalled
    /// twice.
    Memory,
    /// Nothing: people said it to one another. The bot heard it and answered nothing, so its output is empty, and
    /// whatever is about answers does not see it.
    Message,
    /// Nothing: somebody had it kept in mind. What is about answers does not see it either.
    Note,
}

impl Turn {
    /// The question so that it stands alone, as it was understood where it was rephrased.
    pub fn understood(&self) -> &str {
        self.rephrased_question.as_deref().unwrap_or(&self.input)
    }

    /// Whether it says anything that may be recalled, and so has a vector: the one rule of the recall index and of the
    /// stores.
    pub fn can_be_recalled(&self) -> bool {
        let says_something = match self.source {
            Source::Model | Source::Knowledge | Source::Retrieval => true,
            // What it answered only quotes; what it was told may be worth recalling.
            Source::Memory => states(&self.input),
            Source::Message | Source::Note => !self.input.trim().is_empty(),
        };
        says_something && !self.volatile
    }
}

/// A vector, and the embedder that made it: vectors of different embedders are never compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    pub embedder: String,
    /// Of unit length.
    pub vector: Vec<f32>,
}

/// The rolling summary of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub text: String,
    /// The last response it covers.
    pub through: ResponseId,
    /// The lowest class of what it covers.
    pub trust: Trust,
}

/// What one turn asks of the store before it begins.
#[derive(Clone, Debug)]
pub struct TurnRead<'a> {
    pub session: &'a ConversationId,
    pub audience: &'a AudienceId,
    pub event: &'a EventId,
    /// How many of the last turns, at most.
    pub window: usize,
    /// The recall index has seen the audience's turns up to here.
    pub seen: i64,
}

/// What one turn gets.
#[derive(Clone, Debug, Default)]
pub struct TurnContext {
    /// The turn this event already made, if it did; without its embedding.
    pub duplicate: Option<Turn>,
    /// The turn that this event made was forgotten since.
    pub is_forgotten: bool,
    /// The last turns of the session, oldest first, without their embeddings; at most 64.
    pub window: Vec<Turn>,
    pub summary: Option<Summary>,
    pub news: News,
}

/// What is new in an audience since a position.
#[derive(Clone, Debug, Default)]
pub struct News {
    /// In the order of their positions.
    pub turns: Vec<Turn>,
    /// Rises whenever something in the audience is forgotten or replaced: an index made at another
    /// epoch has to be loaded again.
    pub epoch: i64,
    /// Everything up to this position is in `turns`, was there before, or was forgotten: what has
    /// been seen now.
    pub through: i64,
    /// There is more after `through`; [`GraphStore::turns_since`](super::GraphStore::turns_since) has it.
    pub more: bool,
}

/// By what a turn shows that it replaces an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It names another value.
    Value,
    /// It takes it back.
    Word,
    /// Somebody said so: it holds in any light.
    Correction,
}

impl How {
    /// As it is kept.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Word => "word",
            Self::Correction => "correction",
        }
    }
}

/// A turn that replaces an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    pub later: ResponseId,
    pub earlier: ResponseId,
    /// When somebody said so; none where it is by its words.
    pub corrected_at: Option<DateTime<Utc>>,
}

/// A turn to append.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NewTurn {
    pub audience: Audience,
    /// Other audiences whose memory the answer may have been given.
    #[serde(default)]
    pub recalls_also: Vec<AudienceId>,
    pub turn: Turn,
    /// `elementId`s, read in this turn, of the knowledge nodes the answer was made from.
    pub context: Vec<String>,
    /// The memories the answer was given, with their scores.
    pub recalled: Vec<(ResponseId, f64)>,
    /// How it came to be.
    #[serde(default)]
    pub trace: Trace,
}

impl NewTurn {
    /// The same question, with nothing of what was answered: that said what is forgotten.
    pub fn emptied(&self) -> Self {
        Self {
            turn: Turn {
                output: REDACTED_ANSWER.to_owned(),
                rephrased_question: None,
                cypher: None,
                embedding: None,
                ..self.turn.clone()
            },
            context: Vec::new(),
            recalled: Vec::new(),
            trace: Trace::default(),
            ..self.clone()
        }
    }

    /// A turn that was made from nothing else.
    pub fn of(audience: Audience, turn: Turn) -> Self {
        Self {
            audience,
            recalls_also: Vec::new(),
            turn,
            context: Vec::new(),
            recalled: Vec::new(),
            trace: Trace::default(),
        }
    }
}

impl NewTurn {
    /// The audiences whose memory the answer may have been given.
    pub(crate) fn recalls(&self) -> Vec<&AudienceId> {
        std::iter::once(&self.audience.id)
            .chain(&self.recalls_also)
            .collect()
    }
}

/// What became of a turn to append.
#[derive(Clone, Debug, PartialEq)]
pub enum Appended {
    Saved {
        position: i64,
    },
    /// The same event had made a turn already; nothing was written.
    Duplicate(Box<Turn>),
}

/// What to forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forget {
    /// One turn; the chain closes over it.
    Turn(ResponseId),
    /// The session and all its turns. What was said there up to a time, by its platform's clock, is not kept again.
    Session { said_until: DateTime<Utc> },
}

/// What was forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub turns: usize,
    /// Answers from memory alone that quoted a forgotten turn, and were blotted out with it.
    pub quotes: usize,
    /// Nothing reads it any more, and yet it is still in a file that could not be written anew.
    pub is_in_file: bool,
    /// What went out of the answers that were emptied: one that was delivered since somebody looked for what is to be
    /// taken away is among them.
    pub emptied: Vec<Spoken>,
}

/// What an answer was made from.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub turn: Turn,
    pub votes: Votes,
    pub trace: Trace,
    /// The memories it was given, best first, with their scores.
    pub recalled: Vec<(f64, Turn)>,
    /// What the places of these are called.
    pub places: HashMap<ResponseId, String>,
    pub context: Vec<KnowledgeNode>,
    /// Sources that it was made from and that were removed since.
    pub removed_sources: Vec<String>,
}

/// A node of the team's knowledge.
#[derive(Clone, Debug, PartialEq)]
pub struct KnowledgeNode {
    pub labels: Vec<String>,
    pub properties: serde_json::Map<String, serde_json::Value>,
    /// It says something else now than when it was used.
    pub has_changed: bool,
}

impl KnowledgeNode {
    /// What it is called by: one of [`NODE_NAMES`].
    pub fn name_property(&self) -> Option<&'static str> {
        let is_text = |name: &&str| {
            self.properties
                .get(*name)
                .is_some_and(serde_json::Value::is_string)
        };
        NODE_NAMES.into_iter().find(is_text)
    }
}

/// What nodes of knowledge are called by, the first that they have.
pub const NODE_NAMES: [&str; 5] = ["title", "name", "label", "subject", "headline"];

/// One line of `muninn sessions`.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionOverview {
    pub id: String,
    pub audience: String,
    pub created_at: DateTime<Utc>,
    pub last_at: Option<DateTime<Utc>>,
    pub turns: usize,
    pub title: Option<String>,
}

/// What a session's chain is made of, to see that it is whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainShape {
    pub turns: usize,
    /// `LAST_RESPONSE` relationships.
    pub pointers: usize,
    /// `NEXT` relationships between the session's turns.
    pub links: usize,
}

impl ChainShape {
    /// One unbroken chain with one pointer, or nothing at all.
    pub fn is_whole(self) -> bool {
        self.pointers == usize::from(self.turns > 0) && self.links == self.turns.saturating_sub(1)
    }
}

/// How many of an audience's turns have a vector of the same embedder, of those that recall
/// compares vectors of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedBy {
    pub audience: AudienceId,
    /// None: they have no vector.
    pub embedder: Option<String>,
    pub turns: usize,
}

/// How a store is, for `muninn doctor`.
#[derive(Clone, Debug)]
pub struct StoreHealth {
    /// Engine and version, as people know it: `Neo4j 5.26.30 community`.
    pub engine: String,
    pub schema_version: i64,
    /// Constraints and indexes that should be there and are not.
    pub missing: Vec<String>,
    pub sessions: usize,
    pub turns: usize,
    /// As whom generated statements run; none where a store has no users.
    pub reading: Option<Reading>,
    /// Why the graph should move to a server.
    pub outgrown: Option<Outgrown>,
    /// What the person who runs the bot should know of.
    pub warnings: Vec<String>,
}
