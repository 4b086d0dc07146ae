//! Claims: which process answers an event, where several share a graph and receive the same events.
//!
//! A process claims an event before it asks a model. The claim lasts as long as its holder renews it,
//! by the clock of the graph. It is kept for a while after the event is finished, for processes that
//! receive the event late. A graph that only one process has open needs no claims.

use std::time::Duration;

use chrono::Utc;
use muninn_platform::{ConversationId, EventId};
use serde_json::{Value, json};
use uuid::Uuid;

use super::GraphStore;
use super::record::{params, text};
use super::statements::claims;
use crate::graph::StoreError;
use crate::graph::engine::{Engine, Row};

/// How long something waits for a process that serves its platform.
const HANDED_OVER_RETENTION: Duration = Duration::from_hours(30 * 24);

/// The holder of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The process that asked.
    Ours,
    /// The same; a previous holder stopped renewing it.
    Inherited,
    /// Another process works on it.
    Held,
    /// It needs nothing more.
    Done,
}

/// The state of a claim when it is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    Kept,
    /// Somebody told another process to stop it.
    Stopped,
    /// It was not renewed in time, and another process has it.
    Lost,
}

impl GraphStore {
    /// Runs a statement about claims; no rows if no other process could have any.
    async fn write_claims(
        &self,
        statement: &str,
        bound: Value,
    ) -> Result<Option<Vec<Row>>, StoreError> {
        if !self.is_shared() {
            return Ok(None);
        }
        self.engine.write(statement, params(bound)).await.map(Some)
    }

    /// Claims an event for `holder`, for the time `lasts`.
    pub async fn claim(
        &self,
        event: &EventId,
        session: &ConversationId,
        holder: &str,
        lasts: Duration,
    ) -> Result<Claimed, StoreError> {
        let bound = json!({
            "event": event.as_str(), "session": session.as_str(), "holder": holder,
            "lasts": millis(lasts),
        });
        let Some(rows) = self.write_claims(claims::CLAIM, bound).await? else {
            return Ok(Claimed::Ours);
        };
        let says = |column| rows.first().and_then(|row| row.get(column)?.as_bool());
        Ok(match (says("done"), says("free"), says("inherited")) {
            (Some(true), _, _) => Claimed::Done,
            (_, Some(true), Some(true)) => Claimed::Inherited,
            (_, Some(true), Some(false) | None) => Claimed::Ours,
            (_, Some(false) | None, _) => Claimed::Held,
        })
    }

    /// Makes a finished event free to be claimed again.
    pub async fn reopen_claim(&self, event: &EventId) -> Result<(), StoreError> {
        let bound = json!({"event": event.as_str()});
        self.write_claims(claims::REOPEN, bound).await.map(drop)
    }

    /// Renews a claim; its time starts again.
    pub async fn renew_claim(
        &self,
        event: &EventId,
        holder: &str,
        lasts: Duration,
    ) -> Result<Renewed, StoreError> {
        let bound = json!({"event": event.as_str(), "holder": holder, "lasts": millis(lasts)});
        let Some(rows) = self.write_claims(claims::RENEW, bound).await? else {
            return Ok(Renewed::Kept);
        };
        let Some(row) = rows.first() else {
            return Ok(Renewed::Lost);
        };
        Ok(match row.get("stopped").and_then(Value::as_bool) {
            Some(true) => Renewed::Stopped,
            Some(false) | None => Renewed::Kept,
        })
    }

    /// Whether a live process works on the event, or another live process than `holder` has its
    /// message.
    pub async fn is_claimed(&self, event: &EventId, holder: &str) -> Result<bool, StoreError> {
        if !self.is_shared() {
            return Ok(false);
        }
        let bound = params(json!({"event": event.as_str(), "holder": holder}));
        let rows = self.engine.read(claims::IS_CLAIMED, bound).await?;
        Ok(!rows.is_empty())
    }

    /// The stored outcome of a command's event, if any.
    pub async fn outcome(&self, event: &EventId) -> Result<Option<String>, StoreError> {
        let bound = json!({"event": event.as_str()});
        let rows = self.engine.read(claims::OUTCOME, params(bound)).await?;
        let outcome = rows.first().and_then(|row| row.get("outcome")?.as_str());
        Ok(outcome.map(str::to_owned))
    }

