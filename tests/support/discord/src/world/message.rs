//! Messages, as they are kept and as each listener may see them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{Channel, Kind, Listener, Place, World, intents};
use crate::Id;
use crate::id::stamp;
use crate::permissions::Permissions;

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
    /// As the payload claims, which may be a lie.
    pub(crate) claimed_size: u64,
}

/// What a message is made from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) kind: u8,
    pub(crate) content: String,
    pub(crate) embeds: Vec<Value>,
    pub(crate) components: Vec<Value>,
    pub(crate) flags: u64,
    pub(crate) attachments: Vec<Id>,
    pub(crate) reference: Option<Id>,
    pub(crate) nonce: Option<Value>,
    pub(crate) webhook: Option<Id>,
    pub(crate) application: Option<Id>,
    pub(crate) interaction: Option<Value>,
    pub(crate) ephemeral_for: Option<Id>,
    /// None: whoever is named is called, as for people.
    pub(crate) allowed_mentions: Option<Value>,
}

impl Draft {
    pub(crate) fn text(content: &str) -> Self {
        Self {
            content: content.to_owned(),
            ..Self::default()
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: Id,
    pub(crate) channel: Id,
    pub(crate) author: Id,
    pub(crate) draft: Draft,
    /// Everything it said, the last is what it says now.
    pub(crate) texts: Vec<String>,
    pub(crate) mentions: Vec<Id>,
    pub(crate) mention_roles: Vec<Id>,
    pub(crate) mention_everyone: bool,
    pub(crate) edited_at: Option<DateTime<Utc>>,
    /// On the server's clock.
    pub(crate) created: Duration,
    pub(crate) changed: Duration,
    pub(crate) reactions: Vec<(String, Id)>,
    pub(crate) thread: Option<Id>,
    pub(crate) deleted: bool,
}

impl Message {
    pub(crate) fn is_ephemeral(&self) -> bool {
        self.draft.flags & flags::EPHEMERAL != 0
    }
}

impl World {
    /// Writes a message and tells of it.
    pub(crate) fn post(&mut self, channel: Id, author: Id, draft: Draft) -> Id {
        let id = self.new_id();
        self.post_as(id, channel, author, draft)
    }

    pub(crate) fn post_as(&mut self, id: Id, channel: Id, author: Id, mut draft: Draft) -> Id {
        if draft.kind == kinds::DEFAULT && draft.reference.is_some() {
            draft.kind = kinds::REPLY;
        }
        let created = self.clock.elapsed();
        let mut message = Message {
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
            reactions: Vec::new(),
            thread: None,
            deleted: false,
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

    /// Changes what a message says and tells of it.
    pub(crate) fn rewrite(&mut self, channel: Id, id: Id, change: impl FnOnce(&mut Message)) {
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

    /// Takes a message away and tells of it.
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
            Place::Channel(channel),
            intents::MESSAGES,
            |_, _| {
                with_guild(
                    json!({ "id": id.json(), "channel_id": channel.json() }),
                    guild,
                )
            },
        );
    }

    /// Takes several away at once.
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
            Place::Channel(channel),
            intents::MESSAGES,
            |_, _| with_guild(json!({ "ids": ids, "channel_id": channel.json() }), guild),
        );
    }

    fn tell_of_message(&mut self, event: &'static str, channel: Id, id: Id) {
        self.tell(
            event,
            Place::Channel(channel),
            intents::MESSAGES,
            |world, listener| {
                let message = &world.messages[&channel][&id];
                let has_content = listener.intents & intents::MESSAGE_CONTENT != 0;
                world.message_event_json(message, listener.app, has_content)
            },
        );
    }

    /// Finds who is called by a message's text.
    fn read_mentions(&self, message: &mut Message) {
        let content = &message.draft.content;
        let allowed = message.draft.allowed_mentions.as_ref();
        let parses = |what: &str| {
            allowed.is_none_or(|allowed| {
                allowed["parse"]
                    .as_array()
                    .is_none_or(|parse| parse.iter().any(|of| of == what))
            })
        };
        let listed = |list: &str, id: Id| {
            let list = allowed.and_then(|allowed| allowed[list].as_array());
            list.is_some_and(|list| list.contains(&id.json()))
        };
        let named = |open: &str| -> Vec<Id> {
            let parts = content.split(open).skip(1);
            parts
                .filter_map(|part| Id::parse(part.trim_start_matches('!').split_once('>')?.0))
                .collect()
        };
        let users = named("<@")
            .into_iter()
            .filter(|id| self.users.contains_key(id));
        message.mentions = users
            .filter(|id| parses("users") || listed("users", *id))
            .collect();
        message.mentions.dedup();
        let replies_to = message
            .draft
            .reference
            .and_then(|id| self.message(message.channel, id));
        let calls_author = allowed.is_none_or(|allowed| allowed["replied_user"] == true);
        if let Some(earlier) = replies_to
            && calls_author
            && !message.mentions.contains(&earlier.author)
            && earlier.draft.webhook.is_none()
        {
            message.mentions.push(earlier.author);
        }
        let roles = named("<@&").into_iter();
        message.mention_roles = roles
            .filter(|id| parses("roles") || listed("roles", *id))
            .collect();
        let calls_all = content.contains("@everyone") || content.contains("@here");
        let may_call = self.channels.get(&message.channel).is_some_and(|channel| {
            channel.guild.is_some()
                && self
                    .permissions(message.author, channel)
                    .contains(Permissions::MENTION_EVERYONE)
        });
        message.mention_everyone = calls_all && parses("everyone") && may_call;
    }

    /// As the REST interface gives it to an application.
    pub(crate) fn message_json(&self, message: &Message, app: Id, has_content: bool) -> Value {
        let mut json = self.basic_message_json(message, app, has_content);
        if let Some(earlier) = message.draft.reference {
            let earlier = self.message(message.channel, earlier);
            json["referenced_message"] = earlier.map_or(Value::Null, |earlier| {
                self.basic_message_json(earlier, app, has_content)
            });
        }
        if let Some(thread) = message.thread.and_then(|thread| self.channels.get(&thread)) {
            json["thread"] = self.channel_json(thread, None);
        }
        json
    }

    /// With who wrote it and who is named as members, as in events.
    pub(crate) fn message_event_json(
        &self,
        message: &Message,
        app: Id,
        has_content: bool,
    ) -> Value {
        let mut json = self.message_json(message, app, has_content);
        let guild = self
            .channels
            .get(&message.channel)
            .and_then(|channel| channel.guild);
        let Some(guild) = guild.and_then(|guild| self.guilds.get(&guild)) else {
            return json;
        };
        json["guild_id"] = guild.id.json();
        if let Some(member) = guild.members.get(&message.author)
            && message.draft.webhook.is_none()
        {
            json["member"] = member.partial_json();
        }
        for (place, user) in message.mentions.iter().enumerate() {
            if let Some(member) = guild.members.get(user) {
                json["mentions"][place]["member"] = member.partial_json();
            }
        }
        json
    }

    fn basic_message_json(&self, message: &Message, app: Id, has_content: bool) -> Value {
        let channel = self.channels.get(&message.channel);
        let is_direct = channel.is_some_and(|channel| channel.guild.is_none());
        let is_for = message.author == app || message.mentions.contains(&app) || is_direct;
        let is_shown = has_content || is_for;
        let draft = &message.draft;
        let shown = |list: Vec<Value>| {
            if is_shown {
                Value::Array(list)
            } else {
                json!([])
            }
        };
        let mentions = message.mentions.iter().map(|user| self.users[user].json());
        let roles = message.mention_roles.iter().map(|role| role.json());
        let files = draft
            .attachments
            .iter()
            .filter_map(|file| self.files.get(file));
        let hides_embeds = draft.flags & flags::SUPPRESS_EMBEDS != 0;
        let mut json = json!({
            "id": message.id.json(), "channel_id": message.channel.json(), "type": draft.kind,
            "author": self.author_json(message), "content": if is_shown { draft.content.as_str() } else { "" },
            "timestamp": stamp(message.id.at()), "edited_timestamp": message.edited_at.map(stamp), "tts": false,
            "mention_everyone": message.mention_everyone, "mentions": mentions.collect::<Vec<_>>(),
            "mention_roles": roles.collect::<Vec<_>>(), "pinned": false,
            "flags": draft.flags | if message.thread.is_some() { flags::HAS_THREAD } else { 0 },
            "attachments": shown(files.map(|file| self.file_json(file)).collect()),
            "embeds": shown(if hides_embeds { Vec::new() } else { draft.embeds.clone() }),
            "components": shown(draft.components.clone()),
        });
        let optional = [
            ("nonce", draft.nonce.clone()),
            ("webhook_id", draft.webhook.map(Id::json)),
            ("application_id", draft.application.map(Id::json)),
            ("interaction_metadata", draft.interaction.clone()),
            ("message_reference", self.reference_json(message, channel)),
            ("reactions", self.reactions_json(message, app)),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                json[name] = value;
            }
        }
        json
    }

