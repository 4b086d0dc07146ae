//! Room upgrades: the bot follows a room to its successor, and takes its memory along if nobody new
//! can read it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use matrix_sdk::deserialized_responses::SyncOrStrippedState;
use matrix_sdk::ruma::events::SyncStateEvent;
use matrix_sdk::ruma::events::room::tombstone::RoomTombstoneEventContent;
use matrix_sdk::ruma::{OwnedRoomId, OwnedUserId, RoomId};
use matrix_sdk::{Client, Room, RoomMemberships, RoomState};
use muninn_platform::{SafeText, in_one_line};
use muninn_texts::text;
use serde::{Deserialize, Serialize};

use crate::content::{self, Relation};
use crate::hub::MatrixHub;
use crate::rooms;

/// Maximum length of a chain of upgrades; a longer one was made to confuse.
const MAX_ROOM_UPGRADES: usize = 32;

/// The room that was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Replaced {
    pub(crate) room: OwnedRoomId,
    /// Nobody new was in the successor, so the memory moved along.
    pub(crate) keeps_memory: bool,
}

/// Returns a room, its predecessor, and so on.
pub(crate) fn room_lineage<'a>(
    replaced: &'a BTreeMap<OwnedRoomId, Replaced>,
    room: &'a RoomId,
) -> impl Iterator<Item = &'a RoomId> {
    let before = |room: &&'a RoomId| replaced.get(*room).map(|before| &*before.room);
    std::iter::successors(Some(room), before).take(MAX_ROOM_UPGRADES)
}

/// Returns the room whose memory a room uses.
pub(crate) fn audience<'a>(
    replaced: &'a BTreeMap<OwnedRoomId, Replaced>,
    room: &'a RoomId,
) -> &'a RoomId {
    let mut of = room;
    for _ in 0..MAX_ROOM_UPGRADES {
        match replaced.get(of) {
            Some(before) if before.keeps_memory => of = &before.room,
            Some(_) | None => break,
        }
    }
    of
}

/// Returns the predecessor of a room, if both rooms confirm it: anybody can claim it for their own
/// room.
pub(crate) fn replaced_by(client: &Client, room: &Room) -> Option<Room> {
    let before = client.get_room(&room.predecessor_room()?.room_id)?;
    let after = before.successor_room()?.room_id;
    (after == room.room_id()).then_some(before)
}

/// Whether a room is only open to people who were in the one before.
pub(crate) async fn has_same_members(before: &Room, room: &Room) -> bool {
    if before.state() != RoomState::Joined
        || (room.is_public() != Some(false) && before.is_public() == Some(false))
    {
        return false;
    }
    let both = async {
        let before = members(before, RoomMemberships::JOIN).await?;
        let now = members(room, RoomMemberships::ACTIVE).await?;
        Ok::<bool, matrix_sdk::Error>(now.is_subset(&before))
    };
    both.await.unwrap_or_else(|error| {
        tracing::warn!(room = %room.room_id(), error = in_one_line(&error), "its members cannot be read");
        false
    })
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

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::{owned_room_id, room_id};

    use super::*;

    #[test]
    fn a_room_stands_for_those_before_it() {
        let replaced = |room: OwnedRoomId, keeps_memory| Replaced { room, keeps_memory };
        let rooms = BTreeMap::from([
            (
                owned_room_id!("!d:x"),
                replaced(owned_room_id!("!c:x"), true),
            ),
            (
                owned_room_id!("!c:x"),
                replaced(owned_room_id!("!b:x"), true),
            ),
            (
                owned_room_id!("!b:x"),
                replaced(owned_room_id!("!a:x"), false),
            ),
            (
                owned_room_id!("!o:x"),
                replaced(owned_room_id!("!o:x"), true),
            ),
        ]);
        let all: Vec<&RoomId> = room_lineage(&rooms, room_id!("!d:x")).collect();
        assert_eq!(all, ["!d:x", "!c:x", "!b:x", "!a:x"]);
        for (room, of) in [
            ("!d:x", "!b:x"),
            ("!b:x", "!b:x"),
            ("!a:x", "!a:x"),
            // A cycle ends.
            ("!o:x", "!o:x"),
        ] {
            let room = <&RoomId>::try_from(room).unwrap();
            assert_eq!(audience(&rooms, room), of);
        }
        assert_eq!(
            room_lineage(&rooms, room_id!("!o:x")).count(),
            MAX_ROOM_UPGRADES
        );
    }
}
