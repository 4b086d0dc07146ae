//! Which process answers an event, where several share a graph and are told the same.
//!
//! A claim says so before a model is asked. It lasts as long as its holder gives signs of life, by
//! the clock of the graph, and is kept for a while when the event is done, for those who are told of
//! it late. A graph that only one process has open needs none.

use std::time::Duration;

use chrono::Utc;
use muninn_platform::{ConversationId, EventId};
use serde_json::{Value, json};

use super::StoreError;
use super::engine::{Engine, Row};
use super::record::params;
use super::statements::claims;
use super::store::GraphStore;

/// Whose an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The one's who asked.
    Ours,
    /// The same, and somebody worked on it before who gives no sign of life any more.
    Inherited,
    /// Another process works on it.
    Held,
    /// It needs nothing more.
    Done,
}

/// What became of a claim since its last sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    Kept,
    /// Somebody told another process that it is to be stopped.
    Stopped,
    /// It lasted too long without a sign of life, and another process has it.
    Lost,
}

impl GraphStore {
    /// Runs a statement about claims; none where no other process could have any.
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

    /// Claims an event for `holder`, for as long as `lasts`.
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

    /// Gives a sign of life, from which on the claim lasts anew.
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

    /// Whether somebody works on the event, or another process than `holder` has its message, and gave
    /// a sign of life lately.
    pub async fn is_claimed(&self, event: &EventId, holder: &str) -> Result<bool, StoreError> {
        if !self.is_shared() {
            return Ok(false);
        }
        let bound = params(json!({"event": event.as_str(), "holder": holder}));
        let rows = self.engine.read(claims::IS_CLAIMED, bound).await?;
        Ok(!rows.is_empty())
    }

    /// What was kept of a command's event, if anything was.
    pub async fn outcome(&self, event: &EventId) -> Result<Option<String>, StoreError> {
        let bound = json!({"event": event.as_str()});
        let rows = self.engine.read(claims::OUTCOME, params(bound)).await?;
        let outcome = rows.first().and_then(|row| row.get("outcome")?.as_str());
        Ok(outcome.map(str::to_owned))
    }

    /// Keeps what a command is about, or came to, so that the same event again changes nothing.
    pub async fn set_outcome(&self, event: &EventId, outcome: &str) -> Result<(), StoreError> {
        let now = Utc::now().timestamp_millis();
        let bound = json!({"event": event.as_str(), "outcome": outcome, "now": now});
        let written = self.engine.write(claims::SET_OUTCOME, params(bound));
        written.await.map(drop)
    }

    /// Tells those who work on events of the session to stop, at their next sign of life.
    pub async fn stop_claims(&self, session: &ConversationId) -> Result<(), StoreError> {
        let bound = json!({"session": session.as_str()});
        self.write_claims(claims::STOP, bound).await.map(drop)
    }

    /// Removes claims that were done, or without a sign of life, for this long.
    pub async fn sweep_claims(&self, kept: Duration) -> Result<(), StoreError> {
        if !self.is_shared() {
            let before = Utc::now().timestamp_millis() - millis(kept);
            let bound = params(json!({"before": before}));
            // Most of the time there are none, and a write is synced.
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

pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
