//! Archived threads: lists them, and changes messages in them, which Discord lets nobody do until they
//! are opened again.

use chrono::{DateTime, Utc};
use serde_json::json;
use serenity::model::id::{ChannelId, MessageId};

use crate::api::DiscordApi;
use crate::errors::{Failure, RefusalReason};
use crate::ids::id_at;

/// Returns the archived public threads of a channel with messages since then.
pub(crate) async fn archived_threads_since(
    api: &DiscordApi,
    channel: ChannelId,
    since: DateTime<Utc>,
) -> Result<Vec<ChannelId>, Failure> {
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let page = api.archived_threads(channel, before).await?;
        let oldest = page
            .threads
            .last()
            .and_then(|thread| thread.thread_metadata.as_ref()?.archive_timestamp);
        let has_news = |last: Option<MessageId>| last.is_none_or(|last| last > id_at(since));
        let threads = page.threads.iter();
        let threads = threads.filter(|thread| has_news(thread.last_message_id));
        found.extend(threads.map(|thread| thread.id));
        // Threads that were archived before that have no messages since.
        match oldest.map(|oldest| *oldest) {
            Some(oldest) if page.has_more && oldest > since && Some(oldest) != before => {
                before = Some(oldest);
            }
            Some(_) | None => return Ok(found),
        }
    }
}

/// Changes something in a channel; in an archived thread, after opening it. Fails as the change did
/// where the bot may not open it.
pub(crate) async fn in_open_thread<T, F>(
    api: &DiscordApi,
    channel: ChannelId,
    change: impl Fn() -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let locked = match change().await {
        Err(failure) if failure.is(RefusalReason::Locked) => failure,
        other => return other,
    };
    let open = json!({ "archived": false });
    match api.change_channel(channel, &open).await {
        Ok(()) => change().await,
        Err(failure) if failure.is(RefusalReason::MayNot) => Err(locked),
        Err(failure) => Err(failure),
    }
}
