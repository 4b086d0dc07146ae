//! Lists without a model what was said: the most answered topics, and what nobody answered. Pure.

use muninn_platform::{escaped, excerpt, linked};
use muninn_texts::{Text, text};

use super::findings::unlinked;
use super::layout::{ReaderLocale, Written, bold, headline};
use super::topics::{Topic, TopicMessage};

/// Maximum number of topics shown.
const TOPICS: usize = 15;
/// Replies shown per topic. The last ones are shown, as the outcome is at the end.
const REPLIES: usize = 3;
/// Maximum number of unanswered questions shown, and of unanswered statements.
const UNANSWERED: usize = 6;

/// The most answered topics with their last replies, then what nobody answered. `topics` starts with the most
/// answered. Empty if there is nothing to list.
pub(super) fn listing<'a>(topics: &[Topic<'a>], reader: ReaderLocale) -> Written<'a> {
    let answered = topics.iter().filter(|topic| topic.answers() > 0);
    let mut written = Written::default();
    for topic in answered.clone().take(TOPICS) {
        written.extend(ended(topic, reader));
    }
    let more = |count| text!("more-conversations", count);
    let further = and_more(answered.count(), TOPICS, more, reader);
    written.lines.extend(further);
    let alone = topics.iter().filter(|topic| topic.answers() == 0);
    let (questions, statements): (Vec<&Topic<'_>>, Vec<&Topic<'_>>) =
        alone.partition(|topic| topic.is_unanswered());
    let more = |count| text!("more-questions", count);
    let heading = text!("catch-up-unanswered");
    written.extend(named(&heading, &questions, more, reader));
    let more = |count| text!("more-messages", count);
    let heading = text!("catch-up-also");
    written.extend(named(&heading, &statements, more, reader));
    written
}

/// The first unanswered messages, below a heading. Empty if there are none.
fn named<'a>(
    heading: &Text,
    topics: &[&Topic<'a>],
    more: impl Fn(usize) -> Text,
    reader: ReaderLocale,
) -> Written<'a> {
    if topics.is_empty() {
        return Written::default();
    }
    let shown = topics.iter().take(UNANSWERED);
    let made_from: Vec<&TopicMessage> = shown.map(|topic| topic.opening).collect();
    let shown = made_from
        .iter()
        .map(|said| format!("- {}", opened(said, reader)));
    let mut lines = vec![bold(heading, reader.language)];
    lines.extend(shown);
    lines.extend(and_more(topics.len(), UNANSWERED, more, reader));
    Written { lines, made_from }
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
fn ended<'a>(topic: &Topic<'a>, reader: ReaderLocale) -> Written<'a> {
    let answers = text!("count-answers", count = topic.answers()).in_language(reader.language);
    let me = text!("catch-up-me").in_language(reader.language);
    let mut lines = vec![format!("- {} ({answers})", opened(topic.opening, reader))];
    if let Some(answer) = &topic.opening.answer {
        lines.push(reply(&me, answer));
    }
    let hidden = topic.replies.len().saturating_sub(REPLIES);
    let mut made_from = vec![topic.opening];
    for said in &topic.replies[hidden..] {
        lines.push(reply(&said.author_name, &said.text));
        lines.extend(said.answer.iter().map(|answer| reply(&me, answer)));
        made_from.push(said);
    }
    Written { lines, made_from }
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
