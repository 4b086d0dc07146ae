//! Legal holds: what is forgotten in a place under a hold is first copied for the operator. A copy is not a turn;
//! only an export of the graph shows it.

use std::sync::{Arc, PoisonError};

use chrono::Utc;
use muninn_platform::{AudienceId, Channels};
use serde_json::{Value, json};

use super::GraphStore;
use super::forgetting::MAX_TURNS_PER_TRANSACTION;
use super::record::{append_params, integer, params, text};
use super::statements::forgetting as cypher;
use crate::graph::engine::{Engine, Params, Purge, Row};
use crate::graph::types::redacted::REDACTED_ANSWER;
use crate::graph::types::response_id::ResponseId;
use crate::graph::{NewTurn, StoreError};

/// What a copy has of a turn that is not in the graph.
const COPIED: [&str; 11] = [
    "id",
    "audience",
    "session",
    "createdAt",
    "author",
    "authorName",
    "source",
    "input",
    "output",
    "attached",
    "link",
];

impl GraphStore {
    /// Puts the places of these settings and everything below them under a legal hold, and no others. From then on a
    /// change of the settings counts at once.
    pub fn hold_by(&self, channels: Arc<Channels>) {
        *self.holds.write().unwrap_or_else(PoisonError::into_inner) = channels;
    }

    fn channels(&self) -> Arc<Channels> {
        let channels = self.holds.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&channels)
    }

    /// Whether what is forgotten in an audience is copied first.
    pub fn is_held(&self, audience: &AudienceId) -> bool {
        self.channels().is_held(audience)
    }

    /// Copies those of some turns that are under a hold. Turns with the same `suffix` are copied once.
    pub(in crate::graph) async fn copy_held_turns(
        &self,
        turns: &[ResponseId],
        suffix: &str,
    ) -> Result<(), StoreError> {
        self.copy_held(turns, suffix, |_| true).await
    }

    /// Copies those of some answers that are under a hold and are about to be emptied, each wording separately.
    pub(in crate::graph) async fn copy_held_answers(
        &self,
        answers: &[ResponseId],
    ) -> Result<(), StoreError> {
        let wording = format!(" {}", Utc::now().timestamp_millis());
        let is_full = |row: &Row| row.get("isEmpty").and_then(Value::as_bool) != Some(true);
        self.copy_held(answers, &wording, is_full).await
    }

    /// The same for the answers that show what some turns say: they are emptied together with the deletion of these turns.
    pub(in crate::graph) async fn copy_held_quotes(
        &self,
        turns: &[ResponseId],
    ) -> Result<(), StoreError> {
        if self.channels().legal_holds().is_empty() {
            return Ok(());
        }
        let quoting = self.answers_quoting(turns).await?;
        self.copy_held_answers(&quoting).await
    }

    async fn copy_held(
        &self,
        turns: &[ResponseId],
        suffix: &str,
        is_meant: fn(&Row) -> bool,
    ) -> Result<(), StoreError> {
        if self.channels().legal_holds().is_empty() {
            return Ok(());
        }
        for turns in turns.chunks(MAX_TURNS_PER_TRANSACTION) {
            let bound = params(json!({"ids": turns, "blot": REDACTED_ANSWER}));
            let rows = self.engine.read(cypher::AUDIENCES_OF, bound).await?;
            let is_held = |row: &&Row| {
                let audience = text(row, "audience").unwrap_or_default();
                is_meant(row) && self.is_held(&AudienceId::new(audience))
            };
            let held = rows.iter().filter(is_held);
            let held: Vec<String> = held.filter_map(|row| text(row, "id")).collect();
            if !held.is_empty() {
                let bound = json!({"ids": held, "suffix": suffix, "now": Utc::now().to_rfc3339()});
                self.engine.write(cypher::HOLD, params(bound)).await?;
            }
        }
        Ok(())
    }

    /// Copies those of some turns that are under a hold. They need not be in the graph: they wait for it, or were set aside.
    ///
    /// # Errors
    /// Fails when the graph does not take a copy.
    pub(crate) async fn copy_held_unsaved(&self, turns: &[Arc<NewTurn>]) -> Result<(), StoreError> {
        self.copy_unsaved(turns, "").await
    }

    /// The same for an answer that is about to be emptied, each wording separately.
    ///
    /// # Errors
    /// Fails when the graph does not take the copy.
    pub(crate) async fn copy_held_unsaved_answer(
        &self,
        answer: &Arc<NewTurn>,
    ) -> Result<(), StoreError> {
        if answer.turn.output == REDACTED_ANSWER {
            return Ok(());
        }
        let wording = format!(" {}", Utc::now().timestamp_millis());
        self.copy_unsaved(std::slice::from_ref(answer), &wording)
            .await
    }

    async fn copy_unsaved(&self, turns: &[Arc<NewTurn>], suffix: &str) -> Result<(), StoreError> {
        let held = turns.iter().filter(|it| self.is_held(&it.audience.id));
        let rows = held.map(|it| {
            let mut row = append_params(&self.engine, &it.turn.session, it);
            row.retain(|name, _| COPIED.contains(&name.as_str()));
            row.insert("id".to_owned(), json!(format!("{}{suffix}", it.turn.id)));
            Value::Object(row)
        });
        let rows: Vec<Value> = rows.collect();
        for rows in rows.chunks(MAX_TURNS_PER_TRANSACTION) {
            let bound = json!({"rows": rows, "now": Utc::now().to_rfc3339()});
            self.engine
                .write(cypher::HOLD_UNSAVED, params(bound))
                .await?;
        }
        Ok(())
    }

    /// Number of copies under a hold, by audience.
    pub async fn held_copy_counts(&self) -> Result<Vec<(AudienceId, usize)>, StoreError> {
        let rows = self.engine.read(cypher::HELD, Params::new()).await?;
        let held = |row: &Row| {
            let copies = usize::try_from(integer(row, "copies")).unwrap_or_default();
            Some((AudienceId::new(text(row, "audience")?), copies))
        };
        Ok(rows.iter().filter_map(held).collect())
    }

    /// Deletes the copies of an audience. Returns their number.
    pub async fn release_held(&self, audience: &AudienceId) -> Result<usize, StoreError> {
        let bound = params(json!({"audience": audience}));
        let rows = self.engine.write(cypher::RELEASE, bound).await?;
        self.engine.purge(Purge::Forgotten).await?;
        Ok(
            usize::try_from(rows.first().map_or(0, |row| integer(row, "copies")))
                .unwrap_or_default(),
        )
    }
}
