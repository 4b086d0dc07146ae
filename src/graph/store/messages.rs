//! Heard messages: reads them, and follows their edits and deletions.
//!
//! None of this needs a session's guard: no running answer depends on it, and a person who deletes a message does not have to
//! wait for one.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, ConversationId, EventId, KeptMessage};
use serde_json::{Value, json};

use super::GraphStore;
use super::answers::ForgottenEvent;
use super::marks::marks_of;
use super::record::{each_turn, integer, params, text};
use super::statements::messages as cypher;
use crate::graph::engine::{Engine, Purge, Row};
use crate::graph::{Forget, Forgotten, NewTurn, StoreError, Turn};

impl GraphStore {
    /// Everything said in an audience between two moments, to the bot and to others, oldest first; of more than `most` the
    /// newest. Without vectors.
    pub async fn messages_between(
        &self,
        audience: &AudienceId,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
        most: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        let bound = json!({
            "audience": audience.as_str(), "most": most,
            "from": from.to_rfc3339(), "until": until.to_rfc3339(),
        });
        let rows = self.engine.read(cypher::BETWEEN, params(bound)).await?;
        let turns = rows.iter().rev().filter_map(|row| row.get("turn"));
        each_turn(turns)
    }

    /// The events of an audience's messages since a moment; of more than `most` the newest.
    pub async fn messages_since(
        &self,
        audience: &AudienceId,
        since: DateTime<Utc>,
        most: usize,
    ) -> Result<Vec<KeptMessage>, StoreError> {
        let bound = json!({
            "audience": audience.as_str(), "from": since.to_rfc3339(), "most": most,
        });
        let rows = self.engine.read(cypher::KEPT_SINCE, params(bound)).await?;
        let kept = |row: &Row| {
            Some(KeptMessage {
                event: EventId::new(text(row, "event")?),
                conversation: ConversationId::new(text(row, "session")?),
            })
        };
        Ok(rows.iter().filter_map(kept).collect())
    }

    /// Replaces a message's text and the data that depends on it. Returns whether the message existed.
    pub async fn edit_message(&self, new: &NewTurn) -> Result<bool, StoreError> {
        let session = ConversationId::new(&new.turn.session);
        self.replace_in(&session, new).await
    }

    /// Forgets one message with its vector, and closes the gap in the chain.
    pub async fn forget_message(&self, message: &Turn) -> Result<Forgotten, StoreError> {
        let session = ConversationId::new(&message.session);
        self.forget_in(&session, Forget::Turn(message.id)).await
    }

    /// Forgets what a person said to others in an audience.
    pub async fn forget_heard_messages(
        &self,
        audience: &AudienceId,
        person: &str,
    ) -> Result<Forgotten, StoreError> {
        self.delete_with_intent(json!({"audience": audience.as_str(), "author": person}))
            .await
    }

    /// Those of some turns' events that were forgotten: individually, or with everything earlier in their conversation or place
    /// or by their author.
    pub async fn forgotten_among(
        &self,
        turns: impl Iterator<Item = &NewTurn>,
    ) -> Result<HashSet<String>, StoreError> {
        let rows: Vec<Value> = turns.map(marks_of).collect();
        if rows.is_empty() {
            return Ok(HashSet::new());
        }
        let bound = params(json!({"rows": rows}));
        let rows = self.engine.read(cypher::FORGOTTEN, bound).await?;
        Ok(rows.iter().filter_map(|row| text(row, "event")).collect())
    }

    /// Purges what was forgotten from every file.
    pub(in crate::graph) async fn scrubbed(&self, forgotten: Forgotten) -> Forgotten {
        // It is forgotten in any case, so this error is only reported in the result.
        let scrubbed = self.engine.purge(Purge::Forgotten).await;
        let is_in_file = scrubbed.is_err_and(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, "what was forgotten is still in a file of the graph");
            true
        });
        Forgotten {
            is_in_file,
            ..forgotten
        }
    }

    /// Marks messages that were forgotten before they were saved here.
    pub async fn mark_message(&self, message: &NewTurn) -> Result<(), StoreError> {
        self.mark_forgotten(&BTreeSet::from([ForgottenEvent::of(message)]))
            .await
    }
}

/// A number in a row about what was forgotten.
pub(in crate::graph) fn counted(row: Option<&Row>, column: &str) -> usize {
    let count = row.map_or(0, |row| integer(row, column));
    usize::try_from(count).unwrap_or_default()
}
