//! What was said in a thread before the bot came to it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::Utc;
use muninn_platform::PriorMessage;
use serde_json::Value;
use tokio::time::timeout;

use crate::errors::ApiError;
use crate::event::time_of;
use crate::hub::Hub;
use crate::ids;
use crate::text::plain;

/// What Slack gives apps outside of its marketplace at once; they may ask once a minute.
const LIMIT: &str = "15";

/// The answer does not wait longer than this: without it, it goes on.
const PATIENCE: Duration = Duration::from_secs(4);

/// Names that are asked for.
const NAMES: usize = 8;

/// Until when Slack wants no more such questions, in seconds of the epoch.
#[derive(Debug, Default)]
pub(crate) struct Rest(AtomicI64);

impl Rest {
    fn is_over(&self) -> bool {
        Utc::now().timestamp() >= self.0.load(Ordering::Relaxed)
    }

    fn begin(&self, rest: Option<Duration>) {
        let seconds = rest.map_or(60, |rest| rest.as_secs().min(600));
        let until = Utc::now().timestamp() + i64::try_from(seconds).unwrap_or(60);
        self.0.store(until, Ordering::Relaxed);
    }
}

/// What was said in the thread before the message `until`, oldest first.
pub(crate) async fn prior(
    hub: &Hub,
    channel: &str,
    thread: &str,
    until: &str,
) -> Vec<PriorMessage> {
    if !hub.background_rest.is_over() {
        return Vec::new();
    }
    let arguments = [
        ("channel", channel),
        ("ts", thread),
        ("latest", until),
        ("limit", LIMIT),
    ];
    let asked = hub.api.get("conversations.replies", &arguments);
    match timeout(PATIENCE, asked).await {
        Ok(Ok(answer)) => read(hub, channel, &answer, until).await,
        Ok(Err(error)) => {
            if let ApiError::Limited { rest, .. } = &error {
                hub.background_rest.begin(*rest);
            }
            tracing::info!(%error, channel, "the thread's earlier messages are not known");
            Vec::new()
        }
        Err(_) => Vec::new(),
    }
}

async fn read(hub: &Hub, channel: &str, answer: &Value, until: &str) -> Vec<PriorMessage> {
    let messages = answer["messages"].as_array().into_iter().flatten();
    let earlier: Vec<&Value> = messages
        .filter(|message| is_speech(message, &hub.me.user, until))
        .collect();
    let mut users: Vec<&str> = earlier
        .iter()
        .filter_map(|message| message["user"].as_str())
        .collect();
    users.sort_unstable();
    users.dedup();
    let names = users.iter().take(NAMES);
    let names = names.map(|user| hub.directory.person(&hub.api, user));
    futures::future::join_all(names).await;
    let name_of = |user: &str| hub.directory.name_of(user);
    let event = |ts: &str| ids::message_event(&hub.me.team, channel, ts);
    let prior = earlier.iter().map(|message| PriorMessage {
        event: message["ts"].as_str().map(event),
        author: author(message, &name_of),
        text: plain(
            message["text"].as_str().unwrap_or_default(),
            &hub.me.user,
            &name_of,
        ),
        at: message["ts"]
            .as_str()
            .and_then(time_of)
            .unwrap_or_else(Utc::now),
    });
    prior.collect()
}

fn is_speech(message: &Value, me: &str, until: &str) -> bool {
    let is_before = message["ts"].as_str().is_some_and(|ts| ts < until);
    let says = message["text"]
        .as_str()
        .is_some_and(|text| !text.is_empty());
    is_before && says && message["user"] != me && message["subtype"] != "tombstone"
}

fn author(message: &Value, name_of: &dyn Fn(&str) -> Option<String>) -> String {
    let user = message["user"].as_str();
    let name = user.and_then(name_of);
    let bot = message["username"]
        .as_str()
        .or_else(|| message["bot_profile"]["name"].as_str());
    let name = name.or_else(|| bot.map(str::to_owned));
    name.unwrap_or_else(|| user.unwrap_or("somebody").to_owned())
}
