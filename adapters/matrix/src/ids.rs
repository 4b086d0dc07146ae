//! Converts between Matrix ids and ours, also for messages that an earlier process accepted.

use matrix_sdk::ruma::{EventId as MatrixEventId, OwnedEventId, OwnedRoomId, OwnedUserId, RoomId};
use muninn_platform::{AudienceId, ConversationId, EventId};

use crate::name::NAME;

const MAIN: &str = "main";

pub(crate) fn event(room: &RoomId, event: &MatrixEventId) -> EventId {
    EventId::new(format!("{NAME}/{room}/{event}"))
}

pub(crate) fn conversation(room: &RoomId, thread: Option<&MatrixEventId>) -> ConversationId {
    let place = thread.map_or(MAIN, MatrixEventId::as_str);
    ConversationId::new(format!("{NAME}/{room}/{place}"))
}

pub(crate) fn audience(room: &RoomId) -> AudienceId {
    AudienceId::new(format!("{NAME}/{room}"))
}

/// Returns the Matrix id of an author id.
pub(crate) fn person(author: &str) -> Option<OwnedUserId> {
    author
        .strip_prefix(NAME)?
        .strip_prefix('/')?
        .try_into()
        .ok()
}

/// Whether a conversation belongs to this room.
pub(crate) fn is_in(conversation: &ConversationId, room: &RoomId) -> bool {
    parse(conversation.as_str()).is_some_and(|(of, _)| of == room)
}

/// Parses an id into the room, and the event or the conversation's thread.
pub(crate) fn parse(id: &str) -> Option<(OwnedRoomId, Option<OwnedEventId>)> {
    let id = id.strip_prefix(NAME)?.strip_prefix('/')?;
    // Both may contain a slash, but an event begins with a dollar sign.
    if let Some((room, event)) = id.rsplit_once("/$") {
        let event = format!("${event}");
        return Some((room.try_into().ok()?, Some(event.as_str().try_into().ok()?)));
    }
    let (room, place) = id.rsplit_once('/')?;
    let room = room.try_into().ok()?;
    (place == MAIN).then_some((room, None))
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::{event_id, room_id};

    use super::*;

    #[test]
    fn a_conversation_is_of_one_room() {
        let (here, there) = (room_id!("!a:b"), room_id!("!c:d"));
        for thread in [None, Some(event_id!("$e"))] {
            let conversation = conversation(here, thread);
            assert!(is_in(&conversation, here) && !is_in(&conversation, there));
        }
    }

    #[test]
    fn ids_are_read_back() {
        for room in [
            room_id!("!abc:example.org:8448"),
            room_id!("!a/b:c"),
            room_id!("!hash-only"),
        ] {
            for id in [
                event_id!("$old:example.org"),
                event_id!("$with/slash+plus"),
                event_id!("$new-one_"),
            ] {
                let both = Some((room.to_owned(), Some(id.to_owned())));
                assert_eq!(parse(event(room, id).as_str()), both);
                assert_eq!(parse(conversation(room, Some(id)).as_str()), both);
            }
            let main = parse(conversation(room, None).as_str());
            assert_eq!(main, Some((room.to_owned(), None)));
        }
        for none in [
            "",
            "matrix",
            "matrix/!a:b",
            "slack/!a:b/main",
            "matrix/a/main",
            "matrix/!a:b/else",
        ] {
            assert_eq!(parse(none), None, "{none}");
        }
    }
}
