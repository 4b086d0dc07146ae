//! Lists without a model what was said: the most answered topics, and what nobody answered. Pure.

use muninn_platform::{escaped, excerpt, linked};
use muninn_texts::{Text, text};

use super::findings::unlinked;
use super::layout::{ReaderLocale, bold, headline};
use super::topics::{Topic, TopicMessage};

/// Maximum number of topics shown.
const TOPICS: usize = 15;
/// Replies shown per topic. The last ones are shown, as the outcome is at the end.
const REPLIES: usize = 3;
/// Maximum number of unanswered questions shown, and of unanswered statements.
const UNANSWERED: usize = 6;

/// The most answered topics with their last replies, then what nobody answered. `topics` starts with the most
/// answered. Empty if there is nothing to list.
pub(super) fn listing(topics: &[Topic<'_>], reader: ReaderLocale) -> Vec<String> {
    let answered = topics.iter().filter(|topic| topic.answers() > 0);
    let mut lines: Vec<String> = Vec::new();
    for topic in answered.clone().take(TOPICS) {
        lines.extend(ended(topic, reader));
    }
    let more = |count| text!("more-conversations", count);
    lines.extend(and_more(answered.count(), TOPICS, more, reader));
    let alone = topics.iter().filter(|topic| topic.answers() == 0);
    let (questions, statements): (Vec<&Topic<'_>>, Vec<&Topic<'_>>) =
        alone.partition(|topic| topic.is_unanswered());
    let more = |count| text!("more-questions", count);
    let heading = text!("catch-up-unanswered");
    lines.extend(named(&heading, &questions, more, reader));
    let more = |count| text!("more-messages", count);
    let heading = text!("catch-up-also");
    lines.extend(named(&heading, &statements, more, reader));
    lines
}

/// The first unanswered messages, below a heading. Empty if there are none.
fn named(
    heading: &Text,
    topics: &[&Topic<'_>],
    more: impl Fn(usize) -> Text,
    reader: ReaderLocale,
) -> Vec<String> {
    if topics.is_empty() {
        return Vec::new();
    }
    let shown = topics.iter().take(UNANSWERED);
    let shown = shown.map(|topic| format!("- {}", opened(topic.opening, reader)));
    let mut lines = vec![bold(heading, reader.language)];
    lines.extend(shown);
    lines.extend(and_more(topics.len(), UNANSWERED, more, reader));
    lines
}

fn and_more(
    all: usize,
    shown: usize,
    more: impl Fn(usize) -> Text,
    reader: ReaderLocale,
) -> Option<String> {
    let left = all.checked_sub(shown).filter(|left| *left > 0)?;
    Some(more(left).in_language(reader.language))
}

/// The opening of a topic and its last replies.
fn ended(topic: &Topic<'_>, reader: ReaderLocale) -> Vec<String> {
    let answers = text!("count-answers", count = topic.answers()).in_language(reader.language);
    let me = text!("catch-up-me").in_language(reader.language);
    let mut lines = vec![format!("- {} ({answers})", opened(topic.opening, reader))];
    if let Some(answer) = &topic.opening.answer {
        lines.push(reply(&me, answer));
    }
    let hidden = topic.replies.len().saturating_sub(REPLIES);
    for said in &topic.replies[hidden..] {
        lines.push(reply(&said.author_name, &said.text));
        lines.extend(said.answer.iter().map(|answer| reply(&me, answer)));
    }
    lines
}

fn opened(said: &TopicMessage, reader: ReaderLocale) -> String {
    let head = headline(said, reader);
    let head = match &said.link {
        Some(link) => linked(&head, link),
        None => escaped(&head),
    };
    format!("{head}: {}", unlinked(&excerpt(&said.text)))
}

fn reply(author: &str, text: &str) -> String {
    format!("  - {}: {}", escaped(author), unlinked(&excerpt(text)))
}
