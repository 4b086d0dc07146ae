//! Asks the homeserver what is new, and what a sync left out, until it answers.

use std::pin::Pin;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures::{FutureExt as _, Stream, StreamExt as _};
use matrix_sdk::config::{SyncSettings, SyncToken};
use matrix_sdk::deserialized_responses::TimelineEvent;
use matrix_sdk::ruma::UInt;
use matrix_sdk::ruma::api::client::filter::{
    Filter as EventFilter, FilterDefinition, LazyLoadOptions, RoomEventFilter,
};
use matrix_sdk::ruma::api::client::sync::sync_events::v3::Filter;
use matrix_sdk::store::StateStoreDataKey;
use matrix_sdk::sync::SyncResponse;
use matrix_sdk::{Client, Room};
use muninn_platform::{
    InboxClosed, PlatformError, RequestFailure, RetryBudget, UNREACHABLE_TIMEOUT, retry,
};
use tokio::time::Instant;

use crate::errors::{disconnected, of_sdk};
use crate::hub::MatrixHub;
use crate::{gap, login};

/// Why the loop ended.
pub(super) enum SyncStopReason {
    Closed,
    Lost(PlatformError),
}

impl From<InboxClosed> for SyncStopReason {
    fn from(_: InboxClosed) -> Self {
        Self::Closed
    }
}

/// Maximum events of a room per response; the rest is fetched separately.
const TIMELINE: u32 = 100;

/// Consecutive refusals after which the adapter gives up.
const REFUSALS: u32 = 5;

/// The sessions whose keys arrived.
pub(super) type Keys = Pin<Box<dyn Stream<Item = Vec<String>> + Send>>;

/// Returns the events between two positions in a room's timeline; retries until the homeserver
/// answers.
pub(super) async fn read_back(
    hub: &MatrixHub,
    room: &Room,
    since: &str,
    until: &str,
    not_before: DateTime<Utc>,
) -> Result<Vec<TimelineEvent>, SyncStopReason> {
    let budget = RetryBudget::from_now(UNREACHABLE_TIMEOUT);
    let events = || gap::events(room, since, until, not_before).boxed();
    let error = match retry(budget, events, of_sdk).await {
        Ok(events) => return Ok(events),
        Err(error) => error,
    };
    match of_sdk(&error) {
        RequestFailure::LoggedOut => Err(SyncStopReason::Lost(login::logged_out(&hub.options))),
        RequestFailure::Refused => {
            tracing::warn!(room = %room.room_id(), %error, "what was said meanwhile could not be read");
            Ok(Vec::new())
        }
        RequestFailure::Limited(_) | RequestFailure::Away => {
            Err(SyncStopReason::Lost(disconnected(error)))
        }
    }
}

/// Returns the SDK's own position.
pub(super) async fn read_by_sdk(client: &Client) -> Option<String> {
    let key = StateStoreDataKey::SyncToken;
    let found = client.state_store().get_kv_data(key).await;
    found.ok()??.into_sync_token()
}

/// Requests until there is a response. `None` if the SDK has read one without returning it.
pub(super) async fn sync_with_retries(
    hub: &MatrixHub,
    since: Option<&str>,
    poll: Duration,
) -> Result<Option<SyncResponse>, PlatformError> {
    let settings = settings(since, poll);
    let before = read_by_sdk(&hub.client).await;
    let mut budget = RetryBudget::new(UNREACHABLE_TIMEOUT);
    let mut away_since: Option<Instant> = None;
    let mut refusals = 0;
    loop {
        let error = match hub.client.sync_once(settings.clone()).await {
            Ok(response) => {
                if let Some(since) = away_since {
                    tracing::info!(after = ?since.elapsed(), "the homeserver is back");
                }
                return Ok(Some(response));
            }
            Err(error) => error,
        };
        if read_by_sdk(&hub.client).await != before {
            tracing::warn!(%error, "what is new was read and not given");
            return Ok(None);
        }
        let pause = match of_sdk(&error) {
            RequestFailure::LoggedOut => return Err(login::logged_out(&hub.options)),
            RequestFailure::Refused if refusals + 1 < REFUSALS => {
                refusals += 1;
                budget.pause()
            }
            failure => budget.pause_after(failure),
        };
        let Some(pause) = pause else {
            return Err(disconnected(error));
        };
        if away_since.is_none() {
            tracing::warn!(%error, "the homeserver does not answer; trying again");
            away_since = Some(Instant::now());
        }
        tokio::time::sleep(pause).await;
    }
}

fn settings(since: Option<&str>, poll: Duration) -> SyncSettings {
    let mut filter = FilterDefinition::default();
    filter.presence = EventFilter::ignore_all();
    filter.room.ephemeral = RoomEventFilter::ignore_all();
    // Nothing of the backlog is read.
    let limit = if since.is_some() { TIMELINE } else { 1 };
    filter.room.timeline.limit = Some(UInt::from(limit));
    filter.room.state.lazy_load_options = LazyLoadOptions::Enabled {
        include_redundant_members: false,
    };
    let token = since.map_or(SyncToken::NoToken, |since| {
        SyncToken::Specific(since.to_owned())
    });
    SyncSettings::new()
        .token(token)
        .timeout(poll)
        .filter(Filter::FilterDefinition(filter))
}

pub(super) async fn keys(client: &Client) -> Keys {
    match client.encryption().room_keys_received_stream().await {
        Some(stream) => Box::pin(stream.filter_map(|keys| async {
            // A lagging receiver is harmless: waiting messages are checked anyway.
            let sessions = keys.ok()?.into_iter().map(|key| key.session_id);
            Some(sessions.collect())
        })),
        None => Box::pin(futures::stream::pending()),
    }
}
