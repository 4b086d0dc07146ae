//! The data of turns: what is kept, and the requests and results of the store.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use muninn_platform::{Audience, AudienceId, ConversationId, Delivered, EventId};
use serde::{Deserialize, Serialize};

use super::delivered_answer::{DeliveredAnswer, may_stand};
use super::embedding::Embedding;
use super::file_notes::{file_notes, without_file_notes};
use super::reading::ReadAccessReport;
use super::redacted::REDACTED_ANSWER;
use super::response_id::ResponseId;
use super::source::Source;
use super::trace::Trace;
use super::trust::Trust;
use crate::graph::store::answers::Votes;
use crate::graph::store::outgrown::StoreAdvice;
use crate::retrieval::speech::{asks_to_forget, states_something};

/// One response in the graph: the question, the answer, and how it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub id: ResponseId,
    /// ID of the session.
    pub session: String,
    /// Position among the turns of the audience, from 1; gaps mean that something was forgotten. Zero before it is
    /// saved.
    pub position: i64,
    pub created_at: DateTime<Utc>,
    pub source: Source,
    pub input: String,
    pub rephrased_question: Option<String>,
    pub output: String,
    /// The Cypher that ran for it.
    pub cypher: Option<String>,
    pub event: String,
    /// Stable ID of the person on the platform.
    pub author: String,
    /// The person's display name.
    pub author_name: String,
    /// Made from live results, so never recalled.
    pub volatile: bool,
    pub embedding: Option<Embedding>,
    pub model: Option<String>,
    pub prompt_tokens: u32,
    pub completion_tokens: u32,
    pub duration_ms: u32,
    /// Link to the message; `None` if the platform has no such address.
    #[serde(default)]
    pub link: Option<String>,
    /// The delivered messages; `None` as long as no delivery is recorded.
    #[serde(default)]
    pub delivered: Option<Delivered>,
    /// When its message was last edited, as far as the answer takes it into account.
    #[serde(default)]
    pub revised_at: Option<DateTime<Utc>>,
    /// The text of the files that came with the message, and whether it was given messages from before the bot joined.
    /// Loaded for a window only.
    #[serde(default)]
    pub attached: Vec<AttachedText>,
    /// The event of the message that it answers, if the platform says so.
    #[serde(default)]
    pub reply_to: Option<String>,
    /// The trust class of the answer; for a heard message or a note, that of a person.
    #[serde(default)]
    pub trust: Trust,
}

impl Turn {
    /// An exchange with default values: answered now, without a vector, and not saved yet. Its event has the same ID
    /// as the turn.
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

    /// A heard message with default values: heard now, without a vector, and not saved yet. Its event has the same ID
    /// as the turn.
    pub fn message(session: &str, author: &str, text: &str) -> Self {
        Self {
            source: Source::Message,
            trust: Trust::Person,
            ..Self::of(session, author, text, "")
        }
    }

    /// Whether it is a heard message.
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

    /// A note with default values: said now, without a vector, and not saved yet. Its event has the same ID as the
    /// turn.
    pub fn note(session: &str, author: &str, text: &str) -> Self {
        Self {
            source: Source::Note,
            trust: Trust::Person,
            ..Self::of(session, author, text, "")
        }
    }

    /// Whether it is a note.
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

    /// Whether it keeps what came of an approved tool call: no model wrote it.
    pub fn is_call_result(&self) -> bool {
        self.source == Source::Model && self.model.is_none() && self.trust == Trust::Tool
    }

    /// Whether the bot answered it.
    pub fn is_answered(&self) -> bool {
        self.source.is_answer()
    }
}

/// The text of a file that came with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedText {
    pub name: String,
    pub text: String,
}

impl AttachedText {
    /// The name of what was said in a conversation before the bot joined it. An entry of this name without a text says
    /// that an answer was given such messages; version 0.1 kept them as its text.
    pub const PRIOR_MESSAGES: &str = "What was said here before you came";

    pub fn is_prior_messages(&self) -> bool {
        self.name == Self::PRIOR_MESSAGES
    }

    /// The entry for an answer that was given messages from before the bot joined.
    pub fn of_prior_messages() -> Self {
        Self {
            name: Self::PRIOR_MESSAGES.to_owned(),
            text: String::new(),
        }
    }
}

impl Turn {
    /// The text of the files that came with the message.
    pub fn files(&self) -> impl Iterator<Item = &AttachedText> {
        self.attached.iter().filter(|it| !it.is_prior_messages())
    }

