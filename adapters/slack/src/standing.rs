//! Finds messages of an answer that may be in a channel already.
//!
//! Slack ignores message ids of a client, so each message has metadata with its question. A stream
//! gets metadata only when it ends: one without them that nobody here writes was left by a killed
//! process, or was started although Slack's response was lost. If other processes are the bot too,
//! it may be theirs, for another question of the thread: then it is left alone unless there is no
//! such question, or it is older than any turn.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{EventId, RequestFailure, RetryBudget, retry};
use serde_json::Value;

use crate::content::{is_announced, is_marked, part_of};
use crate::errors::ApiError;
use crate::history_limits::PageStart;
use crate::hub::SlackHub;
use crate::ids;
use crate::reply_target::SlackReplyTarget;

/// Messages per page: Slack gives this many to every app (`conversations.history`, apps outside of
/// its marketplace).
const LIMIT: &str = "15";

/// Maximum number of pages. An answer further away is not found, and repeated.
const PAGES: usize = 4;

/// Attempts per page, and pauses between them.
const MAX_ATTEMPTS_PER_PAGE: usize = 3;
const MAX_PAUSES_PER_PAGE: u32 = 2;

/// Messages among which an announcement of just now is searched; some apps get fewer.
const NEWEST: &str = "100";

/// How long before and after the time in its mark an announcement may stand, in seconds: clocks differ, and attempts are
/// repeated.
const ANNOUNCED_BEFORE: u64 = 60;
const ANNOUNCED_AFTER: u64 = 120;

/// Longest pause between two attempts: some apps may ask once per minute.
const LONGEST_REST: Duration = Duration::from_secs(65);

/// How long to wait for a page, between all of its attempts: other searches and reads share the rate limit, and may be the next
/// to ask when it ends.
const PATIENCE: Duration = LONGEST_REST.saturating_mul(MAX_PAUSES_PER_PAGE);

/// Longer than any turn takes, including waits: an older stream is abandoned.
const LONGEST_LIFE: TimeDelta = TimeDelta::minutes(15);

/// The existing messages of an answer, by `ts`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AnswerMessages {
    pub(crate) parts: Vec<Option<String>>,
    /// Streams without metadata. They may still be running.
    pub(crate) halves: Vec<String>,
}

impl AnswerMessages {
    pub(crate) fn has_beginning(&self) -> bool {
        self.parts.first().is_some_and(Option::is_some)
    }
}

/// Finds the messages of an answer, as far as Slack lets them be searched: where it never does, a
/// repeated answer is better than none.
///
/// # Errors
/// Fails when Slack may answer later: whoever delivers the answer tries again, and does not post it
/// a second time.
pub(crate) async fn find(
    hub: &SlackHub,
    target: &SlackReplyTarget,
) -> Result<AnswerMessages, ApiError> {
    let (found, failure) = search(hub, target).await;
    match failure {
        Some(error) if error.request_failure().is_temporary() => Err(error),
        Some(_) | None => Ok(found),
    }
}

/// As [`find`], but returns what was found in any case, and the error because of which not all was
/// searched.
pub(crate) async fn search(
    hub: &SlackHub,
    target: &SlackReplyTarget,
) -> (AnswerMessages, Option<ApiError>) {
    let Some(question) = &target.question_ts else {
        return (AnswerMessages::default(), None);
    };
    let now = Utc::now();
    // Questions before this one also determine whose streams there may be.
    let oldest = match time_of(question) {
        Some(asked) if hub.has_peers => ts_at(asked - LONGEST_LIFE),
        Some(_) | None => question.clone(),
    };
    let mut start = PageStart {
        oldest: Some(oldest),
        ..PageStart::default()
    };
    let is_thread = target.place.thread().is_some();
    let mut messages = Vec::new();
    let mut found = AnswerMessages::default();
    let mut failure = None;
    for _ in 0..PAGES {
        let answer = match page(hub, target, &start).await {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(%error, "whether an answer stands there already is not known");
                failure = Some(error);
                break;
            }
        };
        let answered = target.question.as_str();
        let listed = answer["messages"].as_array().into_iter().flatten();
        messages.extend(listed.cloned());
        found = sorted(&messages, answered, question, &hub.me.user);
        // In a thread the oldest messages come first, and the next page may begin with more parts;
        // outside threads the newest come first, so that the first part is seen last.
        let last_part = messages.last().and_then(|last| part_of(last, answered));
        let goes_on = is_thread && last_part.is_some();
        match start.after(&answer, is_thread) {
            Some(next) if !found.has_beginning() || goes_on => start = next,
            Some(_) | None => break,
        }
    }
    // Streams exist in threads only, and this process ends its own.
    let channel = &target.place.channel;
    let event_of = |ts: &str| ids::message_event(&hub.me.team, channel, ts);
    let others = if hub.has_peers {
        open_questions(&messages, &hub.me.user, question, now, event_of)
    } else {
        Vec::new()
    };
    found
        .halves
        .retain(|ts| is_thread && !hub.is_streaming(channel, ts) && is_abandoned(ts, &others, now));
    (found, failure)
}

