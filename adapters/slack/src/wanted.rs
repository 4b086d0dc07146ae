//! Decides what a slash command, a button, a form or a shortcut asks for. Pure.

use muninn_platform::{Command, ItemDeed, Language, MessageId, Opinion, Request, ShownItem};

use crate::event::{Interaction, SlackChannelKind, SlackInteractionKind, Slash};
use crate::ids::{self, PlaceInChannel, SlackPlace};
use crate::intent::place;
use crate::views::{self, ASK_CALLBACK, CORRECT_CALLBACK};

/// What a slash command, a button or a shortcut asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InteractionIntent {
    Nothing,
    /// Answer this person alone, there. `of`: the place of what is asked about.
    Ask {
        said: Request,
        of: SlackPlace,
    },
    Opinion {
        answer: MessageId,
        opinion: Opinion,
        of: SlackPlace,
    },
    Stop(SlackPlace),
    /// Open a form to correct this item.
    Form(ShownItem),
    /// Share this with the channel.
    Share(String),
    /// Forget the person's direct messages. `said_to_be`: the channel according to the button, to
    /// be confirmed by Slack.
    ForgetDirect {
        said_to_be: String,
    },
    /// A command without its argument.
    Incomplete(Incomplete),
}

/// Which command lacks its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Incomplete {
    /// `ask` without a question.
    Ask,
}

/// Returns what a slash command asks for. `plain`: its text with names instead of Slack's markup.
pub(crate) fn slash(slash: &Slash, plain: &str) -> InteractionIntent {
    let text = slash.text.trim();
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if text.eq_ignore_ascii_case("ask") {
        return InteractionIntent::Incomplete(Incomplete::Ask);
    }
    let said = if first.eq_ignore_ascii_case("ask") {
        Request::Text(rest.trim().to_owned())
    } else {
        // A slash command is outside threads.
        match Request::parse(plain) {
            Request::Command(command) => Request::Command(command.beside_threads()),
            Request::Text(_) => Request::Text(text.to_owned()),
        }
    };
    let of = match &said {
        Request::Text(_) => private(&slash.channel, &slash.user),
        Request::Command(command) if command.is_about_items() => {
            private(&slash.channel, &slash.user)
        }
        Request::Command(_) => SlackPlace::new(&slash.channel, PlaceInChannel::Main),
    };
    InteractionIntent::Ask { said, of }
}

fn private(channel: &str, user: &str) -> SlackPlace {
    SlackPlace::new(channel, PlaceInChannel::Private(user.to_owned()))
}

/// Returns what a button or a shortcut asks for. `language`: the user's language in Slack.
pub(crate) fn interaction_intent(
    interaction: &Interaction,
    direct_threads: bool,
    language: Language,
) -> InteractionIntent {
    let Interaction { channel, user, .. } = interaction;
    match (&interaction.deed, channel) {
        (SlackInteractionKind::Shortcut { callback, text, .. }, Some(channel))
            if callback == ASK_CALLBACK =>
        {
            InteractionIntent::Ask {
                said: Request::Text(views::about_message(text, language)),
                of: private(channel, user),
            }
        }
        (SlackInteractionKind::Shortcut { .. }, _) => InteractionIntent::Nothing,
        (
            SlackInteractionKind::Submitted {
                callback,
                item,
                text,
                ..
            },
            Some(channel),
        ) if callback == CORRECT_CALLBACK => {
            let deed = ItemDeed::Correct(text.trim().to_owned());
            of_item(item, deed, channel, user)
        }
        (SlackInteractionKind::Submitted { .. }, _) => InteractionIntent::Nothing,
        (SlackInteractionKind::Button { action, value, .. }, Some(channel))
            if let Some(deed) = deed_of(action) =>
        {
            of_item(value, deed, channel, user)
        }
        (
            SlackInteractionKind::Button {
                action,
                value,
                ts,
                thread,
                is_ephemeral,
            },
            channel,
        ) => {
            let about = channel.as_ref().and_then(|channel| {
                let answer = answer_above((value, *is_ephemeral), channel, ts.as_deref())?;
                let of = match is_ephemeral {
                    true => private(channel, user),
                    false => {
                        place_of_button(channel, ts.as_deref(), thread.as_deref(), direct_threads)
                    }
                };
                Some((answer, of))
            });
            pressed(action, value, *is_ephemeral, about)
        }
    }
}

