//! Servers, their roles and members.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{Listener, StoredChannel, World};
use crate::Id;
use crate::id::stamp;
use crate::permissions::Permissions;

#[derive(Clone, Debug)]
pub(crate) struct GuildRole {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) permissions: Permissions,
    /// The application that owns this role.
    pub(crate) of_app: Option<Id>,
}

impl GuildRole {
    pub(crate) fn json(&self, position: usize) -> Value {
        let mut role = json!({
            "id": self.id.json(), "name": self.name, "permissions": self.permissions.json(), "position": position,
            "color": 0, "colors": { "primary_color": 0, "secondary_color": null, "tertiary_color": null },
            "hoist": false, "managed": self.of_app.is_some(), "mentionable": false, "icon": null,
            "unicode_emoji": null, "flags": 0,
        });
        if let Some(app) = self.of_app {
            role["tags"] = json!({ "bot_id": app.json() });
        }
        role
    }
}

#[derive(Clone, Debug)]
pub(crate) struct GuildMember {
    pub(crate) roles: Vec<Id>,
    pub(crate) joined_at: DateTime<Utc>,
}

impl GuildMember {
    /// Returns the member without the user, as in events.
    pub(crate) fn partial_json(&self) -> Value {
        let roles: Vec<Value> = self.roles.iter().map(|role| role.json()).collect();
        json!({
            "avatar": null, "banner": null, "communication_disabled_until": null, "flags": 0, "nick": null,
            "joined_at": stamp(self.joined_at), "pending": false, "premium_since": null, "roles": roles,
            "mute": false, "deaf": false,
        })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct GuildState {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) owner: Id,
    /// The first is everybody's, with the guild's own id.
    pub(crate) roles: Vec<GuildRole>,
    pub(crate) members: BTreeMap<Id, GuildMember>,
    /// Temporarily unavailable.
    pub(crate) is_out: bool,
    pub(crate) is_full_of_threads: bool,
}

impl GuildState {
    /// Returns somebody's permissions before channel overwrites; `None` for non-members.
    pub(crate) fn permissions(&self, user: Id) -> Option<Permissions> {
        let member = self.members.get(&user)?;
        if user == self.owner {
            return Some(Permissions::ALL);
        }
        let has = |role: &&GuildRole| role.id == self.id || member.roles.contains(&role.id);
        let granted = self.roles.iter().filter(has);
        Some(granted.fold(Permissions::NONE, |sum, role| sum | role.permissions))
    }

    /// Returns it as the REST interface does.
    pub(crate) fn json(&self) -> Value {
        let roles = self.roles.iter().enumerate();
        let roles: Vec<Value> = roles.map(|(position, role)| role.json(position)).collect();
        json!({
            "id": self.id.json(), "name": self.name, "icon": null, "description": null, "home_header": null,
            "splash": null, "discovery_splash": null, "features": [], "banner": null, "owner_id": self.owner.json(),
            "application_id": null, "region": "deprecated", "afk_channel_id": null, "afk_timeout": 300,
            "system_channel_id": null, "system_channel_flags": 0, "widget_enabled": false, "widget_channel_id": null,
            "verification_level": 0, "roles": roles, "default_message_notifications": 0, "mfa_level": 0,
            "explicit_content_filter": 0, "max_presences": null, "max_members": 500_000,
            "max_stage_video_channel_users": 50, "max_video_channel_users": 25, "vanity_url_code": null,
            "premium_tier": 0, "premium_subscription_count": 0, "preferred_locale": "en-US",
            "rules_channel_id": null, "safety_alerts_channel_id": null, "public_updates_channel_id": null,
            "premium_progress_bar_enabled": false, "nsfw": false, "nsfw_level": 0, "emojis": [], "stickers": [],
            "incidents_data": null,
        })
    }
}

impl World {
    /// Returns a member with the user.
    pub(crate) fn member_json(&self, guild: &GuildState, user: Id) -> Value {
        let mut member = guild.members[&user].partial_json();
        member["user"] = self.users[&user].json();
        member
    }

    /// Returns the guild as the gateway describes it to a bot: with its channels, its active
    /// threads and the members that the bot receives.
    pub(crate) fn guild_create_json(&self, guild: &GuildState, listener: &Listener) -> Value {
        let mut json = guild.json();
        let here = |channel: &&StoredChannel| channel.guild == Some(guild.id);
        let channels: Vec<&StoredChannel> = self.channels.values().filter(here).collect();
        // A bot receives every channel, even those it cannot see, but only threads that it can see.
        let (threads, rooms): (Vec<&StoredChannel>, Vec<&StoredChannel>) = channels
            .into_iter()
            .partition(|channel| channel.thread.is_some());
        let is_active = |channel: &&StoredChannel| {
            let is_open = |thread: &super::ThreadMetadata| !thread.archived;
            channel.thread.as_ref().is_some_and(is_open) && self.sees(listener.app, channel)
        };
        let threads = threads.into_iter().filter(is_active);
        let threads: Vec<Value> = threads
            .map(|thread| self.channel_json(thread, Some(listener.app)))
            .collect();
        let rooms: Vec<Value> = rooms
            .into_iter()
            .map(|room| self.channel_json(room, None))
            .collect();
        json["channels"] = Value::Array(rooms);
        json["threads"] = Value::Array(threads);
        // Without the members intent a bot receives only itself.
        let hears_members = listener.intents & super::intents::GUILD_MEMBERS != 0;
        let members = guild
            .members
            .keys()
            .filter(|user| hears_members || **user == listener.app);
        json["members"] = members.map(|user| self.member_json(guild, *user)).collect();
        json["member_count"] = guild.members.len().into();
        json["joined_at"] = stamp(guild.members[&listener.app].joined_at);
        for (name, value) in [("large", false), ("unavailable", false)] {
            json[name] = value.into();
        }
        for name in [
            "voice_states",
            "presences",
            "stage_instances",
            "guild_scheduled_events",
            "soundboard_sounds",
        ] {
            json[name] = json!([]);
        }
        json
    }
}
