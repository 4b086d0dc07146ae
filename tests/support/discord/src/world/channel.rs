//! Channels, threads and direct messages.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::World;
use crate::Id;
use crate::id::stamp;
use crate::permissions::Overwrite;

/// The kind of a channel, as Discord's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelType {
    Text = 0,
    Direct = 1,
    Voice = 2,
    Announcement = 5,
    AnnouncementThread = 10,
    PublicThread = 11,
    PrivateThread = 12,
    Forum = 15,
}

impl ChannelType {
    /// Whether messages are posted in it, not only in its threads.
    pub(crate) fn holds_messages(self) -> bool {
        self != Self::Forum
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ThreadMetadata {
    pub(crate) owner: Id,
    pub(crate) archived: bool,
    pub(crate) locked: bool,
    /// In minutes.
    pub(crate) auto_archive: u64,
    pub(crate) archived_at: DateTime<Utc>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) members: BTreeMap<Id, DateTime<Utc>>,
    pub(crate) invitable: bool,
    pub(crate) tags: Vec<Value>,
}

#[derive(Clone, Debug)]
pub(crate) struct StoredChannel {
    pub(crate) id: Id,
    pub(crate) kind: ChannelType,
    pub(crate) guild: Option<Id>,
    pub(crate) name: String,
    pub(crate) topic: Option<String>,
    pub(crate) parent: Option<Id>,
    pub(crate) position: usize,
    /// Of roles and of members.
    pub(crate) overwrites: BTreeMap<Id, Overwrite>,
    /// Of direct channels.
    pub(crate) recipients: Vec<Id>,
    pub(crate) thread: Option<ThreadMetadata>,
    pub(crate) last_message: Option<Id>,
}

impl StoredChannel {
    pub(crate) fn new(id: Id, kind: ChannelType, guild: Option<Id>, name: &str) -> Self {
        Self {
            id,
            kind,
            guild,
            name: name.to_owned(),
            topic: None,
            parent: None,
            position: 0,
            overwrites: BTreeMap::new(),
            recipients: Vec::new(),
            thread: None,
            last_message: None,
        }
    }
}

impl World {
    /// Returns it as in payloads; a thread includes the given member, if they are in it.
    pub(crate) fn channel_json(&self, channel: &StoredChannel, member: Option<Id>) -> Value {
        let last = channel.last_message.map(Id::json);
        let mut json = json!({
            "id": channel.id.json(), "type": channel.kind as u8, "last_message_id": last, "flags": 0,
            "last_pin_timestamp": null,
        });
        let more = match (channel.guild, &channel.thread) {
            (None, _) => self.direct_json(channel, member),
            (Some(guild), Some(thread)) => self.thread_json(channel, guild, thread, member),
            (Some(guild), None) => self.room_json(channel, guild),
        };
        for (name, value) in more.as_object().into_iter().flatten() {
            json[name] = value.clone();
        }
        json
    }

    fn direct_json(&self, channel: &StoredChannel, seen_by: Option<Id>) -> Value {
        let others = channel.recipients.iter().filter(|user| match seen_by {
            Some(seen_by) => **user != seen_by,
            None => !self.users[*user].is_bot,
        });
        json!({ "recipients": others.map(|user| self.users[user].json()).collect::<Vec<_>>() })
    }

    fn room_json(&self, channel: &StoredChannel, guild: Id) -> Value {
        let overwrites = channel.overwrites.iter().map(|(id, overwrite)| {
            let of_member = u8::from(self.users.contains_key(id));
            json!({ "id": id.json(), "type": of_member, "allow": overwrite.allow.json(), "deny": overwrite.deny.json() })
        });
        let mut json = json!({
            "guild_id": guild.json(), "name": channel.name, "parent_id": channel.parent.map(Id::json),
            "rate_limit_per_user": 0, "topic": channel.topic, "position": channel.position, "nsfw": false,
            "permission_overwrites": overwrites.collect::<Vec<_>>(),
        });
        match channel.kind {
            ChannelType::Forum => {
                json["available_tags"] = json!([]);
                json["default_reaction_emoji"] = Value::Null;
                json["default_sort_order"] = Value::Null;
                json["default_forum_layout"] = 0.into();
            }
            ChannelType::Voice => {
                json["bitrate"] = 64_000.into();
                json["user_limit"] = 0.into();
                json["rtc_region"] = Value::Null;
            }
            ChannelType::Text
            | ChannelType::Direct
            | ChannelType::Announcement
            | ChannelType::AnnouncementThread
            | ChannelType::PublicThread
            | ChannelType::PrivateThread => {}
        }
        json
    }

    fn thread_json(
        &self,
        channel: &StoredChannel,
        guild: Id,
        thread: &ThreadMetadata,
        member: Option<Id>,
    ) -> Value {
        let said = self.messages.get(&channel.id).map_or(0, |messages| {
            // The first message of a post, or the message at which the thread began, does not
            // count.
            messages
                .values()
                .filter(|message| !message.deleted && message.id != channel.id)
                .count()
        });
        let mut metadata = json!({
            "archived": thread.archived, "locked": thread.locked, "auto_archive_duration": thread.auto_archive,
            "archive_timestamp": stamp(thread.archived_at), "create_timestamp": stamp(thread.created_at),
        });
        if channel.kind == ChannelType::PrivateThread {
            metadata["invitable"] = thread.invitable.into();
        }
        let mut json = json!({
            "guild_id": guild.json(), "name": channel.name, "parent_id": channel.parent.map(Id::json),
            "rate_limit_per_user": 0, "owner_id": thread.owner.json(), "thread_metadata": metadata,
            "message_count": said, "member_count": thread.members.len(), "total_message_sent": said,
        });
        if !thread.tags.is_empty() {
            json["applied_tags"] = thread.tags.clone().into();
        }
        if let Some(user) = member
            && let Some(joined) = thread.members.get(&user)
        {
            json["member"] = thread_member_json(channel.id, user, *joined);
        }
        json
    }
}

pub(crate) fn thread_member_json(thread: Id, user: Id, joined: DateTime<Utc>) -> Value {
    json!({ "id": thread.json(), "user_id": user.json(), "join_timestamp": stamp(joined), "flags": 0 })
}
