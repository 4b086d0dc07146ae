//! When people last said something in an audience, and which digests were posted there.

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{AudienceId, EventId};
use serde_json::json;

use super::GraphStore;
use super::record::{integer, params};
use super::single;
use super::statements::answers as statements;
use crate::graph::StoreError;
use crate::graph::engine::Engine;
use crate::graph::engine::value::instant;

impl GraphStore {
    /// When a person last said something in an audience, apart from one event; `None` if they never did.
    pub async fn last_said_by(
        &self,
        audience: &AudienceId,
        author: &str,
        event: &EventId,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let bound = params(json!({
            "audience": audience.as_str(), "author": author, "event": event.as_str(),
        }));
        let rows = self.engine.read(statements::LAST_SAID_BY, bound).await?;
        Ok(single(&rows)?.get("at").and_then(instant))
    }
}

/// A digest that one process posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimedDigest {
    /// The time of the digest that was claimed before, in milliseconds since 1970; 0 if none was.
    pub before: i64,
    /// Until when earlier digests told everything.
    pub told_until: DateTime<Utc>,
}

/// Posted digests.
impl GraphStore {
    /// Claims the digest of a time in an audience, so that no other process posts it. If no digest was ever claimed
    /// there, this one tells from `from` on, and so does the next one if this one is not posted. `None` if that digest
    /// or a later one was claimed already. A claim of more than a day ahead of the clock is void.
    pub async fn claim_digest(
        &self,
        audience: &AudienceId,
        from: DateTime<Utc>,
        at: DateTime<Utc>,
    ) -> Result<Option<ClaimedDigest>, StoreError> {
        // Clocks of other processes may be a little ahead.
        let future = at.max(Utc::now()) + TimeDelta::days(1);
        let bound = params(json!({
            "audience": audience.as_str(), "from": from.timestamp_millis(), "at": at.timestamp_millis(),
            "future": future.timestamp_millis(),
        }));
        let rows = self.engine.write(statements::TAKE_DIGEST, bound).await?;
        Ok(rows.first().map(|row| {
            let told = Some(integer(row, "told")).filter(|told| *told != 0);
            ClaimedDigest {
                before: integer(row, "before"),
                told_until: told
                    .and_then(DateTime::from_timestamp_millis)
                    .unwrap_or(from),
            }
        }))
    }

    /// Records that a claimed digest told everything until its time, so that the next one begins there.
    pub async fn record_told_digest(
        &self,
        audience: &AudienceId,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let bound = params(json!({"audience": audience.as_str(), "at": at.timestamp_millis()}));
        let set = self.engine.write(statements::DIGEST_TOLD, bound);
        set.await.map(drop)
    }

    /// Gives a claimed digest back, as it could not be posted.
    pub async fn release_digest(
        &self,
        audience: &AudienceId,
        at: DateTime<Utc>,
        before: i64,
    ) -> Result<(), StoreError> {
        let bound = params(json!({
            "audience": audience.as_str(), "at": at.timestamp_millis(), "before": before,
        }));
        let set = self.engine.write(statements::UNTAKE_DIGEST, bound);
        set.await.map(drop)
    }
}
