//! Decides what an event means for the bot. Pure: other facts come in a `MatrixEventContext`.

use matrix_sdk::ruma::{OwnedEventId, OwnedUserId};
use muninn_platform::{Addressed, Addressees, AnswerMode, IgnoreReason, Opinion, Request};

use crate::event::{MatrixEvent, MatrixEventKind, MatrixFile, MatrixMessage, MessageKind, Relates};
use crate::options::Threads;

/// Facts besides the event.
#[derive(Clone, Debug)]
pub(crate) struct MatrixEventContext {
    pub(crate) me: OwnedUserId,
    /// The bot's display name in the room.
    pub(crate) my_name: Option<String>,
    /// Nobody else is in the room, or it was created as a direct room.
    pub(crate) is_direct: bool,
    /// The allow list admits the sender here.
    pub(crate) is_allowed: bool,
    /// The room is heard.
    pub(crate) is_heard: bool,
    /// The message that this one replies to or changes, or that a yes or no is below, if known.
    pub(crate) refers_to: Option<EarlierMessage>,
    pub(crate) threads: Threads,
    pub(crate) command_prefix: String,
}

/// An earlier message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EarlierMessage {
    pub(crate) sender: OwnedUserId,
    pub(crate) thread: Option<OwnedEventId>,
}

/// The intent of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventIntent {
    Nothing(IgnoreReason),
    Said {
        addressed: Addressed,
        said: Request,
        file: Option<MatrixFile>,
        place: AnswerPlacement,
    },
    Edited {
        of: OwnedEventId,
        addressed: Addressed,
        text: String,
        /// The file that the message still comes with, or comes with now.
        file: Option<MatrixFile>,
    },
    Deleted {
        of: OwnedEventId,
    },
    Opinion {
        answer: OwnedEventId,
        opinion: Opinion,
    },
    Stop {
        at: OwnedEventId,
    },
    /// Approves or declines what the bot may have asked in this message of its own.
    Decided {
        at: OwnedEventId,
        is_yes: bool,
    },
}

/// The conversation of a message, and the place of its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerPlacement {
    /// The thread of the conversation; `None` for the room's main timeline.
    pub(crate) thread: Option<OwnedEventId>,
    /// In the main timeline: whether the answer is a reply to the question.
    pub(crate) is_reply: bool,
}

/// Returns the intent of an event.
pub(crate) fn intent(event: &MatrixEvent, facts: &MatrixEventContext) -> EventIntent {
    if event.sender == facts.me {
        return EventIntent::Nothing(IgnoreReason::Own);
    }
    let is_bot = |message: &MatrixMessage| message.kind == MessageKind::Notice;
    match &event.what {
        MatrixEventKind::Membership { .. }
        | MatrixEventKind::Undecryptable(_)
        | MatrixEventKind::Other => EventIntent::Nothing(IgnoreReason::Irrelevant),
        // A redacted message is forgotten, whoever had the right to redact it.
        MatrixEventKind::Redaction { of } => EventIntent::Deleted { of: of.clone() },
        _ if !facts.is_allowed => EventIntent::Nothing(IgnoreReason::NotAllowed),
        MatrixEventKind::Reaction { to, key } => reacted(to, key, facts),
        MatrixEventKind::Message(message) | MatrixEventKind::Edit { new: message, .. }
            if is_bot(message) =>
        {
            EventIntent::Nothing(IgnoreReason::Bot)
        }
        MatrixEventKind::Message(message) => said(event, message, facts),
        MatrixEventKind::Edit { of, new, .. } => {
            // Anybody can send an edit of any message; only the author's are valid.
            let is_authors = |known: &EarlierMessage| known.sender == event.sender;
            if facts.refers_to.as_ref().is_some_and(is_authors) {
                edited(of, new, facts)
            } else {
                EventIntent::Nothing(IgnoreReason::Irrelevant)
            }
        }
    }
}

/// The reactions with which the bot offers to approve and to decline.
pub(crate) const YES: &str = "✅";
pub(crate) const NO: &str = "❌";

/// Removes modifiers of a reaction without a meaning: skin tones, and emoji and text selectors.
fn plain(key: &str) -> String {
    key.chars()
        .filter(|c| !matches!(c, '\u{1f3fb}'..='\u{1f3ff}' | '\u{fe0e}' | '\u{fe0f}'))
        .collect()
}

/// Returns whether a reaction approves or declines, if either.
pub(crate) fn decision(key: &str) -> Option<bool> {
    match plain(key).as_str() {
        YES | "☑" | "✔" => Some(true),
        NO | "✖" => Some(false),
        _ => None,
    }
}

