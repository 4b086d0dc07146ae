//! Messages: their text, mentions and flags.

use serde_json::Value;

use super::{components, required_text, text};
use crate::error::Wrong;

/// Discord's limits of a message, in characters.
const CONTENT: usize = 2_000;
const NONCE: usize = 25;
const THREAD_NAME: usize = 100;

/// Flags that a bot may set: suppressed embeds, ephemeral, silent, components of version 2.
const SUPPRESS_EMBEDS: u64 = 1 << 2;
const EPHEMERAL: u64 = 1 << 6;
const SUPPRESS_NOTIFICATIONS: u64 = 1 << 12;
const COMPONENTS_V2: u64 = 1 << 15;

/// How a message's body is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageForm {
    Create,
    Edit,
    /// A response to an interaction or a follow-up, which may be ephemeral.
    Answer,
}

/// Returns what is wrong with a message.
pub(crate) fn message(body: &Value, form: MessageForm) -> Vec<Wrong> {
    let mut wrongs = Vec::new();
    if !body.is_object() {
        return vec![Wrong::new(
            "",
            "DICT_TYPE_CONVERT",
            "Only dictionaries may be used in a DictType",
        )];
    }
    text(&mut wrongs, "content", &body["content"], 0, CONTENT);
    none(&mut wrongs, body, "embeds");
    flags(&mut wrongs, &body["flags"], form);
    nonce(&mut wrongs, body);
    reference(&mut wrongs, body);
    attachments(&mut wrongs, &body["attachments"]);
    components::rows(&mut wrongs, "components", &body["components"]);
    wrongs
}

/// Returns what would ping somebody in a body that must ping nobody; `None` if nothing does.
///
/// Discord parses mentions from the text whenever `allowed_mentions` is not sent.
pub(crate) fn pings(body: &Value) -> Option<String> {
    let allowed = &body["allowed_mentions"];
    if allowed.is_null() {
        return Some("allowed_mentions is missing".to_owned());
    }
    let is_empty = |field: &str| allowed[field].as_array().is_none_or(Vec::is_empty);
    if !allowed["parse"].as_array().is_some_and(Vec::is_empty) {
        return Some(format!(
            "allowed_mentions.parse is not the empty list: {allowed}"
        ));
    }
    if !is_empty("users") || !is_empty("roles") || allowed["replied_user"] == true {
        return Some(format!(
            "allowed_mentions lets somebody be called: {allowed}"
        ));
    }
    None
}

/// Returns what is wrong with a thread's name.
pub(crate) fn thread_name(name: &Value) -> Vec<Wrong> {
    let mut wrongs = Vec::new();
    required_text(&mut wrongs, "name", name, 1, THREAD_NAME);
    wrongs
}

/// Checks that a field is empty: the bot never sends it, so Discord's rules for it are not
/// implemented here.
fn none(wrongs: &mut Vec<Wrong>, body: &Value, name: &str) {
    if body[name].as_array().is_some_and(|list| !list.is_empty()) {
        wrongs.push(Wrong::new(name, "NOT_HERE", "This server knows none."));
    }
}

/// Checks the attached files, each by its number.
fn attachments(wrongs: &mut Vec<Wrong>, attachments: &Value) {
    let all = super::list(wrongs, "attachments", attachments, 10);
    for (number, attachment) in all.iter().enumerate() {
        let at = format!("attachments.{number}");
        if attachment["id"].is_null() {
            let at = format!("{at}.id");
            wrongs.push(Wrong::new(
                at,
                "BASE_TYPE_REQUIRED",
                "This field is required",
            ));
        }
        text(
            wrongs,
            &format!("{at}.filename"),
            &attachment["filename"],
            1,
            1_024,
        );
    }
}

