//! Stored messages, and the events of posting, editing and deleting them.

mod mentions;
mod shown;

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{ChannelType, EventScope, World, intents};
use crate::Id;

/// Flags of messages.
pub(crate) mod flags {
    pub(crate) const SUPPRESS_EMBEDS: u64 = 1 << 2;
    pub(crate) const HAS_THREAD: u64 = 1 << 5;
    pub(crate) const EPHEMERAL: u64 = 1 << 6;
    pub(crate) const LOADING: u64 = 1 << 7;
}

/// Kinds of messages.
pub(crate) mod kinds {
    pub(crate) const DEFAULT: u8 = 0;
    pub(crate) const PINNED: u8 = 6;
    pub(crate) const THREAD_CREATED: u8 = 18;
    pub(crate) const REPLY: u8 = 19;
    pub(crate) const SLASH_COMMAND: u8 = 20;
    pub(crate) const THREAD_STARTER: u8 = 21;
    pub(crate) const MENU_COMMAND: u8 = 23;
}

/// A file.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    pub(crate) id: Id,
    pub(crate) channel: Id,
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) content: Vec<u8>,
    /// The size in the payload, which may be false.
    pub(crate) claimed_size: u64,
}

/// A message that another one forwards, as it was then.
#[derive(Clone, Debug)]
pub(crate) struct Forwarded {
    pub(crate) channel: Id,
    pub(crate) message: Id,
    pub(crate) snapshot: Value,
}

/// The content of a new message.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageDraft {
    pub(crate) kind: u8,
    pub(crate) content: String,
    pub(crate) embeds: Vec<Value>,
    pub(crate) components: Vec<Value>,
    pub(crate) flags: u64,
    pub(crate) attachments: Vec<Id>,
    pub(crate) reference: Option<Id>,
    pub(crate) forwarded: Option<Forwarded>,
    pub(crate) nonce: Option<Value>,
    pub(crate) webhook: Option<Id>,
    pub(crate) application: Option<Id>,
    pub(crate) interaction: Option<Value>,
    pub(crate) ephemeral_for: Option<Id>,
    /// `None`: everybody who is mentioned is pinged, as for people's messages.
    pub(crate) allowed_mentions: Option<Value>,
}

