//! Parses a room's events into plain data, limited to what the bot uses.

use chrono::{DateTime, TimeDelta, Utc};
use matrix_sdk::ruma::{OwnedEventId, OwnedUserId};
use serde::Deserialize;
use serde_json::Value;

/// An event of a room's timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatrixEvent {
    pub(crate) id: OwnedEventId,
    pub(crate) sender: OwnedUserId,
    pub(crate) sent_at: DateTime<Utc>,
    pub(crate) what: MatrixEventKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MatrixEventKind {
    Message(MatrixMessage),
    Edit {
        of: OwnedEventId,
        new: MatrixMessage,
        /// People mentioned by the edit but not by the original: they are notified.
        newly_mentions: Vec<OwnedUserId>,
    },
    Redaction {
        of: OwnedEventId,
    },
    Reaction {
        to: OwnedEventId,
        key: String,
    },
    /// An encrypted message whose key is missing, perhaps temporarily.
    Undecryptable(Sealed),
    Membership {
        of: OwnedUserId,
        now: String,
        before: Option<String>,
    },
    Other,
}

impl MatrixEventKind {
    /// Returns the edited message and its new content; `None` if this is no edit.
    pub(crate) fn into_edit(self) -> Option<(OwnedEventId, MatrixMessage)> {
        match self {
            Self::Edit { of, new, .. } => Some((of, new)),
            Self::Message(_)
            | Self::Redaction { .. }
            | Self::Reaction { .. }
            | Self::Undecryptable(_)
            | Self::Membership { .. }
            | Self::Other => None,
        }
    }
}

/// What is visible of an encrypted message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sealed {
    pub(crate) session: Option<String>,
    pub(crate) relates: Relates,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatrixMessage {
    pub(crate) kind: MessageKind,
    /// The text; of a file, the caption.
    pub(crate) text: String,
    /// `None`: the client does not list mentions.
    pub(crate) mentions: Option<Vec<OwnedUserId>>,
    /// It mentions everybody in the room.
    pub(crate) mentions_room: bool,
    pub(crate) relates: Relates,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Text,
    /// A message by a bot.
    Notice,
    File(MatrixFile),
    /// A location, a poll, a verification request.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatrixFile {
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) size: Option<u64>,
}

/// The position of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Relates {
    pub(crate) thread: Option<OwnedEventId>,
    /// A real reply, not the fallback for clients without threads.
    pub(crate) reply_to: Option<OwnedEventId>,
    /// It may quote what it replies to, whether it is a real reply or a fallback.
    pub(crate) is_shown_as_reply: bool,
    pub(crate) replaces: Option<OwnedEventId>,
}

#[derive(Deserialize)]
struct RawEvent {
    #[serde(rename = "type")]
    kind: String,
    event_id: OwnedEventId,
    sender: OwnedUserId,
    #[serde(default)]
    origin_server_ts: i64,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    redacts: Option<OwnedEventId>,
    #[serde(default)]
    state_key: Option<String>,
    #[serde(default)]
    unsigned: Value,
}

#[derive(Default, Deserialize)]
struct RawRelation {
    #[serde(default)]
    rel_type: Option<String>,
    #[serde(default)]
    event_id: Option<OwnedEventId>,
    #[serde(default)]
    is_falling_back: bool,
    #[serde(default, rename = "m.in_reply_to")]
    in_reply_to: Option<RawReply>,
}

#[derive(Deserialize)]
struct RawReply {
    event_id: OwnedEventId,
}

impl MatrixEvent {
    /// Parses an event; `None` if it is not an event.
    pub(crate) fn read(json: &str) -> Option<Self> {
        let raw: RawEvent = serde_json::from_str(json).ok()?;
        let sent_at = DateTime::from_timestamp_millis(raw.origin_server_ts)?;
        Some(Self {
            what: what(&raw),
            id: raw.event_id,
            sender: raw.sender,
            sent_at,
        })
    }
}

/// Returns when an event was sent by the age that the homeserver gives it, which may not depend on the clock of the sender's
/// homeserver. `None` if it gives none.
pub(crate) fn sent_by_age(json: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let raw: Value = serde_json::from_str(json).ok()?;
    let age = raw["unsigned"]["age"].as_i64().filter(|age| *age >= 0)?;
    now.checked_sub_signed(TimeDelta::try_milliseconds(age)?)
}

