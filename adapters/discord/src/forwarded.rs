//! What a message says: its own text and files, or those of the message that it forwards. Pure.

use serenity::model::channel::{Attachment, Message, MessageSnapshot};

/// What is said in a message.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) files: Vec<Attachment>,
    /// It also shows something that is not read: a sticker, a poll, or what is left of a forward.
    pub(crate) has_more: bool,
}

/// Takes out of a message what is said in it. A forward has nothing of its own; Discord does not
/// tell whose message it forwards, so that is a quotation of nobody.
pub(crate) fn said(raw: &mut Message) -> Said {
    let has_more =
        !raw.sticker_items.is_empty() || raw.poll.is_some() || !raw.message_snapshots.is_empty();
    let (text, files) = match raw.content.is_empty() && raw.attachments.is_empty() {
        true => quoted(std::mem::take(&mut raw.message_snapshots)),
        false => (
            std::mem::take(&mut raw.content),
            std::mem::take(&mut raw.attachments),
        ),
    };
    Said {
        text,
        files,
        has_more,
    }
}

fn quoted(snapshots: Vec<MessageSnapshot>) -> (String, Vec<Attachment>) {
    let (mut lines, mut files) = (Vec::new(), Vec::new());
    for snapshot in snapshots {
        let mut text = snapshot.content;
        for user in &snapshot.mentions {
            let name = user.global_name.as_deref().unwrap_or(&user.name);
            for form in [format!("<@{}>", user.id), format!("<@!{}>", user.id)] {
                text = text.replace(&form, &format!("@{name}"));
            }
        }
        lines.extend(text.lines().map(|line| format!("> {line}")));
        files.extend(snapshot.attachments);
    }
    (lines.join("\n"), files)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn message(own: &str, changes: &Value) -> Message {
        let user = json!({ "id": "4", "username": "ann", "discriminator": "0", "avatar": null });
        let mut raw = json!({
            "id": "100", "channel_id": "20", "author": user, "content": own,
            "timestamp": "2026-01-02T03:04:05Z", "edited_timestamp": null, "tts": false,
            "mention_everyone": false, "mentions": [], "mention_roles": [], "attachments": [],
            "embeds": [], "pinned": false, "type": 0,
        });
        for (field, value) in changes.as_object().unwrap() {
            raw[field] = value.clone();
        }
        serde_json::from_value(raw).unwrap()
    }

    fn forwards(text: &str, attachments: &Value) -> Value {
        let bob = json!({ "id": "6", "username": "bob", "discriminator": "0", "avatar": null });
        json!({
            "message_reference": { "type": 1, "channel_id": "21", "message_id": "90" },
            "message_snapshots": [{ "message": {
                "type": 0, "content": text, "timestamp": "2026-01-01T03:04:05Z",
                "edited_timestamp": null, "mentions": [bob], "mention_roles": [],
                "attachments": attachments, "embeds": [], "flags": 0,
            } }],
        })
    }

    #[test]
    fn a_forward_says_what_it_forwards() {
        let plan = json!([{ "id": "7", "filename": "plan.txt", "size": 3,
            "url": "https://cdn.discordapp.com/7", "proxy_url": "https://cdn.discordapp.com/7" }]);
        let sticker = json!({ "sticker_items": [{ "id": "8", "name": "wave", "format_type": 1 }] });
        for (own, changes, text, files, has_more) in [
            ("hello", json!({}), "hello", 0, false),
            ("", json!({}), "", 0, false),
            ("", sticker.clone(), "", 0, true),
            ("hello", sticker, "hello", 0, true),
            (
                "",
                forwards("Ship it, <@6>.\nNow.", &json!([])),
                "> Ship it, @bob.\n> Now.",
                0,
                true,
            ),
            ("", forwards("", &plan), "", 1, true),
            ("", forwards("", &json!([])), "", 0, true),
        ] {
            let found = said(&mut message(own, &changes));
            let read = (found.text.as_str(), found.files.len(), found.has_more);
            assert_eq!(read, (text, files, has_more), "{own:?} {changes}");
        }
    }
}
