//! Caches guilds, channels and roles from the gateway, only as far as the bot uses them. Members,
//! messages and presences are not kept, so it stays small however busy the guilds are.

use std::collections::HashMap;

use muninn_platform::{Language, SharedRecent};
use parking_lot::Mutex;
use serenity::model::Permissions;
use serenity::model::channel::ChannelType;
use serenity::model::id::{ChannelId, GuildId, MessageId, RoleId, UserId};

/// The kind of a channel, as far as it decides where answers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiscordChannelKind {
    /// A channel where threads can be opened at messages.
    Text,
    /// A channel whose messages are all in threads.
    Forum,
    PublicThread,
    PrivateThread,
    /// The text chat of a voice channel: no threads.
    Flat,
    Direct,
}

impl DiscordChannelKind {
    /// Whether there can be threads in it.
    pub(crate) fn has_threads(self) -> bool {
        match self {
            Self::Text | Self::Forum => true,
            Self::PublicThread | Self::PrivateThread | Self::Flat | Self::Direct => false,
        }
    }

    pub(crate) fn is_thread(self) -> bool {
        matches!(self, Self::PublicThread | Self::PrivateThread)
    }
}

impl From<ChannelType> for DiscordChannelKind {
    fn from(raw: ChannelType) -> Self {
        match raw {
            ChannelType::Text | ChannelType::News => Self::Text,
            // Media channels are forums too.
            ChannelType::Forum | ChannelType::Unknown(16) => Self::Forum,
            ChannelType::PublicThread | ChannelType::NewsThread => Self::PublicThread,
            ChannelType::PrivateThread => Self::PrivateThread,
            ChannelType::Private | ChannelType::GroupDm => Self::Direct,
            _ => Self::Flat,
        }
    }
}

/// A channel or thread of a guild.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Channel {
    pub(crate) id: ChannelId,
    pub(crate) guild: GuildId,
    pub(crate) kind: DiscordChannelKind,
    /// The channel of a thread.
    pub(crate) parent: Option<ChannelId>,
    pub(crate) name: Box<str>,
    pub(crate) overwrites: Box<[Overwrite]>,
    /// As of the last time Discord described the channel.
    pub(crate) last_message: Option<MessageId>,
}

/// A channel's overwrite of the guild's permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overwrite {
    pub(crate) of: Holder,
    pub(crate) allow: Permissions,
    pub(crate) deny: Permissions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Role(RoleId),
    Member(UserId),
}

/// A guild, without its channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Guild {
    pub(crate) id: GuildId,
    pub(crate) owner: UserId,
    pub(crate) roles: HashMap<RoleId, Permissions>,
    /// The bot's roles.
    pub(crate) my_roles: Vec<RoleId>,
    /// The role that the invitation created for the bot; people mention it by mistake.
    pub(crate) my_own_role: Option<RoleId>,
    /// The language that its administrators chose.
    pub(crate) language: Option<Language>,
}

/// Where something is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiscordLocation {
    pub(crate) guild: Option<GuildId>,
    pub(crate) channel: ChannelId,
    pub(crate) kind: DiscordChannelKind,
    pub(crate) parent: Option<ChannelId>,
    pub(crate) name: String,
}

impl DiscordLocation {
    pub(crate) fn of(channel: &Channel) -> Self {
        Self {
            guild: Some(channel.guild),
            channel: channel.id,
            kind: channel.kind,
            parent: channel.parent,
            name: channel.name.to_string(),
        }
    }

    pub(crate) fn direct(channel: ChannelId) -> Self {
        Self {
            guild: None,
            channel,
            kind: DiscordChannelKind::Direct,
            parent: None,
            name: "direct message".to_owned(),
        }
    }

    /// Returns the channel of the audience: whoever can read a channel can read its public threads.
    pub(crate) fn audience_channel(&self) -> ChannelId {
        match self.kind {
            DiscordChannelKind::PublicThread => self.parent.unwrap_or(self.channel),
            DiscordChannelKind::Text
            | DiscordChannelKind::Forum
            | DiscordChannelKind::PrivateThread
            | DiscordChannelKind::Flat
            | DiscordChannelKind::Direct => self.channel,
        }
    }
}

