//! The model's findings in a conversation: parsed from its reply, and formatted. Pure.

use muninn_platform::{LinkHosts, TimeZone, escaped, linked};
use serde::Deserialize;
use serde_json::{Value, json};

use super::layout::{ReaderLocale, headline, moment};
use super::topics::{Topic, TopicMessage};
use crate::agent::prompts::{self, NumberedMessage};
use crate::llm::structured::json_in;
use crate::llm::tokens::{KeptPart, cut, estimate};

/// Maximum tokens of one message that the model reads.
const MESSAGE_TOKENS: u32 = 200;
/// Maximum tokens of messages in one call: small models lose the thread in more.
pub(super) const CALL_TOKENS: u32 = 3_000;
/// Maximum characters of an entry; anything longer is not one sentence.
const MAX_ENTRY_CHARS: usize = 600;

/// What the model found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Findings {
    /// Required, so that an entry of a reply that was cut off is not taken for a reply that found nothing.
    pub(super) decided: Vec<DigestEntry>,
    #[serde(default)]
    pub(super) answered: Vec<DigestEntry>,
    #[serde(default)]
    pub(super) open: Vec<DigestEntry>,
}

/// One sentence, and the numbers of the messages that support it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct DigestEntry {
    pub(super) what: String,
    #[serde(default)]
    pub(super) messages: Vec<usize>,
}

/// The JSON schema of the reply.
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

/// The topics that one call reads, and the number of their first message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TopicBatch<'a> {
    pub(super) first: usize,
    pub(super) topics: Vec<Topic<'a>>,
}

impl<'a> TopicBatch<'a> {
    /// The messages as the prompt quotes them, grouped by topic.
    pub(super) fn quoted(&self, zone: TimeZone) -> Vec<Vec<NumberedMessage>> {
        let mut number = self.first;
        let mut quote = |said: &TopicMessage| {
            let lines = |text: &str| prompts::lines(&cut(text, MESSAGE_TOKENS, KeptPart::BothEnds));
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

    /// The message with a number.
    fn message(&self, number: usize) -> Option<&'a TopicMessage> {
        let mut all = self.topics.iter().flat_map(Topic::all);
        all.nth(number.checked_sub(self.first)?)
    }

    /// Parses the reply and drops entries that cite no message of this batch. `None` if the reply cannot be parsed.
    pub(super) fn read(&self, reply: &str) -> Option<Findings> {
        let mut found: Findings = json_in(reply)?;
        for entries in [&mut found.decided, &mut found.answered, &mut found.open] {
            entries.retain_mut(|entry| {
                entry
                    .messages
                    .retain(|number| self.message(*number).is_some());
                let length = entry.what.trim().chars().count();
                !entry.messages.is_empty() && (1..=MAX_ENTRY_CHARS).contains(&length)
            });
        }
        Some(found)
    }

    /// An entry as a line that links to the last message it cites.
    pub(super) fn line(&self, entry: &DigestEntry, reader: ReaderLocale) -> String {
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

/// The text of a person or model on one line and without links.
pub(super) fn unlinked(text: &str) -> String {
    LinkHosts::default().limit(&escaped(text))
}

/// Divides the topics into at most `most` batches of the size of one call; a topic that is longer is divided, too. Also
/// returns what did not fit: as far as there is a choice, the least answered topics, and the oldest part of a long one.
/// `topics` starts with the most answered; a batch lists its topics in the order in which they began.
pub(super) fn batches<'a>(
    topics: &[Topic<'a>],
    most: usize,
) -> (Vec<TopicBatch<'a>>, Vec<Topic<'a>>) {
    let mut room = CALL_TOKENS * u32::try_from(most).unwrap_or(u32::MAX);
    let (mut used, mut batches) = (0, Vec::new());
    let (mut read, mut left): (Vec<Topic<'a>>, Vec<Topic<'a>>) = Default::default();
    for part in topics
        .iter()
        .flat_map(|topic| topic.parts(CALL_TOKENS, message_tokens))
    {
        let tokens = tokens(&part);
        if used + tokens > room {
            left.push(part);
            continue;
        }
        read.push(part);
        // A batch leaves some room unused, so not everything fits that has room in their sum. Then only smaller ones may.
        let packed = packed(&read);
        if packed.len() <= most {
            used += tokens;
            batches = packed;
        } else {
            left.extend(read.pop());
            room = used + tokens - 1;
        }
    }
    (batches, left)
}

fn packed<'a>(topics: &[Topic<'a>]) -> Vec<TopicBatch<'a>> {
    let mut topics = topics.to_vec();
    topics.sort_by_key(|topic| topic.opening.at);
    let mut batches: Vec<TopicBatch<'_>> = Vec::new();
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
                batches.push(TopicBatch {
                    first: number,
                    topics: vec![topic],
                });
            }
        }
        number += messages;
    }
    batches
}

pub(super) fn tokens(topic: &Topic<'_>) -> u32 {
    topic.all().map(message_tokens).sum()
}

fn message_tokens(said: &TopicMessage) -> u32 {
    let answer = said.answer.as_deref().unwrap_or_default();
    let words = [&said.author_name, &said.text, answer];
    // For the number, the date and the quotation marks.
    words
        .map(|text| estimate(text).min(MESSAGE_TOKENS))
        .iter()
        .sum::<u32>()
        + 16
}
