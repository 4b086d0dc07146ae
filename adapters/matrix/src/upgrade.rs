//! Room upgrades: the bot follows a room to its successor, and takes its memory along if nobody new
//! can read it.

use std::collections::BTreeSet;
use std::sync::Arc;

use matrix_sdk::deserialized_responses::SyncOrStrippedState;
use matrix_sdk::ruma::events::SyncStateEvent;
use matrix_sdk::ruma::events::room::tombstone::RoomTombstoneEventContent;
use matrix_sdk::ruma::{OwnedRoomId, OwnedUserId};
use matrix_sdk::{Room, RoomMemberships, RoomState};
use muninn_platform::{SafeText, in_one_line};
use muninn_texts::text;

use crate::content::{self, Relation};
use crate::hub::MatrixHub;
use crate::outbox::SendError;
use crate::rooms;

/// Whether a room keeps the memory of the one before it. `None` if the homeserver does not answer
/// for a while.
pub(crate) async fn keeps_memory(hub: &MatrixHub, before: &Room, room: &Room) -> Option<bool> {
    let told = has_same_members(hub, before, room).await;
    let told = told.inspect_err(|error| {
        tracing::warn!(room = %room.room_id(), before = %before.room_id(), %error, "this room takes the place of another, and who is in it is not told");
    });
    told.ok()
}

/// Whether a room is only open to people who were in the one before.
///
/// # Errors
/// Fails when the homeserver does not answer for a while.
async fn has_same_members(hub: &MatrixHub, before: &Room, room: &Room) -> Result<bool, SendError> {
    if before.state() != RoomState::Joined
        || (room.is_public() != Some(false) && before.is_public() == Some(false))
    {
        return Ok(false);
    }
    let both = || async {
        let before = members(before, RoomMemberships::JOIN).await?;
        let now = members(room, RoomMemberships::ACTIVE).await?;
        Ok::<bool, matrix_sdk::Error>(now.is_subset(&before))
    };
    match hub.outbox.retry(both).await {
        Err(SendError::Refused(error)) => {
            tracing::warn!(room = %room.room_id(), error = in_one_line(&error), "its members cannot be read");
            Ok(false)
        }
        other => other,
    }
}

async fn members(
    room: &Room,
    which: RoomMemberships,
) -> Result<BTreeSet<OwnedUserId>, matrix_sdk::Error> {
    let members = room.members(which).await?;
    Ok(members.iter().map(|it| it.user_id().to_owned()).collect())
}

/// Announces that the memory of the old room stays there.
pub(crate) async fn say_without_memory(hub: &MatrixHub, room: &Room) {
    let said = text!("room-without-memory").in_language(hub.language(room.room_id()));
    let content = content::message(&SafeText::new(&said), &Relation::None);
    let transaction = format!("muninn-upgraded-{}", room.room_id()).into();
    if let Err(error) = hub.outbox.send(room, &content, &transaction).await {
        tracing::warn!(room = %room.room_id(), %error, "it could not be said that the memory stays in the old room");
    }
}

/// Follows a room to its successor, if it has one and the bot is not there yet.
pub(crate) fn follow(hub: &Arc<MatrixHub>, room: &Room) {
    let Some(after) = room.successor_room().map(|after| after.room_id) else {
        return;
    };
    let is_there = hub
        .client
        .get_room(&after)
        .is_some_and(|after| after.state() == RoomState::Joined);
    if is_there || !hub.begins_to_follow(&after) {
        return;
    }
    let (hub, room) = (Arc::clone(hub), room.clone());
    tokio::spawn(async move { join(&hub, &room, after).await });
}

async fn join(hub: &MatrixHub, before: &Room, after: OwnedRoomId) {
    let Some(by) = upgraded_by(before).await else {
        return;
    };
    if !hub.serves(&by, before.room_id()) {
        tracing::warn!(room = %before.room_id(), %after, %by, "not followed to the room that takes its place: MATRIX_ALLOW names neither the room nor the person nor their server");
        return;
    }
    tracing::info!(room = %before.room_id(), %after, "following to the room that takes its place");
    rooms::join(&hub.client, &after, &[by.server_name().to_owned()]).await;
}

async fn upgraded_by(room: &Room) -> Option<OwnedUserId> {
    let found = room.get_state_event_static::<RoomTombstoneEventContent>();
    match found.await.ok()??.deserialize().ok()? {
        SyncOrStrippedState::Sync(SyncStateEvent::Original(event)) => Some(event.sender),
        SyncOrStrippedState::Sync(SyncStateEvent::Redacted(_))
        | SyncOrStrippedState::Stripped(_) => None,
    }
}
