//! A person's view of their client: messages with their edits applied, and who is typing.

use std::sync::Arc;
use std::time::Duration;

use matrix_sdk::deserialized_responses::{EncryptionInfo, ShieldState};
use matrix_sdk::ruma::events::AnySyncTimelineEvent;
use matrix_sdk::ruma::events::receipt::SyncReceiptEvent;
use matrix_sdk::ruma::events::typing::SyncTypingEvent;
use matrix_sdk::ruma::serde::Raw;
use matrix_sdk::{Client, Room};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

/// A message in its current version.
#[derive(Clone, Debug)]
pub struct RoomMessage {
    pub room: String,
    pub id: String,
    pub sender: String,
    pub kind: String,
    pub text: String,
    pub html: String,
    pub thread: Option<String>,
    pub replies_to: Option<String>,
    pub edits: usize,
    pub is_redacted: bool,
    pub is_encrypted: bool,
    /// Clients show a warning about its sender's device.
    pub is_shielded: bool,
    /// Whether it mentions anybody.
    pub mentions: bool,
    pub seen_at: Instant,
    /// All texts that it had.
    pub texts: Vec<String>,
}

/// Everything that a person has seen.
#[derive(Clone, Debug, Default)]
pub struct View {
    pub messages: Vec<RoomMessage>,
    /// Reactions: the message, the person, the key.
    pub reactions: Vec<(String, String, String)>,
    /// Rooms and people, each time somebody began to type.
    pub typed: Vec<(String, String, Instant)>,
    /// Who is typing now.
    pub typing: Vec<(String, String)>,
    /// Rooms, people and the events they have read.
    pub read: Vec<(String, String, String)>,
    /// Number of edits of unknown messages.
    pub stray: usize,
}

#[derive(Clone)]
pub(super) struct Watch(Arc<watch::Sender<View>>);

impl Watch {
    /// Waits until `find` returns something from the view, and returns it.
    pub(super) async fn until<T>(
        &self,
        patience: Duration,
        find: impl Fn(&View) -> Option<T>,
    ) -> Result<T, View> {
        let mut receiver = self.0.subscribe();
        let mut found = None;
        let looked = receiver.wait_for(|view| {
            found = find(view);
            found.is_some()
        });
        let looked = tokio::time::timeout(patience, looked).await.map(|_| ());
        match (looked, found) {
            (Ok(()), Some(found)) => Ok(found),
            _ => Err(self.now()),
        }
    }

    pub(super) fn now(&self) -> View {
        self.0.borrow().clone()
    }

    /// Waits for the next change, or a short time.
    pub(super) async fn changed(&self) {
        let mut receiver = self.0.subscribe();
        let _ = tokio::time::timeout(Duration::from_millis(100), receiver.changed()).await;
    }
}

pub(super) fn watch(client: &Client) -> Watch {
    let watch = Watch(Arc::new(watch::Sender::new(View::default())));
    let (events, typing, receipts) = (watch.clone(), watch.clone(), watch.clone());
    client.add_event_handler(
        move |event: Raw<AnySyncTimelineEvent>, room: Room, encryption: Option<EncryptionInfo>| {
            let events = events.clone();
            async move {
                let Ok(event) = event.deserialize_as_unchecked::<Value>() else {
                    return;
                };
                events.0.send_modify(|view| {
                    view.take(room.room_id().as_str(), &event, encryption.as_ref())
                });
            }
        },
    );
    client.add_event_handler(move |event: SyncTypingEvent, room: Room| {
        let typing = typing.clone();
        async move {
            let room = room.room_id().to_string();
            typing.0.send_modify(|view| {
                view.typing.retain(|(of, _)| *of != room);
                for user in &event.content.user_ids {
                    view.typing.push((room.clone(), user.to_string()));
                    view.typed
                        .push((room.clone(), user.to_string(), Instant::now()));
                }
            });
        }
    });
    client.add_event_handler(move |event: SyncReceiptEvent, room: Room| {
        let receipts = receipts.clone();
        async move {
            let room = room.room_id().to_string();
            receipts.0.send_modify(|view| {
                for (id, receipt) in &event.content.0 {
                    for user in receipt.values().flat_map(|users| users.keys()) {
                        view.read
                            .push((room.clone(), user.to_string(), id.to_string()));
                    }
                }
            });
        }
    });
    watch
}

impl View {
    fn take(&mut self, room: &str, event: &Value, encryption: Option<&EncryptionInfo>) {
        let content = &event["content"];
        match event["type"].as_str().unwrap_or_default() {
            "m.room.message" => self.message(room, event, encryption),
            "m.reaction" => {
                let relation = &content["m.relates_to"];
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                self.reactions.push((
                    text(&relation["event_id"]),
                    text(&event["sender"]),
                    text(&relation["key"]),
                ));
            }
            "m.room.redaction" => {
                let of = event["redacts"].as_str().or(content["redacts"].as_str());
                for message in self
                    .messages
                    .iter_mut()
                    .filter(|message| Some(message.id.as_str()) == of)
                {
                    message.is_redacted = true;
                }
            }
            _ => {}
        }
    }

    fn message(&mut self, room: &str, event: &Value, encryption: Option<&EncryptionInfo>) {
        let text_of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let content = &event["content"];
        let relation = &content["m.relates_to"];
        if relation["rel_type"] == "m.replace" {
            let new = &content["m.new_content"];
            let of = text_of(&relation["event_id"]);
            let sender = text_of(&event["sender"]);
            let edited = self
                .messages
                .iter_mut()
                .find(|message| message.id == of && message.sender == sender);
            let Some(message) = edited else {
                self.stray += 1;
                return;
            };
            message.text = text_of(&new["body"]);
            message.html = text_of(&new["formatted_body"]);
            message.texts.push(message.text.clone());
            message.edits += 1;
            return;
        }
        let mentions = &content["m.mentions"];
        let text = text_of(&content["body"]);
        self.messages.push(RoomMessage {
            room: room.to_owned(),
            id: text_of(&event["event_id"]),
            sender: text_of(&event["sender"]),
            kind: text_of(&content["msgtype"]),
            texts: vec![text.clone()],
            text,
            html: text_of(&content["formatted_body"]),
            thread: (relation["rel_type"] == "m.thread").then(|| text_of(&relation["event_id"])),
            replies_to: relation["m.in_reply_to"]["event_id"]
                .as_str()
                .map(str::to_owned),
            edits: 0,
            is_redacted: false,
            is_encrypted: encryption.is_some(),
            is_shielded: encryption.is_some_and(|info| {
                !matches!(
                    info.verification_state.to_shield_state_lax(),
                    ShieldState::None
                )
            }),
            mentions: !mentions["user_ids"].is_null() || mentions["room"] == true,
            seen_at: Instant::now(),
        });
    }
}