fn reacted(to: &OwnedEventId, key: &str, facts: &MatrixEventContext) -> EventIntent {
    if let Some(is_yes) = decision(key) {
        let is_own = |known: &EarlierMessage| known.sender == facts.me;
        return if facts.refers_to.as_ref().is_some_and(is_own) {
            EventIntent::Decided {
                at: to.clone(),
                is_yes,
            }
        } else {
            EventIntent::Nothing(IgnoreReason::Irrelevant)
        };
    }
    let plain = plain(key);
    let opinion = match plain.as_str() {
        "👍" | "+1" => Opinion::Good,
        "👎" | "-1" => Opinion::Bad,
        "🛑" => return EventIntent::Stop { at: to.clone() },
        _ => return EventIntent::Nothing(IgnoreReason::Irrelevant),
    };
    EventIntent::Opinion {
        answer: to.clone(),
        opinion,
    }
}

fn said(event: &MatrixEvent, message: &MatrixMessage, facts: &MatrixEventContext) -> EventIntent {
    let file = match &message.kind {
        MessageKind::File(file) => Some(file.clone()),
        MessageKind::Text => None,
        MessageKind::Notice | MessageKind::Other => {
            return EventIntent::Nothing(IgnoreReason::Irrelevant);
        }
    };
    let (said, addressed) = match command(&message.text, &facts.command_prefix) {
        Some(Request::Command(command)) if thread(&message.relates, facts).is_none() => (
            Request::Command(command.beside_threads()),
            Some(Addressed::Directly),
        ),
        Some(said) => (said, Some(Addressed::Directly)),
        None => (
            Request::Text(without_mention(&message.text, facts)),
            addressed(message, facts),
        ),
    };
    // In a room of two, everything is said to the bot.
    let overheard = (facts.is_heard && !facts.is_direct).then_some(Addressed::Overheard);
    let addressed = addressed.or(overheard);
    let place = match addressed {
        // Messages outside threads form one conversation.
        Some(Addressed::Overheard) => AnswerPlacement {
            thread: thread(&message.relates, facts).cloned(),
            is_reply: false,
        },
        Some(Addressed::Directly | Addressed::InConversation) | None => {
            place(event, &message.relates, &said, facts)
        }
    };
    match addressed {
        Some(addressed) => EventIntent::Said {
            addressed,
            said,
            file,
            place,
        },
        None => EventIntent::Nothing(IgnoreReason::NotAddressed),
    }
}

/// Returns a message to others from before the bot listened, or too old to be answered, as it would
/// have been heard.
pub(crate) fn overheard(event: &MatrixEvent, facts: &MatrixEventContext) -> Option<EventIntent> {
    let MatrixEventKind::Message(message) = &event.what else {
        return None;
    };
    let file = match &message.kind {
        MessageKind::File(file) => Some(file.clone()),
        MessageKind::Text => None,
        MessageKind::Notice | MessageKind::Other => return None,
    };
    let is_heard = facts.is_heard
        && facts.is_allowed
        && !facts.is_direct
        && event.sender != facts.me
        && addressed(message, facts) != Some(Addressed::Directly)
        && command(&message.text, &facts.command_prefix).is_none();
    is_heard.then(|| EventIntent::Said {
        addressed: Addressed::Overheard,
        said: Request::Text(message.text.clone()),
        file,
        place: AnswerPlacement {
            thread: thread(&message.relates, facts).cloned(),
            is_reply: false,
        },
    })
}

/// Only the bot knows which earlier messages were addressed to it, so every edit is delivered.
fn edited(of: &OwnedEventId, new: &MatrixMessage, facts: &MatrixEventContext) -> EventIntent {
    let to_bot = || addressed(new, facts).unwrap_or(Addressed::InConversation);
    let (addressed, text) = match after_prefix(&new.text, &facts.command_prefix) {
        Some(rest) => match Request::parse(rest) {
            // It asks nothing, so it makes no question of what was said to others.
            Request::Command(command) if !command.follows_edits() => {
                (Addressed::InConversation, String::new())
            }
            Request::Text(_) | Request::Command(_) => (to_bot(), rest.trim().to_owned()),
        },
        None => (to_bot(), without_mention(&new.text, facts)),
    };
    let file = match &new.kind {
        MessageKind::File(file) => Some(file.clone()),
        MessageKind::Text => None,
        MessageKind::Notice | MessageKind::Other => {
            return EventIntent::Nothing(IgnoreReason::Irrelevant);
        }
    };
    EventIntent::Edited {
        of: of.clone(),
        addressed,
        text,
        file,
    }
}

fn addressed(message: &MatrixMessage, facts: &MatrixEventContext) -> Option<Addressed> {
    let is_told = message
        .mentions
        .as_ref()
        .is_some_and(|ids| ids.contains(&facts.me));
    // If the client lists mentions, names alone do not count, with one exception: a typed "Muninn,
    // …" addresses Muninn.
    let is_named = match &message.mentions {
        Some(_) => names(facts).any(|name| call(&message.text, name).is_some()),
        None => names(facts).any(|name| has_word(&message.text, name)),
    };
    let is_answer = facts
        .refers_to
        .as_ref()
        .is_some_and(|to| to.sender == facts.me);
    let mode = match facts.threads {
        Threads::Always | Threads::Follow => AnswerMode::Threads,
        Threads::Never => AnswerMode::Mentions,
    };
    let names_bot = facts.is_direct || is_told || is_named || is_answer;
    mode.addressed(names_bot, thread(&message.relates, facts).is_some())
}