/// Returns the `ts` of an announcement of just now, if it stands in the channel.
pub(crate) async fn find_announcement(
    hub: &SlackHub,
    channel: &str,
    id: &str,
) -> Result<Option<String>, ApiError> {
    find_announcement_within(hub, channel, id, &[]).await
}

/// The same for an announcement of any time, which its mark tells in microseconds.
pub(crate) async fn find_marked_announcement(
    hub: &SlackHub,
    channel: &str,
    mark: &str,
) -> Result<Option<String>, ApiError> {
    let Ok(micros) = mark.parse::<u64>() else {
        return Ok(None);
    };
    let seconds = micros / 1_000_000;
    let ts = |seconds: u64| format!("{seconds}.000000");
    let oldest = ts(seconds.saturating_sub(ANNOUNCED_BEFORE));
    let latest = ts(seconds + ANNOUNCED_AFTER);
    let within = [("oldest", oldest.as_str()), ("latest", latest.as_str())];
    find_announcement_within(hub, channel, mark, &within).await
}

async fn find_announcement_within(
    hub: &SlackHub,
    channel: &str,
    id: &str,
    within: &[(&'static str, &str)],
) -> Result<Option<String>, ApiError> {
    let arguments = [
        &[
            ("channel", channel),
            ("include_all_metadata", "true"),
            ("limit", NEWEST),
        ],
        within,
    ]
    .concat();
    let answer = hub.api.get("conversations.history", &arguments).await?;
    let mut messages = answer["messages"].as_array().into_iter().flatten();
    let found = messages.find(|message| is_announced(message, id));
    Ok(found.and_then(|message| message["ts"].as_str().map(str::to_owned)))
}

/// Returns when other people asked questions that nobody has answered yet, and that somebody may be
/// answering.
fn open_questions(
    messages: &[Value],
    me: &str,
    question: &str,
    now: DateTime<Utc>,
    event_of: impl Fn(&str) -> EventId,
) -> Vec<DateTime<Utc>> {
    let asked = messages.iter().filter_map(|message| {
        let ts = message["ts"].as_str()?;
        let at = time_of(ts)?;
        let is_human = message["user"] != me && message["bot_id"].is_null();
        let event = event_of(ts);
        let is_answered = || {
            let mut messages = messages.iter();
            messages.any(|answer| part_of(answer, event.as_str()).is_some())
        };
        (is_human && ts != question && now - at < LONGEST_LIFE && !is_answered()).then_some(at)
    });
    asked.collect()
}

/// Whether another process is certainly not writing a stream as the answer to one of these.
fn is_abandoned(stream: &str, others: &[DateTime<Utc>], now: DateTime<Utc>) -> bool {
    let Some(began) = time_of(stream) else {
        return false;
    };
    now - began >= LONGEST_LIFE || others.iter().all(|asked| *asked > began)
}

/// Returns the time of a message, which Slack uses as its id.
fn time_of(ts: &str) -> Option<DateTime<Utc>> {
    let (seconds, micros) = ts.split_once('.').unwrap_or((ts, "0"));
    let micros: i64 = micros.parse().ok()?;
    let seconds: i64 = seconds.parse().ok()?;
    DateTime::from_timestamp_micros(seconds.checked_mul(1_000_000)?.checked_add(micros)?)
}

pub(crate) fn ts_at(time: DateTime<Utc>) -> String {
    let micros = time.timestamp_micros();
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// Returns one page of messages, if Slack delivers it.
async fn page(
    hub: &SlackHub,
    target: &SlackReplyTarget,
    start: &PageStart,
) -> Result<Value, ApiError> {
    in_attempts(|| look(hub, target, start)).await
}

/// Asks for a page until Slack delivers it, or the attempts or the patience are over.
async fn in_attempts<T, F>(attempt: impl Fn() -> F) -> Result<T, ApiError>
where
    F: Future<Output = Result<T, ApiError>>,
{
    let failures = AtomicUsize::new(0);
    // A refusal only ends the attempts: the error that is returned stays what it is.
    let classify = |error: &ApiError| {
        let number = failures.fetch_add(1, Ordering::Relaxed) + 1;
        match error.request_failure() {
            RequestFailure::Limited(Some(rest)) if rest > LONGEST_REST => RequestFailure::Refused,
            _ if number >= MAX_ATTEMPTS_PER_PAGE => RequestFailure::Refused,
            failure => failure,
        }
    };
    retry(RetryBudget::new(PATIENCE), attempt, classify).await
}

async fn look(
    hub: &SlackHub,
    target: &SlackReplyTarget,
    start: &PageStart,
) -> Result<Value, ApiError> {
    let mut arguments = vec![
        ("channel", target.place.channel.as_str()),
        ("include_all_metadata", "true"),
        ("limit", LIMIT),
    ];
    arguments.extend(start.arguments());
    match target.place.thread() {
        Some(thread) => {
            arguments.push(("ts", thread));
            hub.api.get("conversations.replies", &arguments).await
        }
        None => hub.api.get("conversations.history", &arguments).await,
    }
}

fn sorted(messages: &[Value], question: &str, asked_at: &str, me: &str) -> AnswerMessages {
    let mut standing = AnswerMessages::default();
    for message in messages {
        let Some(ts) = message["ts"].as_str() else {
            continue;
        };
        if message["user"] != me || ts <= asked_at {
            continue;
        }
        match part_of(message, question) {
            Some(part) if part < messages.len() => {
                let parts = &mut standing.parts;
                if parts.len() <= part {
                    parts.resize(part + 1, None);
                }
                parts[part].get_or_insert_with(|| ts.to_owned());
            }
            Some(_) => {}
            None if !is_marked(message) => standing.halves.push(ts.to_owned()),
            None => {}
        }
    }
    standing
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::json;
    use tokio::time::Instant;

    use super::*;
    use crate::content::metadata;

    /// Returns whether a page is delivered after rate limits of so many seconds, after how many attempts and seconds.
    async fn after_rate_limits(seconds: &[u64]) -> (bool, usize, u64) {
        let attempts = RefCell::new(0_usize);
        let began = Instant::now();
        let attempt = || async {
            let number = *attempts.borrow();
            *attempts.borrow_mut() += 1;
            match seconds.get(number) {
                Some(seconds) => Err(ApiError::Limited {
                    method: "conversations.replies",
                    rest: Some(Duration::from_secs(*seconds)),
                }),
                None => Ok(()),
            }
        };
        let ended = in_attempts(attempt).await;
        if let Err(error) = &ended {
            // Whoever delivers an answer tries again.
            assert!(error.request_failure().is_temporary(), "{error}");
        }
        (ended.is_ok(), attempts.take(), began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_is_asked_for_again_after_each_minute_of_a_rate_limit() {
        assert_eq!(after_rate_limits(&[60]).await, (true, 2, 60));
        assert_eq!(after_rate_limits(&[60, 60]).await, (true, 3, 120));
        assert_eq!(after_rate_limits(&[65, 65]).await, (true, 3, 130));
        assert_eq!(after_rate_limits(&[1, 1, 1]).await, (false, 3, 2));
        // Too long to wait.
        assert_eq!(after_rate_limits(&[66]).await, (false, 1, 0));
    }

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
        let found = sorted(&messages, "q", "1.0", "UBOT");
        let parts = ["1.2", "1.3"].map(|ts| Some(ts.to_owned()));
        assert_eq!(found.parts, parts);
        assert!(found.halves.is_empty());
        assert!(sorted(&messages, "other", "1.0", "UBOT").parts.is_empty());
        // Neither in progress nor complete: no metadata.
        let half = json!({ "ts": "1.5", "user": "UBOT" });
        let found = sorted(std::slice::from_ref(&half), "q", "1.0", "UBOT");
        assert_eq!(
            (found.parts.len(), found.halves),
            (0, vec!["1.5".to_owned()])
        );
        assert!(sorted(&[half], "q", "1.6", "UBOT").halves.is_empty());
    }

    #[test]
    fn a_stream_that_another_process_may_write_is_left_alone() {
        const NOW: i64 = 1_700_000_000;
        let ts = |seconds: i64| ts_at(DateTime::from_timestamp(NOW + seconds, 0).unwrap());
        let event = |ts: &str| EventId::new(format!("slack/T1/C1/{ts}"));
        let human = |at: i64| json!({ "ts": ts(at), "user": "U1" });
        let answer = |at: i64, of: i64| {
            let metadata = metadata(event(&ts(of)).as_str(), 0);
            json!({ "ts": ts(at), "user": "UBOT", "metadata": metadata })
        };
        let (question, stream) = (ts(-60), ts(-50));
        let question_itself = json!({ "ts": question, "user": "U1" });
        let minutes = |minutes: i64| -60 * minutes;
        for (messages, now, is_abandoned) in [
            (vec![], 0, true),
            // Another question waits for its answer…
            (vec![human(-70)], 0, false),
            (vec![human(-55)], 0, false),
            // …or was answered, or was asked after the stream began.
            (vec![human(-70), answer(-65, -70)], 0, true),
            (vec![human(-40)], 0, true),
            // A question of that age is not being answered, and no stream lives that long.
            (vec![human(minutes(15))], 0, true),
            (vec![human(-55)], 15 * 60, true),
        ] {
            let mut all = vec![question_itself.clone()];
            all.extend(messages.clone());
            let now = DateTime::from_timestamp(NOW + now, 0).unwrap();
            let others = open_questions(&all, "UBOT", &question, now, event);
            let found = super::is_abandoned(&stream, &others, now);
            assert_eq!(found, is_abandoned, "{messages:?}");
        }
    }
}
