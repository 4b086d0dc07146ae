//! Downloads attached files when the bot wants them, within its limit.

use muninn_platform::{Attachment, DownloadError, add_chunk};
use reqwest::{Response, Url};
use secrecy::ExposeSecret;

use crate::event::SlackFile;
use crate::hub::SlackHub;

/// Returns the attachment for the bot: identified by URL, or by id if Slack gave no URL, so that it
/// is found again after a restart.
pub(crate) fn attachment(file: &SlackFile) -> Attachment {
    Attachment {
        id: file.url.clone().unwrap_or_else(|| file.id.clone()),
        name: file.name.clone(),
        media_type: file.media_type.clone(),
        size: file.size,
    }
}

pub(crate) async fn download(
    hub: &SlackHub,
    attachment: &Attachment,
    most: usize,
) -> Result<Vec<u8>, DownloadError> {
    attachment.read(most, fetch(hub, attachment, most)).await
}

async fn fetch(
    hub: &SlackHub,
    attachment: &Attachment,
    most: usize,
) -> Result<Vec<u8>, DownloadError> {
    let refused = |reason: &str| DownloadError::Refused(reason.to_owned());
    let url = match Url::parse(&attachment.id) {
        Ok(url) => url,
        Err(_) => address(hub, &attachment.id).await?,
    };
    // The token is only sent to Slack.
    if !is_slacks(&url, &hub.options.api_url) {
        return Err(refused("it is kept outside of Slack"));
    }
    let token = hub.api.bot_token().expose_secret();
    let request = hub.api.http.get(url).bearer_auth(token);
    let response = request
        .send()
        .await
        .map_err(|_| refused("Slack cannot be reached"))?;
    read(accepted(response, attachment)?, most).await
}

/// Asks Slack for the URL of a file.
async fn address(hub: &SlackHub, id: &str) -> Result<Url, DownloadError> {
    let answer = hub.api.get("files.info", &[("file", id)]).await;
    let answer = answer.map_err(|error| DownloadError::Refused(error.to_string()))?;
    let file = &answer["file"];
    let url = file["url_private_download"]
        .as_str()
        .or_else(|| file["url_private"].as_str());
    let url = url.and_then(|url| Url::parse(url).ok());
    url.ok_or_else(|| DownloadError::Refused("it has no address".to_owned()))
}

/// Whether a URL belongs to Slack, or to the host of its API.
pub(crate) fn is_slacks(url: &Url, api_url: &str) -> bool {
    let api = Url::parse(api_url).ok();
    let is_beside_api = api.is_some_and(|api| api.origin() == url.origin());
    let host = url.host_str().unwrap_or_default();
    let is_slack = host == "slack.com" || host.ends_with(".slack.com");
    is_beside_api || url.scheme() == "https" && is_slack
}

fn accepted(response: Response, attachment: &Attachment) -> Result<Response, DownloadError> {
    let status = response.status();
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE);
    let is_page = kind
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("text/html"));
    let refused = |reason: String| Err(DownloadError::Refused(reason));
    // Without permission, Slack returns a login page.
    if status.is_redirection() || is_page && attachment.media_type != "text/html" {
        return refused(
            "Slack wants a login for it; the app lacks the scope files:read".to_owned(),
        );
    }
    if !status.is_success() {
        return refused(format!("Slack answers with status {}", status.as_u16()));
    }
    Ok(response)
}

async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, DownloadError> {
    let cut = |_| DownloadError::Refused("it broke off".to_owned());
    let mut content = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(cut)? {
        add_chunk(&mut content, &chunk, most)?;
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slack_gets_the_token() {
        for (url, is_ours) in [
            ("https://files.slack.com/files-pri/T1-F1/a.txt", true),
            ("https://slack.com/x", true),
            ("http://files.slack.com/x", false),
            ("https://slack.com.evil.org/x", false),
            ("https://evilslack.com/x", false),
            ("https://example.org/x", false),
            ("http://127.0.0.1:99/files/x", true),
            ("http://127.0.0.1:98/files/x", false),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(is_slacks(&url, "http://127.0.0.1:99/api"), is_ours, "{url}");
        }
    }
}
