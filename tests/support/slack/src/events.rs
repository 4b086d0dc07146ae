//! Events for the app, in the form of the Events API.
//!
//! Each event names the subscription that it needs (a manifest's `bot_events`); without that it is
//! not sent. Events of a channel are sent only while the bot is a member.

use serde_json::{Value, json};

use crate::ids::{APP, BOT_USER, TEAM, id};
use crate::outgoing::{OutgoingDelivery, OutgoingKind};
use crate::post::Writer;
use crate::workspace::{ChannelKind, Workspace};

impl Workspace {
    /// Sends `event` to the app, if it subscribed to `subscription`.
    ///
    /// Events of one `lane` are sent in order.
    pub(crate) fn tell(&mut self, subscription: &str, lane: &str, event: Value) {
        if self.app.hears(subscription) {
            let payload = self.envelope(event);
            self.send(OutgoingKind::Event, lane, payload);
        }
    }

    /// Sends anything to the app, and returns its number.
    pub(crate) fn send(&mut self, kind: OutgoingKind, lane: &str, payload: Value) -> usize {
        let id = self.number();
        let lane = lane.to_owned();
        self.outbox.push(OutgoingDelivery {
            kind,
            payload,
            lane,
            id,
        });
        id
    }

    /// The outer event ("Event payload" of the Events API page).
    pub(crate) fn envelope(&mut self, mut event: Value) -> Value {
        let number = self.number();
        let channel = event["channel"].as_str().unwrap_or_default();
        let is_shared = self.rooms.get(channel).is_some_and(|room| room.is_shared);
        if event["event_ts"].is_null() {
            event["event_ts"] = json!(self.ts());
        }
        json!({
            "token": "loopback-verification-token",
            "team_id": TEAM,
            "context_team_id": TEAM,
            "context_enterprise_id": null,
            "api_app_id": APP,
            "event": event,
            "type": "event_callback",
            "event_id": id('E', number).replacen('E', "Ev", 1),
            "event_time": chrono::Utc::now().timestamp(),
            "authorizations": [{ "enterprise_id": null, "team_id": TEAM, "user_id": BOT_USER,
                "is_bot": true, "is_enterprise_install": false }],
            "is_ext_shared_channel": is_shared,
            "event_context": format!("4-loopback-{number}"),
        })
    }

    /// Sends a new message: `message`, and `app_mention` if it names the bot.
    pub(crate) fn tell_of_message(&mut self, channel: &str, ts: &str) {
        let Some(post) = self.post(channel, ts) else {
            return;
        };
        let mentions = names_bot(&post.text) && !matches!(post.writer, Writer::App);
        let (event, lane) = (
            post.json(self),
            lane_of(post.channel.as_str(), &thread_of(self, channel, ts)),
        );
        if mentions && self.mentions_first {
            let mut bare = event.clone();
            if let Some(bare) = bare.as_object_mut() {
                bare.retain(|name, _| {
                    !["files", "upload", "subtype", "team"].contains(&name.as_str())
                });
            }
            self.tell_of_mention(channel, &lane, bare);
            self.tell_in_room(channel, &lane, event);
            return;
        }
        self.tell_in_room(channel, &lane, event.clone());
        if mentions {
            self.tell_of_mention(channel, &lane, event);
        }
    }

    /// "Messages sent to your app in direct message conversations are not dispatched via `app_mention`", nor is
    /// what is said where the bot is not.
    fn tell_of_mention(&mut self, channel: &str, lane: &str, mut event: Value) {
        let room = self.room(channel);
        if room.kind == ChannelKind::Direct || !room.has(BOT_USER) {
            return;
        }
        event["type"] = json!("app_mention");
        event["channel"] = json!(channel);
        event["event_ts"] = event["ts"].clone();
        self.tell("app_mention", lane, event);
    }

    /// Sends an edit: `message_changed`, and `app_mention` again if it names the bot, newly or
    /// still.
    pub(crate) fn tell_of_change(&mut self, channel: &str, ts: &str, before: &Value) {
        let Some(after) = self.post(channel, ts).map(|post| post.json(self)) else {
            return;
        };
        let now = self.ts();
        let lane = lane_of(channel, &thread_of(self, channel, ts));
        let names = names_bot(after["text"].as_str().unwrap_or_default());
        let by_app = after["user"] == BOT_USER;
        let event = json!({ "type": "message", "subtype": "message_changed", "hidden": true,
            "message": after, "previous_message": before, "ts": now, "event_ts": now });
        self.tell_in_room(channel, &lane, event);
        if names && !by_app {
            self.tell_of_mention(channel, &lane, after);
        }
    }

    pub(crate) fn tell_of_deletion(&mut self, channel: &str, ts: &str, before: &Value) {
        let now = self.ts();
        let lane = lane_of(channel, &thread_of(self, channel, ts));
        let event = json!({ "type": "message", "subtype": "message_deleted", "hidden": true,
            "deleted_ts": ts, "previous_message": before, "ts": now, "event_ts": now });
        self.tell_in_room(channel, &lane, event);
    }

    /// Sends a `message` event of any subtype, if the bot is there.
    pub(crate) fn tell_in_room(&mut self, channel: &str, lane: &str, mut event: Value) {
        let room = self.room(channel);
        if !room.has(BOT_USER) {
            return;
        }
        let subscription = format!("message.{}", room.kind.family());
        event["channel_type"] = json!(room.kind.name());
        event["channel"] = json!(channel);
        if event["event_ts"].is_null() {
            event["event_ts"] = event["ts"].clone();
        }
        self.tell(&subscription, lane, event);
    }
}

/// Whether a text names the app's bot.
pub(crate) fn names_bot(text: &str) -> bool {
    text.contains(&format!("<@{BOT_USER}>"))
}

/// Returns the lane of a thread, whose events are sent in order.
pub(crate) fn lane_of(channel: &str, thread: &str) -> String {
    format!("{channel}/{thread}")
}

/// Returns the thread of a message; its own if it is in none.
pub(crate) fn thread_of(workspace: &Workspace, channel: &str, ts: &str) -> String {
    let post = workspace.post(channel, ts);
    let thread = post.and_then(|post| post.thread_ts.clone());
    thread.unwrap_or_else(|| ts.to_owned())
}
