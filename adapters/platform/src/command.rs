//! What can be asked of the bot itself, the same on every platform.

mod reading;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::{ChannelMemory, MessageId};

/// A command, without the platform's prefix (`/` in a terminal, `!muninn ` in a Matrix room).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// What can be asked.
    Help,
    /// The last turns of this conversation.
    History,
    /// What the last answer was made from.
    Why,
    /// What the answer was made from that went out as this message.
    WhyOf(MessageId),
    /// Answer once more what was answered by this message, in its place. Where that cannot be, the
    /// reply is not told to replace anything, and what is said is for the one who asked alone.
    Again(MessageId),
    /// What the bot is, what it remembers here, and how it forgets.
    About,
    /// What was spent, by the one who asks and here.
    Usage,
    Forget(ForgetWhat),
    /// Keep this as a note of the audience.
    Note(String),
    /// What is kept here of the one who asks, for them alone.
    Memory(Listing),
    /// Another text in the place of what the last listing shows under this number.
    Correct {
        number: u32,
        text: String,
    },
    /// Make this account and another one of the same person one, by the code that the other one was given. None: give a
    /// code.
    Link(Option<String>),
    /// Undo that for this account.
    Unlink,
    /// What a list shows, with a button: the same as by its number.
    Shown(ShownItem, ItemDeed),
    /// Do, or leave, what the bot asks about in this message of its own. Nothing happens where it asks nothing in it: people
    /// react to what it says for other reasons, too.
    Decide {
        asked: MessageId,
        is_yes: bool,
    },
    /// Give the one who asks what is kept of them, in all places.
    ExportMine,
    /// Give the one who asks a link to the pages, for them alone.
    Web,
    /// Sign out whoever came to the pages by such a link of theirs.
    WebSignOut,
    /// Something about the tokens by which programs ask the bot for the one who says it, for them alone.
    Token(TokenDeed),
    /// Which messages are answered from now on.
    Attend(Attention, Scope),
    /// What is remembered of this audience from now on.
    Remember(ChannelMemory),
    /// From now on nothing is kept of what the one who says it tells others here, and what was kept is forgotten.
    OptOut,
    /// The opposite, from now on.
    OptIn,
    /// What people say to one another from now on is not kept.
    OffTheRecord(Scope),
    /// It is kept again.
    OnTheRecord(Scope),
    /// What was decided, answered and left open here since the one who asks said something last, or since a day: in
    /// their words. For them alone.
    CatchUp(Option<String>),
    /// Read what people said to one another here from a day on, in the words of the one who asks, before the bot
    /// listened. None: tell how far that is.
    Backfill(Option<String>),
    /// The platform says that a place is gone, with all that was said in it: the conversation or audience that the
    /// message is in, and all whose ids begin with it and a slash. No person gives it.
    PlaceGone,
    /// None of these; the bot says so and names them.
    Unknown(String),
}

/// Something that a list of the bot's shows, as a button below it holds it: by its id, and without words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownItem {
    /// In that list; 0 where it stands in none, but asks whether something is to be done.
    pub number: u32,
    /// Its own, whatever the bot calls things by; of letters, digits and hyphens.
    pub id: String,
    /// Tells what it said then from what it says now.
    pub version: u64,
}

impl ShownItem {
    /// In at most 64 characters, where the id has 36.
    pub fn token(&self) -> String {
        let Self {
            number,
            id,
            version,
        } = self;
        format!("{number}.{version:016x}.{id}")
    }

    /// Whether it asks something, to be approved or declined, and is no item of a list, to be forgotten or corrected.
    pub fn is_question(&self) -> bool {
        self.number == 0
    }

    /// Reads a token; none where it is none.
    pub fn parse(token: &str) -> Option<Self> {
        let mut parts = token.splitn(3, '.');
        let number = parts.next()?.parse().ok()?;
        let version = u64::from_str_radix(parts.next()?, 16).ok()?;
        let id = parts.next()?;
        let is_id = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_whole = (1..=64).contains(&id.len()) && id.chars().all(is_id);
        is_whole.then(|| Self {
            number,
            id: id.to_owned(),
            version,
        })
    }
}

/// What is to become of something that a list shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ItemDeed {
    Forget,
    /// This holds in its place.
    Correct(String),
    /// Do what was asked about.
    Approve,
    /// Leave it.
    Decline,
}

/// What is to become of the tokens by which programs ask the bot for somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenDeed {
    Make {
        /// It reads what its owner may read in all places; otherwise only where it is made.
        everywhere: bool,
        /// How long it holds, in the words of the one who asks; until it is revoked, where they say nothing of it.
        life: Option<String>,
    },
    List,
    /// The one that the list has under this number; all without one.
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
    /// What the last listing shows under this number.
    Item(u32),
    /// Everything of the one who asks, in all places. Nothing happens before they say so twice.
    Me { is_confirmed: bool },
}

/// What of a person's memory is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Listing {
    /// The newest.
    Newest,
    /// What follows what was listed last.
    More,
    /// What has these words.
    Search(String),
}

/// Which messages are answered in a conversation or an audience, beside what its settings say. The later ones are the
/// stricter.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Attention {
    /// Those that the settings and the rules find meant for the bot.
    #[default]
    Open,
    /// Those that mention the bot or answer it.
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
    /// Whether it is about single things that are kept, which are listed for the one who asks alone, with what they asked
    /// privately in the same place.
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

    /// As it is meant where each message begins a conversation of its own: what is off the record beside threads is
    /// the channel.
    #[must_use]
    pub fn beside_threads(self) -> Self {
        match self {
            Self::OffTheRecord(_) => Self::OffTheRecord(Scope::Audience),
            Self::OnTheRecord(_) => Self::OnTheRecord(Scope::Audience),
            other => other,
        }
    }
}
