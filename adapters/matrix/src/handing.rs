//! Hands files over to one person, in the room that the bot shares with them alone; encrypted if
//! the room is.

use std::str::FromStr as _;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::Room;
use matrix_sdk::attachment::{AttachmentConfig, AttachmentInfo, BaseFileInfo};
use matrix_sdk::ruma::{UInt, UserId};
use mime::Mime;
use muninn_platform::{HandedOver, NotHandedOver, OwnFile};
use muninn_texts::text;

use crate::hub::MatrixHub;
use crate::outbox::SendError;
use crate::rooms;

/// A homeserver may accept more, but one file is in memory at a time, and twice if it is encrypted.
const LARGEST_FILE: u64 = 16 * 1024 * 1024;

/// Returns the homeserver's limit, if it has one.
pub(crate) async fn largest_file(hub: &MatrixHub) -> u64 {
    let limit = hub.client.load_or_fetch_max_upload_size().await;
    limit.map_or(LARGEST_FILE, |limit| LARGEST_FILE.min(limit.into()))
}

/// Sends the files to somebody. `transaction`: the same for the same answer, so that the homeserver
/// recognises a repetition.
pub(crate) fn hand_over<'a>(
    hub: &'a MatrixHub,
    asked_in: &'a Room,
    person: &'a UserId,
    transaction: &'a str,
    files: &'a [OwnFile],
) -> BoxFuture<'a, Result<HandedOver, NotHandedOver>> {
    async move {
        let (room, place) = if rooms::is_private_to(asked_in, person).await {
            (asked_in.clone(), HandedOver::Here)
        } else {
            let direct = rooms::open_direct(&hub.client, asked_in, person).await;
            let direct = direct.ok_or_else(|| NotHandedOver::new(text!("no-copy-direct-room")))?;
            (direct, HandedOver::Directly)
        };
        if !rooms::are_alone(&room, person).await {
            return Err(NotHandedOver::new(text!("no-copy-room-changed")));
        }
        for (number, file) in files.iter().enumerate() {
            let content = file.read().await?;
            let transaction = format!("{transaction}-file{number}");
            let sent = send(hub, &room, file, &content, &transaction).await;
            sent.map_err(|error| why(&error))?;
        }
        Ok(place)
    }
    .boxed()
}

async fn send(
    hub: &MatrixHub,
    room: &Room,
    file: &OwnFile,
    content: &[u8],
    transaction: &str,
) -> Result<(), SendError> {
    let media_type = Mime::from_str(file.media_type).unwrap_or(mime::APPLICATION_OCTET_STREAM);
    let media_type = &media_type;
    let sending = || async move {
        let size = UInt::try_from(file.size).ok();
        let config = AttachmentConfig {
            txn_id: Some(transaction.into()),
            info: Some(AttachmentInfo::File(BaseFileInfo { size })),
            ..AttachmentConfig::default()
        };
        let sent = room.send_attachment(&file.name, media_type, content.to_vec(), config);
        sent.await.map(drop)
    };
    hub.outbox.retry(sending).await
}

fn why(error: &SendError) -> NotHandedOver {
    NotHandedOver::after(error.request_failure(), "Matrix", error.reason())
}
