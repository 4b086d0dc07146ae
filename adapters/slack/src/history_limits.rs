//! What Slack lets the app read of a channel, as far as observed.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use chrono::Utc;
use serde_json::Value;

use crate::errors::ApiError;

/// Maximum messages per page for apps distributed outside of Slack's marketplace, which may ask
/// once per minute.
const DISTRIBUTED_APP_PAGE_SIZE: usize = 15;

/// What Slack lets the app read, as far as observed.
#[derive(Debug, Default)]
pub(crate) struct HistoryLimits {
    /// The end of a rate limit for such requests, in seconds since the epoch.
    rest_until: AtomicI64,
    /// Slack returns few messages per page.
    is_little: AtomicBool,
}

impl HistoryLimits {
    pub(crate) fn rests(&self) -> bool {
        Utc::now().timestamp() < self.rest_until.load(Ordering::Relaxed)
    }

    pub(crate) fn is_little(&self) -> bool {
        self.is_little.load(Ordering::Relaxed)
    }

    pub(crate) fn learn(&self, asked: Result<&Value, &ApiError>) {
        match asked {
            Ok(answer) => {
                let given = answer["messages"].as_array().map_or(0, Vec::len);
                // The root message comes in addition to the requested ones.
                if next_cursor(answer).is_some() && given <= DISTRIBUTED_APP_PAGE_SIZE + 1 {
                    self.is_little.store(true, Ordering::Relaxed);
                }
            }
            Err(ApiError::Limited { rest, .. }) => {
                let seconds = rest.map_or(60, |rest| rest.as_secs().min(600));
                let until = Utc::now().timestamp() + i64::try_from(seconds).unwrap_or(60);
                self.rest_until.store(until, Ordering::Relaxed);
            }
            Err(
                ApiError::Away { .. }
                | ApiError::Revoked { .. }
                | ApiError::MissingScope { .. }
                | ApiError::Refused { .. },
            ) => {}
        }
    }
}

/// Whether there is more that no cursor leads to, as in Slack's older paging by time.
pub(crate) fn leaves_rest_out(answer: &Value) -> bool {
    answer["has_more"] == true && next_cursor(answer).is_none()
}

/// Returns the time at which such a page ends: in a thread the next one is of later messages, in a channel of earlier ones.
pub(crate) fn end_without_cursor(answer: &Value) -> Option<String> {
    let last = answer["messages"].as_array()?.last()?;
    let last = last["ts"].as_str().filter(|_| leaves_rest_out(answer));
    last.map(str::to_owned)
}

pub(crate) fn next_cursor(answer: &Value) -> Option<String> {
    let next = answer["response_metadata"]["next_cursor"].as_str();
    next.filter(|next| !next.is_empty()).map(str::to_owned)
}

/// Where a page begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageStart {
    pub(crate) oldest: Option<String>,
    pub(crate) latest: Option<String>,
    pub(crate) cursor: Option<String>,
}

impl PageStart {
    /// Returns where the page after this one begins; `None` if this was the last one.
    pub(crate) fn after(&self, answer: &Value, is_thread: bool) -> Option<Self> {
        let cursor = next_cursor(answer);
        if cursor.is_some() {
            return Some(Self {
                cursor,
                ..self.clone()
            });
        }
        let end = end_without_cursor(answer)?;
        // A page of a thread's root alone, which comes with each page, would be followed by those before it.
        if is_thread && self.oldest.as_ref().is_some_and(|oldest| end <= *oldest) {
            return None;
        }
        let mut next = Self {
            cursor,
            ..self.clone()
        };
        if is_thread {
            next.oldest = Some(end);
        } else {
            next.latest = Some(end);
        }
        Some(next)
    }

    /// Returns the arguments with which Slack is asked for the page.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let oldest = self.oldest.as_deref().map(|oldest| ("oldest", oldest));
        let latest = self.latest.as_deref().map(|latest| ("latest", latest));
        let cursor = self.cursor.as_deref().map(|cursor| ("cursor", cursor));
        oldest.into_iter().chain(latest).chain(cursor)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_says_whether_it_leaves_anything_out() {
        let cursor = |next: &str| json!({ "next_cursor": next });
        for (answer, leaves_out) in [
            (json!({ "has_more": true }), true),
            (
                json!({ "has_more": true, "response_metadata": cursor("") }),
                true,
            ),
            (
                json!({ "has_more": true, "response_metadata": cursor("c2") }),
                false,
            ),
            (json!({ "has_more": false }), false),
            (json!({}), false),
            (Value::Null, false),
        ] {
            assert_eq!(leaves_rest_out(&answer), leaves_out, "{answer}");
        }
    }

    #[test]
    fn a_page_that_names_no_cursor_ends_at_its_last_message() {
        let messages = json!([{ "ts": "3.0" }, { "ts": "2.0" }]);
        let cursor = json!({ "next_cursor": "c2" });
        for (answer, end) in [
            (
                json!({ "has_more": true, "messages": messages }),
                Some("2.0".to_owned()),
            ),
            (json!({ "has_more": false, "messages": messages }), None),
            (
                json!({ "has_more": true, "messages": messages, "response_metadata": cursor }),
                None,
            ),
            (json!({ "has_more": true, "messages": [] }), None),
            (Value::Null, None),
        ] {
            assert_eq!(end_without_cursor(&answer), end, "{answer}");
        }
    }

    #[test]
    fn the_next_page_is_known_by_its_cursor_or_by_the_time_where_this_one_ends() {
        let start = PageStart {
            oldest: Some("1.0".to_owned()),
            ..PageStart::default()
        };
        let messages = json!([{ "ts": "2.0" }, { "ts": "3.0" }]);
        let told = |cursor: &str| {
            json!({
                "messages": messages, "has_more": true,
                "response_metadata": { "next_cursor": cursor }
            })
        };
        let next = PageStart {
            cursor: Some("c2".to_owned()),
            ..start.clone()
        };
        assert_eq!(start.after(&told("c2"), true), Some(next));
        let later = PageStart {
            oldest: Some("3.0".to_owned()),
            ..start.clone()
        };
        assert_eq!(start.after(&told(""), true), Some(later.clone()));
        let earlier = PageStart {
            latest: Some("3.0".to_owned()),
            ..start.clone()
        };
        assert_eq!(start.after(&told(""), false), Some(earlier));
        let last = json!({ "messages": messages, "has_more": false });
        assert_eq!(start.after(&last, true), None);
        // No progress: it would be read forever.
        assert_eq!(later.after(&told(""), true), None);
    }
}