fn what(raw: &RawEvent) -> MatrixEventKind {
    let content = &raw.content;
    match raw.kind.as_str() {
        "m.room.message" => said(content),
        "m.room.encrypted" if raw.state_key.is_none() && content.get("algorithm").is_some() => {
            MatrixEventKind::Undecryptable(Sealed {
                session: text_at(content, "session_id").map(str::to_owned),
                relates: relates(content),
            })
        }
        "m.room.redaction" => {
            let within = || id_at(content, "redacts");
            match raw.redacts.clone().or_else(within) {
                Some(of) => MatrixEventKind::Redaction { of },
                None => MatrixEventKind::Other,
            }
        }
        "m.reaction" => reaction(content),
        "m.room.member" => membership(raw),
        _ => MatrixEventKind::Other,
    }
}

fn said(content: &Value) -> MatrixEventKind {
    // A redacted message has no type any more.
    let Some(message) = message(content) else {
        return MatrixEventKind::Other;
    };
    let Some(of) = message.relates.replaces.clone() else {
        return MatrixEventKind::Message(message);
    };
    match content.get("m.new_content").and_then(self::message) {
        Some(new) => MatrixEventKind::Edit {
            of,
            new,
            newly_mentions: mentions(content).unwrap_or_default(),
        },
        None => MatrixEventKind::Other,
    }
}

fn message(content: &Value) -> Option<MatrixMessage> {
    let kind = text_at(content, "msgtype")?;
    let body = text_at(content, "body").unwrap_or_default();
    let relates = relates(content);
    let (kind, text) = match kind {
        "m.text" | "m.emote" => (MessageKind::Text, body),
        "m.notice" => (MessageKind::Notice, body),
        "m.file" | "m.image" | "m.audio" | "m.video" => {
            let name = text_at(content, "filename").unwrap_or(body);
            let caption = if name == body { "" } else { body };
            (MessageKind::File(file(content, name)), caption)
        }
        _ => (MessageKind::Other, body),
    };
    let text = if relates.is_shown_as_reply {
        without_quoted_reply(text)
    } else {
        text
    };
    Some(MatrixMessage {
        kind,
        text: text.to_owned(),
        mentions: mentions(content),
        mentions_room: content["m.mentions"]["room"] == true,
        relates,
    })
}

fn file(content: &Value, name: &str) -> MatrixFile {
    let info = content.get("info");
    MatrixFile {
        name: name.to_owned(),
        media_type: info
            .and_then(|info| text_at(info, "mimetype"))
            .unwrap_or_default()
            .to_owned(),
        size: info
            .and_then(|info| info.get("size"))
            .and_then(Value::as_u64),
    }
}

fn mentions(content: &Value) -> Option<Vec<OwnedUserId>> {
    let mentions = content.get("m.mentions")?.as_object()?;
    let ids = mentions.get("user_ids").and_then(Value::as_array);
    let ids = ids.map(Vec::as_slice).unwrap_or_default();
    Some(
        ids.iter()
            .filter_map(|id| id.as_str()?.try_into().ok())
            .collect(),
    )
}

fn relates(content: &Value) -> Relates {
    let raw: RawRelation = content
        .get("m.relates_to")
        .and_then(|relation| RawRelation::deserialize(relation).ok())
        .unwrap_or_default();
    let reply_to = raw.in_reply_to.map(|reply| reply.event_id);
    let is_shown_as_reply = reply_to.is_some();
    match raw.rel_type.as_deref() {
        Some("m.thread") => Relates {
            thread: raw.event_id,
            reply_to: reply_to.filter(|_| !raw.is_falling_back),
            is_shown_as_reply,
            replaces: None,
        },
        Some("m.replace") => Relates {
            replaces: raw.event_id,
            ..Relates::default()
        },
        Some(_) | None => Relates {
            reply_to,
            is_shown_as_reply,
            ..Relates::default()
        },
    }
}

fn reaction(content: &Value) -> MatrixEventKind {
    let relation = content.get("m.relates_to");
    let to = relation.and_then(|relation| id_at(relation, "event_id"));
    let key = relation.and_then(|relation| text_at(relation, "key"));
    match (to, key) {
        (Some(to), Some(key)) => MatrixEventKind::Reaction {
            to,
            key: key.to_owned(),
        },
        _ => MatrixEventKind::Other,
    }
}

