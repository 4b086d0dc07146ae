//! Reads the history of channels, as a backfill does.

use chrono::{TimeDelta, Utc};

use crate::{AudienceId, Histories};

/// Reads so many pages of a channel's last hour, from a cursor on. Returns the next cursor, if
/// there are more pages.
///
/// # Panics
/// Panics when the platform does not give them.
pub async fn read_history(
    histories: &Histories,
    channel: &AudienceId,
    mut at: Option<String>,
    pages: usize,
) -> Option<String> {
    let since = Utc::now() - TimeDelta::hours(1);
    for _ in 0..pages {
        let history = histories.of(channel).expect("a platform with a history");
        let page = history.read_page(channel, since, at.as_deref()).await;
        at = page.expect("a page").next;
        if at.is_none() {
            break;
        }
    }
    at
}
