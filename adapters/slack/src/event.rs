//! Parses what Slack sends from plain JSON. Unknown fields are ignored, and never a reason to lose
//! the rest. Pure.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::views::CORRECT_FIELD;

/// What Slack sends, by either transport.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Push {
    Event(SlackEvent),
    Slash(Slash),
    Interaction(Interaction),
    /// Slack drops the events of the minute that begins then: the app got more than Slack allows.
    RateLimited(DateTime<Utc>),
    /// Nothing that is handled here.
    Other,
}

/// Something that happened in the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlackEvent {
    /// Slack's id: `Ev…`.
    pub(crate) id: String,
    /// In a channel shared with other organisations.
    pub(crate) is_shared: bool,
    pub(crate) what: SlackEventKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SlackEventKind {
    /// A message, or a mention, which Slack sends as a separate event in addition to the message.
    Message(SlackMessage),
    Changed {
        now: SlackMessage,
        /// The previous text, if Slack sends it.
        before: Option<String>,
        at: Option<DateTime<Utc>>,
    },
    Deleted {
        channel: String,
        kind: SlackChannelKind,
        ts: String,
        thread: Option<String>,
        /// The author of the deleted message, and whether it was a bot.
        user: Option<String>,
        is_bot: bool,
    },
    Home {
        user: String,
        channel: String,
        tab: String,
    },
    /// Somebody opened a place made for asking, or switched to another channel: an assistant's
    /// thread, or an agent's messages, which have no thread yet.
    Assistant {
        is_new: bool,
        user: String,
        channel: String,
        thread: Option<String>,
        /// The channel that the person is viewing.
        looks_at: Option<String>,
    },
    /// Somebody pressed Slack's own stop button.
    Stopped {
        channel: String,
        thread: Option<String>,
    },
    /// A channel was deleted, with its messages.
    Gone {
        channel: String,
    },
    /// The app was uninstalled.
    Uninstalled,
    Other,
}

/// The kind of channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlackChannelKind {
    /// Public, private, or a group message.
    Channel,
    /// Between one person and the bot.
    Direct,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlackMessage {
    pub(crate) channel: String,
    pub(crate) kind: SlackChannelKind,
    pub(crate) ts: String,
    /// The first message of its thread, which may be the message itself.
    pub(crate) thread: Option<String>,
    pub(crate) user: Option<String>,
    /// The person's workspace.
    pub(crate) team: Option<String>,
    pub(crate) is_bot: bool,
    /// It arrived as a mention event, which may lack the message's files.
    pub(crate) is_mention: bool,
    pub(crate) subtype: Option<String>,
    /// In Slack's markup.
    pub(crate) text: String,
    pub(crate) files: Vec<SlackFile>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlackFile {
    pub(crate) id: String,
    /// `None` if Slack only says that there is a file, as in shared channels.
    pub(crate) url: Option<String>,
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) size: Option<u64>,
}

/// A slash command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slash {
    /// Unique per use.
    pub(crate) trigger: String,
    pub(crate) user: String,
    pub(crate) user_name: String,
    pub(crate) team: Option<String>,
    pub(crate) channel: String,
    pub(crate) text: String,
    pub(crate) response_url: Option<String>,
}

/// Somebody pressed a button, or used a shortcut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interaction {
    /// Unique per use.
    pub(crate) trigger: String,
    pub(crate) user: String,
    pub(crate) user_name: String,
    pub(crate) team: Option<String>,
    pub(crate) channel: Option<String>,
    pub(crate) response_url: Option<String>,
    pub(crate) deed: SlackInteractionKind,
}

/// What was pressed, submitted or used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SlackInteractionKind {
    Button {
        action: String,
        value: String,
        /// Of the message with the button; `None` in a view.
        ts: Option<String>,
        thread: Option<String>,
        /// Only this person sees that message.
        is_ephemeral: bool,
    },
    /// A form was submitted.
    Submitted {
        callback: String,
        /// The item that it is about.
        item: String,
        /// The thread of the button that opened it.
        thread: Option<String>,
        text: String,
    },
    /// A shortcut on a message.
    Shortcut {
        callback: String,
        ts: String,
        text: String,
    },
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str().filter(|text| !text.is_empty());
    text.map(str::to_owned)
}

impl Push {
    /// Parses the content of an envelope or a request. `None` if it is not readable at all.
    pub(crate) fn event(payload: &Value) -> Option<Self> {
        if payload["type"] == "app_rate_limited"
            && let Some(minute) = payload["minute_rate_limited"].as_i64()
            && let Some(minute) = DateTime::from_timestamp(minute, 0)
        {
            return Some(Self::RateLimited(minute));
        }
        if payload["type"] != "event_callback" {
            return payload["type"].is_string().then_some(Self::Other);
        }
        Some(Self::Event(SlackEvent {
            id: text(&payload["event_id"])?,
            is_shared: payload["is_ext_shared_channel"] == true,
            what: SlackEventKind::read(&payload["event"]).unwrap_or(SlackEventKind::Other),
        }))
    }

