//! What was said, listed without a model: what was answered most, and what nobody answered. Pure.

use muninn_platform::{TimeZone, counted, escaped, excerpt, linked};

use super::findings::unlinked;
use super::headline;
use super::topics::{Said, Topic};

/// Topics that are shown at most.
const TOPICS: usize = 15;
/// Replies of each: what was settled stands at the end.
const REPLIES: usize = 3;
/// Questions without an answer that are shown at most, and statements.
const UNANSWERED: usize = 6;

/// The topics that were answered most, with how they ended, and what nobody answered. `topics` have the most answered
/// first. Empty where there is nothing.
pub(super) fn listing(topics: &[Topic<'_>], zone: TimeZone) -> Vec<String> {
    let answered = topics.iter().filter(|topic| topic.answers() > 0);
    let mut lines: Vec<String> = Vec::new();
    for topic in answered.clone().take(TOPICS) {
        lines.extend(ended(topic, zone));
    }
    lines.extend(and_more(answered.count(), TOPICS, "conversation"));
    let alone = topics.iter().filter(|topic| topic.answers() == 0);
    let (questions, statements): (Vec<&Topic<'_>>, Vec<&Topic<'_>>) =
        alone.partition(|topic| topic.is_unanswered());
    lines.extend(named(
        "**Nobody answered yet**",
        &questions,
        "question",
        zone,
    ));
    lines.extend(named("**Also said**", &statements, "message", zone));
    lines
}

/// The first of what nobody answered, below a heading. Empty where there is nothing.
fn named(heading: &str, topics: &[&Topic<'_>], noun: &str, zone: TimeZone) -> Vec<String> {
    if topics.is_empty() {
        return Vec::new();
    }
    let shown = topics.iter().take(UNANSWERED);
    let shown = shown.map(|topic| format!("- {}", opened(topic.opening, zone)));
    let mut lines = vec![heading.to_owned()];
    lines.extend(shown);
    lines.extend(and_more(topics.len(), UNANSWERED, noun));
    lines
}

fn and_more(all: usize, shown: usize, noun: &str) -> Option<String> {
    let more = all.checked_sub(shown).filter(|more| *more > 0)?;
    Some(format!("(And {} more.)", counted(more, noun)))
}

/// How a topic began, and its last replies.
fn ended(topic: &Topic<'_>, zone: TimeZone) -> Vec<String> {
    let answers = counted(topic.answers(), "answer");
    let mut lines = vec![format!("- {} ({answers})", opened(topic.opening, zone))];
    if let Some(answer) = &topic.opening.answer {
        lines.push(reply("I", answer));
    }
    let hidden = topic.replies.len().saturating_sub(REPLIES);
    for said in &topic.replies[hidden..] {
        lines.push(reply(&said.author_name, &said.text));
        lines.extend(said.answer.iter().map(|answer| reply("I", answer)));
    }
    lines
}

fn opened(said: &Said, zone: TimeZone) -> String {
    let head = headline(said, zone);
    let head = match &said.link {
        Some(link) => linked(&head, link),
        None => escaped(&head),
    };
    format!("{head}: {}", unlinked(&excerpt(&said.text)))
}

fn reply(author: &str, text: &str) -> String {
    format!("  - {}: {}", escaped(author), unlinked(&excerpt(text)))
}
