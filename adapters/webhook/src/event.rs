//! Parses what a program posts, and maps its ids. Pure.

use chrono::{DateTime, Utc};
use muninn_platform::{
    Addressed, Audience, AudienceId, Author, Body, Command, ConversationId, EventId,
    FURTHEST_AHEAD, IncomingMessage, Language, TimeZone,
};
use serde::Deserialize;

use crate::name::NAME;

/// Maximum bytes of an id.
const LONGEST_ID: usize = 200;

/// One request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Posted {
    #[serde(rename = "type", default)]
    kind: WebhookEventKind,
    /// Stays the same when the request is sent again.
    id: String,
    /// The message that is edited or deleted.
    of: Option<String>,
    /// The channel, whose people share the bot's memory.
    channel: String,
    #[serde(default = "main")]
    conversation: String,
    author: PostedAuthor,
    #[serde(default)]
    text: String,
    link: Option<String>,
    sent_at: Option<DateTime<Utc>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WebhookEventKind {
    #[default]
    Message,
    Edit,
    Deletion,
    Stop,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PostedAuthor {
    id: String,
    name: Option<String>,
    #[serde(default)]
    is_admin: bool,
    time_zone: Option<TimeZone>,
    /// A locale; an unsupported language is no error.
    language: Option<String>,
}

fn main() -> String {
    "main".to_owned()
}

/// What a request asks for.
#[derive(Debug, PartialEq)]
pub(crate) enum WebhookIntent {
    Message(Box<IncomingMessage>),
    Stop(ConversationId),
}

/// Parses a request.
///
/// # Errors
/// Fails with the problem.
pub(crate) fn read(body: &[u8], now: DateTime<Utc>) -> Result<WebhookIntent, String> {
    let posted: Posted = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let of = posted.of.clone().unwrap_or_default();
    for (name, id) in [
        ("id", &posted.id),
        ("channel", &posted.channel),
        ("conversation", &posted.conversation),
        ("author.id", &posted.author.id),
    ] {
        check_id(name, id)?;
    }
    if posted.sent_at.is_some_and(|at| at > now + FURTHEST_AHEAD) {
        return Err("sent_at is more than a day from now: is a clock wrong?".to_owned());
    }
    let place = |id: &str| EventId::new(format!("{NAME}/{}/{id}", posted.channel));
    let conversation = format!("{NAME}/{}/{}", posted.channel, posted.conversation);
    let conversation = ConversationId::new(conversation);
    let text = posted.text.trim().to_owned();
    let body = match (posted.kind, text.strip_prefix('/')) {
        (WebhookEventKind::Stop, _) => return Ok(WebhookIntent::Stop(conversation)),
        (WebhookEventKind::Message | WebhookEventKind::Edit, _) if text.is_empty() => {
            return Err("text is empty".to_owned());
        }
        (WebhookEventKind::Message, Some(command)) => Body::Command(Command::parse(command)),
        (WebhookEventKind::Message, None) => Body::Text(text),
        (WebhookEventKind::Edit | WebhookEventKind::Deletion, _) => {
            check_id("of", &of)?;
            let of = place(&of);
            match posted.kind {
                WebhookEventKind::Edit => Body::Edit {
                    of,
                    text: text_after_edit(text),
                },
                WebhookEventKind::Deletion | WebhookEventKind::Message | WebhookEventKind::Stop => {
                    Body::Deletion { of }
                }
            }
        }
    };
    let PostedAuthor {
        id,
        name,
        is_admin,
        time_zone,
        language,
    } = posted.author;
    let author = Author {
        name: name.unwrap_or_else(|| id.clone()),
        id: format!("{NAME}/{id}"),
        is_admin,
        time_zone,
        language: language.as_deref().and_then(Language::of_locale),
    };
    // An edit that leaves nothing asks for nothing, so it needs no admission as a question does.
    let addressed = match &body {
        Body::Edit { text, .. } if text.is_empty() => Addressed::InConversation,
        Body::Edit { .. } | Body::Text(_) | Body::Command(_) | Body::Deletion { .. } => {
            Addressed::Directly
        }
    };
    let event = place(&posted.id);
    let audience = Audience {
        id: AudienceId::new(format!("{NAME}/{}", posted.channel)),
        platform: NAME.to_owned(),
        workspace: String::new(),
        name: posted.channel,
        private_to: None,
    };
    Ok(WebhookIntent::Message(Box::new(IncomingMessage {
        addressed,
        link: posted.link,
        sent_at: posted.sent_at.unwrap_or(now),
        traceparent: None,
        ..IncomingMessage::new(event, conversation, audience, author, body)
    })))
}

/// Returns what an edit leaves of a message.
fn text_after_edit(text: String) -> String {
    let Some(command) = text.strip_prefix('/') else {
        return text;
    };
    if Command::parse(command).follows_edits() {
        command.trim().to_owned()
    } else {
        String::new()
    }
}

fn check_id(name: &str, id: &str) -> Result<(), String> {
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || "-_.:@".contains(c);
    if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(is_of_id) {
        return Err(format!(
            "{name} is {id:?}, but must be 1 to {LONGEST_ID} letters, digits or -_.:@"
        ));
    }
    Ok(())
}

/// Returns the program's own id of an event.
pub(crate) fn own_id(event: &EventId) -> &str {
    let id = event.as_str();
    id.rsplit_once('/').map_or(id, |(_, own)| own)
}

/// Returns channel and conversation of a conversation id.
pub(crate) fn place_of(conversation: &ConversationId) -> Option<(&str, &str)> {
    let place = conversation
        .as_str()
        .strip_prefix(NAME)?
        .strip_prefix('/')?;
    place.split_once('/')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body(text: &str) -> Body {
        let Ok(WebhookIntent::Message(message)) = read(text.as_bytes(), Utc::now()) else {
            panic!("no message: {text}");
        };
        assert_eq!(message.conversation.as_str(), "webhook/c/t");
        assert_eq!(message.audience.id.as_str(), "webhook/c");
        message.body
    }

    fn posted(more: &str) -> String {
        format!(r#"{{"id":"2","channel":"c","conversation":"t","author":{{"id":"ann"}},{more}}}"#)
    }

    #[test]
    fn what_is_posted_has_a_meaning() {
        let of = || EventId::new("webhook/c/1");
        assert_eq!(
            body(&posted(r#""text":" hi ""#)),
            Body::Text("hi".to_owned())
        );
        assert_eq!(
            body(&posted(r#""text":"/why""#)),
            Body::Command(Command::Why)
        );
        let text = "no".to_owned();
        assert_eq!(
            body(&posted(r#""type":"edit","of":"1","text":"no""#)),
            Body::Edit { of: of(), text }
        );
        assert_eq!(
            body(&posted(r#""type":"deletion","of":"1""#)),
            Body::Deletion { of: of() }
        );
        let stop = read(posted(r#""type":"stop""#).as_bytes(), Utc::now());
        assert_eq!(
            stop,
            Ok(WebhookIntent::Stop(ConversationId::new("webhook/c/t")))
        );
    }

    #[test]
    fn an_edit_leaves_a_note_or_nothing_where_it_is_a_command() {
        for (text, left) in [
            ("when?", "when?"),
            ("/help", ""),
            ("/forget last", ""),
            ("/no such command", ""),
            ("/remember that it is tea", "remember that it is tea"),
            ("/ Note: it is tea", "Note: it is tea"),
            ("/correct 2: tea", "correct 2: tea"),
            ("remember that it is tea", "remember that it is tea"),
        ] {
            let edit = format!(r#""type":"edit","of":"1","text":"{text}""#);
            let told = Body::Edit {
                of: EventId::new("webhook/c/1"),
                text: left.to_owned(),
            };
            assert_eq!(body(&posted(&edit)), told, "{text}");
        }
    }

    #[test]
    fn it_was_sent_when_the_program_says_and_otherwise_now() {
        let now = Utc::now();
        let sent_at = |more: &str| match read(posted(more).as_bytes(), now) {
            Ok(WebhookIntent::Message(message)) => message.sent_at,
            other => panic!("no message: {other:?}"),
        };
        assert_eq!(sent_at(r#""text":"x""#), now);
        let told = sent_at(r#""text":"x","sent_at":"2026-11-27T10:30:00.250+01:00""#);
        assert_eq!(told.to_rfc3339(), "2026-11-27T09:30:00.250+00:00");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("no JSON".to_owned(), "expected"),
            (posted(r#""text":"""#), "text is empty"),
            (posted(r#""text":"x","to":"y""#), "unknown field `to`"),
            (posted(r#""type":"edit","text":"x""#), "of is \"\""),
            (posted(r#""type":"nod""#), "unknown variant `nod`"),
            (posted(r#""text":"x","sent_at":"noon""#), "invalid"),
            (
                posted(r#""text":"x","sent_at":"3000-01-01T00:00:00Z""#),
                "sent_at is more than a day from now",
            ),
            (
                r#"{"id":"a/b","channel":"c","author":{"id":"a"},"text":"x"}"#.to_owned(),
                "id is \"a/b\"",
            ),
            (
                r#"{"id":"a","channel":"c","text":"x"}"#.to_owned(),
                "missing field `author`",
            ),
        ] {
            let error = read(text.as_bytes(), Utc::now()).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
    }

    proptest! {
        #[test]
        fn ids_are_read_back(id in "[a-z0-9.:@_-]{1,20}", channel in "[a-z.-]{1,9}") {
            let text = format!(
                r#"{{"id":"{id}","channel":"{channel}","author":{{"id":"a"}},"text":"x"}}"#
            );
            let Ok(WebhookIntent::Message(message)) = read(text.as_bytes(), Utc::now()) else {
                panic!("no message");
            };
            prop_assert_eq!(own_id(&message.event), &id);
            prop_assert_eq!(place_of(&message.conversation), Some((channel.as_str(), "main")));
        }

        #[test]
        fn any_body_gets_an_answer(body in proptest::collection::vec(any::<u8>(), 0..60)) {
            prop_assert!(read(&body, Utc::now()).is_err());
        }
    }
}
