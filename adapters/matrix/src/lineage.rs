//! Which room replaced which.

use std::collections::BTreeMap;

use matrix_sdk::ruma::{OwnedRoomId, RoomId};
use matrix_sdk::{Client, Room};
use serde::{Deserialize, Serialize};

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