    fn author_json(&self, message: &Message) -> Value {
        let webhook = message
            .draft
            .webhook
            .and_then(|webhook| self.webhooks.get(&webhook));
        let Some(webhook) = webhook else {
            return self.users[&message.author].json();
        };
        let mut author = self.users[&message.author].json();
        author["id"] = webhook.id.json();
        author["username"] = webhook.name.clone().into();
        author["discriminator"] = "0000".into();
        author["bot"] = true.into();
        author
    }

    fn reference_json(&self, message: &Message, channel: Option<&Channel>) -> Option<Value> {
        let channel = channel?;
        let starts = message.draft.kind == kinds::THREAD_STARTER
            || message.draft.kind == kinds::THREAD_CREATED;
        let (place, earlier) = match (message.draft.reference, starts) {
            (Some(earlier), _) => (message.channel, Some(earlier)),
            (None, true) if message.draft.kind == kinds::THREAD_STARTER => {
                (channel.parent?, Some(channel.id))
            }
            (None, true) => (message.thread?, None),
            (None, false) => return None,
        };
        let mut reference = json!({ "type": 0, "channel_id": place.json() });
        if let Some(earlier) = earlier {
            reference["message_id"] = earlier.json();
        }
        Some(with_guild(reference, channel.guild))
    }

