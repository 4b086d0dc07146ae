//! Reads gateway events into plain data, only as far as the bot uses them.

use chrono::{DateTime, Utc};
use muninn_platform::Language;
use serenity::model::channel::{GuildChannel, PermissionOverwriteType};
use serenity::model::event::Event;
use serenity::model::guild::Guild as RawGuild;
use serenity::model::id::{ChannelId, GuildId, MessageId, UserId};

use crate::directory::{Change, Channel, Guild, Holder, Overwrite};
use crate::interaction::{UserInteraction, read_interaction};
use crate::message::{self, DiscordMessage};

/// An event.
#[derive(Debug)]
pub(crate) enum GatewayEvent {
    /// A shard began a new session: Discord will not deliver what it missed. With the servers that
    /// it describes next.
    Ready(Vec<GuildId>),
    Changed(Change),
    /// A channel or thread was deleted; `None`: the bot was removed from the server.
    Gone(GuildId, Option<ChannelId>),
    Said(DiscordMessage),
    Edited {
        now: DiscordMessage,
        at: DateTime<Utc>,
    },
    Deleted {
        guild: Option<GuildId>,
        channel: ChannelId,
        messages: Vec<MessageId>,
    },
    Asked(Box<UserInteraction>),
}

/// Reads an event. `None` if the bot does not use it.
pub(crate) fn read(event: Event) -> Option<GatewayEvent> {
    let change = match event {
        Event::Ready(event) => {
            let guilds = event.ready.guilds.iter().map(|guild| guild.id);
            return Some(GatewayEvent::Ready(guilds.collect()));
        }
        Event::GuildCreate(event) => guild(event.guild),
        // An unavailable guild comes back.
        Event::GuildDelete(event) if event.guild.unavailable => Change::GuildGone(event.guild.id),
        Event::GuildDelete(event) => return Some(GatewayEvent::Gone(event.guild.id, None)),
        Event::GuildUpdate(event) => Change::Owner(event.guild.id, event.guild.owner_id),
        Event::ChannelCreate(event) => Change::Channel(channel(event.channel)),
        Event::ChannelUpdate(event) => Change::Channel(channel(event.channel)),
        Event::ChannelDelete(event) => {
            let (guild, channel) = (event.channel.guild_id, event.channel.id);
            return Some(GatewayEvent::Gone(guild, Some(channel)));
        }
        Event::ThreadCreate(event) => thread(event.thread),
        Event::ThreadUpdate(event) => thread(event.thread),
        Event::ThreadDelete(event) => {
            let (guild, thread) = (event.thread.guild_id, event.thread.id);
            return Some(GatewayEvent::Gone(guild, Some(thread)));
        }
        Event::GuildRoleCreate(event) => {
            Change::Role(event.role.guild_id, event.role.id, event.role.permissions)
        }
        Event::GuildRoleUpdate(event) => {
            Change::Role(event.role.guild_id, event.role.id, event.role.permissions)
        }
        Event::GuildRoleDelete(event) => Change::RoleGone(event.guild_id, event.role_id),
        Event::GuildMemberUpdate(event) => {
            Change::Roles(event.guild_id, event.user.id, event.roles)
        }
        Event::MessageCreate(event) => {
            return Some(GatewayEvent::Said(message::to_message(event.message)));
        }
        Event::MessageUpdate(event) => {
            let edited = message::edited(event);
            return edited.map(|(now, at)| GatewayEvent::Edited { now, at });
        }
        Event::MessageDelete(event) => {
            return Some(GatewayEvent::Deleted {
                guild: event.guild_id,
                channel: event.channel_id,
                messages: vec![event.message_id],
            });
        }
        Event::MessageDeleteBulk(event) => {
            return Some(GatewayEvent::Deleted {
                guild: event.guild_id,
                channel: event.channel_id,
                messages: event.ids,
            });
        }
        Event::InteractionCreate(event) => {
            return read_interaction(event.interaction)
                .map(|asked| GatewayEvent::Asked(Box::new(asked)));
        }
        // Discord has many more kinds, and new ones with each version.
        _ => return None,
    };
    Some(GatewayEvent::Changed(change))
}

/// Returns a guild's chosen language. `None` for American English, which Discord reports if nobody
/// chose one.
fn chosen(locale: &str) -> Option<Language> {
    Language::of_locale(locale).filter(|_| locale != "en-US")
}

fn guild(raw: RawGuild) -> Change {
    let guild = Guild {
        id: raw.id,
        owner: raw.owner_id,
        my_roles: Vec::new(),
        my_own_role: None,
        language: chosen(&raw.preferred_locale),
        roles: raw
            .roles
            .iter()
            .map(|(id, role)| (*id, role.permissions))
            .collect(),
    };
    // Without the members intent the list contains only the bot itself. A bot's own role names the
    // bot.
    let own = |me: UserId| {
        let mut roles = raw.roles.values();
        roles
            .find(|role| role.tags.bot_id == Some(me))
            .map(|role| role.id)
    };
    let me = raw
        .members
        .values()
        .find(|member| member.user.bot && own(member.user.id).is_some());
    let me = me.or_else(|| raw.members.values().find(|member| member.user.bot));
    let guild = Guild {
        my_roles: me.map(|me| me.roles.clone()).unwrap_or_default(),
        my_own_role: me.and_then(|me| own(me.user.id)),
        ..guild
    };
    let channels = raw.channels.into_values().chain(raw.threads);
    let channels = channels.map(|raw_channel| Channel {
        guild: guild.id,
        ..channel(raw_channel)
    });
    let channels = channels.collect();
    Change::Guild(guild, channels)
}

/// Archived threads are not cached; they are looked up when somebody writes in them again.
fn thread(raw: GuildChannel) -> Change {
    let is_archived = raw.thread_metadata.is_some_and(|data| data.archived);
    if is_archived {
        Change::ChannelGone(raw.guild_id, raw.id)
    } else {
        Change::Channel(channel(raw))
    }
}

pub(crate) fn channel(raw: GuildChannel) -> Channel {
    let overwrites = raw.permission_overwrites.iter().map(|overwrite| Overwrite {
        of: match overwrite.kind {
            PermissionOverwriteType::Member(id) => Holder::Member(id),
            PermissionOverwriteType::Role(id) => Holder::Role(id),
            // An unknown kind: it belongs to nobody.
            _ => Holder::Member(UserId::new(u64::MAX)),
        },
        allow: overwrite.allow,
        deny: overwrite.deny,
    });
    Channel {
        id: raw.id,
        guild: raw.guild_id,
        kind: raw.kind.into(),
        parent: raw.parent_id,
        overwrites: overwrites.collect(),
        last_message: raw.last_message_id,
        name: raw.name.into_boxed_str(),
    }
}
