//! Response URLs, by which an app answers a command or a click later.
//!
//! "Handling user interaction": a response URL can be used up to 5 times within 30 minutes of receiving the payload.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::blocks;
use crate::ids::BOT_USER;
use crate::post::{Post, Writer};
use crate::state::State;

pub(crate) const USES: usize = 5;
pub(crate) const LIFE: Duration = Duration::from_secs(30 * 60);

/// The allowed fields of a response ("Message payloads", and the fields that only responses have).
const FIELDS: [&str; 12] = [
    "attachments",
    "blocks",
    "delete_original",
    "metadata",
    "mrkdwn",
    "replace_original",
    "response_type",
    "text",
    "thread_ts",
    "unfurl_links",
    "unfurl_media",
    "markdown_text",
];

#[derive(Clone, Debug)]
pub(crate) struct ResponseUrl {
    pub(crate) channel: String,
    pub(crate) user: String,
    pub(crate) at: Instant,
    pub(crate) uses: usize,
    /// The clicked message; `None` for commands.
    pub(crate) message: Option<String>,
    pub(crate) thread: Option<String>,
}

/// Returns a new response URL for an interaction.
pub(crate) fn open(state: &mut State, url: ResponseUrl) -> String {
    let key = format!("{}/{}", crate::ids::TEAM, state.workspace.number());
    let address = format!("{}/response/{key}", state.workspace.base_url);
    state.responses.insert(key, url);
    address
}

/// Executes a response. The error is the URL's response.
pub(crate) fn respond(state: &mut State, key: &str, body: &Value) -> Result<(), &'static str> {
    let Some(url) = state.responses.get_mut(key) else {
        return Err("invalid_url");
    };
    url.uses += 1;
    let url = url.clone();
    if url.at.elapsed() > LIFE {
        return Err("expired_url");
    }
    if url.uses > USES {
        state.violate("response_url: used more than 5 times");
        return Err("used_url");
    }
    let Some(fields) = body.as_object() else {
        state.violate("response_url: the body is no JSON object");
        return Err("invalid_payload");
    };
    answer(state, &url, fields)
}

/// Posts the message of an acknowledgement or a response.
pub(crate) fn answer(
    state: &mut State,
    url: &ResponseUrl,
    fields: &Map<String, Value>,
) -> Result<(), &'static str> {
    for name in fields
        .keys()
        .filter(|name| !FIELDS.contains(&name.as_str()))
    {
        state.violate(format!("response_url: no such field: {name}"));
    }
    let flag = |name: &str| fields.get(name) == Some(&Value::Bool(true));
    if flag("delete_original") {
        return remove(state, url);
    }
    let text = fields
        .get("text")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let blocks = fields.get("blocks").cloned().unwrap_or_default();
    if text.is_empty() && blocks.as_array().is_none_or(Vec::is_empty) {
        state.violate("response_url: neither text nor blocks");
        return Err("no_text");
    }
    for wrong in blocks::of_message(&blocks) {
        state.violate(format!("response_url: {wrong}"));
    }
    if flag("replace_original") {
        return replace(state, url, text, blocks);
    }
    let mut post = Post::new(&url.channel, state.workspace.ts(), Writer::App, text);
    post.blocks = blocks;
    post.metadata = fields.get("metadata").cloned().unwrap_or_default();
    let thread = fields.get("thread_ts").and_then(Value::as_str);
    post.thread_ts = thread.map(str::to_owned).or_else(|| url.thread.clone());
    // "response_type": ephemeral unless it is `in_channel`.
    if fields.get("response_type") != Some(&json!("in_channel")) {
        post.only_for = Some(url.user.clone());
    }
    state.workspace.publish(post);
    Ok(())
}

fn remove(state: &mut State, url: &ResponseUrl) -> Result<(), &'static str> {
    let Some(ts) = url.message.as_deref() else {
        return Err("no_original");
    };
    let is_ephemeral = state
        .workspace
        .post(&url.channel, ts)
        .is_some_and(|post| post.only_for.is_some());
    if !is_ephemeral {
        state.workspace.remove(&url.channel, ts);
    } else if let Some(post) = state.workspace.post_mut(&url.channel, ts) {
        post.is_gone = true;
    }
    Ok(())
}

fn replace(
    state: &mut State,
    url: &ResponseUrl,
    text: &str,
    blocks: Value,
) -> Result<(), &'static str> {
    let Some(ts) = url.message.as_deref() else {
        return Err("no_original");
    };
    let is_ephemeral = state
        .workspace
        .post(&url.channel, ts)
        .is_some_and(|post| post.only_for.is_some());
    let now = state.workspace.ts();
    let change = |post: &mut Post| {
        post.rewrite(text, blocks);
        post.edited = Some((BOT_USER.to_owned(), now));
    };
    if !is_ephemeral {
        state.workspace.revise(&url.channel, ts, change);
    } else if let Some(post) = state.workspace.post_mut(&url.channel, ts) {
        change(post);
    }
    Ok(())
}