impl MessageDraft {
    pub(crate) fn text(content: &str) -> Self {
        Self {
            content: content.to_owned(),
            ..Self::default()
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct StoredMessage {
    pub(crate) id: Id,
    pub(crate) channel: Id,
    pub(crate) author: Id,
    pub(crate) draft: MessageDraft,
    /// All its texts; the last one is current.
    pub(crate) texts: Vec<String>,
    pub(crate) mentions: Vec<Id>,
    pub(crate) mention_roles: Vec<Id>,
    pub(crate) mention_everyone: bool,
    pub(crate) edited_at: Option<DateTime<Utc>>,
    /// On the server's clock.
    pub(crate) created: Duration,
    pub(crate) changed: Duration,
    pub(crate) thread: Option<Id>,
    pub(crate) deleted: bool,
    pub(crate) pinned: bool,
}

impl StoredMessage {
    pub(crate) fn is_ephemeral(&self) -> bool {
        self.draft.flags & flags::EPHEMERAL != 0
    }
}

impl World {
    /// Posts a message and reports it.
    pub(crate) fn post(&mut self, channel: Id, author: Id, draft: MessageDraft) -> Id {
        let id = self.new_id();
        self.post_as(id, channel, author, draft)
    }

    pub(crate) fn post_as(
        &mut self,
        id: Id,
        channel: Id,
        author: Id,
        mut draft: MessageDraft,
    ) -> Id {
        if draft.kind == kinds::DEFAULT && draft.reference.is_some() {
            draft.kind = kinds::REPLY;
        }
        let created = self.clock.elapsed();
        let mut message = StoredMessage {
            id,
            channel,
            author,
            texts: vec![draft.content.clone()],
            draft,
            mentions: Vec::new(),
            mention_roles: Vec::new(),
            mention_everyone: false,
            edited_at: None,
            created,
            changed: created,
            thread: None,
            deleted: false,
            pinned: false,
        };
        self.read_mentions(&mut message);
        let is_ephemeral = message.is_ephemeral();
        let mentions = message.mentions.clone();
        self.messages
            .entry(channel)
            .or_default()
            .insert(id, message);
        if !is_ephemeral {
            if let Some(place) = self.channels.get_mut(&channel) {
                place.last_message = Some(id);
            }
            self.wake_thread(channel);
            self.join_thread(channel, author);
            for user in mentions {
                self.join_thread(channel, user);
            }
            self.tell_of_message("MESSAGE_CREATE", channel, id);
        }
        id
    }

    /// Edits a message and reports it.
    pub(crate) fn rewrite(&mut self, channel: Id, id: Id, change: impl FnOnce(&mut StoredMessage)) {
        let (now, elapsed) = (self.clock.now(), self.clock.elapsed());
        let Some(mut message) = self.message(channel, id).cloned() else {
            return;
        };
        change(&mut message);
        message.edited_at = Some(now);
        message.changed = elapsed;
        if message.texts.last() != Some(&message.draft.content) {
            message.texts.push(message.draft.content.clone());
        }
        self.read_mentions(&mut message);
        let is_ephemeral = message.is_ephemeral();
        self.messages
            .entry(channel)
            .or_default()
            .insert(id, message);
        if !is_ephemeral {
            self.tell_of_message("MESSAGE_UPDATE", channel, id);
        }
    }

    /// Deletes a message and reports it.
    pub(crate) fn erase(&mut self, channel: Id, id: Id) {
        let Some(message) = self.message_mut(channel, id) else {
            return;
        };
        message.deleted = true;
        if message.is_ephemeral() {
            return;
        }
        let guild = self
            .channels
            .get(&channel)
            .and_then(|channel| channel.guild);
        self.tell(
            "MESSAGE_DELETE",
            EventScope::Channel(channel),
            intents::MESSAGES,
            |_, _| {
                with_guild(
                    json!({ "id": id.json(), "channel_id": channel.json() }),
                    guild,
                )
            },
        );
    }

    /// Deletes several messages at once.
    pub(crate) fn erase_all(&mut self, channel: Id, ids: &[Id]) {
        for id in ids {
            if let Some(message) = self.message_mut(channel, *id) {
                message.deleted = true;
            }
        }
        let guild = self
            .channels
            .get(&channel)
            .and_then(|channel| channel.guild);
        let ids: Vec<Value> = ids.iter().map(|id| id.json()).collect();
        self.tell(
            "MESSAGE_DELETE_BULK",
            EventScope::Channel(channel),
            intents::MESSAGES,
            |_, _| with_guild(json!({ "ids": ids, "channel_id": channel.json() }), guild),
        );
    }

    pub(crate) fn tell_again(&mut self, channel: Id, id: Id) {
        if self.message(channel, id).is_some() {
            self.tell_of_message("MESSAGE_CREATE", channel, id);
        }
    }

    fn tell_of_message(&mut self, event: &'static str, channel: Id, id: Id) {
        self.tell(
            event,
            EventScope::Channel(channel),
            intents::MESSAGES,
            |world, listener| {
                let message = &world.messages[&channel][&id];
                let has_content = Self::hears_content(listener);
                world.message_event_json(message, listener.app, has_content)
            },
        );
    }

    /// Reopens an archived thread, as a message in it does.
    fn wake_thread(&mut self, channel: Id) {
        let thread = self
            .channels
            .get_mut(&channel)
            .and_then(|channel| channel.thread.as_mut());
        if let Some(thread) = thread
            && thread.archived
        {
            thread.archived = false;
            self.tell_of_channel("THREAD_UPDATE", channel);
        }
    }

    /// Who writes in a thread or is called there takes part in it.
    pub(crate) fn leave_thread(&mut self, channel: Id, user: Id) {
        let channel = self.channels.get_mut(&channel);
        if let Some(thread) = channel.and_then(|channel| channel.thread.as_mut()) {
            thread.members.remove(&user);
        }
    }

    pub(crate) fn join_thread(&mut self, channel: Id, user: Id) {
        let now = self.clock.now();
        let Some(place) = self.channels.get_mut(&channel) else {
            return;
        };
        let is_private = place.kind == ChannelType::PrivateThread;
        let guild = place.guild;
        let Some(thread) = place.thread.as_mut() else {
            return;
        };
        if thread.members.contains_key(&user) {
            return;
        }
        thread.members.insert(user, now);
        let count = thread.members.len();
        let member = super::channel::thread_member_json(channel, user, now);
        if self.apps.contains_key(&user) {
            self.tell_who_joined(
                channel,
                user,
                is_private,
                &with_guild(member.clone(), guild),
            );
        }
        let update = json!({ "id": channel.json(), "member_count": count, "added_members": [member], "removed_member_ids": [] });
        let update = with_guild(update, guild);
        self.tell(
            "THREAD_MEMBERS_UPDATE",
            EventScope::Channel(channel),
            intents::GUILDS,
            |_, listener| {
                let mut update = update.clone();
                // Without the members intent a bot receives only its own membership.
                if listener.intents & intents::GUILD_MEMBERS == 0 && listener.app != user {
                    update["added_members"] = json!([]);
                }
                update
            },
        );
    }

    /// Reports to a bot that it joined; a private thread is new to it.
    fn tell_who_joined(&mut self, channel: Id, app: Id, is_private: bool, member: &Value) {
        let place = EventScope::App(app, self.channels[&channel].guild);
        if is_private {
            self.tell(
                "THREAD_CREATE",
                place,
                intents::GUILDS,
                |world, listener| world.channel_json(&world.channels[&channel], Some(listener.app)),
            );
        }
        self.tell("THREAD_MEMBER_UPDATE", place, intents::GUILDS, |_, _| {
            member.clone()
        });
    }

    /// Reports the current state of a channel or thread; of a channel also to those who cannot see
    /// it.
    pub(crate) fn tell_of_channel(&mut self, event: &'static str, channel: Id) {
        let found = &self.channels[&channel];
        let place = match (found.guild, &found.thread) {
            (Some(guild), None) => EventScope::Guild(guild),
            (Some(_), Some(_)) | (None, _) => EventScope::Channel(channel),
        };
        self.tell(event, place, intents::GUILDS, |world, listener| {
            world.channel_json(&world.channels[&channel], Some(listener.app))
        });
    }

    /// Pins a message; Discord announces it in the channel.
    pub(crate) fn pin(&mut self, channel: Id, user: Id, id: Id) {
        if let Some(message) = self.message_mut(channel, id) {
            message.pinned = true;
        }
        let guild = self.channels[&channel].guild;
        let now = crate::id::stamp(self.clock.now());
        self.tell(
            "CHANNEL_PINS_UPDATE",
            EventScope::Channel(channel),
            intents::GUILDS,
            |_, _| {
                with_guild(
                    json!({ "channel_id": channel.json(), "last_pin_timestamp": now }),
                    guild,
                )
            },
        );
        self.tell_of_message("MESSAGE_UPDATE", channel, id);
        let notice = MessageDraft {
            kind: kinds::PINNED,
            reference: Some(id),
            ..MessageDraft::default()
        };
        self.post(channel, user, notice);
    }

    /// Embeds the page of a link in a message, which changes the message but is not an edit.
    pub(crate) fn unfurl(&mut self, channel: Id, id: Id, url: &str) {
        let Some(message) = self.message_mut(channel, id) else {
            return;
        };
        message
            .draft
            .embeds
            .push(json!({ "type": "link", "url": url, "title": "A page" }));
        self.tell_of_message("MESSAGE_UPDATE", channel, id);
    }
}

pub(crate) fn with_guild(mut json: Value, guild: Option<Id>) -> Value {
    if let Some(guild) = guild {
        json["guild_id"] = guild.json();
    }
    json
}
