//! One room, as a person sees it.

use std::time::Duration;

use matrix_sdk::Room;
use matrix_sdk::attachment::AttachmentConfig;
use matrix_sdk::room::MessagesOptions;
use matrix_sdk::ruma::{EventId, OwnedEventId, OwnedUserId, UserId, uint};
use serde_json::{Value, json};

use super::timeout::TIMEOUT;
use super::view::{RoomMessage, View, Watch};

/// One room, as a person sees it.
pub struct MatrixChat {
    pub room: Room,
    pub bot: OwnedUserId,
    view: Watch,
}

impl MatrixChat {
    pub(super) fn new(room: Room, bot: &UserId, view: Watch) -> Self {
        Self {
            room,
            bot: bot.to_owned(),
            view,
        }
    }

    /// Sends a message that addresses nobody.
    ///
    /// # Panics
    /// Panics when it cannot be sent.
    pub async fn say(&self, text: &str) -> OwnedEventId {
        self.send(json!({ "msgtype": "m.text", "body": text, "m.mentions": {} }))
            .await
    }

    /// Sends a message to the bot.
    ///
    /// # Panics
    /// Panics when it cannot be sent.
    pub async fn ask(&self, text: &str) -> OwnedEventId {
        self.send(self.mentioning(text)).await
    }

    /// Asks the echo bot and waits for the echo; returns the question and the answer.
    ///
    /// # Panics
    /// Panics when it cannot be sent, or is not answered in time.
    pub async fn echoes(&self, text: &str) -> (OwnedEventId, RoomMessage) {
        let question = self.ask(text).await;
        (question, self.hears(&format!("echo: {text}")).await)
    }

    /// Returns the content of a message that mentions the bot.
    pub fn mentioning(&self, text: &str) -> Value {
        json!({
            "msgtype": "m.text",
            "body": format!("{}: {text}", self.bot),
            "m.mentions": { "user_ids": [self.bot] },
        })
    }

    /// Sends a message in a thread that addresses nobody.
    ///
    /// # Panics
    /// Panics when it cannot be sent.
    pub async fn say_in(&self, thread: &EventId, text: &str) -> OwnedEventId {
        self.send_in(
            thread,
            json!({ "msgtype": "m.text", "body": text, "m.mentions": {} }),
        )
        .await
    }

    /// Sends content in a thread.
    ///
    /// # Panics
    /// Panics when it cannot be sent.
    pub async fn send_in(&self, thread: &EventId, mut content: Value) -> OwnedEventId {
        content["m.relates_to"] = json!({ "rel_type": "m.thread", "event_id": thread,
            "is_falling_back": true, "m.in_reply_to": { "event_id": thread } });
        self.send(content).await
    }

    /// Replies to a message, outside of threads.
    ///
    /// # Panics
    /// Panics when it cannot be sent.
    pub async fn reply(&self, to: &str, text: &str) -> OwnedEventId {
        self.send(json!({
            "msgtype": "m.text", "body": text, "m.mentions": {},
            "m.relates_to": { "m.in_reply_to": { "event_id": to } },
        }))
        .await
    }

    /// Edits an earlier message.
    ///
    /// # Panics
    /// Panics when it cannot be sent.
    pub async fn edit(&self, of: &EventId, text: &str) -> OwnedEventId {
        self.send(json!({
            "msgtype": "m.text", "body": format!("* {text}"), "m.mentions": {},
            "m.new_content": { "msgtype": "m.text", "body": text, "m.mentions": {} },
            "m.relates_to": { "rel_type": "m.replace", "event_id": of },
        }))
        .await
    }

    /// Edits an earlier message to address the bot: with a new mention, or with one that was there.
    ///
    /// # Panics
    /// Panics when it cannot be sent.
    pub async fn edit_to_ask(&self, of: &EventId, text: &str, is_new: bool) -> OwnedEventId {
        let new = self.mentioning(text);
        let mentions = if is_new {
            new["m.mentions"].clone()
        } else {
            json!({})
        };
        self.send(json!({
            "msgtype": "m.text", "body": format!("* {text}"), "m.mentions": mentions,
            "m.new_content": new,
            "m.relates_to": { "rel_type": "m.replace", "event_id": of },
        }))
        .await
    }

    /// Redacts a message or a reaction.
    ///
    /// # Panics
    /// Panics when it cannot be sent.
    pub async fn redact(&self, id: &EventId) {
        self.room.redact(id, None, None).await.expect("redacted");
    }

