//! Decides what an event means for the bot. Pure: other facts come in a `SlackEventContext`.

use muninn_platform::{Addressed, AnswerMode, Command, IgnoreReason, Request};

use crate::event::{SlackChannelKind, SlackEventKind, SlackFile, SlackMessage};
use crate::ids::{PlaceInChannel, SlackPlace};
use crate::text::{mentions, plain};

/// Facts besides the event.
#[derive(Clone, Debug)]
pub(crate) struct SlackEventContext {
    /// The bot's user id.
    pub(crate) me: String,
    /// The allow list admits the person there.
    pub(crate) is_allowed: bool,
    /// The channel's answer mode.
    pub(crate) mode: AnswerMode,
    /// The audience is heard.
    pub(crate) is_heard: bool,
    /// Messages in a direct message begin threads.
    pub(crate) direct_threads: bool,
}

/// What an event means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventIntent {
    Nothing(IgnoreReason),
    Said(Heard),
    Edited(HeardEdit),
    Deleted {
        of: String,
        place: SlackPlace,
    },
    Stop(SlackPlace),
    /// Somebody opened the app's home tab.
    Home {
        user: String,
        /// The channel of their direct messages.
        direct: String,
    },
    /// Somebody may ask something in a thread made for that.
    Begun {
        place: SlackPlace,
        looks_at: Option<String>,
        is_new: bool,
    },
    /// A channel was deleted.
    Gone {
        channel: String,
    },
    /// The app was uninstalled.
    Uninstalled,
}

/// Something said to the bot, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) addressed: Addressed,
    pub(crate) said: Request,
    pub(crate) place: SlackPlace,
    pub(crate) files: Vec<SlackFile>,
}

/// An edit of a message, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeardEdit {
    pub(crate) addressed: Addressed,
    pub(crate) place: SlackPlace,
    /// In Slack's markup. Empty if the edit leaves a command.
    pub(crate) text: String,
}

/// Returns the intent of an event.
pub(crate) fn intent(what: &SlackEventKind, facts: &SlackEventContext) -> EventIntent {
    match what {
        SlackEventKind::Message(message) => said(message, facts),
        SlackEventKind::Changed { now, before, .. } => edited(now, before.as_deref(), facts),
        // A deleted message is forgotten, whoever had the right to delete it.
        SlackEventKind::Deleted {
            channel,
            kind,
            ts,
            thread,
            user,
            is_bot,
        } => match user {
            Some(user) if *user == facts.me => EventIntent::Nothing(IgnoreReason::Own),
            Some(_) | None if *is_bot => EventIntent::Nothing(IgnoreReason::Bot),
            Some(_) | None => EventIntent::Deleted {
                of: ts.clone(),
                place: place(channel, *kind, thread.as_deref(), ts, facts.direct_threads),
            },
        },
        // What was remembered there is forgotten, whoever may talk to the bot now.
        SlackEventKind::Gone { channel } => EventIntent::Gone {
            channel: channel.clone(),
        },
        _ if !facts.is_allowed => EventIntent::Nothing(IgnoreReason::NotAllowed),
        SlackEventKind::Home { user, channel, tab } if tab == "home" => EventIntent::Home {
            user: user.clone(),
            direct: channel.clone(),
        },
        SlackEventKind::Assistant {
            is_new,
            user: _,
            channel,
            thread,
            looks_at,
        } => EventIntent::Begun {
            place: SlackPlace::new(
                channel,
                thread
                    .clone()
                    .map_or(PlaceInChannel::Main, PlaceInChannel::Thread),
            ),
            looks_at: looks_at.clone(),
            is_new: *is_new,
        },
        SlackEventKind::Stopped { channel, thread } => {
            let within = thread
                .clone()
                .map_or(PlaceInChannel::Main, PlaceInChannel::Thread);
            EventIntent::Stop(SlackPlace::new(channel, within))
        }
        SlackEventKind::Uninstalled => EventIntent::Uninstalled,
        SlackEventKind::Home { .. } | SlackEventKind::Other => {
            EventIntent::Nothing(IgnoreReason::Irrelevant)
        }
    }
}

fn said(message: &SlackMessage, facts: &SlackEventContext) -> EventIntent {
    if let Some(silence) = silence(message, facts) {
        return EventIntent::Nothing(silence);
    }
    let is_called = mentions(&message.text, &facts.me);
    let place = place(
        &message.channel,
        message.kind,
        message.thread.as_deref(),
        &message.ts,
        facts.direct_threads,
    );
    let addressed = match addressed(message, is_called, facts.mode) {
        Some(addressed) => addressed,
        // A message that names the bot where it never answers is not said to others.
        None if facts.is_heard && !is_called && message.kind == SlackChannelKind::Channel => {
            Addressed::Overheard
        }
        None => return EventIntent::Nothing(IgnoreReason::NotAddressed),
    };
    let said = match called(message, is_called, facts) {
        Some(Called::Stop) => return EventIntent::Stop(place),
        Some(Called::Command(command)) => Request::Command(command),
        None => Request::Text(message.text.clone()),
    };
    EventIntent::Said(Heard {
        addressed,
        said,
        place,
        files: message.files.clone(),
    })
}

