//! The variables of each prompt.

use chrono::{DateTime, NaiveDate, Utc};
use muninn_platform::{Language, TimeZone};
use muninn_texts::{Text, Value, text};
use serde::Serialize;

use super::lines::lines;
use crate::graph::Turn;
use crate::llm::tokens::{KeptPart, cut};
use crate::retrieval::speech::{
    Act, asks_how_one_is, asks_of_the_world, asks_to_forget, asks_what_it_does, speech_act, thanks,
};

/// A turn as prompts quote it. Texts are lists of lines, so that a template can put a quote mark before each: no line of
/// a quotation can then be mistaken for the prompt's own text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Quoted {
    pub date: String,
    pub author: String,
    pub input: Vec<String>,
    /// Empty if only the question is useful.
    pub output: Vec<String>,
    /// The day since when it no longer holds; empty if it may hold.
    pub replaced: String,
    /// It replaces another quoted turn.
    pub is_newer: bool,
    /// It is a message to others, without an answer.
    pub is_said: bool,
}

/// The date of a moment in a time zone, as prompts have it.
pub fn date(at: DateTime<Utc>, zone: TimeZone) -> String {
    at.with_timezone(&zone).format("%Y-%m-%d").to_string()
}

/// A date of a prompt, in the format of the reader's language.
fn day(date: &str) -> Value {
    let read = date.parse::<NaiveDate>();
    read.map_or_else(|_| date.into(), Value::from)
}

impl Quoted {
    /// Who said it and when.
    fn heading(&self) -> Text {
        let (date, author) = (day(&self.date), &self.author);
        let heading = if self.is_said {
            text!("quoted-said", date, author)
        } else {
            text!("quoted-asked", date, author)
        };
        if !self.replaced.is_empty() {
            text!("quoted-replaced", heading, date = day(&self.replaced))
        } else if self.is_newer {
            text!("quoted-newer", heading)
        } else {
            heading
        }
    }

    /// Cuts each side to `most` tokens.
    pub fn shortened(&self, most: u32) -> Self {
        let short = |said: &[String]| lines(&cut(&said.join("\n"), most, KeptPart::BothEnds));
        Self {
            input: short(&self.input),
            output: short(&self.output),
            ..self.clone()
        }
    }

    /// A turn, each side cut to `most` tokens, with the date in a time zone.
    pub fn of_turn(turn: &Turn, most: u32, zone: TimeZone) -> Self {
        let short = |text: &str| lines(&cut(text, most, KeptPart::BothEnds));
        Self {
            date: date(turn.created_at, zone),
            author: turn.author_name.clone(),
            input: short(&turn.input),
            output: short(&turn.output),
            replaced: String::new(),
            is_newer: false,
            is_said: turn.is_message(),
        }
    }
}

/// Who the bot is and how it answers: `system.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct System<'a> {
    pub name: &'a str,
    /// Empty if none.
    pub persona: &'a str,
    /// Additional text in this channel; empty if none.
    pub instructions: &'a str,
    /// Strict grounding: answers may use only what was found or said here.
    pub strict: bool,
    /// Answers have one or two sentences.
    pub brief: bool,
    /// For custom prompts; the built-in one has it in the question.
    pub today: &'a str,
    /// The content of the knowledge graph in a few words; empty if there is none.
    pub knowledge: &'a str,
    /// The searchable sources, on one line; empty if there are none.
    pub sources: &'a str,
}

/// The summary of what came before the window: `summary_block.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SummaryBlock<'a> {
    pub lines: &'a [String],
}

/// What a tool found, as prompts quote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was searched for and how much was found, on one line.
    pub heading: String,
    pub lines: Vec<String>,
}

/// The question, below what was recalled and found for it: `question.md`. Everything that changes with each turn is
/// here, so that the prompt before it stays the same and services can cache it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Question<'a> {
    /// Empty if it does not matter.
    pub today: &'a str,
    pub recalled: &'a [Quoted],
    pub findings: &'a [Finding],
    /// The text of the files that came with the question.
    pub files: &'a [Finding],
    /// Empty if only one person talks.
    pub author: &'a str,
    pub question: &'a str,
    /// The rephrased question; empty if it was not rephrased.
    pub understood: &'a str,
    /// The reply if the passages do not contain the answer; empty if none were found.
    pub refusal: &'a str,
    /// Whether the model may call tools for more.
    pub may_look_further: bool,
    /// Reminders of policies.
    pub reminders: &'a [String],
}

/// The reply if the team's knowledge does not contain the answer: `refusal.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Refusal<'a> {
    pub name: &'a str,
    /// What the bot says then, in one of its languages.
    pub sentence: String,
}

impl<'a> Refusal<'a> {
    pub fn new(name: &'a str, language: Language) -> Self {
        Self {
            name,
            sentence: text!("not-in-documents").in_language(language),
        }
    }
}