    fn reactions_json(&self, message: &Message, app: Id) -> Option<Value> {
        let mut counted: Vec<(&str, usize, bool)> = Vec::new();
        for (emoji, user) in &message.reactions {
            match counted.iter_mut().find(|(known, ..)| known == emoji) {
                Some((_, count, mine)) => {
                    *count += 1;
                    *mine |= *user == app;
                }
                None => counted.push((emoji, 1, *user == app)),
            }
        }
        let reactions = counted.iter().map(|(emoji, count, mine)| {
            json!({
                "emoji": { "id": null, "name": emoji }, "count": count, "me": mine, "me_burst": false,
                "count_details": { "burst": 0, "normal": count }, "burst_colors": [],
            })
        });
        (!counted.is_empty()).then(|| reactions.collect())
    }

    pub(crate) fn file_json(&self, file: &Attached) -> Value {
        // As Discord signs them: who has the address has the file, for a day.
        let url = format!(
            "{}/attachments/{}/{}/{}?ex=69200000&is=691f0000&hm=0",
            self.files_url, file.channel, file.id, file.name
        );
        let mut json = json!({
            "id": file.id.json(), "filename": file.name, "size": file.claimed_size, "url": url, "proxy_url": url,
        });
        if !file.media_type.is_empty() {
            json["content_type"] = file.media_type.clone().into();
        }
        if file.media_type.starts_with("image/") {
            json["width"] = 16.into();
            json["height"] = 16.into();
        }
        json
    }

    /// A message in an archived thread opens it again.
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
    pub(crate) fn join_thread(&mut self, channel: Id, user: Id) {
        let now = self.clock.now();
        let Some(place) = self.channels.get_mut(&channel) else {
            return;
        };
        let is_private = place.kind == Kind::PrivateThread;
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
            if is_private {
                // It had not heard of it before.
                self.tell(
                    "THREAD_CREATE",
                    Place::App(user, guild),
                    intents::GUILDS,
                    |world, listener| {
                        world.channel_json(&world.channels[&channel], Some(listener.app))
                    },
                );
            }
            let own = with_guild(member.clone(), guild);
            self.tell(
                "THREAD_MEMBER_UPDATE",
                Place::App(user, guild),
                intents::GUILDS,
                |_, _| own.clone(),
            );
        }
        let update = json!({ "id": channel.json(), "member_count": count, "added_members": [member], "removed_member_ids": [] });
        let update = with_guild(update, guild);
        self.tell(
            "THREAD_MEMBERS_UPDATE",
            Place::Channel(channel),
            intents::GUILDS,
            |_, listener| {
                let mut update = update.clone();
                // Without the intent of members a bot hears only of itself.
                if listener.intents & intents::GUILD_MEMBERS == 0 && listener.app != user {
                    update["added_members"] = json!([]);
                }
                update
            },
        );
    }

    /// Tells of a channel or thread as it is now.
    pub(crate) fn tell_of_channel(&mut self, event: &'static str, channel: Id) {
        self.tell(
            event,
            Place::Channel(channel),
            intents::GUILDS,
            |world, listener| world.channel_json(&world.channels[&channel], Some(listener.app)),
        );
    }

    /// What a listener of the REST interface may read of contents.
    pub(crate) fn may_read(&self, app: Id) -> bool {
        self.apps
            .get(&app)
            .is_some_and(|app| app.privileged & intents::MESSAGE_CONTENT != 0)
    }

    /// As [`Self::message_json`], for an application that asks.
    pub(crate) fn message_for(&self, app: Id, channel: Id, id: Id) -> Value {
        let message = &self.messages[&channel][&id];
        self.message_json(message, app, self.may_read(app))
    }

    /// What stands under a listener's own name.
    pub(crate) fn hears_content(listener: &Listener) -> bool {
        listener.intents & intents::MESSAGE_CONTENT != 0
    }
}

pub(crate) fn with_guild(mut json: Value, guild: Option<Id>) -> Value {
    if let Some(guild) = guild {
        json["guild_id"] = guild.json();
    }
    json
}
