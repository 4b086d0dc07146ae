//! Looks for an answer that may stand in a channel already.
//!
//! Slack ignores a client's own message ids, so each message says in its metadata which question it
//! answers. A stream has that only when it has ended: one that still runs after its question is what
//! a process that was killed left behind.

use std::time::Duration;

use serde_json::Value;

use crate::content::part_of;
use crate::errors::ApiError;
use crate::hub::Hub;
use crate::reply::Target;

/// Messages of a page: what Slack gives every app at once (`conversations.history`, apps outside of
/// its marketplace).
const LIMIT: &str = "15";

/// Pages that are looked through. An answer that stands further away is not found, and said again.
const PAGES: usize = 4;

/// For one page.
const TRIES: usize = 3;

/// Some apps may ask once a minute.
const LONGEST_REST: Duration = Duration::from_secs(65);

/// A message that stands in the channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) ts: String,
    /// A stream that nobody ended.
    pub(crate) is_running: bool,
}

/// What stands there of an answer, by its parts. Where Slack does not say, nothing: an answer that
/// comes twice is the lesser evil than none.
pub(crate) async fn find(hub: &Hub, target: &Target) -> Vec<Option<Standing>> {
    let Some(question) = &target.question_ts else {
        return Vec::new();
    };
    let mut messages = Vec::new();
    let mut cursor = String::new();
    let mut found = Vec::new();
    for _ in 0..PAGES {
        let Some(answer) = page(hub, target, question, &cursor).await else {
            break;
        };
        let answered = target.question.as_str();
        let listed = answer["messages"].as_array().into_iter().flatten();
        messages.extend(listed.cloned());
        found = parts(&messages, answered, question, &hub.me.user);
        let next = &answer["response_metadata"]["next_cursor"];
        cursor = next.as_str().unwrap_or_default().to_owned();
        // In a thread the oldest come first, and the next page may begin with more parts; beside
        // threads the newest do, so that the first part is the last to be seen.
        let is_thread = target.place.thread().is_some();
        let last_part = messages.last().and_then(|last| part_of(last, answered));
        let goes_on = is_thread && last_part.is_some();
        let is_found = found.first().is_some_and(Option::is_some) && !goes_on;
        if cursor.is_empty() || is_found {
            break;
        }
    }
    found
}

/// One page of what was said since the question, if Slack gives it.
async fn page(hub: &Hub, target: &Target, question: &str, cursor: &str) -> Option<Value> {
    for _ in 0..TRIES {
        match look(hub, target, question, cursor).await {
            Ok(answer) => return Some(answer),
            Err(ApiError::Limited { rest, .. }) => {
                let rest = rest.unwrap_or(Duration::from_secs(1)).min(LONGEST_REST);
                tokio::time::sleep(rest).await;
            }
            Err(ApiError::Away { .. }) => tokio::time::sleep(Duration::from_secs(1)).await,
            Err(
                error @ (ApiError::Refused { .. }
                | ApiError::Revoked { .. }
                | ApiError::MissingScope { .. }),
            ) => {
                tracing::warn!(%error, "whether an answer stands there already is not known");
                return None;
            }
        }
    }
    None
}

async fn look(hub: &Hub, target: &Target, question: &str, cursor: &str) -> Result<Value, ApiError> {
    let mut arguments = vec![
        ("channel", target.place.channel.as_str()),
        ("oldest", question),
        ("include_all_metadata", "true"),
        ("limit", LIMIT),
    ];
    if !cursor.is_empty() {
        arguments.push(("cursor", cursor));
    }
    match target.place.thread() {
        Some(thread) => {
            arguments.push(("ts", thread));
            hub.api.get("conversations.replies", &arguments).await
        }
        None => hub.api.get("conversations.history", &arguments).await,
    }
}

fn parts(messages: &[Value], question: &str, asked_at: &str, me: &str) -> Vec<Option<Standing>> {
    let mut parts: Vec<Option<Standing>> = Vec::new();
    let mut put = |part: usize, ts: &str, is_running| {
        if parts.len() <= part {
            parts.resize(part + 1, None);
        }
        parts[part].get_or_insert_with(|| Standing {
            ts: ts.to_owned(),
            is_running,
        });
    };
    for message in messages {
        let Some(ts) = message["ts"].as_str() else {
            continue;
        };
        let is_mine = message["user"] == me && ts > asked_at;
        match part_of(message, question) {
            Some(part) if is_mine && part < messages.len() => put(part, ts, false),
            Some(_) => {}
            None if is_mine && message["streaming_state"] == "in_progress" => {
                put(0, ts, true);
            }
            None => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::content::metadata;

    #[test]
    fn answers_are_found_by_what_they_say_they_answer() {
        let message = |ts: &str, user: &str, metadata: Value| json!({ "ts": ts, "user": user, "metadata": metadata });
        let messages = [
            message("1.0", "U1", Value::Null),
            message("1.1", "UBOT", metadata("q0", 0)),
            message("1.3", "UBOT", metadata("q", 1)),
            message("1.2", "UBOT", metadata("q", 0)),
            message("1.4", "U1", metadata("q", 2)),
        ];
        let found = parts(&messages, "q", "1.0", "UBOT");
        let standing = |ts: &str, is_running| {
            let ts = ts.to_owned();
            Some(Standing { ts, is_running })
        };
        assert_eq!(found, [standing("1.2", false), standing("1.3", false)]);
        assert!(parts(&messages, "other", "1.0", "UBOT").is_empty());
        let running = json!({ "ts": "1.5", "user": "UBOT", "streaming_state": "in_progress" });
        let found = parts(std::slice::from_ref(&running), "q", "1.0", "UBOT");
        assert_eq!(found, [standing("1.5", true)]);
        assert!(parts(&[running], "q", "1.6", "UBOT").is_empty());
    }
}
