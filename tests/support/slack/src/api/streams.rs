//! Native streams: a message that grows while the app writes it.

use serde_json::{Value, json};

use super::{Arguments, MethodError, writable};
use crate::blocks::markdown_block;
use crate::ids::BOT_USER;
use crate::post::{Post, StreamState, Writer};
use crate::state::State;
use crate::workspace::ChannelKind;

/// Returns the text that a call adds: its Markdown, or that of its chunks.
fn added(call: &Arguments) -> String {
    let mut added = call.text("markdown_text").to_owned();
    let chunks = call.value("chunks");
    for chunk in chunks.as_array().into_iter().flatten() {
        if chunk["type"] == "markdown_text" {
            added.push_str(chunk["text"].as_str().unwrap_or_default());
        }
    }
    added
}

pub(crate) fn start(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let channel = call.text("channel").to_owned();
    available(state)?;
    let kind = writable(state, &channel)?.kind;
    let thread = call.optional("thread_ts");
    match (kind, thread) {
        (ChannelKind::Direct, None) => return Err(MethodError::new("invalid_thread_ts")),
        (ChannelKind::Direct, Some(_)) => {}
        (ChannelKind::Public | ChannelKind::Private | ChannelKind::Group, _) => {
            recipient(state, call)?
        }
    }
    let thread = thread
        .map(|ts| super::chat::root_of(state, &channel, ts, "cannot_reply_to_message"))
        .transpose()?;
    let text = added(call);
    let mut post = Post::new(&channel, state.workspace.ts(), Writer::App, &text);
    post.thread_ts = thread;
    post.blocks = markdown_block(&text);
    post.stream = StreamState::Running;
    let ts = state.workspace.publish(post);
    Ok(json!({ "channel": channel, "ts": ts }))
}

/// "The session status to set after stopping the stream. Defaults to active." Some sources say that
/// a stream begins a session, but it is not documented, so none is begun.
fn leave_session(state: &mut State, channel: &str, ts: &str, lifecycle: &str) {
    let thread = crate::events::thread_of(&state.workspace, channel, ts);
    let session = state.workspace.session(channel, &thread);
    if !session.lifecycle.is_empty() {
        session.enter(lifecycle);
    }
}

/// Checks the recipient and their team: "Required when streaming to channels".
fn recipient(state: &State, call: &Arguments) -> Result<(), MethodError> {
    let Some(user) = call.optional("recipient_user_id") else {
        return Err(MethodError::new("missing_recipient_user_id"));
    };
    let Some(team) = call.optional("recipient_team_id") else {
        return Err(MethodError::new("missing_recipient_team_id"));
    };
    match state.workspace.members.get(user) {
        Some(member) if member.team() == team => Ok(()),
        Some(_) | None => Err(MethodError::new("user_not_found")),
    }
}

/// Workspaces without the feature do not have its methods.
fn available(state: &State) -> Result<(), MethodError> {
    if state.workspace.app.has_streams {
        return Ok(());
    }
    Err(MethodError::new("unknown_method"))
}

/// Checks that it is a running stream of the app itself.
fn running(state: &State, call: &Arguments) -> Result<(), MethodError> {
    available(state)?;
    let (channel, ts) = (call.text("channel"), call.text("ts"));
    writable(state, channel)?;
    let post = state
        .workspace
        .post(channel, ts)
        .filter(|post| !post.is_gone);
    let post = post.ok_or_else(|| MethodError::new("message_not_found"))?;
    if post.writer != Writer::App {
        return Err(MethodError::new("message_not_owned_by_app"));
    }
    match post.stream {
        StreamState::Running => Ok(()),
        StreamState::StoppedByPerson => Err(MethodError::new("stopped_by_user")),
        StreamState::None | StreamState::Stopped => {
            Err(MethodError::new("message_not_in_streaming_state"))
        }
    }
}

pub(crate) fn append(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    running(state, call)?;
    let (channel, ts) = (call.text("channel").to_owned(), call.text("ts").to_owned());
    grow(state, &channel, &ts, &added(call));
    Ok(json!({ "channel": channel, "ts": ts }))
}

/// Appends to a stream. That is not an edit: nobody is notified before the stream stops.
fn grow(state: &mut State, channel: &str, ts: &str, added: &str) {
    if added.is_empty() {
        return;
    }
    let post = state.workspace.post_mut(channel, ts).expect("it runs");
    let text = format!("{}{added}", post.text);
    post.rewrite(&text, markdown_block(&text));
}

pub(crate) fn stop(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    running(state, call)?;
    let (channel, ts) = (call.text("channel").to_owned(), call.text("ts").to_owned());
    grow(state, &channel, &ts, &added(call));
    let blocks = call.value("blocks");
    let metadata = call.value("metadata");
    let now = state.workspace.ts();
    state.workspace.revise(&channel, &ts, |post| {
        post.stream = StreamState::Stopped;
        // "A list of blocks that will be rendered at the bottom of the finalized message."
        if let (Some(shown), Some(more)) = (post.blocks.as_array_mut(), blocks.as_array()) {
            shown.extend(more.iter().cloned());
        } else if blocks.is_array() {
            post.blocks = blocks;
        }
        if metadata.is_object() {
            post.metadata = metadata;
        }
        post.edited = Some((BOT_USER.to_owned(), now));
    });
    let lifecycle = call.optional("session_status").unwrap_or("active");
    leave_session(state, &channel, &ts, lifecycle);
    let post = state
        .workspace
        .post(&channel, &ts)
        .expect("it was there just now");
    let message = post.json(&state.workspace);
    Ok(json!({ "channel": channel, "ts": ts, "message": message }))
}
