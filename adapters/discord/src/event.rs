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

/// Reads an event for the bot with this account. `None` if the bot does not use it.
pub(crate) fn read(event: Event, me: UserId) -> Option<GatewayEvent> {
    let change = match event {
        Event::Ready(event) => {
            let guilds = event.ready.guilds.iter().map(|guild| guild.id);
            return Some(GatewayEvent::Ready(guilds.collect()));
        }
        Event::GuildCreate(event) => guild(event.guild, me),
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

fn guild(raw: RawGuild, me: UserId) -> Change {
    // A bot's own role names the bot.
    let own = raw.roles.values().find(|role| role.tags.bot_id == Some(me));
    let own = own.map(|role| role.id);
    // Discord lists the bot and whoever is in a voice channel, also other bots.
    let my_roles = match raw.members.get(&me) {
        Some(member) => member.roles.clone(),
        None => own.into_iter().collect(),
    };
    let guild = Guild {
        id: raw.id,
        owner: raw.owner_id,
        my_roles,
        my_own_role: own,
        language: chosen(&raw.preferred_locale),
        roles: raw
            .roles
            .iter()
            .map(|(id, role)| (*id, role.permissions))
            .collect(),
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use serenity::model::id::RoleId;

    use super::*;

    fn role(id: u64, of_bot: Option<u64>) -> Value {
        let mut role = json!({
            "id": id.to_string(), "name": "role", "color": 0, "colors": { "primary_color": 0 },
            "hoist": false, "position": 0, "permissions": "0", "managed": of_bot.is_some(),
            "mentionable": false, "flags": 0
        });
        if let Some(bot) = of_bot {
            role["tags"] = json!({ "bot_id": bot.to_string() });
        }
        role
    }

    fn bot(id: u64, roles: &[&str]) -> Value {
        json!({
            "user": { "id": id.to_string(), "username": "bot", "bot": true }, "roles": roles,
            "joined_at": "2026-01-01T00:00:00Z", "deaf": false, "mute": false, "flags": 0
        })
    }

    /// Reads a guild with two bots for the bot with this account.
    fn read_for(me: u64, members: &Value) -> Guild {
        let told = json!({
            "id": "1", "name": "Ravens", "owner_id": "9", "verification_level": 0,
            "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
            "roles": [role(1, None), role(30, Some(5)), role(31, Some(6)), role(32, None)],
            "emojis": [], "features": [], "stickers": [], "system_channel_flags": 0,
            "premium_tier": 0, "preferred_locale": "en-US", "nsfw_level": 0,
            "premium_progress_bar_enabled": false, "joined_at": "2026-01-01T00:00:00Z",
            "large": false, "member_count": 3, "voice_states": [], "members": members,
            "channels": [], "threads": [], "presences": [], "stage_instances": [],
            "guild_scheduled_events": []
        });
        let event = serde_json::from_value(json!({ "t": "GUILD_CREATE", "d": told })).unwrap();
        match read(event, UserId::new(me)) {
            Some(GatewayEvent::Changed(Change::Guild(guild, _))) => guild,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn another_bot_of_the_server_is_not_taken_for_this_one() {
        let both = json!([bot(5, &["30"]), bot(6, &["31", "32"])]);
        for (me, members, my_roles, own) in [
            (5, &both, vec![30], 30),
            (6, &both, vec![31, 32], 31),
            // Where it is not listed, it has at least its own role.
            (6, &json!([bot(5, &["30"])]), vec![31], 31),
        ] {
            let guild = read_for(me, members);
            let my_roles: Vec<RoleId> = my_roles.into_iter().map(RoleId::new).collect();
            assert_eq!(guild.my_roles, my_roles, "{me}");
            assert_eq!(guild.my_own_role, Some(RoleId::new(own)), "{me}");
        }
    }
}
