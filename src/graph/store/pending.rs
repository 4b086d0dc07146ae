//! Pending messages, which were accepted and are not answered yet, in a graph that several processes share.
//!
//! Each has a lease, by the clock of the graph. When it ends, any process may take the message. A graph that only one
//! process has open stores none; that process uses its own file.

use std::time::Duration;

use muninn_platform::{EventId, IncomingMessage};
use serde_json::{Value, json};

use super::GraphStore;
use super::claims::millis;
use super::record::{params, text};
use super::statements::pending;
use crate::graph::StoreError;
use crate::graph::engine::{Engine, Params, Row};

/// How often a message may be taken over: one that kills every process that takes it is then left alone.
pub(crate) const MOST_TAKES: u32 = 5;

impl GraphStore {
    /// Runs a statement about pending messages; no rows if there can be none.
    async fn write_pending(&self, statement: &str, bound: Value) -> Result<Vec<Row>, StoreError> {
        if !self.is_shared() {
            return Ok(Vec::new());
        }
        self.engine.write(statement, params(bound)).await
    }

    /// Stores a message for `holder`.
    pub async fn accept(
        &self,
        message: &IncomingMessage,
        holder: &str,
        lease: Duration,
    ) -> Result<(), StoreError> {
        let payload = serde_json::to_string(message)
            .map_err(|error| StoreError::Unexpected(error.to_string()))?;
        let bound = json!({
            "id": format!("{} {holder}", message.event),
            "event": message.event.as_str(), "session": message.conversation.as_str(),
            "platform": message.answered_by(), "payload": payload,
            "holder": holder, "lasts": millis(lease),
        });
        self.write_pending(pending::ACCEPT, bound).await.map(drop)
    }

    /// Renews the leases of messages of `holder`.
    pub async fn renew_pending(
        &self,
        events: &[EventId],
        holder: &str,
        lease: Duration,
    ) -> Result<(), StoreError> {
        let bound = json!({"events": events, "holder": holder, "lasts": millis(lease)});
        self.write_pending(pending::RENEW, bound).await.map(drop)
    }

    /// Finishes events: removes the holder's messages, and ends its claims.
    pub async fn finish_events(&self, events: &[EventId], holder: &str) -> Result<(), StoreError> {
        let bound = json!({"events": events, "holder": holder});
        self.write_pending(pending::FINISH, bound).await.map(drop)
    }

    /// Whether any process holds the message and has not finished it.
    pub async fn is_pending(&self, event: &EventId) -> Result<bool, StoreError> {
        if !self.is_shared() {
            return Ok(false);
        }
        let bound = params(json!({"event": event.as_str()}));
        let rows = self.engine.read(pending::IS_PENDING, bound).await?;
        Ok(!rows.is_empty())
    }

    /// Removes a message, whoever holds it.
    pub async fn erase_pending(&self, event: &EventId) -> Result<(), StoreError> {
        let bound = json!({"event": event.as_str()});
        self.write_pending(pending::ERASE, bound).await.map(drop)
    }

    /// Takes messages of these platforms whose lease has ended, at most `most`, oldest first; with `own` also those that
    /// `holder` left when it was ended. The messages of a process that may have answered without the graph are left to
    /// it until the process itself counts as dead.
    pub async fn take_over(
        &self,
        holder: &str,
        platforms: &[String],
        own: bool,
        most: usize,
        lease: Duration,
    ) -> Result<Vec<IncomingMessage>, StoreError> {
        let bound = json!({
            "holder": holder, "platforms": platforms, "own": own, "most": most,
            "mostTakes": MOST_TAKES, "lasts": millis(lease),
        });
        let rows = self.write_pending(pending::TAKE_OVER, bound).await?;
        Ok(rows.iter().filter_map(message).collect())
    }

    /// Removes messages that were accepted this long ago.
    pub async fn sweep_pending(&self, kept: Duration) -> Result<(), StoreError> {
        let bound = json!({"kept": millis(kept)});
        self.write_pending(pending::SWEEP, bound).await.map(drop)
    }

    /// Registers that this process serves these platforms, and on which of them it may assume to be `alone`. Returns the
    /// platforms that others serve.
    pub async fn sign_in(
        &self,
        holder: &str,
        platforms: &[String],
        alone: &[String],
        lasts: Duration,
    ) -> Result<Vec<String>, StoreError> {
        let bound = json!({
            "holder": holder, "platforms": platforms, "alone": alone, "lasts": millis(lasts),
        });
        let rows = self.write_pending(pending::SIGN_IN, bound).await?;
        let lists = rows.iter().filter_map(|row| row.get("others")?.as_array());
        let names = lists.flatten().filter_map(Value::as_array).flatten();
        Ok(names.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Returns the platforms that running processes serve with this graph. A process that was killed counts until its
    /// registration ends.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn served_platforms(&self) -> Result<Vec<String>, StoreError> {
        if !self.is_shared() {
            return Ok(Vec::new());
        }
        let rows = self.engine.read(pending::SERVED, Params::new()).await?;
        Ok(rows
            .iter()
            .filter_map(|row| text(row, "platform"))
            .collect())
    }

    /// Ends all leases of a process that ends, and its registration.
    pub async fn sign_out(&self, holder: &str) -> Result<(), StoreError> {
        for statement in [pending::RELEASE, pending::SIGN_OUT] {
            self.write_pending(statement, json!({"holder": holder}))
                .await?;
        }
        Ok(())
    }
}

/// The message of a row. An unreadable one is from another version of this program, which may still take it.
fn message(row: &Row) -> Option<IncomingMessage> {
    let payload = row.get("payload")?.as_str()?;
    match serde_json::from_str(payload) {
        Ok(message) => Some(message),
        Err(_) => {
            tracing::warn!("a pending message in the graph cannot be read by this version");
            None
        }
    }
}
