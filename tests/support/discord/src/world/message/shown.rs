//! Messages as each listener may see them.

use serde_json::{Value, json};

use super::{Attached, Forwarded, StoredMessage, flags, kinds, with_guild};
use crate::Id;
use crate::id::stamp;
use crate::world::{Listener, StoredChannel, World, intents};

impl World {
    /// Returns it as the REST interface does for an application.
    pub(crate) fn message_json(
        &self,
        message: &StoredMessage,
        app: Id,
        has_content: bool,
    ) -> Value {
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

    /// Returns it as in events, with its author and the mentioned people as members.
    pub(crate) fn message_event_json(
        &self,
        message: &StoredMessage,
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

    fn basic_message_json(&self, message: &StoredMessage, app: Id, has_content: bool) -> Value {
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
            "mention_roles": roles.collect::<Vec<_>>(), "pinned": message.pinned,
            "flags": draft.flags | if message.thread.is_some() { flags::HAS_THREAD } else { 0 },
            "attachments": shown(files.map(|file| self.file_json(file)).collect()),
            "embeds": shown(if hides_embeds { Vec::new() } else { draft.embeds.clone() }),
            "components": shown(draft.components.clone()),
        });
        let snapshots =
            |forwarded: &Forwarded| shown(vec![json!({ "message": forwarded.snapshot })]);
        let optional = [
            ("nonce", draft.nonce.clone()),
            ("webhook_id", draft.webhook.map(Id::json)),
            ("application_id", draft.application.map(Id::json)),
            ("interaction_metadata", draft.interaction.clone()),
            ("message_reference", self.reference_json(message, channel)),
            ("message_snapshots", draft.forwarded.as_ref().map(snapshots)),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                json[name] = value;
            }
        }
        json
    }

    fn author_json(&self, message: &StoredMessage) -> Value {
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

    fn reference_json(
        &self,
        message: &StoredMessage,
        channel: Option<&StoredChannel>,
    ) -> Option<Value> {
        if let Some(forwarded) = &message.draft.forwarded {
            let (channel, message) = (forwarded.channel.json(), forwarded.message.json());
            return Some(json!({ "type": 1, "channel_id": channel, "message_id": message }));
        }
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

    pub(crate) fn file_json(&self, file: &Attached) -> Value {
        // Signed like Discord's: whoever has the URL can read the file, for a day.
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

    /// Whether an application may read message texts over REST.
    pub(crate) fn may_read(&self, app: Id) -> bool {
        self.apps
            .get(&app)
            .is_some_and(|app| app.privileged & intents::MESSAGE_CONTENT != 0)
    }

    /// Like [`Self::message_json`], for the requesting application.
    pub(crate) fn message_for(&self, app: Id, channel: Id, id: Id) -> Value {
        let message = &self.messages[&channel][&id];
        self.message_json(message, app, self.may_read(app))
    }

    /// Whether a listener's intents include message texts.
    pub(crate) fn hears_content(listener: &Listener) -> bool {
        listener.intents & intents::MESSAGE_CONTENT != 0
    }
}
