//! Assistant threads and agent sessions: status, title, suggested prompts.

use serde_json::{Value, json};

use super::{Arguments, MethodError, writable};
use crate::app::Surface;
use crate::state::State;

/// Returns the thread that a call names, which must exist.
fn thread(state: &State, call: &Arguments) -> Result<(String, String), MethodError> {
    let channel = call.text("channel_id");
    writable(state, channel)?;
    let thread = super::chat::root_of(state, channel, call.text("thread_ts"), "invalid_thread_ts")?;
    Ok((channel.to_owned(), thread))
}

pub(crate) fn set_thread_status(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let (channel, thread) = thread(state, call)?;
    let status = call.text("status");
    let session = state.workspace.session(&channel, &thread);
    status.clone_into(&mut session.status);
    session.statuses.push(status.to_owned());
    Ok(json!({}))
}

pub(crate) fn set_thread_title(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let (channel, thread) = thread(state, call)?;
    let session = state.workspace.session(&channel, &thread);
    call.text("title").clone_into(&mut session.title);
    Ok(json!({}))
}

/// "Including `thread_ts` in a call for an agent app will cause the call to silently fail."
pub(crate) fn set_prompts(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let channel = call.text("channel_id").to_owned();
    writable(state, &channel)?;
    let is_agent = state.workspace.app.surface == Surface::Agent;
    let named = call.optional("thread_ts");
    if is_agent && named.is_some() {
        state.violate("assistant.threads.setSuggestedPrompts: thread_ts makes the call of an agent app fail silently");
        return Ok(json!({}));
    }
    let thread = match named {
        Some(ts) => super::chat::root_of(state, &channel, ts, "invalid_thread_ts")?,
        // Without a thread: the prompts of a new conversation.
        None => String::new(),
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let prompts = call.value("prompts");
    let prompts = prompts.as_array().into_iter().flatten();
    let prompts = prompts.map(|prompt| (text(&prompt["title"]), text(&prompt["message"])));
    state.workspace.session(&channel, &thread).prompts = prompts.collect();
    Ok(json!({}))
}

/// "Only apps declared as agents can create sessions."
fn session(state: &State, call: &Arguments) -> Result<(String, String), MethodError> {
    let app = &state.workspace.app;
    if !app.has_streams {
        return Err(MethodError::new("unknown_method"));
    }
    if app.surface != Surface::Agent {
        return Err(MethodError::new("not_allowed"));
    }
    if call.optional("thread_ts").is_none() {
        return Err(MethodError::new("invalid_thread_ts"));
    }
    thread(state, call)
}

pub(crate) fn set_session_status(
    state: &mut State,
    call: &Arguments,
) -> Result<Value, MethodError> {
    let (channel, thread) = session(state, call)?;
    let is_stoppable = state.workspace.app.hears("agent_session_stopped");
    let status = call.text("status").to_owned();
    let session = state.workspace.session(&channel, &thread);
    // "title": only used when a session is created.
    if session.lifecycle.is_empty() {
        call.text("title").clone_into(&mut session.title);
    }
    session.enter(&status);
    let mut told = json!({ "status": status, "agent_status": status, "title": session.title });
    if !is_stoppable {
        told["warning"] = json!("missing_agent_session_stopped_event_subscription");
    }
    Ok(told)
}
