//! What a person's client shows.

use std::time::Duration;

use serde_json::Value;

use crate::Id;
use crate::server::SharedWorld;
use crate::world::{self, ChannelType, World, flags, kinds};

/// A button under a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageButton {
    pub label: String,
    /// Empty for one that only opens an address.
    pub custom_id: String,
    pub url: String,
    pub disabled: bool,
    /// By Discord's numbers.
    pub style: u64,
}

/// A file under a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    pub name: String,
    pub media_type: String,
    pub content: Vec<u8>,
}

/// A thread that a person sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    pub id: Id,
    pub name: String,
    pub is_private: bool,
    pub is_archived: bool,
    pub is_locked: bool,
    pub members: Vec<Id>,
}

/// A message as it stands now.
#[derive(Clone, Debug)]
pub struct Message {
    pub id: Id,
    pub channel: Id,
    pub author: Id,
    /// As it is shown; a webhook's own where one posted.
    pub author_name: String,
    pub text: String,
    /// Everything it said, in order.
    pub texts: Vec<String>,
    /// How often it was changed.
    pub edits: usize,
    pub is_deleted: bool,
    /// Only this person sees it.
    pub is_ephemeral: bool,
    /// It only says that the bot is thinking.
    pub is_thinking: bool,
    /// Addresses in it show no previews.
    pub hides_embeds: bool,
    /// A notice of Discord's own, which nobody wrote.
    pub is_system: bool,
    pub embeds: Vec<Value>,
    pub buttons: Vec<MessageButton>,
    pub attachments: Vec<Attachment>,
    pub replies_to: Option<Id>,
    /// The thread on it.
    pub thread: Option<Id>,
    /// People whom it called.
    pub calls: Vec<Id>,
    pub calls_everyone: bool,
    /// Who did what it answers.
    pub answers: Option<Id>,
    /// On the server's clock: when it was first there and when it last changed.
    pub created: Duration,
    pub changed: Duration,
}

impl Message {
    /// The button of this label.
    ///
    /// # Panics
    /// Panics when there is none.
    #[track_caller]
    pub fn button(&self, label: &str) -> MessageButton {
        let found = self.buttons.iter().find(|button| button.label == label);
        found
            .cloned()
            .unwrap_or_else(|| panic!("no button {label:?} under {self:#?}"))
    }
}

/// What is found as soon as it is there; none when it is not in time.
pub(crate) async fn until<T>(
    shared: &SharedWorld,
    patience: Duration,
    find: impl Fn(&World) -> Option<T>,
) -> Option<T> {
    let mut changes = shared.changed.subscribe();
    let looking = async {
        loop {
            changes.borrow_and_update();
            if let Some(found) = shared.look(&find) {
                return Some(found);
            }
            // The sender lives as long as what is looked at.
            changes.changed().await.ok()?;
        }
    };
    tokio::time::timeout(patience, looking).await.ok().flatten()
}

impl World {
    /// A channel's messages as somebody sees them, deleted ones too.
    pub(crate) fn shown(&self, channel: Id, to: Id) -> Vec<Message> {
        let all = self
            .messages
            .get(&channel)
            .into_iter()
            .flat_map(|messages| messages.values());
        let is_for = |message: &&world::StoredMessage| {
            message.draft.ephemeral_for.is_none_or(|only| only == to)
        };
        all.filter(is_for)
            .map(|message| self.shown_one(message))
            .collect()
    }

    fn shown_one(&self, message: &world::StoredMessage) -> Message {
        let draft = &message.draft;
        let webhook = draft
            .webhook
            .and_then(|webhook| self.webhooks.get(&webhook));
        let author_name = webhook
            .map_or(&self.users[&message.author].name, |webhook| &webhook.name)
            .clone();
        let files = draft
            .attachments
            .iter()
            .filter_map(|file| self.files.get(file));
        Message {
            id: message.id,
            channel: message.channel,
            author: message.author,
            author_name,
            text: draft.content.clone(),
            texts: message
                .texts
                .iter()
                .filter(|text| !text.is_empty())
                .cloned()
                .collect(),
            edits: message.texts.len() - 1,
            is_deleted: message.deleted,
            is_ephemeral: message.is_ephemeral(),
            is_thinking: draft.flags & flags::LOADING != 0,
            hides_embeds: draft.flags & flags::SUPPRESS_EMBEDS != 0,
            is_system: matches!(
                draft.kind,
                kinds::PINNED | kinds::THREAD_CREATED | kinds::THREAD_STARTER
            ),
            embeds: draft.embeds.clone(),
            buttons: buttons(&draft.components),
            attachments: files.map(attachment).collect(),
            replies_to: draft.reference,
            thread: message.thread,
            calls: message.mentions.clone(),
            calls_everyone: message.mention_everyone,
            answers: draft
                .interaction
                .as_ref()
                .and_then(|interaction| Id::of(&interaction["user"]["id"])),
            created: message.created,
            changed: message.changed,
        }
    }

    /// The threads of a channel that somebody sees.
    pub(crate) fn threads_shown(&self, channel: Id, to: Id) -> Vec<Thread> {
        let here = self
            .channels
            .values()
            .filter(|thread| thread.parent == Some(channel) && self.sees(to, thread));
        let threads = here.filter_map(|channel| {
            let thread = channel.thread.as_ref()?;
            Some(Thread {
                id: channel.id,
                name: channel.name.clone(),
                is_private: channel.kind == ChannelType::PrivateThread,
                is_archived: thread.archived,
                is_locked: thread.locked,
                members: thread.members.keys().copied().collect(),
            })
        });
        threads.collect()
    }
}

fn attachment(file: &world::Attached) -> Attachment {
    Attachment {
        name: file.name.clone(),
        media_type: file.media_type.clone(),
        content: file.content.clone(),
    }
}

fn buttons(rows: &[Value]) -> Vec<MessageButton> {
    let inner = rows
        .iter()
        .filter_map(|row| row["components"].as_array())
        .flatten();
    let buttons = inner.filter(|component| component["type"] == 2);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    buttons
        .map(|button| MessageButton {
            label: match &button["label"] {
                // One that shows only an emoji is called by it.
                Value::Null => text(&button["emoji"]["name"]),
                label => text(label),
            },
            custom_id: text(&button["custom_id"]),
            url: text(&button["url"]),
            disabled: button["disabled"] == true,
            style: button["style"].as_u64().unwrap_or_default(),
        })
        .collect()
}