fn flags(wrongs: &mut Vec<Wrong>, flags: &Value, form: MessageForm) {
    if flags.is_null() {
        return;
    }
    let allowed = match form {
        MessageForm::Create => SUPPRESS_EMBEDS | SUPPRESS_NOTIFICATIONS | COMPONENTS_V2,
        MessageForm::Edit => SUPPRESS_EMBEDS | COMPONENTS_V2,
        MessageForm::Answer => SUPPRESS_EMBEDS | EPHEMERAL | SUPPRESS_NOTIFICATIONS | COMPONENTS_V2,
    };
    if flags.as_u64().is_none_or(|flags| flags & !allowed != 0) {
        wrongs.push(Wrong::new(
            "flags",
            "INVALID_FLAGS",
            format!("Flags that may not be set: {flags}"),
        ));
    }
}

fn nonce(wrongs: &mut Vec<Wrong>, body: &Value) {
    match &body["nonce"] {
        Value::Null if body["enforce_nonce"] == true => {
            wrongs.push(Wrong::new(
                "nonce",
                "BASE_TYPE_REQUIRED",
                "enforce_nonce needs a nonce",
            ));
        }
        Value::Number(number) if number.is_i64() || number.is_u64() => {}
        nonce => text(wrongs, "nonce", nonce, 0, NONCE),
    }
}

fn reference(wrongs: &mut Vec<Wrong>, body: &Value) {
    let reference = &body["message_reference"];
    if !reference.is_null() && crate::Id::of(&reference["message_id"]).is_none() {
        let message = "This field is required";
        wrongs.push(Wrong::new(
            "message_reference.message_id",
            "BASE_TYPE_REQUIRED",
            message,
        ));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codes(body: &Value, form: MessageForm) -> Vec<String> {
        let wrongs = message(body, form);
        wrongs
            .iter()
            .map(|wrong| format!("{} {}", wrong.at, wrong.code))
            .collect()
    }

    #[test]
    fn limits_are_discords() {
        let long = "x".repeat(2_001);
        let button = json!({ "type": 2, "style": 2, "label": "a", "custom_id": "a" });
        let table = [
            (json!({ "content": "x".repeat(2_000) }), vec![]),
            (json!({ "content": "é".repeat(2_000) }), vec![]),
            (
                json!({ "content": long }),
                vec!["content BASE_TYPE_MAX_LENGTH"],
            ),
            (json!({ "content": 7 }), vec!["content STRING_TYPE_CONVERT"]),
            (
                json!({ "nonce": "x".repeat(26) }),
                vec!["nonce BASE_TYPE_MAX_LENGTH"],
            ),
            (
                json!({ "enforce_nonce": true }),
                vec!["nonce BASE_TYPE_REQUIRED"],
            ),
            (json!({ "flags": 64 }), vec!["flags INVALID_FLAGS"]),
            (
                json!({ "embeds": [{ "description": "x" }] }),
                vec!["embeds NOT_HERE"],
            ),
            (
                json!({ "components": [{ "type": 1, "components": [button] }] }),
                vec![],
            ),
            (
                json!({ "message_reference": {} }),
                vec!["message_reference.message_id BASE_TYPE_REQUIRED"],
            ),
        ];
        for (body, expected) in table {
            assert_eq!(codes(&body, MessageForm::Create), expected, "{body}");
        }
        assert_eq!(
            codes(&json!({ "flags": 64 }), MessageForm::Answer),
            Vec::<String>::new()
        );
    }

    #[test]
    fn only_the_empty_list_calls_nobody() {
        let quiet = [
            json!({ "parse": [] }),
            json!({ "parse": [], "replied_user": false, "users": [] }),
        ];
        for allowed in quiet {
            assert_eq!(
                pings(&json!({ "content": "x", "allowed_mentions": allowed })),
                None
            );
        }
        let loud = [
            json!(null),
            json!({}),
            json!({ "parse": ["users"] }),
            json!({ "parse": [], "replied_user": true }),
            json!({ "parse": [], "users": ["1"] }),
        ];
        for allowed in loud {
            assert!(
                pings(&json!({ "allowed_mentions": allowed })).is_some(),
                "{allowed}"
            );
        }
    }
}
