//! What a model found in what was said: read from its reply, and put into words. Pure.

use muninn_platform::{LinkHosts, TimeZone, escaped, linked};
use serde::Deserialize;
use serde_json::{Value, json};

use super::topics::{Said, Topic};
use super::{Reader, headline, moment};
use crate::agent::prompts::{self, NumberedMessage};
use crate::llm::structured::json_in;
use crate::llm::tokens::{Keep, cut, estimate};

/// Tokens of a message that the model reads.
const MESSAGE_TOKENS: u32 = 200;
/// Tokens of messages that one call reads: small models lose the thread in more.
const CALL_TOKENS: u32 = 3_000;
/// Characters of an entry; what is longer is no sentence.
const LONGEST: usize = 600;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Findings {
    #[serde(default)]
    pub(super) decided: Vec<Entry>,
    #[serde(default)]
    pub(super) answered: Vec<Entry>,
    #[serde(default)]
    pub(super) open: Vec<Entry>,
}

/// One sentence, and the numbers of the messages that it rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Entry {
    pub(super) what: String,
    #[serde(default)]
    pub(super) messages: Vec<usize>,
}

/// The shape that the reply is to have.
pub(super) fn schema() -> Value {
    let entries = json!({"type": "array", "items": {
        "type": "object", "additionalProperties": false, "required": ["what", "messages"],
        "properties": {
            "what": {"type": "string"},
            "messages": {"type": "array", "items": {"type": "integer"}},
        },
    }});
    json!({
        "type": "object", "additionalProperties": false, "required": ["decided", "answered", "open"],
        "properties": {"decided": entries, "answered": entries, "open": entries},
    })
}

/// A part of the topics that one call reads, and the number of its first message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Batch<'a> {
    pub(super) first: usize,
    pub(super) topics: Vec<Topic<'a>>,
}

impl<'a> Batch<'a> {
    /// The messages as the prompt quotes them, a topic each.
    pub(super) fn quoted(&self, zone: TimeZone) -> Vec<Vec<NumberedMessage>> {
        let mut number = self.first;
        let mut quote = |said: &Said| {
            let lines = |text: &str| prompts::lines(&cut(text, MESSAGE_TOKENS, Keep::BothEnds));
            let message = NumberedMessage {
                number,
                date: moment(said.at, zone),
                author: said.author_name.clone(),
                lines: lines(&said.text),
                answer: said.answer.as_deref().map(lines).unwrap_or_default(),
            };
            number += 1;
            message
        };
        let topics = self.topics.iter();
        topics
            .map(|topic| topic.all().map(&mut quote).collect())
            .collect()
    }

    /// The message of a number.
    fn message(&self, number: usize) -> Option<&'a Said> {
        let mut all = self.topics.iter().flat_map(Topic::all);
        all.nth(number.checked_sub(self.first)?)
    }

    /// What the reply says, without entries that rest on nothing that the model was shown. None where it is no reply.
    pub(super) fn read(&self, reply: &str) -> Option<Findings> {
        let mut found: Findings = json_in(reply)?;
        for entries in [&mut found.decided, &mut found.answered, &mut found.open] {
            entries.retain_mut(|entry| {
                entry
                    .messages
                    .retain(|number| self.message(*number).is_some());
                let length = entry.what.trim().chars().count();
                !entry.messages.is_empty() && (1..=LONGEST).contains(&length)
            });
        }
        Some(found)
    }

    /// An entry as a line: where it was said last is linked.
    pub(super) fn line(&self, entry: &Entry, reader: Reader) -> String {
        let said = entry
            .messages
            .iter()
            .filter_map(|number| self.message(*number));
        let what = unlinked(&entry.what);
        match said.max_by_key(|said| said.at) {
            Some(said) => {
                let place = headline(said, reader);
                match &said.link {
                    Some(link) => format!("- {what} {}", linked(&place, link)),
                    None => format!("- {what} ({})", escaped(&place)),
                }
            }
            None => format!("- {what}"),
        }
    }
}

/// What people said to one another, or what a model made of it: in one line, and without links.
pub(super) fn unlinked(text: &str) -> String {
    LinkHosts::default().limit(&escaped(text))
}

/// The topics in parts of what one call reads, at most so many; and those that are left, the least answered ones.
/// `topics` have the most answered first; a part has them in the order in which they began.
pub(super) fn batches<'a>(topics: &[Topic<'a>], most: usize) -> (Vec<Batch<'a>>, Vec<Topic<'a>>) {
    let room = CALL_TOKENS * u32::try_from(most).unwrap_or(u32::MAX);
    let mut used = 0;
    let fitting = topics.iter().take_while(|topic| {
        used += tokens(topic);
        used <= room
    });
    let mut fitting = fitting.count();
    loop {
        let (read, left) = topics.split_at(fitting);
        let batches = packed(read);
        if batches.len() <= most {
            return (batches, left.to_vec());
        }
        // Topics are not divided, so some room is lost at the end of each part.
        fitting -= 1;
    }
}

fn packed<'a>(topics: &[Topic<'a>]) -> Vec<Batch<'a>> {
    let mut topics = topics.to_vec();
    topics.sort_by_key(|topic| topic.opening.at);
    let mut batches: Vec<Batch<'_>> = Vec::new();
    let (mut used, mut number) = (0, 1);
    for topic in topics {
        let (tokens, messages) = (tokens(&topic), topic.all().count());
        match batches.last_mut() {
            Some(batch) if used + tokens <= CALL_TOKENS => {
                used += tokens;
                batch.topics.push(topic);
            }
            Some(_) | None => {
                used = tokens;
                batches.push(Batch {
                    first: number,
                    topics: vec![topic],
                });
            }
        }
        number += messages;
    }
    batches
}

fn tokens(topic: &Topic<'_>) -> u32 {
    let message = |said: &Said| {
        let answer = said.answer.as_deref().unwrap_or_default();
        let words = [&said.author_name, &said.text, answer];
        // And its number, its date, the quote marks.
        words
            .map(|text| estimate(text).min(MESSAGE_TOKENS))
            .iter()
            .sum::<u32>()
            + 16
    };
    topic.all().map(message).sum()
}
