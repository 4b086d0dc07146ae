//! The commands for the bot itself, the same on every platform.

mod reading;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::shown_item::ShownItem;
use crate::{ChannelMemory, MessageId};

/// A command, without the platform's prefix (`/` in a terminal, `!muninn ` in a Matrix room).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// List the commands.
    Help,
    /// The last turns of this conversation.
    History,
    /// What the last answer was made from.
    Why,
    /// What the answer delivered as this message was made from.
    WhyOf(MessageId),
    /// Answer the question of this message again, replacing its answer. Where that is impossible,
    /// the reply replaces nothing, and only the one who asked sees the outcome.
    Again(MessageId),
    /// What the bot is, what it remembers here, and how it forgets.
    About,
    /// The spending of the one who asks, and of this place.
    Usage,
    Forget(ForgetWhat),
    /// Keep this as a note of the audience.
    Note(String),
    /// List what is kept here of the one who asks, visible to them alone.
    Memory(Listing),
    /// Replace the text of the item with this number in the last listing.
    Correct {
        number: u32,
        text: String,
    },
    /// Link this account and another one of the same person, by the code that the other one was
    /// given. `None`: issue a code.
    Link(Option<String>),
    /// Unlink this account.
    Unlink,
    /// The same for an item of a list by its button instead of its number.
    Shown(ShownItem, ItemDeed),
    /// Approve or decline what the bot asks in this message of its own. Nothing happens when the
    /// message asks nothing: people react to messages for other reasons, too.
    Decide {
        asked: MessageId,
        is_yes: bool,
    },
    /// Export what is kept of the one who asks, in all places, for them alone.
    ExportMine,
    /// Give the one who asks a link to the pages, for them alone.
    Web,
    /// Sign out every browser that the asker signed in with such a link.
    WebSignOut,
    /// Manage the tokens with which programs ask the bot for the asker, for them alone.
    Token(TokenDeed),
    /// Set which messages are answered from now on.
    Attend(Attention, Scope),
    /// Set what is remembered of this audience from now on.
    Remember(ChannelMemory),
    /// Keep nothing that the author says to others here from now on, and forget what was kept.
    OptOut,
    /// Keep it again from now on.
    OptIn,
    /// Do not keep what people say to one another from now on.
    OffTheRecord(Scope),
    /// It is kept again.
    OnTheRecord(Scope),
    /// Summarise what was decided, answered and left open here since the asker's last message, or
    /// since a day in the asker's words. For them alone.
    CatchUp(Option<String>),
    /// Read what people said to one another here before the bot listened, from a day in the asker's
    /// words on. `None`: report the progress.
    Backfill(Option<String>),
    /// The platform reports that a place is gone with all its messages: the conversation or
    /// audience of the message, and all whose ids begin with it and a slash. People cannot give
    /// this command.
    PlaceGone,
    /// None of these; the bot answers with the list of commands.
    Unknown(String),
}

/// What to do with an item of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ItemDeed {
    Forget,
    /// Replace it with this text.
    Correct(String),
    /// Do what was asked about.
    Approve,
    /// Decline it.
    Decline,
}

/// What to do with somebody's tokens for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenDeed {
    Make {
        /// It reads all places that its owner may read; otherwise only the place where it is
        /// created.
        everywhere: bool,
        /// Its lifetime in the words of the asker; `None`: until it is revoked.
        life: Option<String>,
    },
    List,
    /// Revoke the one with this number in the list; `None`: all.
    Revoke(Option<u32>),
}

/// What to forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ForgetWhat {
    /// The last turn of the one who asks.
    Last,
    /// Everything said in this conversation.
    Session,
    /// Everything said in this audience: the channel, the room.
    Audience,
    /// The item with this number in the last listing.
    Item(u32),
    /// Everything of the one who asks, in all places. Requires a confirmation.
    Me { is_confirmed: bool },
}

/// What part of a person's memory is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Listing {
    /// The newest.
    Newest,
    /// The next items after the last listing.
    More,
    /// Items that contain these words.
    Search(String),
}

/// Which messages are answered in a conversation or an audience, in addition to its settings. Later
/// variants are stricter.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Attention {
    /// Messages that the settings and the hearing rules find addressed to the bot.
    #[default]
    Open,
    /// Messages that mention the bot or reply to it.
    Mentioned,
    /// None, until it is unmuted.
    Muted,
}

impl Attention {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Mentioned => "mentioned",
            Self::Muted => "muted",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Open, Self::Mentioned, Self::Muted]
            .into_iter()
            .find(|it| it.name() == name)
    }
}

/// How far a command reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// The conversation it is given in.
    Conversation,
    /// The channel, the room, with all its conversations.
    Audience,
}

impl Command {
    /// Whether an edit that leaves this command changes what the message gave, as with a note or a
    /// correction. Others are not executed by an edit, but the words that they replace are gone.
    pub fn follows_edits(&self) -> bool {
        matches!(self, Self::Note(_) | Self::Correct { .. })
    }

    /// Whether it is about single items, which are listed for the asker alone, together with what
    /// they asked privately in the same place.
    pub fn is_about_items(&self) -> bool {
        match self {
            Self::Memory(_)
            | Self::Correct { .. }
            | Self::Shown(..)
            | Self::Forget(ForgetWhat::Item(_)) => true,
            Self::Help
            | Self::History
            | Self::Why
            | Self::WhyOf(_)
            | Self::Again(_)
            | Self::About
            | Self::Usage
            | Self::Forget(
                ForgetWhat::Last
                | ForgetWhat::Session
                | ForgetWhat::Audience
                | ForgetWhat::Me { .. },
            )
            | Self::Note(_)
            | Self::Link(_)
            | Self::Unlink
            | Self::Decide { .. }
            | Self::ExportMine
            | Self::Web
            | Self::WebSignOut
            | Self::Token(_)
            | Self::Attend(..)
            | Self::Remember(_)
            | Self::OptOut
            | Self::OptIn
            | Self::OffTheRecord(_)
            | Self::OnTheRecord(_)
            | Self::CatchUp(_)
            | Self::Backfill(_)
            | Self::PlaceGone
            | Self::Unknown(_) => false,
        }
    }

    /// The same command where each message begins its own conversation: off the record then applies
    /// to the channel.
    #[must_use]
    pub fn beside_threads(self) -> Self {
        match self {
            Self::OffTheRecord(_) => Self::OffTheRecord(Scope::Audience),
            Self::OnTheRecord(_) => Self::OnTheRecord(Scope::Audience),
            other => other,
        }
    }
}