/// A change of the cached data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A guild with all of its channels and threads.
    Guild(Guild, Vec<Channel>),
    GuildGone(GuildId),
    Owner(GuildId, UserId),
    Channel(Channel),
    ChannelGone(GuildId, ChannelId),
    Role(GuildId, RoleId, Permissions),
    RoleGone(GuildId, RoleId),
    /// A member's current roles; kept only for the bot.
    Roles(GuildId, UserId, Vec<RoleId>),
}

#[derive(Default)]
struct GuildCache {
    guilds: HashMap<GuildId, Guild>,
    channels: HashMap<GuildId, HashMap<ChannelId, Channel>>,
}

/// Maximum number of people whose language is kept.
const MOST_PEOPLE: usize = 10_000;

/// The cache, shared by all parts.
pub(crate) struct Directory {
    known: Mutex<GuildCache>,
    /// The language of people's Discord, of those who used a button or a command.
    languages: SharedRecent<UserId, Language>,
}

impl Default for Directory {
    fn default() -> Self {
        Self {
            known: Mutex::default(),
            languages: SharedRecent::new(MOST_PEOPLE),
        }
    }
}

impl Directory {
    pub(crate) fn apply(&self, change: Change, me: UserId) {
        let mut known = self.known.lock();
        match change {
            Change::Guild(guild, channels) => {
                let channels = channels.into_iter().map(|channel| (channel.id, channel));
                known.channels.insert(guild.id, channels.collect());
                known.guilds.insert(guild.id, guild);
            }
            Change::GuildGone(id) => {
                known.guilds.remove(&id);
                known.channels.remove(&id);
            }
            Change::Owner(id, owner) => {
                if let Some(guild) = known.guilds.get_mut(&id) {
                    guild.owner = owner;
                }
            }
            Change::Channel(channel) => {
                let channels = known.channels.entry(channel.guild).or_default();
                channels.insert(channel.id, channel);
            }
            Change::ChannelGone(guild, id) => {
                if let Some(channels) = known.channels.get_mut(&guild) {
                    // Its threads are removed too; the channels of a category stay.
                    channels.retain(|_, it| {
                        it.id != id && !(it.kind.is_thread() && it.parent == Some(id))
                    });
                }
            }
            Change::Role(id, role, permissions) => {
                if let Some(guild) = known.guilds.get_mut(&id) {
                    guild.roles.insert(role, permissions);
                }
            }
            Change::RoleGone(id, role) => {
                if let Some(guild) = known.guilds.get_mut(&id) {
                    guild.roles.remove(&role);
                }
            }
            Change::Roles(id, member, roles) => {
                if let Some(guild) = known.guilds.get_mut(&id)
                    && member == me
                {
                    guild.my_roles = roles;
                }
            }
        }
    }

    /// Whether a server was described and is not gone.
    pub(crate) fn knows(&self, guild: GuildId) -> bool {
        self.known.lock().guilds.contains_key(&guild)
    }

    pub(crate) fn spot(&self, guild: GuildId, channel: ChannelId) -> Option<DiscordLocation> {
        let known = self.known.lock();
        let found = known.channels.get(&guild)?.get(&channel)?;
        Some(DiscordLocation::of(found))
    }

    /// Like [`Directory::spot`], in any guild.
    pub(crate) fn spot_of(&self, channel: ChannelId) -> Option<DiscordLocation> {
        let guild = {
            let known = self.known.lock();
            let found = known.channels.iter();
            let mut here = found.filter(|(_, channels)| channels.contains_key(&channel));
            *here.next()?.0
        };
        self.spot(guild, channel)
    }

    /// Returns the threads of a channel that are of these kinds and not archived.
    pub(crate) fn threads_of(
        &self,
        guild: GuildId,
        channel: ChannelId,
        is_meant: impl Fn(DiscordChannelKind) -> bool,
    ) -> Vec<ChannelId> {
        let known = self.known.lock();
        let here = known.channels.get(&guild).into_iter().flatten();
        let of_it = here.filter(|(_, it)| is_meant(it.kind) && it.parent == Some(channel));
        let mut threads: Vec<ChannelId> = of_it.map(|(id, _)| *id).collect();
        threads.sort_unstable();
        threads
    }