/// Returns the conversation of a message that everybody there sees.
fn place_of_button(
    channel: &str,
    ts: Option<&str>,
    thread: Option<&str>,
    direct_threads: bool,
) -> SlackPlace {
    let kind = match ids::is_direct(channel) {
        true => SlackChannelKind::Direct,
        false => SlackChannelKind::Channel,
    };
    place(
        channel,
        kind,
        thread,
        ts.unwrap_or_default(),
        direct_threads,
    )
}

/// Returns what a button does to an item at once.
fn deed_of(action: &str) -> Option<ItemDeed> {
    match views::Button::of(action)? {
        views::Button::ForgetItem => Some(ItemDeed::Forget),
        views::Button::ApproveItem => Some(ItemDeed::Approve),
        views::Button::DeclineItem => Some(ItemDeed::Decline),
        views::Button::Why
        | views::Button::Opinion
        | views::Button::Share
        | views::Button::Stop
        | views::Button::CorrectItem
        | views::Button::ForgetDirect => None,
    }
}

/// Returns the answer above a button.
fn answer_above(
    (value, is_ephemeral): (&str, bool),
    channel: &str,
    ts: Option<&str>,
) -> Option<MessageId> {
    // Ephemeral messages have no id in Slack; their buttons contain ours. Only Slack is trusted for
    // who pressed it, and where.
    let named = value.split_once(' ').map(|(_, named)| named);
    let is_here = |named: &&str| named.starts_with(&format!("{channel}/private/"));
    let named = named.filter(|named| is_ephemeral && is_here(named));
    let standing = ts.map(|ts| ids::message(channel, ts));
    named.map(MessageId::new).or(standing)
}

/// Returns the intent for an item, which belongs to the channel or to what the person asked there
/// privately.
fn of_item(token: &str, deed: ItemDeed, channel: &str, user: &str) -> InteractionIntent {
    match ShownItem::parse(token) {
        Some(item) => InteractionIntent::Ask {
            said: Request::Command(Command::Shown(item, deed)),
            of: private(channel, user),
        },
        None => InteractionIntent::Nothing,
    }
}

/// Handles a pressed button. `about`: the answer above the button, and its conversation.
fn pressed(
    action: &str,
    value: &str,
    is_ephemeral: bool,
    about: Option<(MessageId, SlackPlace)>,
) -> InteractionIntent {
    let word = value.split(' ').next().unwrap_or_default();
    match (views::Button::of(action), about) {
        (Some(views::Button::Share), _) if is_ephemeral => {
            InteractionIntent::Share(value.to_owned())
        }
        (Some(views::Button::Share), _) => InteractionIntent::Nothing,
        (Some(views::Button::ForgetDirect), _) => InteractionIntent::ForgetDirect {
            said_to_be: value.to_owned(),
        },
        (Some(views::Button::Why), Some((answer, of))) => InteractionIntent::Ask {
            said: Request::Command(Command::WhyOf(answer)),
            of,
        },
        (Some(views::Button::Opinion), Some((answer, of))) => match word {
            "good" => InteractionIntent::Opinion {
                answer,
                opinion: Opinion::Good,
                of,
            },
            "bad" => InteractionIntent::Opinion {
                answer,
                opinion: Opinion::Bad,
                of,
            },
            _ => InteractionIntent::Nothing,
        },
        (Some(views::Button::Stop), Some((_, of))) => InteractionIntent::Stop(of),
        (Some(views::Button::CorrectItem), _) => {
            ShownItem::parse(value).map_or(InteractionIntent::Nothing, InteractionIntent::Form)
        }
        (
            Some(
                views::Button::Why
                | views::Button::Opinion
                | views::Button::Stop
                | views::Button::ForgetItem
                | views::Button::ApproveItem
                | views::Button::DeclineItem,
            )
            | None,
            _,
        ) => InteractionIntent::Nothing,
    }
}

#[cfg(test)]
mod tests;
