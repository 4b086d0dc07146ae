//! What an answer is made from, and hence how far it can be trusted. Pure.

use super::draft::Draft;
use super::{Read, TurnInput};
use crate::agent::links::LinkPolicy;
use crate::graph::{Source, Trust, Turn};
use crate::knowledge::search::Policy;

/// Hosts to which links may lead, before anything is looked up.
pub(super) fn links(asked: &TurnInput<'_>, read: &Read, policies: &[Policy]) -> LinkPolicy {
    let mut links = LinkPolicy::default();
    // Trusted: the people who talk with the bot, and its operator.
    links.hosts.add(asked.text);
    links.hosts.add(&asked.kind.set.persona);
    links.hosts.add(&asked.kind.instructions);
    for policy in policies {
        let said = policy.reminder.iter().chain(&policy.reply);
        said.for_each(|said| links.hosts.add(said));
    }
    for turn in read.context.window.iter().filter(|it| !it.is_message()) {
        links.hosts.add(&turn.input);
    }
    links.add_recalled(&read.recalled);
    links.is_limited |= !asked.files.texts.is_empty() || !asked.files.images.is_empty();
    links.is_limited |= read.context.window.iter().any(Turn::is_message);
    links.is_limited |= before(read).any(Trust::is_low);
    links
}

/// The trust class of an answer: the lowest of its inputs.
pub(super) fn trust(asked: &TurnInput<'_>, read: &Read, draft: &Draft) -> Trust {
    let files = asked.files.has_files().then_some(Trust::File);
    let recalled = draft.recalled.iter().map(|memory| memory.trust);
    let all = before_answer(draft.source, read)
        .chain(recalled)
        .chain(files);
    Trust::derived(all.chain([draft.evidence.trust()]))
}

/// The trust classes of what was said before that an answer is made from: a quote of memory has only what it quotes.
fn before_answer(source: Source, read: &Read) -> impl Iterator<Item = Trust> {
    let is_quote = source == Source::Memory;
    before(read).filter(move |_| !is_quote)
}

/// The trust classes of what was said before in the conversation.
fn before(read: &Read) -> impl Iterator<Item = Trust> {
    let window = read.context.window.iter().map(|turn| turn.trust);
    let summary = read.context.summary.as_ref();
    window.chain(summary.map(|summary| summary.trust))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_of_memory_has_nothing_of_what_was_answered_before_it() {
        let answered = Turn {
            trust: Trust::Documents,
            ..Turn::of("c", "ada", "When?", "At seven.")
        };
        let read = Read::of_window(vec![answered]);
        for (source, expected) in [
            (Source::Memory, vec![]),
            (Source::Model, vec![Trust::Documents]),
            (Source::Retrieval, vec![Trust::Documents]),
        ] {
            let before: Vec<Trust> = before_answer(source, &read).collect();
            assert_eq!(before, expected, "{source:?}");
        }
    }
}