    pub(crate) fn name(&self, guild: GuildId, channel: ChannelId) -> Option<String> {
        Some(self.spot(guild, channel)?.name)
    }

    /// Returns the language of somebody's Discord: `told` by the current interaction, or an earlier
    /// one.
    pub(crate) fn language_of(&self, who: UserId, told: Option<Language>) -> Option<Language> {
        if let Some(language) = told {
            self.languages.insert(who, language);
        }
        told.or_else(|| self.languages.get(&who))
    }

    pub(crate) fn language_in(&self, guild: GuildId) -> Option<Language> {
        self.known.lock().guilds.get(&guild)?.language
    }

    pub(crate) fn my_own_role(&self, guild: GuildId) -> Option<RoleId> {
        self.known.lock().guilds.get(&guild)?.my_own_role
    }

    /// Returns the permissions of somebody with these roles in a channel; `None` if unknown.
    pub(crate) fn permissions(
        &self,
        spot: &DiscordLocation,
        who: UserId,
        roles: &[RoleId],
    ) -> Option<Permissions> {
        let known = self.known.lock();
        let guild = known.guilds.get(&spot.guild?)?;
        // Threads have no overwrites of their own.
        let channel = if spot.kind.is_thread() {
            spot.parent?
        } else {
            spot.channel
        };
        let channel = known.channels.get(&guild.id)?.get(&channel)?;
        Some(permissions(guild, &channel.overwrites, who, roles))
    }

    /// Returns the bot's permissions in a channel; `None` if unknown.
    pub(crate) fn my_permissions(&self, spot: &DiscordLocation, me: UserId) -> Option<Permissions> {
        let roles = self.known.lock().guilds.get(&spot.guild?)?.my_roles.clone();
        self.permissions(spot, me, &roles)
    }
}

/// Computes permissions as Discord does: those of all roles together, then the channel's overwrites
/// of everyone, the roles, and the member, each time denials first.
fn permissions(
    guild: &Guild,
    overwrites: &[Overwrite],
    who: UserId,
    roles: &[RoleId],
) -> Permissions {
    if guild.owner == who {
        return Permissions::all();
    }
    let everyone = RoleId::new(guild.id.get());
    let of_roles = std::iter::once(&everyone)
        .chain(roles)
        .filter_map(|role| guild.roles.get(role));
    let base = of_roles.fold(Permissions::empty(), |all, role| all | *role);
    overwritten(base, overwrites, guild.id, who, roles)
}

