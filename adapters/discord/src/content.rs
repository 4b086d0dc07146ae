//! Builds message bodies as Discord's JSON. Pure.
//!
//! Every body disables pings, since a body that says nothing about them pings everybody, and
//! disables link previews.

use muninn_platform::{Language, SafeText, ShownItem, TextLimit};
use muninn_texts::text;
use serde_json::{Value, json};
use serenity::model::id::{MessageId, UserId};

use crate::buttons::{ButtonOwner, ItemButton, Row, components};
use crate::text;

/// Maximum characters of a message: Discord allows 2,000; the rest is for the line that names the
/// asker.
const MAX_TEXT_CHARS: usize = 1_960;

const SUPPRESS_EMBEDS: u64 = 1 << 2;
const EPHEMERAL: u64 = 1 << 6;

/// Kinds of first responses to an interaction.
const SAY: u8 = 4;
const THINK: u8 = 5;
const UPDATE_LATER: u8 = 6;
const UPDATE: u8 = 7;
const CHOICES: u8 = 8;
const FORM: u8 = 9;

/// Maximum characters of a form field; Discord's own limit.
const LONGEST_CORRECTION: u16 = 4_000;

/// Splits an answer into Discord messages, each within the limit.
pub(crate) fn texts(parts: &[SafeText]) -> Vec<String> {
    let parts = parts.iter().map(|part| text::convert(part.as_str()));
    let parts = parts.flat_map(|text| SafeText::new(&text).split(TextLimit::Chars(MAX_TEXT_CHARS)));
    parts.map(|part| part.to_string()).collect()
}

/// Builds a channel message. For some minutes Discord accepts only one with the same `nonce`.
pub(crate) fn message(
    text: &str,
    row: Row,
    belongs: ButtonOwner,
    language: Language,
    reply_to: Option<MessageId>,
    nonce: &str,
) -> Value {
    let mut message = edit(text, row, belongs, language);
    message["nonce"] = json!(nonce);
    message["enforce_nonce"] = json!(true);
    if let Some(id) = reply_to {
        message["message_reference"] =
            json!({ "message_id": id.to_string(), "fail_if_not_exists": false });
    }
    message
}

/// Adds a line above an answer that is not a reply, which mentions the asker without pinging.
pub(crate) fn addressed_to(asker: UserId, text: &str) -> String {
    format!("{ADDRESSED}{asker}>\n{text}")
}

/// How such answers begin.
pub(crate) const ADDRESSED: &str = "-# For <@";

/// Builds the new text of a message.
pub(crate) fn edit(text: &str, row: Row, belongs: ButtonOwner, language: Language) -> Value {
    json!({
        "content": text,
        "allowed_mentions": { "parse": [] },
        "flags": SUPPRESS_EMBEDS,
        "components": components(row, belongs, language),
    })
}

/// Builds an announcement. For some minutes Discord accepts only one with the same `nonce`.
pub(crate) fn announcement(text: &str, nonce: &str) -> Value {
    let mut message = forum_post(text);
    message["nonce"] = json!(nonce);
    message["enforce_nonce"] = json!(true);
    message
}

/// Builds the first message of a forum post, for which Discord knows no `nonce`.
pub(crate) fn forum_post(text: &str) -> Value {
    json!({
        "content": text,
        "allowed_mentions": { "parse": [] },
        "flags": SUPPRESS_EMBEDS,
    })
}

/// Builds a message that is only a file, for one person. For some minutes Discord accepts only one
/// with the same `nonce`.
pub(crate) fn file(name: &str, nonce: &str) -> Value {
    json!({
        "attachments": [{ "id": 0, "filename": name }],
        "allowed_mentions": { "parse": [] },
        "nonce": nonce,
        "enforce_nonce": true,
    })
}

/// Builds the same as a follow-up to an interaction that nobody else sees.
pub(crate) fn private_file(name: &str) -> Value {
    json!({
        "attachments": [{ "id": 0, "filename": name }],
        "allowed_mentions": { "parse": [] },
        "flags": EPHEMERAL,
    })
}

/// Builds a form for correcting an item.
pub(crate) fn correction_form(item: &ShownItem, language: Language) -> Value {
    let title = text!("form-correct-title", number = item.number).in_language(language);
    json!({ "type": FORM, "data": {
        "custom_id": ItemButton::Correct.custom_id(item),
        "title": title,
        "components": [{ "type": 1, "components": [{
            "type": 4,
            "custom_id": "text",
            "style": 2,
            "label": text!("form-what-is-right").in_language(language),
            "min_length": 1,
            "max_length": LONGEST_CORRECTION,
            "required": true,
        }] }],
    }})
}

