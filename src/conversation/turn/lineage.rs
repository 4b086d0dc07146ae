//! What an answer is made from, and hence how far it can be trusted. Pure.

use super::draft::Draft;
use super::{Read, TurnInput};
use crate::agent::links::LinkPolicy;
use crate::graph::{Trust, Turn};
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
    let all = before(read).chain(recalled).chain(files);
    Trust::derived(all.chain([draft.evidence.trust()]))
}

/// The trust classes of what was said before in the conversation.
fn before(read: &Read) -> impl Iterator<Item = Trust> {
    let window = read.context.window.iter().map(|turn| turn.trust);
    let summary = read.context.summary.as_ref();
    window.chain(summary.map(|summary| summary.trust))
}
