//! Reads a room's history from a day on, as far as its keys are available.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::Room;
use matrix_sdk::deserialized_responses::TimelineEvent;
use matrix_sdk::room::{Messages, MessagesOptions};
use matrix_sdk::ruma::api::Direction;
use matrix_sdk::ruma::api::client::room::get_event_by_timestamp;
use matrix_sdk::ruma::api::error::ErrorKind;
use matrix_sdk::ruma::{MilliSecondsSinceUnixEpoch, OwnedRoomId, UInt, uint};
use muninn_platform::{AudienceId, History, HistoryError, HistoryPage, RequestFailure};
use muninn_texts::text;
use tokio::time::timeout;

use crate::background::edited;
use crate::errors::of_sdk;
use crate::event::{MatrixEvent, MatrixEventKind};
use crate::inbound::MatrixEventHandler;

/// Maximum time of a request, including the homeserver's requests to others.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The beginning of a cursor at which a page is read backwards, in search of the first event.
const BACKWARDS: &str = "backwards ";

/// Some events, in order, and the cursor of those after them.
type EventsPage = (Vec<TimelineEvent>, Option<String>);

/// Reads the history of rooms.
pub(crate) struct MatrixHistory(MatrixEventHandler);

impl MatrixHistory {
    pub(crate) fn of(inbound: &MatrixEventHandler) -> Arc<dyn History> {
        Arc::new(Self(inbound.clone()))
    }
}

#[async_trait]
impl History for MatrixHistory {
    async fn read_page(
        &self,
        channel: &AudienceId,
        since: DateTime<Utc>,
        at: Option<&str>,
    ) -> Result<HistoryPage, HistoryError> {
        self.read(channel, since, at).await
    }
}

impl MatrixHistory {
    fn read<'a>(
        &'a self,
        channel: &'a AudienceId,
        since: DateTime<Utc>,
        at: Option<&'a str>,
    ) -> BoxFuture<'a, Result<HistoryPage, HistoryError>> {
        async move {
            let room = self.room(channel)?;
            let (events, next) = match at {
                Some(at) => match at.strip_prefix(BACKWARDS) {
                    Some(from) => self.page_before(&room, Some(from), since).await?,
                    None => self.page(&room, at).await?,
                },
                None => match self.first(&room, since).await? {
                    Some(first) => first,
                    None => return Ok(HistoryPage::default()),
                },
            };
            let mut page = HistoryPage {
                next,
                ..HistoryPage::default()
            };
            for event in &events {
                let json = event.raw().json().get();
                let Some(read) = MatrixEvent::read(json) else {
                    continue;
                };
                page.reached = Some(read.sent_at);
                // Edits come with the messages that they change.
                let is_new =
                    read.sent_at >= since && matches!(read.what, MatrixEventKind::Message(_));
                if is_new {
                    let latest = with_edit(read, json);
                    let told = self.0.deliver_earlier_message(&room, latest).await?;
                    page.messages += usize::from(told);
                }
            }
            Ok(page)
        }
        .boxed()
    }

    fn room(&self, channel: &AudienceId) -> Result<Room, HistoryError> {
        let id = channel.as_str().strip_prefix("matrix/");
        let id = id.and_then(|id| OwnedRoomId::try_from(id).ok());
        let room = id.and_then(|id| self.0.hub.client.get_room(&id));
        room.filter(|room| room.state() == matrix_sdk::RoomState::Joined)
            .ok_or_else(|| HistoryError::not_there(channel, "Matrix"))
    }

    /// Returns the first event since then, and the position after it; `None` if there is none.
    async fn first(
        &self,
        room: &Room,
        since: DateTime<Utc>,
    ) -> Result<Option<EventsPage>, HistoryError> {
        let time = UInt::try_from(since.timestamp_millis()).unwrap_or_default();
        let request = get_event_by_timestamp::v1::Request::new(
            room.room_id().to_owned(),
            MilliSecondsSinceUnixEpoch(time),
            Direction::Forward,
        );
        let asked = async {
            let asked = self.0.hub.client.send(request).await;
            asked.map_err(matrix_sdk::Error::from)
        };
        let found = match in_time(asked).await {
            Ok(found) => found,
            Err(error) if is_none(&error) => return Ok(None),
            Err(error) if is_unknown_request(&error) => {
                return self.page_before(room, None, since).await.map(Some);
            }
            Err(error) => return Err(refusal(room, error)),
        };
        let around = room.event_with_context(&found.event_id, false, uint!(0), None);
        let around = in_time(around)
            .await
            .map_err(|error| refusal(room, error))?;
        let events = around.event.into_iter().collect();
        Ok(Some((events, around.next_batch_token)))
    }

    /// Looks for the first event since then one page further back, for homeservers that cannot be
    /// asked for it.
    async fn page_before(
        &self,
        room: &Room,
        from: Option<&str>,
        since: DateTime<Utc>,
    ) -> Result<EventsPage, HistoryError> {
        let mut options = MessagesOptions::backward();
        options.from = from.map(str::to_owned);
        options.limit = uint!(100);
        let page = in_time(room.messages(options))
            .await
            .map_err(|error| refusal(room, error))?;
        Ok(further_back(page, from, since))
    }

    async fn page(&self, room: &Room, from: &str) -> Result<EventsPage, HistoryError> {
        let mut options = MessagesOptions::forward().from(from);
        options.limit = uint!(100);
        let page = in_time(room.messages(options))
            .await
            .map_err(|error| refusal(room, error))?;
        let next = page.end.filter(|end| end != from && !page.chunk.is_empty());
        Ok((page.chunk, next))
    }
}

