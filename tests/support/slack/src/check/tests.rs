//! The documentation of arguments as a table; and that no input makes the check itself panic.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Checked, Encoding, check};
use crate::methods::find;

const TS: &str = "1700000000.000100";

fn checked(method: &str, sent: Value) -> Checked {
    let Value::Object(sent) = sent else {
        panic!("no object");
    };
    check(find(method).unwrap(), &sent, Encoding::Json)
}

#[test]
fn good_calls_break_no_rule() {
    let table = [
        (
            "chat.postMessage",
            json!({ "channel": "C000000001", "text": "Hail" }),
        ),
        (
            "chat.postMessage",
            json!({ "channel": "C000000001", "text": "x".repeat(40_000), "thread_ts": TS,
            "unfurl_links": false, "unfurl_media": false,
            "metadata": { "event_type": "answer", "event_payload": { "of": "1" } } }),
        ),
        (
            "chat.postMessage",
            json!({ "channel": "D000000001", "markdown_text": "**Hail**", "text": "" }),
        ),
        (
            "chat.update",
            json!({ "channel": "C000000001", "ts": TS, "blocks": [{ "type": "divider" }] }),
        ),
        (
            "chat.startStream",
            json!({ "channel": "C000000001", "thread_ts": TS, "recipient_team_id": "T00RAVENS1",
            "recipient_user_id": "U000000001", "chunks": [{ "type": "markdown_text", "text": "" }] }),
        ),
        (
            "chat.appendStream",
            json!({ "channel": "C000000001", "ts": TS, "markdown_text": "more" }),
        ),
        (
            "agents.sessions.setStatus",
            json!({ "channel_id": "D000000001", "thread_ts": TS, "status": "processing" }),
        ),
        (
            "assistant.threads.setSuggestedPrompts",
            json!({ "channel_id": "D000000001",
            "prompts": [{ "title": "Who?", "message": "Who are you?" }] }),
        ),
    ];
    for (method, sent) in table {
        let checked = checked(method, sent);
        assert_eq!(checked.violations, [""; 0]);
        assert!(checked.refusal.is_none());
    }
}

#[test]
fn each_broken_rule_is_told_and_answered() {
    let channel = "C000000001";
    let table = [
        (
            "chat.postMessage",
            json!({ "text": "x" }),
            "channel is missing",
            Some("invalid_arguments"),
        ),
        (
            "chat.postMessage",
            json!({ "channel": "general", "text": "x" }),
            "channel is not",
            Some("channel_not_found"),
        ),
        (
            "chat.postMessage",
            json!({ "channel": channel }),
            "needs one of text",
            Some("no_text"),
        ),
        (
            "chat.postMessage",
            json!({ "channel": channel, "text": "" }),
            "needs one of text",
            Some("no_text"),
        ),
        (
            "chat.postMessage",
            json!({ "channel": channel, "text": "x", "txt": "y" }),
            "no such argument: txt",
            None,
        ),
        (
            "chat.postMessage",
            json!({ "channel": channel, "text": "x".repeat(40_001) }),
            "text is not",
            Some("msg_too_long"),
        ),
        (
            "chat.postMessage",
            json!({ "channel": channel, "markdown_text": "x".repeat(12_001) }),
            "markdown_text is not",
            Some("msg_too_long"),
        ),
        (
            "chat.postMessage",
            json!({ "channel": channel, "text": "x", "markdown_text": "y" }),
            "beside text",
            Some("markdown_text_conflict"),
        ),
        (
            "chat.postMessage",
            json!({ "channel": channel, "text": "x", "thread_ts": 17 }),
            "thread_ts is not",
            Some("invalid_arguments"),
        ),
        (
            "chat.postMessage",
            json!({ "channel": channel, "text": "x", "unfurl_links": "no" }),
            "unfurl_links is not",
            Some("invalid_arguments"),
        ),
        (
            "chat.postMessage",
            json!({ "channel": channel, "text": "x", "metadata": { "event_type": "a" } }),
            "metadata is not",
            Some("invalid_metadata_format"),
        ),
        (
            "chat.postMessage",
            json!({ "channel": channel, "text": "x", "blocks": [{ "type": "x" }] }),
            "no such block",
            Some("invalid_blocks"),
        ),
        (
            "chat.update",
            json!({ "channel": channel, "ts": TS, "text": "x".repeat(4_001) }),
            "text is not",
            Some("msg_too_long"),
        ),
        (
            "chat.update",
            json!({ "channel": channel, "ts": "1.2", "text": "x" }),
            "ts is not",
            Some("invalid_arguments"),
        ),
        (
            "chat.appendStream",
            json!({ "channel": channel, "ts": TS }),
            "needs one of markdown_text",
            Some("invalid_arguments"),
        ),
        (
            "chat.appendStream",
            json!({ "channel": channel, "ts": TS, "chunks": [{ "type": "image" }] }),
            "chunks is not",
            Some("invalid_chunks"),
        ),
        (
            "chat.postEphemeral",
            json!({ "channel": channel, "user": "ann", "text": "x" }),
            "user is not",
            Some("invalid_arguments"),
        ),
        (
            "conversations.replies",
            json!({ "channel": channel, "ts": TS }),
            "takes no JSON body",
            None,
        ),
        (
            "agents.sessions.setStatus",
            json!({ "status": "thinking" }),
            "status is not",
            Some("invalid_arguments"),
        ),
        (
            "assistant.threads.setTitle",
            json!({ "title": "" }),
            "title is not",
            Some("invalid_arguments"),
        ),
        (
            "assistant.threads.setSuggestedPrompts",
            json!({ "channel_id": channel, "prompts": [] }),
            "prompts is not",
            Some("invalid_arguments"),
        ),
        (
            "assistant.threads.setStatus",
            json!({ "channel_id": channel, "thread_ts": TS, "status": "x",
            "loading_messages": vec!["x"; 11] }),
            "loading_messages is not",
            Some("invalid_arguments"),
        ),
        (
            "views.publish",
            json!({ "user_id": "U000000001", "view": { "type": "modal" } }),
            "type must be home",
            Some("invalid_arguments"),
        ),
    ];
    for (method, sent, told, error) in table {
        let checked = checked(method, sent);
        assert!(
            checked.violations.iter().any(|wrong| wrong.contains(told)),
            "{told}: {:?}",
            checked.violations
        );
        assert_eq!(
            checked.refusal.map(|refusal| refusal.error),
            error,
            "{told}"
        );
    }
}