/// Returns a message to others from before the bot listened, as it would have been heard.
pub(crate) fn overheard(message: &SlackMessage, facts: &SlackEventContext) -> Option<Heard> {
    let is_called = mentions(&message.text, &facts.me);
    let is_heard = facts.is_heard
        && message.kind == SlackChannelKind::Channel
        && silence(message, facts).is_none()
        && called(message, is_called, facts).is_none();
    is_heard.then(|| Heard {
        addressed: Addressed::Overheard,
        said: Request::Text(message.text.clone()),
        place: place(
            &message.channel,
            message.kind,
            message.thread.as_deref(),
            &message.ts,
            facts.direct_threads,
        ),
        files: message.files.clone(),
    })
}

fn edited(now: &SlackMessage, before: Option<&str>, facts: &SlackEventContext) -> EventIntent {
    if let Some(silence) = silence(now, facts) {
        return EventIntent::Nothing(silence);
    }
    // An unfurled link or a counted reply: the text is unchanged.
    if before == Some(now.text.as_str()) {
        return EventIntent::Nothing(IgnoreReason::Irrelevant);
    }
    let is_called = mentions(&now.text, &facts.me);
    // Only the bot knows which earlier messages were addressed to it, so every edit is delivered.
    let leaves_nothing = match called(now, is_called, facts) {
        None => false,
        Some(Called::Stop) => true,
        Some(Called::Command(command)) => !command.follows_edits(),
    };
    let (addressed, text) = if leaves_nothing {
        // It asks nothing, so it makes no question of what was said to others.
        (Addressed::InConversation, String::new())
    } else {
        let addressed = addressed(now, is_called, facts.mode);
        let addressed = addressed.unwrap_or(Addressed::InConversation);
        (addressed, now.text.clone())
    };
    EventIntent::Edited(HeardEdit {
        addressed,
        place: place(
            &now.channel,
            now.kind,
            now.thread.as_deref(),
            &now.ts,
            facts.direct_threads,
        ),
        text,
    })
}

fn silence(message: &SlackMessage, facts: &SlackEventContext) -> Option<IgnoreReason> {
    let is_own = message.user.as_deref() == Some(facts.me.as_str());
    let is_speech = matches!(
        message.subtype.as_deref(),
        None | Some("file_share" | "thread_broadcast" | "me_message")
    );
    if is_own {
        Some(IgnoreReason::Own)
    } else if message.is_bot {
        Some(IgnoreReason::Bot)
    } else if !is_speech || message.user.is_none() {
        Some(IgnoreReason::Irrelevant)
    } else if !facts.is_allowed {
        Some(IgnoreReason::NotAllowed)
    } else {
        None
    }
}

fn addressed(message: &SlackMessage, is_called: bool, mode: AnswerMode) -> Option<Addressed> {
    let is_in_thread = message
        .thread
        .as_ref()
        .is_some_and(|root| *root != message.ts);
    let is_alone = message.kind == SlackChannelKind::Direct;
    mode.addressed(is_called || is_alone, is_in_thread)
}

enum Called {
    Command(Command),
    Stop,
}

/// Parses "@Muninn why" without further words: Slack allows no slash commands in threads.
fn called(message: &SlackMessage, is_called: bool, facts: &SlackEventContext) -> Option<Called> {
    if !is_called || !message.files.is_empty() {
        return None;
    }
    let text = plain(&message.text, &facts.me, &|_| None);
    match Command::parse(text.trim_start_matches([':', ','])) {
        Command::Unknown(word) if word.eq_ignore_ascii_case("stop") => Some(Called::Stop),
        Command::Unknown(_) => None,
        // Outside threads each message begins one, which ends with it.
        known if message.thread.is_none() => Some(Called::Command(known.beside_threads())),
        known => Some(Called::Command(known)),
    }
}

/// Returns a message's conversation: its thread, or the one it would begin.
pub(crate) fn place(
    channel: &str,
    kind: SlackChannelKind,
    thread: Option<&str>,
    ts: &str,
    direct_threads: bool,
) -> SlackPlace {
    let begins_thread = direct_threads || kind == SlackChannelKind::Channel;
    let within = match (thread, kind) {
        (Some(root), _) if begins_thread => PlaceInChannel::Thread(root.to_owned()),
        (None, _) if begins_thread => PlaceInChannel::Thread(ts.to_owned()),
        // The root of a thread in a direct message was itself outside the thread.
        (Some(root), SlackChannelKind::Direct) if root != ts => {
            PlaceInChannel::Thread(root.to_owned())
        }
        (Some(_) | None, SlackChannelKind::Direct | SlackChannelKind::Channel) => {
            PlaceInChannel::Main
        }
    };
    SlackPlace::new(channel, within)
}

#[cfg(test)]
mod tests;
