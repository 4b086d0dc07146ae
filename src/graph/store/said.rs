//! When people last said something in an audience, and which digests were posted there.

use chrono::{DateTime, Utc};
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

/// Posted digests.
impl GraphStore {
    /// Records that the digest of a time is posted in an audience. Returns the time of the previous one, in
    /// milliseconds since 1970; `None` if that digest or a later one was recorded already.
    pub async fn claim_digest(
        &self,
        audience: &AudienceId,
        at: DateTime<Utc>,
    ) -> Result<Option<i64>, StoreError> {
        let bound = params(json!({"audience": audience.as_str(), "at": at.timestamp_millis()}));
        let rows = self.engine.write(statements::TAKE_DIGEST, bound).await?;
        Ok(rows.first().map(|row| integer(row, "before")))
    }

    /// Undoes that, as the digest could not be posted.
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