    /// Reacts to a message.
    ///
    /// # Panics
    /// Panics when it cannot be sent.
    pub async fn react(&self, to: &str, key: &str) -> OwnedEventId {
        let relation = json!({ "rel_type": "m.annotation", "event_id": to, "key": key });
        self.send_as("m.reaction", json!({ "m.relates_to": relation }))
            .await
    }

    /// Sends a file with a caption.
    ///
    /// # Panics
    /// Panics when it cannot be sent.
    pub async fn send_file(
        &self,
        name: &str,
        media_type: &str,
        content: &[u8],
        caption: &str,
    ) -> OwnedEventId {
        let media_type = media_type.parse().expect("a media type");
        let said = matrix_sdk::ruma::events::room::message::TextMessageEventContent::plain(caption);
        let config = AttachmentConfig::new().caption((!caption.is_empty()).then_some(said));
        let sent = self
            .room
            .send_attachment(name, &media_type, content.to_vec(), config)
            .await;
        sent.expect("sent").event_id
    }

    /// Sends a message of any content.
    ///
    /// # Panics
    /// Panics when it cannot be sent.
    pub async fn send(&self, content: Value) -> OwnedEventId {
        self.send_as("m.room.message", content).await
    }

    async fn send_as(&self, kind: &str, content: Value) -> OwnedEventId {
        let sent = self.room.send_raw(kind, content).await;
        sent.expect("sent").response.event_id
    }

    /// Returns the bot's current messages in this room, redacted or not.
    pub fn said(&self) -> Vec<RoomMessage> {
        self.of(&self.view.now())
    }

    /// Returns the questions that the bot answered in threads, one per existing answer, from the
    /// homeserver: of many messages at once, a client receives only the last ones.
    ///
    /// # Panics
    /// Panics when the homeserver does not tell.
    pub async fn answers(&self) -> Vec<String> {
        let mut options = MessagesOptions::backward();
        options.limit = uint!(500);
        let page = self.room.messages(options).await.expect("messages");
        let answered = page.chunk.iter().filter_map(|event| {
            let event: Value = serde_json::from_str(event.raw().json().get()).ok()?;
            let relation = &event["content"]["m.relates_to"];
            let is_answer = event["sender"] == self.bot.as_str()
                && event["type"] == "m.room.message"
                && relation["rel_type"] == "m.thread";
            let question = relation["event_id"].as_str().filter(|_| is_answer)?;
            Some(question.to_owned())
        });
        answered.collect()
    }

    fn of(&self, view: &View) -> Vec<RoomMessage> {
        let here = |message: &&RoomMessage| {
            message.room == *self.room.room_id() && message.sender == *self.bot
        };
        view.messages.iter().filter(here).cloned().collect()
    }

    /// Waits until the bot has a message with exactly this text.
    ///
    /// # Panics
    /// Panics when it does not in time.
    pub async fn hears(&self, text: &str) -> RoomMessage {
        self.finds(&format!("{text:?}"), |message| {
            message.text == text && !message.is_redacted
        })
        .await
    }

    /// Waits for a message of the bot.
    ///
    /// # Panics
    /// Panics when none comes in time.
    pub async fn finds(&self, what: &str, is_it: impl Fn(&RoomMessage) -> bool) -> RoomMessage {
        self.sees(what, |view| {
            self.of(view).into_iter().find(|message| is_it(message))
        })
        .await
    }

    /// Waits for something that the person sees.
    ///
    /// # Panics
    /// Panics when it does not come in time.
    pub async fn sees<T>(&self, what: &str, find: impl Fn(&View) -> Option<T>) -> T {
        self.sees_within(TIMEOUT, what, find).await
    }

    /// As [`MatrixChat::sees`], with its own time limit.
    ///
    /// # Panics
    /// Panics when it does not come in time.
    pub async fn sees_within<T>(
        &self,
        patience: Duration,
        what: &str,
        find: impl Fn(&View) -> Option<T>,
    ) -> T {
        match self.view.until(patience, find).await {
            Ok(found) => found,
            Err(view) => panic!("waited for {what}; the bot says {:#?}", self.of(&view)),
        }
    }
}

impl std::fmt::Debug for MatrixChat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MatrixChat")
            .field("room", &self.room.room_id())
            .finish_non_exhaustive()
    }
}