    /// Whether the answer was the first in its conversation, and was given messages from before.
    pub fn was_given_prior_messages(&self) -> bool {
        self.attached.iter().any(AttachedText::is_prior_messages)
    }

    /// What the person wrote: the input without the notes about files.
    pub fn said(&self) -> &str {
        without_file_notes(&self.input)
    }

    /// The names of the files that came with the message, also of those that nobody could read.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        let notes = file_notes(&self.input).into_iter();
        notes.map(|note| note.split(", which ").next().unwrap_or(note))
    }

    /// The question made to stand alone, if it was rephrased.
    pub fn understood(&self) -> &str {
        self.rephrased_question
            .as_deref()
            .unwrap_or_else(|| self.said())
    }

    /// Whether it has anything that may be recalled, and therefore a vector. This is the one rule for the recall index
    /// and the stores.
    pub fn can_be_recalled(&self) -> bool {
        let says_something = match self.source {
            Source::Model | Source::Knowledge | Source::Retrieval => true,
            // Its answer only quotes, but its input may be worth recalling.
            Source::Memory => states_something(self.said()) && !asks_to_forget(self.said()),
            Source::Message | Source::Note => !self.input.trim().is_empty(),
        };
        says_something && !self.volatile
    }
}

impl DeliveredAnswer {
    /// The delivered messages of a turn's answer, or its question if the delivery is not recorded; `None` for a turn without
    /// an answer.
    pub fn of(turn: &Turn) -> Option<Self> {
        let session = ConversationId::new(&turn.session);
        match &turn.delivered {
            Some(messages) => Some(Self::new(session, messages.clone())),
            None if turn.is_answered() && may_stand(turn.created_at) => Some(Self {
                unseen: Some(EventId::new(&turn.event)),
                ..Self::new(session, Delivered::default())
            }),
            None => None,
        }
    }
}

/// The rolling summary of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub text: String,
    /// The last response it covers.
    pub through: ResponseId,
    /// The lowest trust class of what it covers.
    pub trust: Trust,
}

/// What one turn reads from the store before it begins.
#[derive(Clone, Debug)]
pub struct TurnRead<'a> {
    pub session: &'a ConversationId,
    pub audience: &'a AudienceId,
    pub event: &'a EventId,
    /// Maximum number of the last turns.
    pub window: usize,
    /// The position up to which the recall index has seen the audience's turns.
    pub seen: i64,
}

/// The result of such a read.
#[derive(Clone, Debug, Default)]
pub struct TurnContext {
    /// The turn that the event already has, if any; without its embedding.
    pub duplicate: Option<Turn>,
    /// The turn of this event was forgotten.
    pub is_forgotten: bool,
    /// The last turns of the session, oldest first, without their embeddings; at most 64.
    pub window: Vec<Turn>,
    pub summary: Option<Summary>,
    pub news: AudienceChanges,
}

/// What is new in an audience after a position.
#[derive(Clone, Debug, Default)]
pub struct AudienceChanges {
    /// In the order of their positions.
    pub turns: Vec<Turn>,
    /// Increases whenever something in the audience is forgotten or replaced. An index made at another epoch must be
    /// loaded again.
    pub epoch: i64,
    /// Everything up to this position is in `turns`, was known before, or was forgotten. Zero if nothing was asked for.
    pub through: i64,
    /// Fewer positions were read than the reader has seen: a backup of the graph was restored since, or it is a cluster, and was read
    /// from a member that lags. [`GraphStore::was_restored`](crate::graph::GraphStore::was_restored) tells.
    pub is_behind: bool,
    /// There is more after `through`; [`GraphStore::turns_since`](crate::graph::GraphStore::turns_since) has it.
    pub more: bool,
}

/// How it is known that a turn replaces an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacementKind {
    /// It names another value.
    Value,
    /// It withdraws the earlier one.
    Word,
    /// Somebody said so; it holds for every question.
    Correction,
}

impl ReplacementKind {
    /// The stored name.
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
    /// When somebody corrected it; `None` if it was inferred from the words.
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
    /// `elementId`s, read in this turn, of the knowledge nodes from which the answer was made.
    pub context: Vec<String>,
    /// The memories the answer was given, with their scores.
    pub recalled: Vec<(ResponseId, f64)>,
    /// How it came to be.
    #[serde(default)]
    pub trace: Trace,
    /// When its question was sent, by the platform's clock; `None` where `created_at` says when it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<DateTime<Utc>>,
}

impl NewTurn {
    /// The same question without the answer, which contains what is forgotten.
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