#[test]
fn a_form_carries_the_same_as_json() {
    let method = find("chat.postMessage").unwrap();
    let json = json!({ "channel": "C000000001", "unfurl_links": false, "blocks": [{ "type": "divider" }] });
    let form = json!({ "channel": "C000000001", "unfurl_links": "false", "blocks": "[{\"type\":\"divider\"}]" });
    let of = |sent: &Value, encoding| check(method, sent.as_object().unwrap(), encoding);
    let (json, form) = (of(&json, Encoding::Json), of(&form, Encoding::Form));
    assert_eq!(json.arguments.0, form.arguments.0);
    assert_eq!((json.violations, form.violations), (vec![], vec![]));
}

/// Generates any JSON, not too deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop_oneof![
            "section",
            "actions",
            "markdown",
            "button",
            "table",
            "rich_text",
            "mrkdwn"
        ]
        .prop_map(Value::from),
    ];
    let name = prop_oneof![
        "type",
        "text",
        "elements",
        "blocks",
        "rows",
        "value",
        "[a-z_]{1,8}"
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        let object = proptest::collection::btree_map(name.clone(), inner.clone(), 0..4);
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            object.prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    /// The check accepts any input; whatever it refuses, it also reports.
    #[test]
    fn whatever_is_sent_is_checked(text in any_json(), blocks in any_json(), view in any_json(), metadata in any_json()) {
        let sent = |fields: Value| -> Map<String, Value> { fields.as_object().unwrap().clone() };
        let calls = [
            ("chat.postMessage", json!({ "channel": text, "text": text, "blocks": blocks, "metadata": metadata })),
            ("chat.appendStream", json!({ "channel": "C000000001", "ts": text, "chunks": blocks })),
            ("views.publish", json!({ "user_id": text, "view": view })),
            ("assistant.threads.setSuggestedPrompts", json!({ "channel_id": text, "prompts": blocks })),
        ];
        for (method, fields) in calls {
            for encoding in [Encoding::Json, Encoding::Form] {
                let checked = check(find(method).unwrap(), &sent(fields.clone()), encoding);
                prop_assert!(checked.refusal.is_none() || !checked.violations.is_empty());
            }
        }
    }
}
