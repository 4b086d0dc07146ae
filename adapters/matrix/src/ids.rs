//! Converts between Matrix ids and ours, also for messages that an earlier process accepted.

use matrix_sdk::ruma::{EventId as MatrixEventId, OwnedEventId, OwnedRoomId, OwnedUserId, RoomId};
use muninn_platform::{AudienceId, ConversationId, EventId, MessageId};

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

/// Returns the id of a message that the bot sent outside of the conversation to which it belongs.
pub(crate) fn elsewhere(room: &RoomId, event: &MatrixEventId) -> MessageId {
    MessageId::new(format!("{NAME}/{room}/{event}"))
}

/// Returns the room and the event of a message that belongs to a conversation.
pub(crate) fn parse_sent(
    conversation: &ConversationId,
    message: &MessageId,
) -> Option<(OwnedRoomId, OwnedEventId)> {
    if let Some((room, Some(event))) = parse(message.as_str()) {
        return Some((room, event));
    }
    let (room, _) = parse(conversation.as_str())?;
    Some((room, message.as_str().try_into().ok()?))
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

    #[test]
    fn a_message_elsewhere_has_its_room_in_its_id() {
        let (here, there) = (
            room_id!("!here:example.org"),
            room_id!("!there/o:example.org"),
        );
        let event = event_id!("$abc/d");
        let conversation = conversation(here, None);
        let parsed = |id| parse_sent(&conversation, &id);
        let found = |room: &RoomId| Some((room.to_owned(), event.to_owned()));
        assert_eq!(parsed(MessageId::new(event.as_str())), found(here));
        assert_eq!(parsed(elsewhere(there, event)), found(there));
        assert_eq!(parsed(MessageId::new("nothing")), None);
        // A digest belongs to no conversation of the room.
        let audience = ConversationId::new(audience(here).as_str());
        assert_eq!(parse_sent(&audience, &elsewhere(here, event)), found(here));
    }
}