    /// A turn with default values.
    pub fn of(audience: Audience, turn: Turn) -> Self {
        Self {
            audience,
            recalls_also: Vec::new(),
            turn,
            context: Vec::new(),
            recalled: Vec::new(),
            trace: Trace::default(),
            asked_at: None,
        }
    }

    /// The audiences whose memory the answer may have been given.
    pub(crate) fn recalled_audiences(&self) -> Vec<&AudienceId> {
        std::iter::once(&self.audience.id)
            .chain(&self.recalls_also)
            .collect()
    }
}

/// The result of appending a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Appended {
    Saved {
        position: i64,
    },
    /// The same event already had a turn; nothing was written.
    Duplicate(Box<Turn>),
    /// Its question was forgotten while it was answered; nothing is left of it.
    Forgotten,
}

/// What to forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forget {
    /// One turn; the gap in the chain is closed.
    Turn(ResponseId),
    /// The session and all its turns. Messages from there up to this time, by the platform's clock, are not kept
    /// again.
    Session { said_until: DateTime<Utc> },
}

/// The result of forgetting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub turns: usize,
    /// Number of answers from memory that quoted a forgotten turn and were emptied.
    pub quotes: usize,
    /// Nothing reads it any more, but it is still in a file that could not be rewritten.
    pub is_in_file: bool,
    /// The delivered messages of emptied answers, including those delivered after an earlier look for messages to
    /// withdraw.
    pub emptied: Vec<DeliveredAnswer>,
}

impl Forgotten {
    /// Adds up what was forgotten in two places.
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        self.emptied.extend(other.emptied);
        Self {
            emptied: self.emptied,
            turns: self.turns + other.turns,
            quotes: self.quotes + other.quotes,
            is_in_file: self.is_in_file || other.is_in_file,
        }
    }
}

/// What an answer was made from.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub turn: Turn,
    pub votes: Votes,
    pub trace: Trace,
    /// The memories that it was given, best first, with their scores.
    pub recalled: Vec<(f64, Turn)>,
    /// The names of their places.
    pub places: HashMap<ResponseId, String>,
    pub context: Vec<KnowledgeNode>,
    /// Sources from which it was made and that were removed since.
    pub removed_sources: Vec<String>,
}

/// A node of the team's knowledge.
#[derive(Clone, Debug, PartialEq)]
pub struct KnowledgeNode {
    pub labels: Vec<String>,
    pub properties: serde_json::Map<String, serde_json::Value>,
    /// Its content has changed since it was used.
    pub has_changed: bool,
}

impl KnowledgeNode {
    /// The property with its name: one of [`NODE_NAMES`].
    pub fn name_property(&self) -> Option<&'static str> {
        let is_text = |name: &&str| {
            self.properties
                .get(*name)
                .is_some_and(serde_json::Value::is_string)
        };
        NODE_NAMES.into_iter().find(is_text)
    }
}

/// Properties that name a knowledge node; the first one that it has is used.
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

/// The shape of a session's chain, to check that it is intact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainShape {
    pub turns: usize,
    /// `LAST_RESPONSE` relationships.
    pub pointers: usize,
    /// `NEXT` relationships between the session's turns.
    pub links: usize,
}

impl ChainShape {
    /// Whether it is one unbroken chain with one pointer, or empty.
    pub fn is_whole(self) -> bool {
        self.pointers == usize::from(self.turns > 0) && self.links == self.turns.saturating_sub(1)
    }
}

/// The number of an audience's turns with a vector of one embedder, among those whose vectors recall compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedBy {
    pub audience: AudienceId,
    /// `None` for turns without a vector.
    pub embedder: Option<String>,
    pub turns: usize,
}

/// Which of an audience's turns are counted by their embedder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbedderFilter<'a> {
    All,
    /// Turns without a vector.
    Missing,
    /// Turns whose vector is of this embedder.
    Named(&'a str),
}

/// The state of a store, for `muninn doctor`.
#[derive(Clone, Debug)]
pub struct StoreHealth {
    /// Engine and version, in the usual spelling: `Neo4j 5.26.30 community`.
    pub engine: String,
    pub schema_version: i64,
    /// Required constraints and indexes that are missing.
    pub missing: Vec<String>,
    pub sessions: usize,
    pub turns: usize,
    /// The user of generated statements; `None` if the store has no users.
    pub reading: Option<ReadAccessReport>,
    /// Why the graph should move to a server.
    pub outgrown: Option<StoreAdvice>,
    /// What the operator should know.
    pub warnings: Vec<String>,
}
