//! Reads a channel's history: page by page, each followed by the threads that begin on it.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, History, HistoryError, HistoryPage, InboxClosed};
use muninn_texts::text;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::errors::ApiError;
use crate::event::{Push, SlackEventKind, time_of};
use crate::history_limits::{end_without_cursor, next_cursor};
use crate::inbound::SlackEventHandler;
use crate::intent::overheard;
use crate::missed::Listed;
use crate::standing::ts_at;

/// The page size that Slack recommends. Some apps get smaller pages.
const PAGE: &str = "200";

/// Reads the history of a workspace's channels.
pub(crate) struct SlackHistory(pub(crate) SlackEventHandler);

impl SlackHistory {
    pub(crate) fn of(inbound: &SlackEventHandler) -> Arc<dyn History> {
        Arc::new(Self(inbound.clone()))
    }
}

/// The position in a channel's history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SlackHistoryCursor {
    /// Of the channel's next page.
    cursor: Option<String>,
    /// Before which the channel's next page ends, where Slack names no cursor of it.
    latest: Option<String>,
    /// The channel has no more pages.
    is_listed: bool,
    /// Threads that begin on the pages read, and are still to be read.
    threads: VecDeque<String>,
    /// Of the next page of the first thread.
    thread_cursor: Option<String>,
    /// After which that page begins, where Slack names no cursor of it.
    thread_oldest: Option<String>,
}

impl SlackHistoryCursor {
    /// Parses a stored position; starts from the beginning if it is invalid.
    fn read(at: Option<&str>) -> Self {
        at.and_then(|at| serde_json::from_str(at).ok())
            .unwrap_or_default()
    }

    fn keep(&self) -> Option<String> {
        let is_over = self.is_listed && self.threads.is_empty();
        (!is_over).then(|| serde_json::to_string(self).unwrap_or_default())
    }

    /// Records that a page of the channel was read.
    fn listed(&mut self, answer: &Value) {
        let said = answer["messages"].as_array().into_iter().flatten();
        let roots = said.filter(|it| it["reply_count"].as_u64().unwrap_or_default() > 0);
        let roots = roots.filter_map(|root| root["ts"].as_str());
        self.threads.extend(roots.map(str::to_owned));
        self.cursor = next_cursor(answer);
        // Without progress it would be read forever.
        let is_earlier = |end: &String| self.latest.as_ref().is_none_or(|latest| end < latest);
        let end = end_without_cursor(answer).filter(is_earlier);
        self.is_listed = self.cursor.is_none() && end.is_none();
        self.latest = end.or(self.latest.take());
    }

    /// Records that a page of the first thread was read, or that the thread is unavailable.
    fn followed(&mut self, answer: &Value) {
        self.thread_cursor = next_cursor(answer);
        let is_later = |end: &String| {
            let oldest = self.thread_oldest.as_ref();
            oldest.is_none_or(|oldest| end > oldest)
        };
        let end = end_without_cursor(answer).filter(is_later);
        if self.thread_cursor.is_none() && end.is_none() {
            self.threads.pop_front();
            self.thread_oldest = None;
        } else {
            self.thread_oldest = end.or(self.thread_oldest.take());
        }
    }
}

