//! Downloads attached files when the bot wants them, within its limit.

use std::io::{Cursor, Read};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::ruma::OwnedEventId;
use matrix_sdk::ruma::events::room::{EncryptedFile, MediaSource};
use matrix_sdk::{Client, Room};
use matrix_sdk_crypto::AttachmentDecryptor;
use muninn_platform::{Attachment, DownloadError};
use serde::Deserialize as _;
use serde_json::Value;

use crate::ask::{self, AskError};
use crate::event::MatrixFile;

/// Returns the attachment for the bot: identified by its event, which may be an edit, so that a file
/// redacted meanwhile is not read.
pub(crate) fn of(event: &OwnedEventId, file: MatrixFile) -> Attachment {
    Attachment {
        id: event.to_string(),
        name: file.name,
        media_type: file.media_type,
        size: file.size,
    }
}

pub(crate) fn download<'a>(
    client: &'a Client,
    room: &'a Room,
    attachment: &'a Attachment,
    most: usize,
) -> BoxFuture<'a, Result<Vec<u8>, DownloadError>> {
    async move {
        let fetch = fetch(client, room, attachment, most);
        attachment.read(most, fetch).await
    }
    .boxed()
}

async fn fetch(
    client: &Client,
    room: &Room,
    attachment: &Attachment,
    most: usize,
) -> Result<Vec<u8>, DownloadError> {
    let refused = |reason: &str| DownloadError::Refused(reason.to_owned());
    let id = OwnedEventId::try_from(attachment.id.as_str())
        .map_err(|_| refused("it is no file of a room"))?;
    let event = room
        .event(&id, None)
        .await
        .map_err(|error| DownloadError::Refused(muninn_platform::in_one_line(&error)))?;
    let source = source(event.raw().json().get()).ok_or_else(|| refused("it was taken back"))?;
    let uri = match &source {
        MediaSource::Plain(uri) => uri,
        MediaSource::Encrypted(file) => &file.url,
    };
    let (server, media) = uri.parts().map_err(|_| refused("it has no address"))?;
    let path = format!("_matrix/client/v1/media/download/{server}/{media}");
    let content = match content_at(client, &path, most).await {
        // Before version 1.11 of the specification it was elsewhere. Older homeservers answer unknown
        // requests with other codes than 404.
        Err(AskError::NotFound | AskError::Refused(400 | 405)) => {
            let path = format!("_matrix/media/v3/download/{server}/{media}");
            content_at(client, &path, most).await
        }
        other => other,
    };
    let content = content.map_err(|error| match error {
        AskError::TooLong(most) => DownloadError::TooLarge { most },
        other => DownloadError::Refused(other.to_string()),
    })?;
    match source {
        MediaSource::Plain(_) => Ok(content),
        MediaSource::Encrypted(file) => decrypt(content, *file),
    }
}

async fn content_at(client: &Client, path: &str, most: usize) -> Result<Vec<u8>, AskError> {
    let (http, homeserver) = (client.http_client(), client.homeserver());
    let token = || client.access_token().ok_or(AskError::LoggedOut);
    match ask::download(http, &homeserver, path, &token()?, most).await {
        // The token has expired: the SDK refreshes it.
        Err(AskError::LoggedOut) => {
            let refreshed = client.refresh_access_token().await;
            refreshed.map_err(|_| AskError::LoggedOut)?;
            ask::download(http, &homeserver, path, &token()?, most).await
        }
        other => other,
    }
}

fn source(event: &str) -> Option<MediaSource> {
    let event: Value = serde_json::from_str(event).ok()?;
    let content = event.get("content")?;
    // Of an edit, what the message is now; the rest is for clients that know no edits.
    let content = content.get("m.new_content").unwrap_or(content);
    MediaSource::deserialize(content).ok()
}

fn decrypt(content: Vec<u8>, file: EncryptedFile) -> Result<Vec<u8>, DownloadError> {
    let damaged = || DownloadError::Refused("it cannot be decrypted".to_owned());
    let mut plain = Vec::with_capacity(content.len());
    let mut sealed = Cursor::new(content);
    AttachmentDecryptor::new(&mut sealed, file.into())
        .map_err(|_| damaged())?
        .read_to_end(&mut plain)
        .map_err(|_| damaged())?;
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_file_of_an_edit_is_what_the_message_is_now() {
        let image = |address: &str| json!({"msgtype": "m.image", "body": "a.png", "url": address});
        let (old, new) = ("mxc://example.org/old", "mxc://example.org/new");
        let mut edit = image(old);
        edit["m.new_content"] = image(new);
        let mut without = image(old);
        without["m.new_content"] = json!({"msgtype": "m.text", "body": "no picture"});
        for (content, expected) in [
            (image(old), Some(old)),
            (edit, Some(new)),
            (without, None),
            (json!({}), None),
        ] {
            let event = json!({ "content": content }).to_string();
            let found = match source(&event) {
                Some(MediaSource::Plain(address)) => Some(address.to_string()),
                Some(MediaSource::Encrypted(_)) | None => None,
            };
            assert_eq!(found.as_deref(), expected, "{event}");
        }
    }
}