    /// Stores the targets or the result of a command, so that a repeated delivery of its event changes
    /// nothing.
    pub async fn set_outcome(&self, event: &EventId, outcome: &str) -> Result<(), StoreError> {
        self.set_lasting_outcome(event, outcome, Duration::ZERO)
            .await
    }

    /// As [`GraphStore::set_outcome`], and the sweep keeps it for so much longer.
    pub async fn set_lasting_outcome(
        &self,
        event: &EventId,
        outcome: &str,
        lasts: Duration,
    ) -> Result<(), StoreError> {
        let at = Utc::now().timestamp_millis().saturating_add(millis(lasts));
        let bound = json!({"event": event.as_str(), "outcome": outcome, "at": at});
        let statement = match self.is_shared() {
            true => claims::SET_OUTCOME,
            false => claims::SET_OUTCOME_WITHOUT_CLAIMS,
        };
        self.engine.write(statement, params(bound)).await.map(drop)
    }

    /// Leaves something to do to the processes that serve a platform.
    pub async fn hand_over(&self, platform: &str, content: &str) -> Result<(), StoreError> {
        let id = format!("{}{}", handed_over_to(platform), Uuid::now_v7());
        self.set_lasting_outcome(&EventId::new(id), content, HANDED_OVER_RETENTION)
            .await
    }

    /// What was left to the processes that serve a platform, oldest first, with IDs; not all of it if that is much.
    pub async fn handed_over(&self, platform: &str) -> Result<Vec<(EventId, String)>, StoreError> {
        let bound = params(json!({"prefix": handed_over_to(platform)}));
        let rows = self.engine.read(claims::HANDED_OVER, bound).await?;
        let found = |row: &Row| Some((EventId::new(text(row, "id")?), text(row, "content")?));
        Ok(rows.iter().filter_map(found).collect())
    }

    /// Removes what was left to others, as one of them has it now.
    pub async fn remove_handed_over(&self, id: &EventId) -> Result<(), StoreError> {
        let bound = params(json!({"event": id.as_str()}));
        self.engine.write(claims::REMOVE, bound).await.map(drop)
    }

    /// Tells the holders of a session's events to stop when they renew their claims.
    pub async fn stop_claims(&self, session: &ConversationId) -> Result<(), StoreError> {
        let bound = json!({"session": session.as_str()});
        self.write_claims(claims::STOP, bound).await.map(drop)
    }

    /// Removes claims that were finished, or not renewed, for this long.
    pub async fn sweep_claims(&self, kept: Duration) -> Result<(), StoreError> {
        if !self.is_shared() {
            let before = Utc::now().timestamp_millis() - millis(kept);
            let bound = params(json!({"before": before}));
            // Usually there are none, and a write would be synced.
            let old = self
                .engine
                .read(claims::OLD_OUTCOMES, bound.clone())
                .await?;
            if old.is_empty() {
                return Ok(());
            }
            let swept = self.engine.write(claims::SWEEP_OUTCOMES, bound);
            return swept.await.map(drop);
        }
        let bound = json!({"kept": millis(kept)});
        self.write_claims(claims::SWEEP, bound).await.map(drop)
    }
}

pub(in crate::graph) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The beginning of the IDs of what was left to the processes that serve a platform.
fn handed_over_to(platform: &str) -> String {
    format!("withdrawal/{platform}/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphConfig, open};

    #[tokio::test]
    async fn an_outcome_that_an_earlier_version_kept_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("embedded:{}", folder.path().display());
        let store = open(&GraphConfig::at(url)).await.unwrap();
        let event = EventId::new("test/1");
        // The ID of the node is the engine's.
        let old =
            "MERGE (c:MuninnClaim {event: 'test/1'}) SET c.outcome = 'began', c.outcomeAt = 1";
        store.engine.write(old, params(json!({}))).await.unwrap();
        for outcome in ["done", "done again"] {
            store.set_outcome(&event, outcome).await.unwrap();
            let kept = store.outcome(&event).await.unwrap();
            assert_eq!(kept.as_deref(), Some(outcome));
            let all = "MATCH (c:MuninnClaim) RETURN c.id AS id";
            let rows = store.engine.read(all, params(json!({}))).await.unwrap();
            let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str()).collect();
            assert_eq!(ids, [Some("test/1")]);
        }
        store.close().await.unwrap();
    }
}
