//! Messages: posting, updating, deleting, and ephemeral ones.

use serde_json::{Value, json};

use super::{Arguments, MethodError, writable};
use crate::blocks::markdown_block;
use crate::ids::BOT_USER;
use crate::post::{Post, Writer};
use crate::state::State;

/// Returns the content of a call: text, blocks and attachments.
///
/// `markdown_text` becomes blocks, as in Slack.
fn content(call: &Arguments) -> (String, Value, Value) {
    if let Some(markdown) = call.optional("markdown_text") {
        return (markdown.to_owned(), markdown_block(markdown), Value::Null);
    }
    let text = call.text("text").to_owned();
    (text, call.value("blocks"), call.value("attachments"))
}

/// Returns the root of a thread for replies, given the root or any message of the thread.
pub(super) fn root_of(
    state: &State,
    channel: &str,
    ts: &str,
    refusal: &'static str,
) -> Result<String, MethodError> {
    let post = state
        .workspace
        .post(channel, ts)
        .filter(|post| !post.is_gone && post.only_for.is_none());
    let post = post.ok_or_else(|| MethodError::new(refusal))?;
    Ok(post.thread_ts.clone().unwrap_or_else(|| post.ts.clone()))
}

fn compose(state: &mut State, call: &Arguments, channel: &str) -> Result<Post, MethodError> {
    let (text, blocks, attachments) = content(call);
    let thread = call
        .optional("thread_ts")
        .map(|ts| root_of(state, channel, ts, "cannot_reply_to_message"))
        .transpose()?;
    let mut post = Post::new(channel, state.workspace.ts(), Writer::App, &text);
    post.blocks = blocks;
    post.attachments = attachments;
    post.thread_ts = thread;
    post.metadata = call.value("metadata");
    // "unfurl_links": false unless asked for; "unfurl_media": true unless forbidden.
    let media = call.value("unfurl_media") != false;
    post.unfurls = (call.flag("unfurl_links"), media);
    Ok(post)
}

pub(crate) fn post_message(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let mut channel = call.text("channel").to_owned();
    if channel.starts_with('U') && state.workspace.members.contains_key(&channel) {
        channel = state.workspace.direct(&channel);
    }
    writable(state, &channel)?;
    let post = compose(state, call, &channel)?;
    let ts = state.workspace.publish(post);
    let message = told(state, &channel, &ts);
    Ok(json!({ "channel": channel, "ts": ts, "message": message }))
}

/// Returns a message with its metadata, as its own app receives it.
fn told(state: &State, channel: &str, ts: &str) -> Value {
    let post = state.workspace.post(channel, ts).expect("posted just now");
    let mut told = post.json(&state.workspace);
    if post.metadata.is_object() {
        told["metadata"] = post.metadata.clone();
    }
    told
}

/// Returns a message of the app itself.
fn own<'a>(
    state: &'a State,
    call: &Arguments,
    refusal: &'static str,
) -> Result<&'a Post, MethodError> {
    let (channel, ts) = (call.text("channel"), call.text("ts"));
    let post = state
        .workspace
        .post(channel, ts)
        .filter(|post| !post.is_gone && post.only_for.is_none());
    let post = post.ok_or_else(|| MethodError::new("message_not_found"))?;
    match post.writer {
        Writer::App => Ok(post),
        Writer::Member(_) | Writer::Slackbot => Err(MethodError::new(refusal)),
    }
}

pub(crate) fn update(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let (channel, ts) = (call.text("channel").to_owned(), call.text("ts").to_owned());
    writable(state, &channel)?;
    let post = own(state, call, "cant_update_message")?;
    if post.stream == crate::post::StreamState::Running {
        return Err(MethodError::new("streaming_state_conflict"));
    }
    let kept = (
        post.blocks.clone(),
        post.attachments.clone(),
        post.metadata.clone(),
    );
    let (text, blocks, attachments) = content(call);
    let metadata = call.value("metadata");
    let now = state.workspace.ts();
    state.workspace.revise(&channel, &ts, |post| {
        // "Previous blocks will only be retained if the text argument is not provided", and "if blocks are used, the
        // edited flag will not be displayed".
        let only_text = blocks.is_null() && call.optional("text").is_none();
        post.rewrite(&text, if only_text { kept.0 } else { blocks });
        post.attachments = if attachments.is_null() {
            kept.1
        } else {
            attachments
        };
        post.metadata = if metadata.is_null() { kept.2 } else { metadata };
        let is_marked = post.blocks.as_array().is_none_or(Vec::is_empty);
        post.edited = is_marked.then(|| (BOT_USER.to_owned(), now));
    });
    let message = told(state, &channel, &ts);
    Ok(json!({ "channel": channel, "ts": ts, "text": text, "message": message }))
}

pub(crate) fn delete(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let (channel, ts) = (call.text("channel").to_owned(), call.text("ts").to_owned());
    writable(state, &channel)?;
    own(state, call, "cant_delete_message")?;
    state.workspace.remove(&channel, &ts);
    Ok(json!({ "channel": channel, "ts": ts }))
}

pub(crate) fn post_ephemeral(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let channel = call.text("channel").to_owned();
    let user = call.text("user").to_owned();
    let room = writable(state, &channel)?;
    if !room.has(&user) {
        return Err(MethodError::new("user_not_in_channel"));
    }
    let mut post = compose(state, call, &channel)?;
    post.only_for = Some(user);
    let ts = state.workspace.publish(post);
    Ok(json!({ "message_ts": ts }))
}
