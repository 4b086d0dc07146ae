//! Changes messages in archived threads, which Discord lets nobody do until they are opened again.

use serde_json::json;
use serenity::model::id::ChannelId;

use crate::api::DiscordApi;
use crate::errors::{Failure, RefusalReason};

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
