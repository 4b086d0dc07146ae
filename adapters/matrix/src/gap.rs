//! Reads what a sync left out: after an outage a homeserver sends only a room's last events.

use chrono::{DateTime, Utc};
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
/// `not_before`: no message from before is missing. Some homeservers do not stop at `since`, and
/// would give the room from its beginning.
pub(crate) async fn events(
    room: &Room,
    since: &str,
    until: &str,
    not_before: DateTime<Utc>,
) -> Result<Vec<TimelineEvent>, matrix_sdk::Error> {
    let mut gap = Gap::new(not_before);
    let mut from = until.to_owned();
    for _ in 0..MOST_PAGES {
        let mut options = MessagesOptions::backward().from(from.as_str());
        options.to = Some(since.to_owned());
        options.limit = uint!(100);
        let page = room.messages(options).await?;
        let may_go_on = gap.add(page.chunk);
        match page.end {
            Some(end) if may_go_on && end != from => from = end,
            Some(_) | None => return Ok(gap.in_order()),
        }
    }
    let events = gap.in_order();
    tracing::warn!(room = %room.room_id(), read = events.len(), "more was said than is read back");
    Ok(events)
}

/// What was read of a gap, the newest first.
struct Gap {
    events: Vec<TimelineEvent>,
    not_before: DateTime<Utc>,
}

impl Gap {
    fn new(not_before: DateTime<Utc>) -> Self {
        let events = Vec::new();
        Self { events, not_before }
    }

    /// Adds what belongs to the gap. Returns whether earlier events may belong to it, too.
    fn add(&mut self, page: Vec<TimelineEvent>) -> bool {
        let mut may_go_on = false;
        for event in page {
            let Some(read) = MatrixEvent::read(event.raw().json().get()) else {
                continue;
            };
            let is_earlier = read.sent_at < self.not_before;
            may_go_on |= !is_earlier;
            let is_message = match read.what {
                MatrixEventKind::Message(_) | MatrixEventKind::Undecryptable(_) => true,
                // Another homeserver may have sent them late, and they are followed at any age.
                MatrixEventKind::Edit { .. }
                | MatrixEventKind::Redaction { .. }
                | MatrixEventKind::Reaction { .. }
                | MatrixEventKind::Membership { .. }
                | MatrixEventKind::Other => false,
            };
            if !(is_earlier && is_message) {
                self.events.push(event);
            }
        }
        may_go_on
    }

    fn in_order(mut self) -> Vec<TimelineEvent> {
        self.events.reverse();
        self.events
    }
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
    use matrix_sdk::ruma::user_id;
    use serde_json::json;

    use super::*;

    fn event(what: MatrixEventKind) -> MatrixEvent {
        MatrixEvent {
            id: "$e".try_into().unwrap(),
            sender: "@ann:b".try_into().unwrap(),
            sent_at: DateTime::UNIX_EPOCH,
            what,
        }
    }

    fn raw(id: &str, sent_at: i64, kind: &str, content: &serde_json::Value) -> TimelineEvent {
        let event = json!({ "type": kind, "event_id": id, "sender": "@ann:b",
            "origin_server_ts": sent_at * 1_000, "content": content });
        TimelineEvent::from_plaintext(serde_json::from_str(&event.to_string()).unwrap())
    }

    #[test]
    fn a_gap_ends_where_nothing_is_missing_also_if_the_homeserver_gives_more() {
        let text = json!({ "msgtype": "m.text", "body": "moin" });
        let said = |id: &str, sent_at| raw(id, sent_at, "m.room.message", &text);
        let redacts = json!({ "redacts": "$x" });
        let not_before = DateTime::from_timestamp(100, 0).unwrap();
        let mut gap = Gap::new(not_before);
        assert!(gap.add(vec![said("$6", 130), said("$5", 120)]));
        // A clock that is slow, and a redaction that arrived late.
        let late = raw("$3", 80, "m.room.redaction", &redacts);
        assert!(gap.add(vec![said("$4", 90), late, said("$2", 100)]));
        assert!(!gap.add(vec![said("$1", 99), said("$0", 98)]));
        assert!(!gap.add(Vec::new()));
        let ids = gap.in_order().into_iter();
        let ids = ids.filter_map(|event| event.event_id());
        let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
        assert_eq!(ids, ["$2", "$3", "$5", "$6"]);
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