/// Builds a follow-up to an interaction.
pub(crate) fn follow_up(
    text: &str,
    row: Row,
    belongs: ButtonOwner,
    language: Language,
    is_private: bool,
) -> Value {
    let mut message = edit(text, row, belongs, language);
    if is_private {
        message["flags"] = json!(SUPPRESS_EMBEDS | EPHEMERAL);
    }
    message
}

/// Builds the response "Muninn is thinking…", visible to everybody or only to the asker.
pub(crate) fn thinking(is_private: bool) -> Value {
    let flags = if is_private { EPHEMERAL } else { 0 };
    json!({ "type": THINK, "data": { "flags": flags, "allowed_mentions": { "parse": [] } } })
}

/// Builds a first response that only the asker sees.
pub(crate) fn say(text: &str, row: Row, belongs: ButtonOwner, language: Language) -> Value {
    json!({ "type": SAY, "data": {
        "content": text,
        "allowed_mentions": { "parse": [] },
        "flags": SUPPRESS_EMBEDS | EPHEMERAL,
        "components": components(row, belongs, language),
    }})
}

/// Builds an invisible response: the message of the button changes later, or not at all.
pub(crate) fn silent_response() -> Value {
    json!({ "type": UPDATE_LATER })
}

/// Builds a response that replaces the message of the button.
pub(crate) fn replacement_response(text: &str) -> Value {
    json!({ "type": UPDATE, "data": {
        "content": text,
        "allowed_mentions": { "parse": [] },
        "components": [],
    }})
}

/// Builds the autocomplete choices: at most 25 names and values, at most 100 characters each.
pub(crate) fn choices(choices: &[(String, String)]) -> Value {
    let cut = |text: &str| text.chars().take(100).collect::<String>();
    let choices: Vec<Value> = choices
        .iter()
        .filter(|(name, value)| !name.is_empty() && value.chars().count() <= 100)
        .take(25)
        .map(|(name, value)| json!({ "name": cut(name), "value": value }))
        .collect();
    json!({ "type": CHOICES, "data": { "choices": choices } })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serenity::model::id::ChannelId;

    use super::*;
    use crate::ids::DiscordPlace;

    const LANGUAGE: Language = Language::English;

    fn belongs() -> ButtonOwner {
        ButtonOwner {
            asker: UserId::new(4),
            place: DiscordPlace::new(None, ChannelId::new(2)),
        }
    }

    #[test]
    fn whatever_is_sent_pings_nobody_and_shows_no_previews() {
        let bodies = [
            message(
                "a",
                Row::Stop,
                belongs(),
                LANGUAGE,
                Some(MessageId::new(1)),
                "n",
            ),
            edit("a", Row::Answer, belongs(), LANGUAGE),
            announcement("a", "n"),
            forum_post("a"),
            follow_up("a", Row::None, belongs(), LANGUAGE, false),
        ];
        for body in bodies {
            assert_eq!(body["allowed_mentions"], json!({ "parse": [] }));
            assert_eq!(body["flags"], json!(4));
        }
        let say = say("a", Row::None, belongs(), LANGUAGE);
        for body in [say, replacement_response("a"), thinking(true)] {
            assert_eq!(body["data"]["allowed_mentions"], json!({ "parse": [] }));
        }
        let private = follow_up("a", Row::None, belongs(), LANGUAGE, true);
        assert_eq!(private["flags"], json!(68));
    }

    #[test]
    fn choices_are_few_and_short() {
        let many: Vec<_> = (0..30).map(|n| ("ä".repeat(120), n.to_string())).collect();
        let choices = choices(&many);
        let choices = choices["data"]["choices"].as_array().unwrap();
        assert_eq!(choices.len(), 25);
        assert_eq!(choices[0]["name"].as_str().unwrap().chars().count(), 100);
    }

    proptest! {
        #[test]
        fn every_message_is_within_the_limit(
            text in "([a-z*_`|#>\\[\\]()<@\n -]|```|\\| a \\| b \\|\n|👍){0,3000}"
        ) {
            for text in texts(&[SafeText::new(&text)]) {
                let longest = addressed_to(UserId::new(u64::MAX), &text);
                prop_assert!(longest.chars().count() <= 2_000);
                prop_assert!(!text.trim().is_empty());
            }
        }
    }
}