fn membership(raw: &RawEvent) -> MatrixEventKind {
    let unsigned = &raw.unsigned;
    let before = (unsigned.get("prev_content")).and_then(|before| text_at(before, "membership"));
    // Not every homeserver says what it was. Where it was something, a join is an accepted invitation
    // or a new name.
    let is_again = text_at(unsigned, "replaces_state").is_some();
    let of = raw.state_key.as_deref().and_then(|key| key.try_into().ok());
    let now = text_at(&raw.content, "membership");
    let before = before.or((is_again && now == Some("join")).then_some("join"));
    match (of, now) {
        (Some(of), Some(now)) => MatrixEventKind::Membership {
            of,
            now: now.to_owned(),
            before: before.map(str::to_owned),
        },
        _ => MatrixEventKind::Other,
    }
}

fn text_at<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

fn id_at(value: &Value, name: &str) -> Option<OwnedEventId> {
    text_at(value, name)?.try_into().ok()
}

/// Removes the quote that older clients put above a reply.
fn without_quoted_reply(text: &str) -> &str {
    if !text.starts_with("> <") && !text.starts_with("> * <") {
        return text;
    }
    let mut rest = text;
    while let Some(line) = rest.strip_prefix("> ") {
        rest = line.split_once('\n').map_or("", |(_, rest)| rest);
    }
    rest.trim_start_matches('\n')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(kind: &str, content: &Value) -> MatrixEventKind {
        let event = json!({
            "type": kind, "event_id": "$e", "sender": "@ann:example.org",
            "origin_server_ts": 1_700_000_000_000_i64, "content": content,
        });
        MatrixEvent::read(&event.to_string()).unwrap().what
    }

    fn text(content: &Value) -> MatrixMessage {
        match read("m.room.message", content) {
            MatrixEventKind::Message(message) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_reply_is_read_without_what_it_quotes() {
        let reply = json!({"m.in_reply_to": {"event_id": "$q"}});
        for (body, said) in [
            ("> <@a:b> one\n> two\n\nyes", "yes"),
            ("> * <@a:b> waves\n\nyes", "yes"),
            (
                "> a quote of one's own\n\nyes",
                "> a quote of one's own\n\nyes",
            ),
            ("> <@a:b> nothing else", ""),
            ("yes", "yes"),
        ] {
            let content = json!({"msgtype": "m.text", "body": body, "m.relates_to": reply});
            assert_eq!(text(&content).text, said, "{body:?}");
        }
        let in_thread = json!({"rel_type": "m.thread", "event_id": "$root",
            "is_falling_back": true, "m.in_reply_to": {"event_id": "$q"}});
        let body = "> <@a:b> one\n\nyes";
        let content = json!({"msgtype": "m.text", "body": body, "m.relates_to": in_thread});
        assert_eq!(text(&content).text, "yes");
        let no_reply = json!({"msgtype": "m.text", "body": "> <@a:b> one\n\nyes"});
        assert!(text(&no_reply).text.starts_with("> <@a:b>"));
    }

    #[test]
    fn relations_are_told_apart() {
        let at = |relation: Value| {
            text(&json!({"msgtype": "m.text", "body": "b", "m.relates_to": relation})).relates
        };
        let thread = json!({"rel_type": "m.thread", "event_id": "$root", "is_falling_back": true,
            "m.in_reply_to": {"event_id": "$last"}});
        assert_eq!(at(thread).reply_to, None);
        let meant = at(json!({"rel_type": "m.thread", "event_id": "$root",
            "m.in_reply_to": {"event_id": "$last"}}));
        assert_eq!(meant.thread.unwrap(), "$root");
        assert_eq!(meant.reply_to.unwrap(), "$last");
        assert_eq!(at(json!({"m.in_reply_to": 7})), Relates::default());
        assert_eq!(at(json!("nonsense")), Relates::default());
    }

    #[test]
    fn a_file_has_a_name_and_perhaps_a_caption() {
        let file = text(
            &json!({"msgtype": "m.image", "body": "what is it?", "filename": "a.png",
            "info": {"mimetype": "image/png", "size": 7}}),
        );
        assert_eq!(file.text, "what is it?");
        assert_eq!(
            file.kind,
            MessageKind::File(MatrixFile {
                name: "a.png".to_owned(),
                media_type: "image/png".to_owned(),
                size: Some(7)
            })
        );
        let bare = text(&json!({"msgtype": "m.file", "body": "a.txt", "info": {"size": -1}}));
        assert_eq!(bare.text, "");
    }

    #[test]
    fn odd_events_are_other() {
        for (kind, content) in [
            ("m.room.message", json!({})),
            ("m.room.message", json!({"msgtype": 7})),
            (
                "m.room.message",
                json!({"msgtype": "m.text", "m.relates_to": {"rel_type": "m.replace", "event_id": "$x"}}),
            ),
            ("m.room.encrypted", json!({})),
            ("m.room.redaction", json!({})),
            ("m.reaction", json!({"m.relates_to": {"key": "👍"}})),
            ("m.room.member", json!({"membership": "join"})),
            ("m.room.topic", json!({"topic": "t"})),
        ] {
            assert_eq!(
                read(kind, &content),
                MatrixEventKind::Other,
                "{kind} {content}"
            );
        }
        assert_eq!(MatrixEvent::read("7"), None);
        assert_eq!(MatrixEvent::read(r#"{"type": "m.room.message"}"#), None);
    }

    #[test]
    fn a_join_that_replaces_a_membership_follows_one_also_if_it_is_not_told_which() {
        let before = |now: &str, unsigned: Value| {
            let event = json!({ "type": "m.room.member", "event_id": "$e", "sender": "@me:b",
                "state_key": "@me:b", "content": { "membership": now }, "unsigned": unsigned });
            match MatrixEvent::read(&event.to_string()).unwrap().what {
                MatrixEventKind::Membership { before, .. } => before,
                other => panic!("{other:?}"),
            }
        };
        let left = json!({ "membership": "leave" });
        for (now, unsigned, expected) in [
            ("join", json!({}), None),
            ("join", json!({ "replaces_state": "$d" }), Some("join")),
            (
                "join",
                json!({ "replaces_state": "$d", "prev_content": left }),
                Some("leave"),
            ),
            ("invite", json!({ "replaces_state": "$d" }), None),
        ] {
            assert_eq!(before(now, unsigned).as_deref(), expected, "{now}");
        }
    }

    #[test]
    fn the_age_of_an_event_is_told_or_not() {
        let now = DateTime::from_timestamp(10_000, 0).unwrap();
        for (unsigned, expected) in [
            (json!({ "age": 0 }), Some(10_000)),
            (json!({ "age": 90_000 }), Some(9_910)),
            (json!({ "age": -5 }), None),
            (json!({ "age": i64::MAX }), None),
            (json!({ "age": "old" }), None),
            (json!({}), None),
            (Value::Null, None),
        ] {
            let event = json!({ "type": "m.room.message", "event_id": "$e", "unsigned": unsigned });
            let sent_at = sent_by_age(&event.to_string(), now);
            let sent_at = sent_at.map(|sent_at| sent_at.timestamp());
            assert_eq!(sent_at, expected, "{unsigned}");
        }
    }

    #[test]
    fn redactions_are_read_in_old_and_new_rooms() {
        let new = read("m.room.redaction", &json!({"redacts": "$x"}));
        assert_eq!(
            new,
            MatrixEventKind::Redaction {
                of: "$x".try_into().unwrap()
            }
        );
        let old = json!({"type": "m.room.redaction", "event_id": "$e", "sender": "@a:b",
            "redacts": "$x", "content": {}});
        assert_eq!(MatrixEvent::read(&old.to_string()).unwrap().what, new);
    }

    #[test]
    fn mentions_are_told_or_not() {
        let of = |mentions: Option<Value>| {
            let mut content = json!({"msgtype": "m.text", "body": "b"});
            if let Some(mentions) = mentions {
                content["m.mentions"] = mentions;
            }
            text(&content).mentions.map(|ids| ids.len())
        };
        assert_eq!(of(None), None);
        assert_eq!(of(Some(json!({}))), Some(0));
        assert_eq!(of(Some(json!({"user_ids": ["@a:b", 7, "no id"]}))), Some(1));
        assert_eq!(of(Some(json!(7))), None);
        for (mentions, names_all) in [
            (json!({ "room": true }), true),
            (json!({ "user_ids": ["@a:b"], "room": true }), true),
            (json!({ "user_ids": ["@a:b"] }), false),
            (json!({ "room": "yes" }), false),
            (json!(7), false),
        ] {
            let content = json!({"msgtype": "m.text", "body": "@room", "m.mentions": mentions});
            assert_eq!(text(&content).mentions_room, names_all, "{content}");
        }
    }
}
