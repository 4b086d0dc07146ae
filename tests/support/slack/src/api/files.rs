//! Files that people attached, and files that the app shares.

use serde_json::{Value, json};

use super::{Arguments, MethodError, writable};
use crate::ids::{BOT_USER, id};
use crate::post::{Post, Writer};
use crate::state::State;
use crate::workspace::{Upload, file_json};

pub(crate) fn info(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let file = state.workspace.files.get(call.text("file"));
    let (file, _) = file.ok_or_else(|| MethodError::new("file_not_found"))?;
    Ok(json!({ "file": file, "comments": [], "response_metadata": { "next_cursor": "" } }))
}

/// Returns the URL for uploading a file's content.
pub(crate) fn upload_address(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let file = id('F', state.workspace.number());
    let upload = Upload {
        name: call.text("filename").to_owned(),
        length: call.number("length").unwrap_or_default(),
        content: None,
    };
    state.workspace.uploads.insert(file.clone(), upload);
    let url = format!("{}/upload/v1/{file}", state.workspace.base_url);
    Ok(json!({ "upload_url": url, "file_id": file }))
}

/// Shares uploaded files in one message.
pub(crate) fn complete(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let channel = call.optional("channel_id").map(str::to_owned);
    if let Some(channel) = &channel {
        writable(state, channel)?;
    }
    let asked = call.value("files");
    let mut shared = Vec::new();
    for file in asked.as_array().into_iter().flatten() {
        let id = file["id"].as_str().unwrap_or_default();
        let upload = state.workspace.uploads.get(id);
        let upload = upload.ok_or_else(|| MethodError::new("file_not_found"))?;
        let content = upload.content.clone();
        let content = content.ok_or_else(|| MethodError::new("file_not_found"))?;
        shared.push((id.to_owned(), upload.name.clone(), content));
    }
    let mut told = Vec::new();
    for (id, name, content) in shared {
        let size = content.len();
        let file = file_json(&state.workspace, &id, BOT_USER, &name, "text/plain", size);
        state.workspace.uploads.remove(&id);
        state.workspace.files.insert(id, (file.clone(), content));
        told.push(file);
    }
    if let Some(channel) = channel {
        let text = call.text("initial_comment");
        let mut post = Post::new(&channel, state.workspace.ts(), Writer::App, text);
        post.thread_ts = call.optional("thread_ts").map(str::to_owned);
        post.files = told.clone();
        post.subtype = Some("file_share");
        state.workspace.publish(post);
    }
    Ok(json!({ "files": told }))
}
