//! How long to wait for the list of a room's members. Pure.

use std::collections::HashMap;
use std::time::Duration;

use matrix_sdk::ruma::{OwnedRoomId, RoomId};
use tokio::time::Instant;

/// Maximum time for the homeserver to give the list: the messages of all rooms wait for it.
pub(crate) const LIST_TIMEOUT: Duration = Duration::from_secs(5);

/// Time until a list that did not come is waited for again.
const NEXT_WAIT: Duration = Duration::from_secs(600);

/// When lists were asked for that have not come.
#[derive(Debug, Default)]
pub(crate) struct MemberLists(HashMap<OwnedRoomId, Instant>);

impl MemberLists {
    /// Returns until when to wait for a room's list. Every event of the room needs it, so that time may have passed.
    pub(crate) fn wait_until(&mut self, room: &RoomId, now: Instant) -> Instant {
        let asked = self.0.entry(room.to_owned()).or_insert(now);
        if now.duration_since(*asked) >= NEXT_WAIT {
            *asked = now;
        }
        *asked + LIST_TIMEOUT
    }

    /// Records that a room's list came.
    pub(crate) fn came(&mut self, room: &RoomId) {
        self.0.remove(room);
    }
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::room_id;

    use super::*;

    #[test]
    fn a_list_that_does_not_come_is_waited_for_once_in_ten_minutes() {
        let (one, other) = (room_id!("!one:localhost"), room_id!("!other:localhost"));
        let mut lists = MemberLists::default();
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        for (room, now, until) in [
            (one, 0, 5),
            (one, 2, 5),
            (one, 60, 5),
            (other, 60, 65),
            (one, 600, 605),
        ] {
            assert_eq!(lists.wait_until(room, after(now)), after(until), "{now}");
        }
        lists.came(one);
        assert_eq!(lists.wait_until(one, after(700)), after(705));
    }
}
