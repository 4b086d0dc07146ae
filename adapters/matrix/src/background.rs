//! Reads what was said in a thread before the bot joined it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::Room;
use matrix_sdk::deserialized_responses::TimelineEvent;
use matrix_sdk::room::{IncludeRelations, RelationsOptions};
use matrix_sdk::ruma::events::relation::RelationType;
use matrix_sdk::ruma::{OwnedEventId, OwnedUserId, uint};
use muninn_platform::{Bounds, Page, PageOrder, PriorMessage, PriorMessages, read_pages};
use tokio::time::timeout;

use crate::errors::of_sdk;
use crate::event::{MatrixEvent, MatrixEventKind, MessageKind};
use crate::hub::MatrixHub;
use crate::name::NAME;
use crate::{ids, rooms};

/// A person's message.
struct TimelineMessage {
    id: OwnedEventId,
    sender: OwnedUserId,
    at: DateTime<Utc>,
    text: String,
}

/// Returns what was said in the thread before the question, as far as it is readable.
pub(crate) fn read_prior_messages<'a>(
    hub: &'a MatrixHub,
    room: &'a Room,
    root: &'a OwnedEventId,
    question: &'a OwnedEventId,
) -> BoxFuture<'a, PriorMessages> {
    async move {
    let read = read_pages(
        Bounds::THREAD,
        PageOrder::NewestFirst,
        |event: &TimelineEvent| event.raw().json().get().len(),
        |from: Option<String>| async {
            let options = RelationsOptions {
                from,
                limit: Some(uint!(100)),
                include_relations: IncludeRelations::RelationsOfType(RelationType::Thread),
                ..RelationsOptions::default()
            };
            let page = room.relations(root.clone(), options).await;
            let page = page.map_err(|error| {
                tracing::info!(room = %room.room_id(), %error, "not all of the thread's earlier messages are known");
                of_sdk(&error)
            })?;
            Ok(Page {
                items: page.chunk,
                next: page.next_batch_token,
            })
        },
    )
    .await;
    let first = timeout(Bounds::THREAD.time, room.event(root, None)).await;
    let first = first.ok().and_then(Result::ok);
    let events = first.iter().chain(read.items.iter().rev());
    let said: Vec<TimelineMessage> = events
        .filter_map(said)
        .filter(|said| said.sender != hub.me)
        .take_while(|said| said.id != *question)
        .collect();
    let mut names: HashMap<OwnedUserId, String> = HashMap::new();
    for TimelineMessage { sender, .. } in &said {
        if !names.contains_key(sender) {
            let name = rooms::name_of(room, sender).await;
            let name = name.unwrap_or_else(|| sender.localpart().to_owned());
            names.insert(sender.clone(), name);
        }
    }
    let said = said.into_iter().map(|said| PriorMessage {
        event: Some(ids::event(room.room_id(), &said.id)),
        author_id: Some(format!("{NAME}/{}", said.sender)),
        author: names[&said.sender].clone(),
        text: said.text,
        at: said.at,
    });
    PriorMessages {
        said: said.collect(),
        cut: read.cut,
    }
}.boxed()
}

/// Returns a person's message in its latest version.
fn said(event: &TimelineEvent) -> Option<TimelineMessage> {
    let json = event.raw().json().get();
    let read = MatrixEvent::read(json)?;
    let MatrixEventKind::Message(message) = read.what else {
        return None;
    };
    let is_speech = match message.kind {
        MessageKind::Text | MessageKind::File(_) => !message.text.is_empty(),
        MessageKind::Notice | MessageKind::Other => false,
    };
    is_speech.then(|| TimelineMessage {
        id: read.id,
        text: edited(json, &read.sender).unwrap_or(message.text),
        sender: read.sender,
        at: read.sent_at,
    })
}

/// Returns the latest edit by the author, according to the homeserver.
pub(crate) fn edited(json: &str, author: &OwnedUserId) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(json).ok()?;
    let edit = &event["unsigned"]["m.relations"]["m.replace"];
    let edit = MatrixEvent::read(&edit.to_string())?;
    if edit.sender != *author {
        return None;
    }
    let (_, new) = edit.what.into_edit()?;
    Some(new.text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_edit_of_the_author_is_what_is_said_now() {
        let author: OwnedUserId = "@ann:b".try_into().unwrap();
        let event = |by: &str| {
            let edit = json!({ "type": "m.room.message", "event_id": "$f", "sender": by,
                "origin_server_ts": 2, "content": { "msgtype": "m.text", "body": "* eleven",
                    "m.relates_to": { "rel_type": "m.replace", "event_id": "$e" },
                    "m.new_content": { "msgtype": "m.text", "body": "eleven" } } });
            json!({ "unsigned": { "m.relations": { "m.replace": edit } } }).to_string()
        };
        assert_eq!(edited(&event("@ann:b"), &author).as_deref(), Some("eleven"));
        assert_eq!(edited(&event("@eve:b"), &author), None);
        assert_eq!(edited("{}", &author), None);
    }
}