#[async_trait]
impl History for SlackHistory {
    async fn read_page(
        &self,
        channel: &AudienceId,
        since: DateTime<Utc>,
        at: Option<&str>,
    ) -> Result<HistoryPage, HistoryError> {
        let channel = self.channel(channel).await?;
        let mut place = SlackHistoryCursor::read(at);
        let root = place.threads.front().cloned();
        let oldest = place.thread_oldest.clone();
        let oldest = oldest.unwrap_or_else(|| ts_at(since));
        let mut arguments = vec![("channel", channel.id.as_str()), ("limit", PAGE)];
        arguments.push(("oldest", oldest.as_str()));
        let answer = match &root {
            Some(root) => {
                arguments.push(("ts", root.as_str()));
                arguments.extend(place.thread_cursor.as_deref().map(|it| ("cursor", it)));
                let answer = self.get("conversations.replies", &arguments).await;
                match answer {
                    // Deleted meanwhile.
                    Err(error) if error.is(&["thread_not_found"]) => {
                        place.followed(&Value::Null);
                        Value::Null
                    }
                    answer => {
                        let answer = answer.map_err(|error| refusal(&error, &channel.id))?;
                        place.followed(&answer);
                        answer
                    }
                }
            }
            None => {
                arguments.extend(place.latest.as_deref().map(|it| ("latest", it)));
                arguments.extend(place.cursor.as_deref().map(|it| ("cursor", it)));
                let answer = self.get("conversations.history", &arguments).await;
                let answer = answer.map_err(|error| refusal(&error, &channel.id))?;
                place.listed(&answer);
                answer
            }
        };
        let mut said: Vec<&Value> = answer["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .collect();
        // The root was already read with the channel.
        said.retain(|it| it["ts"].as_str() != root.as_deref());
        said.sort_by_key(|it| it["ts"].as_str().unwrap_or_default().to_owned());
        let messages = self.deliver(&channel, &said).await?;
        let oldest = said.first().and_then(|it| it["ts"].as_str());
        Ok(HistoryPage {
            messages,
            reached: oldest.and_then(time_of),
            next: place.keep(),
        })
    }
}

impl SlackHistory {
    async fn get(
        &self,
        method: &'static str,
        arguments: &[(&'static str, &str)],
    ) -> Result<Value, ApiError> {
        self.0.hub.api.get(method, arguments).await
    }

    /// Returns the channel of an audience, as listed by Slack.
    async fn channel(&self, audience: &AudienceId) -> Result<Listed, HistoryError> {
        let none = || HistoryError::not_there(audience, "Slack");
        let mut parts = audience.as_str().split('/').skip(1);
        let id = match (parts.next(), parts.next(), parts.next()) {
            (Some(team), Some(id), None) if team == self.0.hub.me.team => id,
            _ => return Err(none()),
        };
        let asked = self.get("conversations.info", &[("channel", id)]).await;
        let answer = asked.map_err(|error| refusal(&error, id))?;
        Listed::read(&answer["channel"]).ok_or_else(none)
    }

    /// Delivers people's messages; returns their number.
    async fn deliver(&self, channel: &Listed, said: &[&Value]) -> Result<usize, HistoryError> {
        let mut messages = 0;
        // In sequence, because a conversation is kept in order.
        for push in said.iter().filter_map(|message| channel.push(message)) {
            messages += usize::from(self.0.said_before(push).await?);
        }
        Ok(messages)
    }
}

impl SlackEventHandler {
    /// Delivers a message that somebody sent to others before the bot listened. Returns false if it
    /// is not a person's message, or not said to others.
    async fn said_before(&self, push: Push) -> Result<bool, InboxClosed> {
        let Push::Event(event) = push else {
            return Ok(false);
        };
        let facts = self.facts(&event);
        let SlackEventKind::Message(message) = event.what else {
            return Ok(false);
        };
        match overheard(&message, &facts) {
            Some(heard) => self
                .deliver_message(&message, heard, true)
                .await
                .map(|()| true),
            None => Ok(false),
        }
    }
}

fn refusal(error: &ApiError, channel: &str) -> HistoryError {
    match error {
        ApiError::Limited { rest, .. } => HistoryError::Limited(*rest),
        ApiError::Away { .. } => HistoryError::Away,
        ApiError::MissingScope { needed, .. } => {
            HistoryError::Refused(text!("stays-scope", needed))
        }
        ApiError::Refused { code, .. }
            if ["not_in_channel", "channel_not_found"].contains(&code.as_str()) =>
        {
            HistoryError::Refused(text!("history-invite", channel))
        }
        ApiError::Revoked { code, .. } | ApiError::Refused { code, .. } => {
            HistoryError::Refused(text!("history-refused", platform = "Slack", why = code))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn behind_each_page_come_its_threads() {
        let mut place = SlackHistoryCursor::read(None);
        place.listed(&json!({
            "messages": [{ "ts": "3.0", "reply_count": 2 }, { "ts": "2.0" }, { "ts": "1.0", "reply_count": 1 }],
            "response_metadata": { "next_cursor": "c2" },
        }));
        let mut place = SlackHistoryCursor::read(place.keep().as_deref());
        assert_eq!(place.threads, ["3.0", "1.0"]);
        place.followed(&json!({ "response_metadata": { "next_cursor": "t2" } }));
        assert_eq!(place.thread_cursor.as_deref(), Some("t2"));
        assert_eq!(place.threads.front().map(String::as_str), Some("3.0"));
        place.followed(&Value::Null);
        place.followed(&Value::Null);
        assert_eq!(
            (place.cursor.as_deref(), place.threads.len()),
            (Some("c2"), 0)
        );
        place.listed(&json!({ "messages": [] }));
        assert_eq!(place.keep(), None);
        assert_eq!(
            SlackHistoryCursor::read(Some("damaged")),
            SlackHistoryCursor::default()
        );
    }

    #[test]
    fn a_page_without_a_cursor_is_followed_by_the_one_where_it_ends() {
        let more = |times: [&str; 2]| {
            json!({
                "messages": times.map(|ts| json!({ "ts": ts, "reply_count": 2 })),
                "has_more": true
            })
        };
        let mut place = SlackHistoryCursor::read(None);
        place.listed(&more(["4.0", "3.0"]));
        let mut place = SlackHistoryCursor::read(place.keep().as_deref());
        assert_eq!(place.latest.as_deref(), Some("3.0"));
        place.followed(&more(["4.0", "4.1"]));
        place.followed(&more(["4.0", "4.2"]));
        assert_eq!(place.thread_oldest.as_deref(), Some("4.2"));
        // No progress: the thread is over, and the next one begins where all do.
        place.followed(&more(["4.0", "4.2"]));
        assert_eq!((place.threads.len(), &place.thread_oldest), (1, &None));
        place.followed(&Value::Null);
        place.listed(&json!({ "messages": [{ "ts": "2.0" }], "has_more": false }));
        assert_eq!(place.keep(), None);
    }
}