/// Applies an edit.
fn with_edit(mut event: MatrixEvent, json: &str) -> MatrixEvent {
    if let MatrixEventKind::Message(message) = &mut event.what
        && let Some(text) = edited(json, &event.sender)
    {
        message.text = text;
    }
    event
}

/// Why a request failed; inner `None`: it took too long.
type Failed = Option<matrix_sdk::Error>;

async fn in_time<T>(
    asked: impl Future<Output = Result<T, matrix_sdk::Error>>,
) -> Result<T, Failed> {
    match timeout(REQUEST_TIMEOUT, asked).await {
        Ok(answer) => answer.map_err(Some),
        Err(_) => Err(None),
    }
}

/// Returns the events of a page that was read backwards, if nothing before it is from since then,
/// and the cursor of the next page. From there on it goes forwards, as conversations are kept in
/// order.
fn further_back(page: Messages, from: Option<&str>, since: DateTime<Utc>) -> EventsPage {
    // One message may have a wrong time.
    let is_older = page.chunk.iter().all(|event| {
        let read = MatrixEvent::read(event.raw().json().get());
        read.is_none_or(|read| read.sent_at < since)
    });
    match page.end {
        Some(end) if !is_older && from != Some(end.as_str()) => {
            (Vec::new(), Some(format!("{BACKWARDS}{end}")))
        }
        Some(_) | None => {
            let mut events = page.chunk;
            events.reverse();
            (events, Some(from.map_or(page.start, str::to_owned)))
        }
    }
}

/// Whether the homeserver says that the event does not exist.
fn is_none(failed: &Failed) -> bool {
    let kind = failed
        .as_ref()
        .and_then(|error| error.client_api_error_kind());
    matches!(kind, Some(ErrorKind::NotFound))
}

/// Whether the homeserver does not know this kind of request.
fn is_unknown_request(failed: &Failed) -> bool {
    let Some(error) = failed
        .as_ref()
        .and_then(|error| error.as_client_api_error())
    else {
        return false;
    };
    matches!(error.error_kind(), Some(ErrorKind::Unrecognized))
        || matches!(error.status_code.as_u16(), 404 | 405)
}

fn refusal(room: &Room, failed: Failed) -> HistoryError {
    let Some(error) = failed else {
        return HistoryError::Away;
    };
    match of_sdk(&error) {
        RequestFailure::Limited(rest) => HistoryError::Limited(rest),
        RequestFailure::Away => HistoryError::Away,
        RequestFailure::LoggedOut | RequestFailure::Refused => {
            let why = muninn_platform::in_one_line(&error);
            tracing::warn!(room = %room.room_id(), why, "the homeserver does not give the history");
            HistoryError::Refused(text!("history-refused", platform = "Matrix", why))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_event_is_looked_for_backwards_and_read_from_there() {
        let since = DateTime::from_timestamp(100, 0).unwrap();
        let page = |end: Option<&str>, times: &[i64]| {
            let events = times.iter().map(|time| {
                let event = json!({ "type": "m.room.message", "event_id": format!("$e{time}"),
                    "sender": "@ann:b", "origin_server_ts": time * 1_000, "content": {} });
                TimelineEvent::from_plaintext(serde_json::from_str(&event.to_string()).unwrap())
            });
            Messages {
                start: "t9".to_owned(),
                end: end.map(str::to_owned),
                chunk: events.collect(),
                ..Messages::default()
            }
        };
        for (page, from, ids, next) in [
            (page(Some("t8"), &[120, 110]), None, vec![], "backwards t8"),
            // A clock that is slow ends nothing.
            (
                page(Some("t7"), &[110, 90]),
                Some("t8"),
                vec![],
                "backwards t7",
            ),
            (
                page(Some("t7"), &[99, 98]),
                Some("t8"),
                vec!["$e98", "$e99"],
                "t8",
            ),
            (
                page(None, &[110, 105]),
                Some("t8"),
                vec!["$e105", "$e110"],
                "t8",
            ),
            (page(None, &[110, 105]), None, vec!["$e105", "$e110"], "t9"),
            (page(Some("t8"), &[110]), Some("t8"), vec!["$e110"], "t8"),
            (page(Some("t7"), &[]), Some("t8"), vec![], "t8"),
        ] {
            let (events, cursor) = further_back(page, from, since);
            let found = events.iter().filter_map(TimelineEvent::event_id);
            let found: Vec<String> = found.map(|id| id.to_string()).collect();
            assert_eq!((found, cursor.as_deref()), (ids_of(&ids), Some(next)));
        }
    }

    fn ids_of(ids: &[&str]) -> Vec<String> {
        ids.iter().map(ToString::to_string).collect()
    }
}
