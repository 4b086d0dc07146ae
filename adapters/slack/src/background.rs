//! Reads what was said in a thread before the bot joined it.

use chrono::{TimeDelta, Utc};
use muninn_platform::{
    Bounds, Cut, Page, PageOrder, PriorMessage, PriorMessages, ReadPages, RequestFailure,
    read_pages,
};
use serde_json::Value;

use crate::event::time_of;
use crate::history_limits::PageStart;
use crate::hub::SlackHub;
use crate::ids;
use crate::standing::ts_at;
use crate::text::plain;

/// Maximum messages per page for an internal app of a team.
const INTERNAL_APP_PAGE_SIZE: &str = "1000";

/// The time range that such an app asks for: Slack returns the earliest messages of a range first,
/// and in a long thread the newest are more useful.
const DISTRIBUTED_APP_TIME_RANGE: TimeDelta = TimeDelta::hours(1);

/// Maximum number of names that are looked up.
const MAX_NAME_LOOKUPS: usize = 32;

/// Returns what was said in the thread before the message `until`, oldest first.
pub(crate) async fn read_prior_messages(
    hub: &SlackHub,
    channel: &str,
    thread: &str,
    until: &str,
) -> PriorMessages {
    let reading = &hub.reading;
    if reading.rests() {
        return PriorMessages {
            said: Vec::new(),
            cut: Some(Cut::Limited),
        };
    }
    let oldest = time_of(until)
        .filter(|_| reading.is_little())
        .map(|until| ts_at(until - DISTRIBUTED_APP_TIME_RANGE))
        .filter(|oldest| oldest.as_str() > thread);
    let first = PageStart {
        oldest: oldest.clone(),
        latest: Some(until.to_owned()),
        cursor: None,
    };
    let read = read_pages(
        Bounds::THREAD,
        PageOrder::OldestFirst,
        weight,
        |next: Option<PageStart>| async {
            let is_first = next.is_none();
            let start = next.unwrap_or_else(|| first.clone());
            page(hub, channel, thread, &start, is_first).await
        },
    )
    .await;
    let ReadPages { items, cut } = read;
    PriorMessages {
        said: said(hub, channel, &items, until).await,
        cut: cut.or(oldest.is_some().then_some(Cut::Limited)),
    }
}

async fn page(
    hub: &SlackHub,
    channel: &str,
    thread: &str,
    start: &PageStart,
    is_first: bool,
) -> Result<Page<Value, PageStart>, RequestFailure> {
    let mut arguments = vec![
        ("channel", channel),
        ("ts", thread),
        ("limit", INTERNAL_APP_PAGE_SIZE),
    ];
    arguments.extend(start.arguments());
    let asked = hub.api.get("conversations.replies", &arguments).await;
    hub.reading.learn(asked.as_ref());
    let mut answer = asked.map_err(|error| {
        tracing::info!(%error, channel, "not all of the thread's earlier messages are known");
        error.request_failure()
    })?;
    let next = start.after(&answer, true);
    // The root comes with each page that begins at a time.
    let is_new = |message: &Value| {
        let is_later = |oldest: &str| message["ts"].as_str().is_some_and(|ts| ts > oldest);
        is_first || start.oldest.as_deref().is_none_or(is_later)
    };
    let items = match answer.get_mut("messages").map(Value::take) {
        Some(Value::Array(items)) => items.into_iter().filter(is_new).collect(),
        _ => Vec::new(),
    };
    Ok(Page { items, next })
}

/// Returns the bytes of a message's text.
pub(crate) fn weight(message: &Value) -> usize {
    message["text"].as_str().map_or(0, str::len)
}

async fn said(hub: &SlackHub, channel: &str, messages: &[Value], until: &str) -> Vec<PriorMessage> {
    let earlier: Vec<&Value> = messages
        .iter()
        .filter(|message| is_speech(message, &hub.me.user, until))
        .collect();
    let mut users: Vec<&str> = earlier
        .iter()
        .filter_map(|message| message["user"].as_str())
        .collect();
    users.sort_unstable();
    users.dedup();
    let names = users.iter().take(MAX_NAME_LOOKUPS);
    let names = names.map(|user| hub.directory.person(&hub.api, user));
    futures::future::join_all(names).await;
    let name_of = |user: &str| hub.directory.name_of(user);
    let event = |ts: &str| ids::message_event(&hub.me.team, channel, ts);
    let prior = earlier.iter().map(|message| PriorMessage {
        event: message["ts"].as_str().map(event),
        author_id: message["user"]
            .as_str()
            .map(|user| ids::author(&hub.me.team, user)),
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
