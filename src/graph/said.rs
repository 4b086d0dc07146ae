//! When people last said something in an audience, and which digests were said there.

use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, EventId};
use serde_json::json;

use super::engine::Engine;
use super::record::{integer, params};
use super::statements::answers as statements;
use super::store::single;
use super::value::instant;
use super::{GraphStore, StoreError};

impl GraphStore {
    /// When a person last said something in an audience, beside one event; none where they never did.
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

/// The digests that were said.
impl GraphStore {
    /// Notes that the digest of a time is said in an audience. Gives the time of the one before, in milliseconds since
    /// 1970; none where that digest, or a later one, was noted already.
    pub async fn take_digest(
        &self,
        audience: &AudienceId,
        at: DateTime<Utc>,
    ) -> Result<Option<i64>, StoreError> {
        let bound = params(json!({"audience": audience.as_str(), "at": at.timestamp_millis()}));
        let rows = self.engine.write(statements::TAKE_DIGEST, bound).await?;
        Ok(rows.first().map(|row| integer(row, "before")))
    }

    /// Takes that back: it could not be said.
    pub async fn untake_digest(
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