/// A question made to stand alone: `rephrase.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Rephrase<'a> {
    /// Whether each part of the question becomes its own question.
    pub atomic: bool,
    pub turns: &'a [Quoted],
    pub findings: &'a [Finding],
    pub question: &'a [String],
}

/// Selecting the recalled memories that help: `rerank.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Rerank<'a> {
    pub recalled: &'a [Quoted],
    pub question: &'a [String],
}

/// What to do about a follow-up question: `route.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Route<'a> {
    pub findings: &'a [Finding],
    pub question: &'a [String],
}

/// What the findings leave open: `critique.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Critique<'a> {
    pub findings: &'a [Finding],
    pub question: &'a [String],
    /// Maximum number of questions.
    pub most: usize,
}

/// Translating a question to Cypher: `text2cypher.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TextToCypher<'a> {
    pub schema: &'a str,
    /// Unsupported features of the engine, one sentence each.
    pub gaps: &'a [&'a str],
    pub terminology: &'a str,
    pub examples: &'a [Example],
    pub rows: u32,
    pub question: &'a [String],
}

/// A question, and the Cypher that answers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    pub question: String,
    pub cypher: String,
}

/// The findings, if no model could put them into words: `from_findings.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FindingsPrompt<'a> {
    pub findings: &'a [Finding],
}

/// Updating a summary: `summarize.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summarize<'a> {
    pub previous: &'a [String],
    pub turns: &'a [Quoted],
    pub words: usize,
}

/// A message between people, with its number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NumberedMessage {
    pub number: usize,
    /// Date and time.
    pub date: String,
    pub author: String,
    pub lines: Vec<String>,
    /// The bot's answer; empty if it was said to others.
    pub answer: Vec<String>,
}

/// Summarising what was said while somebody was away: `catch_up.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CatchUpPrompt<'a> {
    pub person: &'a str,
    /// The messages of each topic, in order.
    pub topics: &'a [Vec<NumberedMessage>],
}

/// The kind of a message when only memory answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialogueAct {
    Question,
    /// A statement, which is remembered.
    Statement,
    /// A greeting and the like.
    SmallTalk,
    Thanks,
    /// A wish to have something forgotten, in no form that is a command.
    AsksToForget,
    /// A question about what the bot is.
    WhatItDoes,
}

impl DialogueAct {
    pub fn of(text: &str) -> Self {
        if asks_what_it_does(text) {
            return Self::WhatItDoes;
        }
        if asks_to_forget(text) {
            return Self::AsksToForget;
        }
        if asks_how_one_is(text) {
            return Self::SmallTalk;
        }
        // "Tell me a joke" is no statement to remember.
        if asks_of_the_world(text) {
            return Self::Question;
        }
        let Act { asks, states } = speech_act(text);
        match (states, asks) {
            (true, _) => Self::Statement,
            (false, true) => Self::Question,
            (false, false) if thanks(text) => Self::Thanks,
            (false, false) => Self::SmallTalk,
        }
    }
}

/// An answer without a model: `from_memory.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MemoryPrompt<'a> {
    /// The best answer comes first.
    pub recalled: Vec<&'a Quoted>,
    /// Number of those that answer as well as the best.
    pub answering: usize,
    /// It is a statement to remember, not a question.
    pub noted: bool,
    /// Heading of each recalled turn: date and author.
    pub headings: Vec<String>,
    /// Heading of those that may also answer.
    pub beside: String,
    /// Heading of the earlier answer.
    pub answer_then: String,
    /// The reply if nothing is recalled.
    pub nothing: String,
}

impl<'a> MemoryPrompt<'a> {
    /// The values for what answers and what may also answer, with the texts of a language.
    pub fn new(
        answering: &'a [Quoted],
        beside: &'a [Quoted],
        said: DialogueAct,
        language: Language,
    ) -> Self {
        let recalled: Vec<&Quoted> = answering.iter().chain(beside).collect();
        let heading = |memory: &&Quoted| memory.heading().in_language(language);
        let nothing = match said {
            DialogueAct::Question => text!("remember-nothing"),
            DialogueAct::Statement => text!("remember-nothing-noted"),
            DialogueAct::SmallTalk => text!("asked-nothing"),
            DialogueAct::Thanks => text!("welcome"),
            DialogueAct::AsksToForget => text!("forgot-nothing"),
            DialogueAct::WhatItDoes => text!("what-i-do"),
        };
        Self {
            noted: said == DialogueAct::Statement,
            headings: recalled.iter().map(heading).collect(),
            recalled,
            answering: answering.len(),
            beside: text!("quoted-beside").in_language(language),
            answer_then: text!("quoted-answer").in_language(language),
            nothing: nothing.in_language(language),
        }
    }
}
