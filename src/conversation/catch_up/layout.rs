//! Headings and dates of what is written for a reader. Pure.

use chrono::{DateTime, Utc};
use muninn_platform::{Language, TimeZone};
use muninn_texts::{Text, Value, text};

use super::topics::TopicMessage;

/// The reader's language and time zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReaderLocale {
    pub(super) language: Language,
    pub(super) zone: TimeZone,
}

impl ReaderLocale {
    pub(super) fn day(self, at: DateTime<Utc>) -> Value {
        Value::day(&at.with_timezone(&self.zone))
    }
}

/// Lines for a reader, and the messages from which they were made.
#[derive(Debug, Default)]
pub(super) struct Written<'a> {
    pub(super) lines: Vec<String>,
    pub(super) made_from: Vec<&'a TopicMessage>,
}

impl Written<'_> {
    pub(super) fn extend(&mut self, other: Self) {
        self.lines.extend(other.lines);
        self.made_from.extend(other.made_from);
    }
}

pub(super) fn bold(heading: &Text, language: Language) -> String {
    format!("**{}**", heading.in_language(language))
}

/// What people said, as far as it is read.
#[derive(Debug)]
pub(super) struct ReadMessages {
    /// In order of time.
    pub(super) newest: Vec<TopicMessage>,
    /// Whether there are older ones, which are not read.
    pub(super) has_older: bool,
}

impl ReadMessages {
    /// Of messages in order of time, the newest ones.
    pub(super) fn newest(mut said: Vec<TopicMessage>, most: usize) -> Self {
        let older = said.len().saturating_sub(most);
        said.drain(..older);
        Self {
            newest: said,
            has_older: older > 0,
        }
    }
}

/// `Since Mon 13 Apr 09:00: 75 messages by 9 people.`
pub(super) fn heading(read: &ReadMessages, since: DateTime<Utc>, reader: ReaderLocale) -> String {
    let said = &read.newest;
    let mut people: Vec<&str> = said.iter().map(|said| said.author.as_str()).collect();
    people.sort_unstable();
    people.dedup();
    let since = reader.day(since);
    let messages = text!("count-messages", count = said.len());
    let people = text!("count-people", count = people.len());
    let heading = match read.has_older {
        false => text!("caught-up", since, messages, people),
        true => text!("caught-up-newest", since, messages, people),
    };
    heading.in_language(reader.language)
}

/// Who said it and when.
pub(super) fn headline(said: &TopicMessage, reader: ReaderLocale) -> String {
    let at = reader.day(said.at).in_language(reader.language);
    format!("{}, {at}", said.author_name)
}

/// `Mon 13 Apr 18:30`, written for a model.
pub(super) fn moment(at: DateTime<Utc>, zone: TimeZone) -> String {
    at.with_timezone(&zone)
        .format("%a %-d %b %H:%M")
        .to_string()
}
