//! Decides who may talk to the bot. Pure; an empty list admits nobody.

use muninn_platform::{AllowEntry, AllowList};
use serenity::model::id::{ChannelId, GuildId, RoleId, UserId};

use crate::ids::number;

/// The allow list of `DISCORD_ALLOW`. The default admits nobody.
pub type DiscordAllowList = AllowList<DiscordAllowEntry>;

/// An entry of the allow list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiscordAllowEntry {
    Guild(GuildId),
    Channel(ChannelId),
    Role(RoleId),
    User(UserId),
}

impl AllowEntry for DiscordAllowEntry {
    const VARIABLE: &'static str = "DISCORD_ALLOW";
    const ENTRIES: &'static str = "guild:ID, channel:ID, role:ID or user:ID";
    const FORMS: &'static str = "guild:ID, channel:ID, role:ID or user:ID (with Discord's developer mode on, a right click copies an ID)";

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
}

/// A person in a place.
#[derive(Clone, Debug)]
pub(crate) struct Visitor<'a> {
    pub(crate) user: UserId,
    /// Their roles in the guild they write in; empty in direct messages.
    pub(crate) roles: &'a [RoleId],
    /// `None` in direct messages.
    pub(crate) guild: Option<GuildId>,
    /// The channel they write in, and its parent if it is a thread.
    pub(crate) channels: [Option<ChannelId>; 2],
}

impl Visitor<'_> {
    /// Whether this person is answered there: at least one entry must match. Entries for roles and
    /// channels never match direct messages, which have neither.
    pub(crate) fn is_let_in(&self, allow: &DiscordAllowList) -> bool {
        let in_guild = self.guild.is_some();
        allow.lets_in(|entry| match entry {
            DiscordAllowEntry::User(user) => self.user == *user,
            DiscordAllowEntry::Guild(guild) => self.guild == Some(*guild),
            DiscordAllowEntry::Role(role) => in_guild && self.roles.contains(role),
            DiscordAllowEntry::Channel(channel) => {
                in_guild && self.channels.contains(&Some(*channel))
            }
        })
    }
}

/// Whether anybody could be admitted there.
pub(crate) fn may_let_in(allow: &DiscordAllowList, guild: GuildId, channel: ChannelId) -> bool {
    allow.lets_in(|entry| match entry {
        DiscordAllowEntry::Role(_) | DiscordAllowEntry::User(_) => true,
        DiscordAllowEntry::Guild(allowed) => *allowed == guild,
        DiscordAllowEntry::Channel(allowed) => *allowed == channel,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let allow = entries.parse().unwrap();
            let let_in = (in_thread.is_let_in(&allow), direct.is_let_in(&allow));
            assert_eq!(let_in, (there, in_direct), "{entries:?}");
        }
    }

    #[test]
    fn what_is_no_entry_is_named() {
        for entry in [
            "123", "guild:", "guild:x", "guild:0", "team:1", "**", "@ann",
        ] {
            let error = entry.parse::<DiscordAllowList>().unwrap_err();
            assert!(error.to_string().contains(entry), "{error}");
        }
    }
}