    pub(crate) fn slash(payload: &Value) -> Option<Self> {
        Some(Self::Slash(Slash {
            trigger: text(&payload["trigger_id"])?,
            user: text(&payload["user_id"])?,
            user_name: text(&payload["user_name"]).unwrap_or_default(),
            team: text(&payload["team_id"]),
            channel: text(&payload["channel_id"])?,
            text: text(&payload["text"]).unwrap_or_default(),
            response_url: text(&payload["response_url"]),
        }))
    }

    pub(crate) fn interaction(payload: &Value) -> Option<Self> {
        let kind = payload["type"].as_str()?;
        let user = &payload["user"];
        let container = &payload["container"];
        let channel = text(&payload["channel"]["id"]).or_else(|| text(&container["channel_id"]));
        let (action, message) = (&payload["actions"][0], &payload["message"]);
        if kind == "view_submission" {
            return submitted(payload);
        }
        let deed = match kind {
            "block_actions" => SlackInteractionKind::Button {
                action: text(&action["action_id"])?,
                value: text(&action["value"]).unwrap_or_default(),
                ts: text(&container["message_ts"]).or_else(|| text(&message["ts"])),
                thread: text(&message["thread_ts"]).or_else(|| text(&container["thread_ts"])),
                is_ephemeral: container["is_ephemeral"] == true,
            },
            "message_action" => SlackInteractionKind::Shortcut {
                callback: text(&payload["callback_id"])?,
                ts: text(&message["ts"]).or_else(|| text(&payload["message_ts"]))?,
                text: text(&message["text"]).unwrap_or_default(),
            },
            // It may lack what follows: somebody closed a form, say.
            _ => return Some(Self::Other),
        };
        let trigger = text(&payload["trigger_id"]).or_else(|| text(&action["action_ts"]));
        Some(Self::Interaction(Interaction {
            // Without it, two presses could not be told apart.
            trigger: trigger?,
            user: text(&user["id"])?,
            user_name: text(&user["username"])
                .or_else(|| text(&user["name"]))
                .unwrap_or_default(),
            team: text(&user["team_id"]).or_else(|| text(&payload["team"]["id"])),
            channel,
            response_url: text(&payload["response_url"]),
            deed,
        }))
    }
}

/// Parses a submitted form, which itself contains where it was opened.
fn submitted(payload: &Value) -> Option<Push> {
    let (user, view) = (&payload["user"], &payload["view"]);
    let about = view["private_metadata"].as_str().unwrap_or_default();
    let about: Value = serde_json::from_str(about).unwrap_or_default();
    let field = &view["state"]["values"][CORRECT_FIELD][CORRECT_FIELD];
    Some(Push::Interaction(Interaction {
        // Each form is submitted once.
        trigger: text(&view["id"])?,
        user: text(&user["id"])?,
        user_name: text(&user["username"])
            .or_else(|| text(&user["name"]))
            .unwrap_or_default(),
        team: text(&user["team_id"]).or_else(|| text(&payload["team"]["id"])),
        channel: text(&about["channel"]),
        response_url: text(&about["response_url"]),
        deed: SlackInteractionKind::Submitted {
            callback: text(&view["callback_id"])?,
            item: text(&about["item"]).unwrap_or_default(),
            thread: text(&about["thread"]),
            text: text(&field["value"]).unwrap_or_default(),
        },
    }))
}

impl SlackEventKind {
    fn read(event: &Value) -> Option<Self> {
        let channel = || text(&event["channel"]);
        match event["type"].as_str()? {
            "message" => match event["subtype"].as_str() {
                Some("message_changed") => Self::changed(event),
                Some("message_deleted") => Self::deleted(event),
                Some(_) | None => SlackMessage::read(event, event).map(Self::Message),
            },
            "app_mention" => SlackMessage::read(event, event).map(Self::Message),
            // Only agents are told what somebody is viewing.
            name @ ("app_home_opened" | "app_context_changed")
                if event["context"].is_object() && event["tab"] != "home" =>
            {
                Some(Self::Assistant {
                    is_new: name == "app_home_opened",
                    user: text(&event["user"])?,
                    channel: channel()?,
                    thread: None,
                    looks_at: looked_at(&event["context"]),
                })
            }
            "app_home_opened" => Some(Self::Home {
                user: text(&event["user"])?,
                channel: channel()?,
                tab: text(&event["tab"]).unwrap_or_default(),
            }),
            name @ ("assistant_thread_started" | "assistant_thread_context_changed") => {
                let thread = &event["assistant_thread"];
                Some(Self::Assistant {
                    is_new: name == "assistant_thread_started",
                    user: text(&thread["user_id"])?,
                    channel: text(&thread["channel_id"])?,
                    thread: Some(text(&thread["thread_ts"])?),
                    looks_at: text(&thread["context"]["channel_id"]),
                })
            }
            "agent_session_stopped" => Some(Self::Stopped {
                channel: channel()?,
                thread: text(&event["thread_ts"]),
            }),
            // The latter is a private channel.
            "channel_deleted" | "group_deleted" => Some(Self::Gone {
                channel: channel()?,
            }),
            "app_uninstalled" => Some(Self::Uninstalled),
            _ => None,
        }
    }

