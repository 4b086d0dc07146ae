//! Hands files over to one person, in their direct messages.

use muninn_platform::{HandedOver, NotHandedOver, OwnFile};
use muninn_texts::text;
use reqwest::Url;
use serde_json::{Value, json};
use tokio::time::Duration;

use crate::errors::ApiError;
use crate::files::is_slacks;
use crate::hub::SlackHub;
use crate::outbox::MethodCall;

/// Slack accepts a gigabyte, but one file is in memory at a time.
pub(crate) const LARGEST_FILE: u64 = 16 * 1024 * 1024;

/// Maximum time for the content of one file.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(120);

/// The method that returns an upload URL.
const UPLOAD: &str = "files.getUploadURLExternal";

/// Sends the files to somebody in one message. `asked_in`: the channel of the request.
pub(crate) async fn hand_over(
    hub: &SlackHub,
    user: &str,
    asked_in: &str,
    files: &[OwnFile],
) -> Result<HandedOver, NotHandedOver> {
    let direct = open_direct(hub, user).await.map_err(|error| why(&error))?;
    let mut uploaded = Vec::with_capacity(files.len());
    for file in files {
        let content = file.read().await?;
        let id = upload(hub, &direct, &file.name, content).await;
        let id = id.map_err(|error| why(&error))?;
        uploaded.push(json!({ "id": id, "title": file.name }));
    }
    let complete = MethodCall {
        method: "files.completeUploadExternal",
        channel: &direct,
    };
    let arguments = json!({ "files": uploaded, "channel_id": direct });
    call(hub, complete, &arguments)
        .await
        .map_err(|error| why(&error))?;
    Ok(if direct == asked_in {
        HandedOver::Here
    } else {
        HandedOver::Directly
    })
}

/// Returns the channel of the bot's direct messages with somebody.
async fn open_direct(hub: &SlackHub, user: &str) -> Result<String, ApiError> {
    let open = MethodCall {
        method: "conversations.open",
        channel: user,
    };
    let opened = call(hub, open, &json!({ "users": user })).await?;
    let direct = text(open.method, &opened["channel"]["id"])?;
    hub.remember_direct(user, &direct);
    Ok(direct)
}

/// Uploads a file without sharing it yet; returns its id.
async fn upload(
    hub: &SlackHub,
    direct: &str,
    name: &str,
    content: Vec<u8>,
) -> Result<String, ApiError> {
    let length = content.len().to_string();
    let asking = MethodCall {
        method: UPLOAD,
        channel: direct,
    };
    let asked = [("filename", name), ("length", length.as_str())];
    let (asked, content) = (&asked, &content);
    // Each attempt has its own URL: a file uploaded to another one is shared with nobody.
    let attempt = |_| async move {
        let answer = hub.api.get(UPLOAD, asked).await?;
        let address = text(UPLOAD, &answer["upload_url"])?;
        put(hub, &address, content.clone()).await?;
        text(UPLOAD, &answer["file_id"])
    };
    hub.outbox.send(asking, attempt).await
}

async fn put(hub: &SlackHub, address: &str, content: Vec<u8>) -> Result<(), ApiError> {
    let refused = |code: String| ApiError::Refused {
        method: UPLOAD,
        code,
    };
    let url = Url::parse(address).ok();
    let url = url.filter(|url| is_slacks(url, &hub.options.api_url));
    let url = url.ok_or_else(|| refused("its address is outside of Slack".to_owned()))?;
    let request = hub.api.http.post(url).timeout(UPLOAD_TIMEOUT).body(content);
    let request = request.header("content-type", "application/octet-stream");
    // Logged without the URL: whoever has it can upload to it.
    let status = match request.send().await {
        Ok(response) => response.status(),
        Err(_) => return Err(ApiError::timed_out(UPLOAD)),
    };
    if status.is_success() {
        Ok(())
    } else if status.is_server_error() || status.as_u16() == 429 {
        Err(ApiError::timed_out(UPLOAD))
    } else {
        Err(refused(format!("status {}", status.as_u16())))
    }
}

async fn call(hub: &SlackHub, call: MethodCall<'_>, arguments: &Value) -> Result<Value, ApiError> {
    let attempt = |_| hub.api.post(call.method, arguments);
    hub.outbox.send(call, attempt).await
}

fn text(method: &'static str, value: &Value) -> Result<String, ApiError> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| ApiError::Away {
        method,
        reason: "its answer is not that of Slack".to_owned(),
        may_be_done: true,
    })
}

fn why(error: &ApiError) -> NotHandedOver {
    if let ApiError::MissingScope { needed, .. } = error {
        return NotHandedOver::new(text!("no-copy-scope", needed));
    }
    NotHandedOver::after(error.request_failure(), "Slack", error.to_string())
}