/// Returns to whom a message is addressed, as far as its client tells.
pub(crate) fn toward(event: &MatrixEvent, facts: &MatrixEventContext) -> Addressees {
    let MatrixEventKind::Message(message) = &event.what else {
        return Addressees::default();
    };
    let mut mentions = message.mentions.iter().flatten();
    Addressees {
        names_people: message.mentions_room || mentions.any(|id| *id != facts.me),
        answers_person: facts
            .refers_to
            .as_ref()
            .is_some_and(|to| to.sender != facts.me),
        // Matrix has no setting to answer everything.
        omits_bot: false,
    }
}

fn thread<'a>(relates: &'a Relates, facts: &'a MatrixEventContext) -> Option<&'a OwnedEventId> {
    // A client without threads replies to the answer in a thread.
    let of_answer = || facts.refers_to.as_ref().and_then(|to| to.thread.as_ref());
    relates.thread.as_ref().or_else(of_answer)
}

fn place(
    event: &MatrixEvent,
    relates: &Relates,
    said: &Request,
    facts: &MatrixEventContext,
) -> AnswerPlacement {
    let in_main = AnswerPlacement {
        thread: None,
        is_reply: !facts.is_direct,
    };
    let in_thread = |root: &OwnedEventId| AnswerPlacement {
        thread: Some(root.clone()),
        is_reply: false,
    };
    match (facts.threads, thread(relates, facts), said) {
        (Threads::Never, _, _) => in_main,
        (Threads::Always | Threads::Follow, Some(root), _) => in_thread(root),
        // Two people in a room need no threads, and a command's answer is no conversation.
        (Threads::Always, None, Request::Text(_)) if !facts.is_direct => in_thread(&event.id),
        (Threads::Always | Threads::Follow, None, _) => in_main,
    }
}

/// Returns what is asked for after the prefix, if the text begins with the prefix.
fn command(text: &str, prefix: &str) -> Option<Request> {
    after_prefix(text, prefix).map(Request::parse)
}

/// Returns the text after the prefix, if it begins with the prefix.
fn after_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let text = text.trim_start();
    let rest = match text.get(..prefix.len()) {
        Some(start) if start.eq_ignore_ascii_case(prefix) => &text[prefix.len()..],
        Some(_) | None => return None,
    };
    if rest.starts_with(|c: char| !c.is_whitespace() && !matches!(c, ':' | ',')) {
        return None;
    }
    Some(rest.trim_start_matches([':', ',']))
}

fn names(facts: &MatrixEventContext) -> impl Iterator<Item = &str> {
    let name = facts.my_name.as_deref().map(str::trim);
    [Some(facts.me.as_str()), name, Some(facts.me.localpart())]
        .into_iter()
        .flatten()
        .filter(|name| !name.is_empty())
}

/// Removes the bot's name at the beginning, and its full id anywhere.
fn without_mention(text: &str, facts: &MatrixEventContext) -> String {
    let text = text.trim();
    let called = names(facts).find_map(|name| {
        let told = strip_name(text, name)?;
        Some(told.trim_start_matches([':', ',']))
    });
    let text = called.unwrap_or(text);
    text.replace(facts.me.as_str(), "").trim().to_owned()
}

/// Returns the text after a name that addresses somebody: "Muninn, …", "@muninn: …".
fn call<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = strip_name(text.trim_start(), name)?;
    rest.strip_prefix([':', ','])
}

/// Returns the text after a name at the beginning, as a whole word, with or without `@`.
fn strip_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let bare = text.strip_prefix('@').unwrap_or(text);
    let name = name.strip_prefix('@').unwrap_or(name);
    let mut rest = bare.chars();
    for expected in name.chars() {
        let found = rest.next()?;
        if !found.to_lowercase().eq(expected.to_lowercase()) {
            return None;
        }
    }
    let rest = rest.as_str();
    let ends = match rest.chars().next() {
        None => true,
        // "muninn:example.org" is a user id, "muninn: …" an address.
        Some(':') => rest[1..].chars().next().is_none_or(char::is_whitespace),
        Some(next) => !is_of_name(next),
    };
    ends.then_some(rest)
}

fn has_word(text: &str, name: &str) -> bool {
    let starts = text.char_indices().map(|(at, _)| at);
    starts
        .filter(|at| begins_word(text, *at))
        .any(|at| strip_name(&text[at..], name).is_some())
}

fn begins_word(text: &str, at: usize) -> bool {
    text[..at]
        .chars()
        .next_back()
        .is_none_or(|before| !is_of_name(before) && before != '@')
}

/// Whether a character next to a name makes it another name.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

#[cfg(test)]
mod tests;
