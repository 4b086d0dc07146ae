//! Reads what a sync left out: after an outage a homeserver sends only a room's last events.

use matrix_sdk::Room;
use matrix_sdk::deserialized_responses::TimelineEvent;
use matrix_sdk::room::MessagesOptions;
use matrix_sdk::ruma::{UserId, uint};

use crate::event::{MatrixEvent, MatrixEventKind};

/// Maximum pages of a hundred events that are read back per room.
const MOST_PAGES: usize = 50;

/// Returns the events between two positions in a room's timeline, in order.
///
/// Also returns events that are too old to be answered: redactions are followed at any age.
pub(crate) async fn events(
    room: &Room,
    since: &str,
    until: &str,
) -> Result<Vec<TimelineEvent>, matrix_sdk::Error> {
    let mut events = Vec::new();
    let mut from = until.to_owned();
    for _ in 0..MOST_PAGES {
        let mut options = MessagesOptions::backward().from(from.as_str());
        options.to = Some(since.to_owned());
        options.limit = uint!(100);
        let page = room.messages(options).await?;
        let is_empty = page.chunk.is_empty();
        events.extend(page.chunk);
        match page.end {
            Some(end) if !is_empty && end != from => from = end,
            Some(_) | None => {
                events.reverse();
                return Ok(events);
            }
        }
    }
    tracing::warn!(room = %room.room_id(), read = events.len(), "more was said than is read back");
    events.reverse();
    Ok(events)
}

/// Returns how many of these events precede the bot's membership: messages from before its
/// invitation were not addressed to it.
pub(crate) fn before_invitation<'a>(
    events: impl Iterator<Item = Option<&'a MatrixEvent>>,
    me: &UserId,
) -> usize {
    let mut before = 0;
    for (number, event) in events.enumerate() {
        let Some(MatrixEventKind::Membership {
            of,
            now,
            before: was,
        }) = event.map(|event| &event.what)
        else {
            continue;
        };
        let belonged = matches!(was.as_deref(), Some("invite" | "join"));
        if of == me && matches!(now.as_str(), "invite" | "join") && !belonged {
            before = number;
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use matrix_sdk::ruma::user_id;

    use super::*;

    fn event(what: MatrixEventKind) -> MatrixEvent {
        MatrixEvent {
            id: "$e".try_into().unwrap(),
            sender: "@ann:b".try_into().unwrap(),
            sent_at: DateTime::UNIX_EPOCH,
            what,
        }
    }

    #[test]
    fn what_was_said_before_the_invitation_is_not_for_it() {
        let member = |of: &str, was: Option<&str>, now: &str| {
            event(MatrixEventKind::Membership {
                of: of.try_into().unwrap(),
                now: now.to_owned(),
                before: was.map(str::to_owned),
            })
        };
        let said = || event(MatrixEventKind::Other);
        let me = "@me:b";
        for (events, before) in [
            (vec![said(), said()], 0),
            (
                vec![
                    said(),
                    member(me, None, "invite"),
                    said(),
                    member(me, Some("invite"), "join"),
                    said(),
                ],
                1,
            ),
            (vec![said(), said(), member(me, None, "join")], 2),
            (vec![said(), member("@ann:b", None, "join"), said()], 0),
            // Only its display name changed.
            (vec![said(), member(me, Some("join"), "join"), said()], 0),
            (
                vec![
                    member(me, None, "join"),
                    said(),
                    member(me, Some("join"), "leave"),
                    said(),
                    member(me, Some("leave"), "invite"),
                ],
                4,
            ),
        ] {
            let found = before_invitation(events.iter().map(Some), user_id!("@me:b"));
            assert_eq!(found, before, "{events:?}");
        }
    }
}