    fn changed(event: &Value) -> Option<Self> {
        let (now, before) = (&event["message"], &event["previous_message"]);
        if now["subtype"] == "tombstone" {
            // A deleted message whose thread continues.
            return Self::gone(event, text(&now["ts"])?, before);
        }
        Some(Self::Changed {
            now: SlackMessage::read(event, now)?,
            before: before["text"].as_str().map(str::to_owned),
            at: event["ts"].as_str().and_then(time_of),
        })
    }

    fn deleted(event: &Value) -> Option<Self> {
        let ts = text(&event["deleted_ts"]).or_else(|| text(&event["previous_message"]["ts"]))?;
        Self::gone(event, ts, &event["previous_message"])
    }

    fn gone(event: &Value, ts: String, before: &Value) -> Option<Self> {
        let channel = text(&event["channel"])?;
        Some(Self::Deleted {
            kind: kind(event, &channel),
            channel,
            ts,
            thread: text(&before["thread_ts"]),
            user: text(&before["user"]),
            is_bot: is_bot(before),
        })
    }
}

impl SlackMessage {
    /// Parses a message; `event` says where, `message` what.
    fn read(event: &Value, message: &Value) -> Option<Self> {
        let channel = text(&event["channel"])?;
        let files = message["files"].as_array().into_iter().flatten();
        Some(Self {
            kind: kind(event, &channel),
            channel,
            ts: text(&message["ts"])?,
            thread: text(&message["thread_ts"]),
            user: text(&message["user"]),
            team: text(&message["user_team"])
                .or_else(|| text(&message["team"]))
                .or_else(|| text(&event["team"])),
            is_bot: is_bot(message),
            is_mention: event["type"] == "app_mention",
            subtype: text(&message["subtype"]),
            text: text(&message["text"]).unwrap_or_default(),
            files: files.filter_map(SlackFile::read).collect(),
        })
    }

    pub(crate) fn sent_at(&self) -> DateTime<Utc> {
        time_of(&self.ts).unwrap_or_else(Utc::now)
    }
}

impl SlackFile {
    fn read(file: &Value) -> Option<Self> {
        // A deleted or inaccessible file still has an entry in the message.
        let url = text(&file["url_private_download"]).or_else(|| text(&file["url_private"]));
        let id = text(&file["id"])?;
        Some(Self {
            url,
            name: text(&file["name"])
                .or_else(|| text(&file["title"]))
                .unwrap_or_else(|| id.clone()),
            id,
            media_type: text(&file["mimetype"]).unwrap_or_default(),
            size: file["size"].as_u64(),
        })
    }
}

/// Returns the channel that an agent's user is viewing.
fn looked_at(context: &Value) -> Option<String> {
    let mut entities = context["entities"].as_array()?.iter();
    let channel = entities.find(|entity| entity["type"] == "slack#/types/channel_id")?;
    text(&channel["value"])
}

/// Returns the time of a message: a `ts` is seconds and a counter.
pub(crate) fn time_of(ts: &str) -> Option<DateTime<Utc>> {
    let (seconds, micros) = ts.split_once('.').unwrap_or((ts, "0"));
    let micros: u32 = format!("{micros:0<6}").get(..6)?.parse().ok()?;
    DateTime::from_timestamp(seconds.parse().ok()?, micros * 1_000)
}

fn kind(event: &Value, channel: &str) -> SlackChannelKind {
    match event["channel_type"].as_str() {
        // The latter is what people write below the app's home.
        Some("im" | "app_home") => SlackChannelKind::Direct,
        Some(_) => SlackChannelKind::Channel,
        // A mention does not contain it.
        None if crate::ids::is_direct(channel) => SlackChannelKind::Direct,
        None => SlackChannelKind::Channel,
    }
}

fn is_bot(message: &Value) -> bool {
    message["bot_id"].is_string()
        || message["bot_profile"].is_object()
        || message["subtype"] == "bot_message"
        || message["user"] == "USLACKBOT"
}
