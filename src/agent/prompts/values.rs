//! The values that each prompt takes.

use chrono::NaiveDate;
use muninn_platform::Language;
use muninn_texts::{Text, Value, text};
use serde::Serialize;

use super::lines;
use crate::graph::Turn;
use crate::llm::tokens::{Keep, cut};
use crate::retrieval::speech::{Act, act, asks_how_one_is, asks_what_it_does};

/// A turn as prompts quote it. Texts come as lines, so that a template can put a quote mark before
/// each: no line of a quotation can then be taken for the prompt's own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Quoted {
    pub date: String,
    pub author: String,
    pub input: Vec<String>,
    /// Empty where only the question is of use.
    pub output: Vec<String>,
    /// The day since when it no longer holds; empty where it may.
    pub replaced: String,
    /// It replaces another that is quoted with it.
    pub is_newer: bool,
    /// A person said it to others, and nothing was answered to it.
    pub is_said: bool,
}

/// A day as prompts have it, as a reader's language writes it.
fn day(date: &str) -> Value {
    let read = date.parse::<NaiveDate>();
    read.map_or_else(|_| date.into(), Value::from)
}

impl Quoted {
    /// Who said it, and when.
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

    /// Each side cut to `most` tokens.
    pub fn shortened(&self, most: u32) -> Self {
        let short = |said: &[String]| lines(&cut(&said.join("\n"), most, Keep::BothEnds));
        Self {
            input: short(&self.input),
            output: short(&self.output),
            ..self.clone()
        }
    }

    /// A turn, each side cut to `most` tokens.
    pub fn of_turn(turn: &Turn, most: u32) -> Self {
        let short = |text: &str| lines(&cut(text, most, Keep::BothEnds));
        Self {
            date: turn.created_at.format("%Y-%m-%d").to_string(),
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
    /// Empty for none.
    pub persona: &'a str,
    /// What is added in this channel; empty for nothing.
    pub instructions: &'a str,
    /// Nothing but what was found or said here may be answered from.
    pub strict: bool,
    /// Answers are one or two sentences.
    pub brief: bool,
    /// For prompts of one's own: the shipped one leaves it to the question.
    pub today: &'a str,
    /// What the knowledge graph holds, in a few words; empty where there is none.
    pub knowledge: &'a str,
    /// The sources that can be searched, in a line; empty where there are none.
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
    /// What was looked for and how much was found, in one line.
    pub heading: String,
    pub lines: Vec<String>,
}

/// The question, below what was recalled and found for it: `question.md`. What changes from turn to turn stands here, so
/// that all before it stays the same, and services need not read it again.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Question<'a> {
    /// Empty where it does not matter.
    pub today: &'a str,
    pub recalled: &'a [Quoted],
    pub findings: &'a [Finding],
    /// What was read of the files that came with it.
    pub files: &'a [Finding],
    /// Empty where only one person talks.
    pub author: &'a str,
    pub question: &'a str,
    /// The question as it was rephrased; empty where it was not.
    pub understood: &'a str,
    /// What is to be said where passages do not hold the answer; empty where none were found.
    pub refusal: &'a str,
    /// It may call tools for more than what was found.
    pub may_look_further: bool,
    /// What policies want to be kept in mind.
    pub reminders: &'a [String],
}

/// What is said where the team's knowledge does not hold the answer: `refusal.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Refusal<'a> {
    pub name: &'a str,
}

/// A question made to stand alone: `rephrase.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Rephrase<'a> {
    /// Each thing that is asked for becomes a question of its own.
    pub atomic: bool,
    pub turns: &'a [Quoted],
    pub findings: &'a [Finding],
    pub question: &'a [String],
}

/// Which of what was recalled helps: `rerank.md`.
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
    /// Questions at most.
    pub most: usize,
}

/// A question put as Cypher: `text2cypher.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TextToCypher<'a> {
    pub schema: &'a str,
    /// What the engine does not know, a sentence each.
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

/// What was found, where no model could put it into words: `from_findings.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FromFindings<'a> {
    pub findings: &'a [Finding],
}

/// How a summary is carried on: `summarize.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summarize<'a> {
    pub previous: &'a [String],
    pub turns: &'a [Quoted],
    pub words: usize,
}

/// A message that people wrote, by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NumberedMessage {
    pub number: usize,
    /// Day and time.
    pub date: String,
    pub author: String,
    pub lines: Vec<String>,
    /// The bot's answer; empty where it was said to others.
    pub answer: Vec<String>,
}

/// What came of what was said while somebody was not there: `catch_up.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WhatCameOfIt<'a> {
    pub person: &'a str,
    /// The messages that belong together, in their order.
    pub topics: &'a [Vec<NumberedMessage>],
}

/// What somebody said to whom only memory answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Question,
    /// It is remembered.
    Statement,
    /// Thanks, a greeting.
    SmallTalk,
    /// Who or what the bot is.
    WhatItDoes,
}

impl Said {
    pub fn of(text: &str) -> Self {
        if asks_what_it_does(text) {
            return Self::WhatItDoes;
        }
        if asks_how_one_is(text) {
            return Self::SmallTalk;
        }
        let Act { asks, states } = act(text);
        match (states, asks) {
            (true, _) => Self::Statement,
            (false, true) => Self::Question,
            (false, false) => Self::SmallTalk,
        }
    }
}

/// An answer without a model: `from_memory.md`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FromMemory<'a> {
    /// What answers best comes first.
    pub recalled: Vec<&'a Quoted>,
    /// How many of them answer as well as the best.
    pub answering: usize,
    /// What was said is worth remembering, not a question.
    pub noted: bool,
    /// Above each of what is recalled: when it was said, and by whom.
    pub headings: Vec<String>,
    /// Above those that may answer, too.
    pub beside: String,
    /// Above what was answered then.
    pub answer_then: String,
    /// Said where nothing is recalled.
    pub nothing: String,
}

impl<'a> FromMemory<'a> {
    /// What answers, and what may answer, too, with its words in a language.
    pub fn new(
        answering: &'a [Quoted],
        beside: &'a [Quoted],
        said: Said,
        language: Language,
    ) -> Self {
        let recalled: Vec<&Quoted> = answering.iter().chain(beside).collect();
        let heading = |memory: &&Quoted| memory.heading().in_language(language);
        let nothing = match said {
            Said::Question => text!("remember-nothing"),
            Said::Statement => text!("remember-nothing-noted"),
            Said::SmallTalk => text!("asked-nothing"),
            Said::WhatItDoes => text!("what-i-do"),
        };
        Self {
            noted: said == Said::Statement,
            headings: recalled.iter().map(heading).collect(),
            recalled,
            answering: answering.len(),
            beside: text!("quoted-beside").in_language(language),
            answer_then: text!("quoted-answer").in_language(language),
            nothing: nothing.in_language(language),
        }
    }
}