/// Applies a channel's overwrites to the permissions of somebody's roles.
pub(crate) fn overwritten(
    base: Permissions,
    overwrites: &[Overwrite],
    guild: GuildId,
    who: UserId,
    roles: &[RoleId],
) -> Permissions {
    if base.administrator() {
        return Permissions::all();
    }
    let everyone = RoleId::new(guild.get());
    let apply = |before: Permissions, concerns: &dyn Fn(Holder) -> bool| {
        let concerned = overwrites.iter().filter(|overwrite| concerns(overwrite.of));
        let (allow, deny) = concerned.fold(
            (Permissions::empty(), Permissions::empty()),
            |(allow, deny), overwrite| (allow | overwrite.allow, deny | overwrite.deny),
        );
        (before - deny) | allow
    };
    let is_mine = |of: Holder| matches!(of, Holder::Role(role) if roles.contains(&role));
    let base = apply(base, &|of| of == Holder::Role(everyone));
    let base = apply(base, &is_mine);
    apply(base, &|of| of == Holder::Member(who))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: UserId = UserId::new(4);
    const EVERYONE: Holder = Holder::Role(RoleId::new(1));
    const TEAM: Holder = Holder::Role(RoleId::new(30));

    fn guild(everyone: Permissions, team: Permissions) -> Guild {
        Guild {
            id: GuildId::new(1),
            owner: UserId::new(9),
            roles: HashMap::from([(RoleId::new(1), everyone), (RoleId::new(30), team)]),
            my_roles: vec![RoleId::new(30)],
            my_own_role: None,
            language: None,
        }
    }

    fn overwrite(of: Holder, allow: Permissions, deny: Permissions) -> Overwrite {
        Overwrite { of, allow, deny }
    }

    #[test]
    fn permissions_are_computed_as_documented() {
        const NONE: Permissions = Permissions::empty();
        const SEND: Permissions = Permissions::SEND_MESSAGES;
        let team = [RoleId::new(30)];
        for (everyone, of_team, roles, overwrites, may_send) in [
            (SEND, NONE, &team[..], vec![], true),
            (NONE, SEND, &team[..], vec![], true),
            (NONE, SEND, &[][..], vec![], false),
            (
                SEND,
                NONE,
                &team[..],
                vec![overwrite(EVERYONE, NONE, SEND)],
                false,
            ),
            // A role's overwrite wins over everyone's, a member's over a role's.
            (
                SEND,
                NONE,
                &team[..],
                vec![overwrite(TEAM, SEND, NONE), overwrite(EVERYONE, NONE, SEND)],
                true,
            ),
            (
                SEND,
                NONE,
                &team[..],
                vec![
                    overwrite(Holder::Member(ANN), NONE, SEND),
                    overwrite(TEAM, SEND, NONE),
                ],
                false,
            ),
            (
                Permissions::ADMINISTRATOR,
                NONE,
                &[][..],
                vec![overwrite(EVERYONE, NONE, SEND)],
                true,
            ),
        ] {
            let guild = guild(everyone, of_team);
            let found = permissions(&guild, &overwrites, ANN, roles);
            assert_eq!(found.contains(SEND), may_send, "{overwrites:?}");
        }
        let owner = permissions(&guild(NONE, NONE), &[], UserId::new(9), &[]);
        assert!(owner.manage_messages());
    }

    #[test]
    fn what_is_gone_is_not_known() {
        let directory = Directory::default();
        let (guild_id, me) = (GuildId::new(1), UserId::new(5));
        let channel = |id, kind, parent: Option<u64>| Channel {
            id: ChannelId::new(id),
            guild: guild_id,
            kind,
            parent: parent.map(ChannelId::new),
            name: "general".into(),
            overwrites: Box::default(),
            last_message: None,
        };
        let channels = vec![
            channel(20, DiscordChannelKind::Text, None),
            channel(21, DiscordChannelKind::PublicThread, Some(20)),
        ];
        let everyone = Permissions::SEND_MESSAGES;
        directory.apply(
            Change::Guild(guild(everyone, Permissions::empty()), channels),
            me,
        );
        let thread = directory.spot(guild_id, ChannelId::new(21)).unwrap();
        assert_eq!(thread.audience_channel(), ChannelId::new(20));
        let is_private = |kind: DiscordChannelKind| kind == DiscordChannelKind::PrivateThread;
        let threads =
            directory.threads_of(guild_id, ChannelId::new(20), DiscordChannelKind::is_thread);
        assert_eq!(threads, [ChannelId::new(21)]);
        let threads = directory.threads_of(guild_id, ChannelId::new(20), is_private);
        assert!(threads.is_empty());
        assert_eq!(directory.my_permissions(&thread, me), Some(everyone));
        let speak = Permissions::MANAGE_MESSAGES;
        for change in [
            Change::Role(guild_id, RoleId::new(31), speak),
            Change::Roles(guild_id, me, vec![RoleId::new(31)]),
            Change::Roles(guild_id, ANN, vec![]),
        ] {
            directory.apply(change, me);
        }
        assert_eq!(
            directory.my_permissions(&thread, me),
            Some(everyone | speak)
        );
        directory.apply(Change::RoleGone(guild_id, RoleId::new(31)), me);
        assert_eq!(directory.my_permissions(&thread, me), Some(everyone));
        directory.apply(Change::ChannelGone(guild_id, ChannelId::new(20)), me);
        assert_eq!(directory.spot(guild_id, ChannelId::new(21)), None);
        directory.apply(
            Change::Channel(channel(20, DiscordChannelKind::Text, None)),
            me,
        );
        directory.apply(Change::GuildGone(guild_id), me);
        assert_eq!(directory.spot(guild_id, ChannelId::new(20)), None);
    }
}
