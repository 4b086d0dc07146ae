//! Who may talk to the bot. Pure, and closed where nothing was opened.

use std::str::FromStr;

use muninn_platform::AllowList;
use serenity::model::id::{ChannelId, GuildId, RoleId, UserId};

use crate::ids::number;

/// What `DISCORD_ALLOW` lets in. The default lets nobody in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allow(AllowList<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Guild(GuildId),
    Channel(ChannelId),
    Role(RoleId),
    User(UserId),
}

/// An entry of `DISCORD_ALLOW` that is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "DISCORD_ALLOW has {0:?}, which is no guild:ID, channel:ID, role:ID or user:ID, nor * for everyone; with Discord's developer mode on, a right click copies an ID"
)]
pub struct AllowError(String);

impl FromStr for Allow {
    type Err = AllowError;

    fn from_str(text: &str) -> Result<Self, AllowError> {
        AllowList::parse(text, Entry::parse)
            .map(Self)
            .map_err(AllowError)
    }
}

impl Entry {
    fn parse(entry: &str) -> Option<Self> {
        let (kind, id) = entry.split_once(':')?;
        let id = number(id)?;
        match kind {
            "guild" | "server" => Some(Self::Guild(GuildId::new(id))),
            "channel" => Some(Self::Channel(ChannelId::new(id))),
            "role" => Some(Self::Role(RoleId::new(id))),
            "user" => Some(Self::User(UserId::new(id))),
            _ => None,
        }
    }

    /// Roles and channels say nothing of direct messages, for there they cannot be known.
    fn fits(&self, visitor: &Visitor<'_>) -> bool {
        let in_guild = visitor.guild.is_some();
        match self {
            Self::User(user) => visitor.user == *user,
            Self::Guild(guild) => visitor.guild == Some(*guild),
            Self::Role(role) => in_guild && visitor.roles.contains(role),
            Self::Channel(channel) => in_guild && visitor.channels.contains(&Some(*channel)),
        }
    }
}

/// Somebody, somewhere.
#[derive(Clone, Debug)]
pub(crate) struct Visitor<'a> {
    pub(crate) user: UserId,
    /// Of the guild they speak in; none in direct messages.
    pub(crate) roles: &'a [RoleId],
    /// None in direct messages.
    pub(crate) guild: Option<GuildId>,
    /// Where they speak, and the channel that this is a thread of.
    pub(crate) channels: [Option<ChannelId>; 2],
}

impl Allow {
    /// Nobody is let in.
    pub fn is_nobody(&self) -> bool {
        self.0.is_nobody()
    }

    /// Whether anybody may be let in there.
    pub(crate) fn may_serve(&self, guild: GuildId, channel: ChannelId) -> bool {
        self.0.lets_in(|entry| match entry {
            Entry::Role(_) | Entry::User(_) => true,
            Entry::Guild(allowed) => *allowed == guild,
            Entry::Channel(allowed) => *allowed == channel,
        })
    }

    /// Whether a channel is let in by its own name.
    pub(crate) fn names(&self, channel: ChannelId) -> bool {
        self.0.names(|entry| *entry == Entry::Channel(channel))
    }

    /// Whether what somebody says there is answered: one entry that fits is enough.
    pub(crate) fn serves(&self, visitor: &Visitor<'_>) -> bool {
        self.0.lets_in(|entry| entry.fits(visitor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allow(text: &str) -> Allow {
        text.parse().unwrap()
    }

    #[test]
    fn only_who_is_named_is_let_in() {
        let roles = [RoleId::new(30)];
        let in_thread = Visitor {
            user: UserId::new(4),
            roles: &roles,
            guild: Some(GuildId::new(1)),
            channels: [Some(ChannelId::new(21)), Some(ChannelId::new(20))],
        };
        let direct = Visitor {
            roles: &[],
            guild: None,
            channels: [Some(ChannelId::new(22)), None],
            ..in_thread.clone()
        };
        for (entries, there, in_direct) in [
            ("", false, false),
            (" , ", false, false),
            ("*", true, true),
            ("guild:1", true, false),
            ("server:1", true, false),
            ("guild:2", false, false),
            ("channel:20", true, false),
            ("channel:21", true, false),
            ("channel:22", false, false),
            ("role:30", true, false),
            ("role:31", false, false),
            ("user:4", true, true),
            ("user:5", false, false),
            ("user:5, role:30", true, false),
        ] {
            let allow = allow(entries);
            let served = (allow.serves(&in_thread), allow.serves(&direct));
            assert_eq!(served, (there, in_direct), "{entries:?}");
        }
    }

    #[test]
    fn what_is_no_entry_is_named() {
        for entry in [
            "123", "guild:", "guild:x", "guild:0", "team:1", "**", "@ann",
        ] {
            let error = entry.parse::<Allow>().unwrap_err();
            assert!(error.to_string().contains(entry), "{error}");
        }
    }
}
