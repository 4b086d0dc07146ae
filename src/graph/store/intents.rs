//! Intents of deletion: stored before anything is deleted, so that the next start finishes what this process does not.
//!
//! The next start may come days later, after more was said in the same place. So an intent names the turns that were there
//! when it was stored, and finishing it deletes no others.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::GraphStore;
use super::forgetting::{MAX_TURNS_PER_TRANSACTION, named_turns};
use super::record::{params, text};
use super::statements::{forgetting as cypher, messages};
use crate::graph::engine::value::instant;
use crate::graph::engine::{DeletionIntent, Engine, Row};
use crate::graph::{Forgotten, StoreError};

impl GraphStore {
    /// Carries out a deletion so that the next start finishes it if this process does not.
    pub(in crate::graph) async fn delete_with_intent(
        &self,
        wish: Value,
    ) -> Result<Forgotten, StoreError> {
        let mut stored = wish.clone();
        // Turns that the wish itself names are already in it.
        if let Some(turns) = self.turns_meant(&wish, None).await? {
            stored["turns"] = json!(turns);
        }
        let intent = self.engine.record_intent(&stored)?;
        let subject = subject(&wish);
        if let Some(intent) = &intent {
            let unfinished = (intent.clone(), subject.clone());
            self.unfinished.lock().push(unfinished);
        }
        // If this fails, the intent stays until another try succeeds, or the next start finishes it.
        let forgotten = self.erase(wish).await?;
        if let Some(intent) = intent {
            let finished = self.take_finished(&intent, &subject);
            self.remove_intents(finished, forgotten.is_in_file)?;
        }
        Ok(forgotten)
    }

    /// Finishes what an earlier process was deleting.
    pub(super) async fn finish_intent(
        &self,
        intent: &DeletionIntent,
        mut wish: Value,
    ) -> Result<Forgotten, StoreError> {
        if wish.get("purge").is_some() {
            return Ok(self.scrubbed(Forgotten::default()).await);
        }
        let mut turns = named_turns(&wish);
        if turns.is_none() {
            // Earlier versions named no turns.
            let until = intent.recorded_at().unwrap_or_else(Utc::now);
            turns = self.turns_meant(&wish, Some(until)).await?;
        }
        match turns {
            Some(turns) => {
                let forgotten = self.erase_turns(&wish, &turns).await?;
                Ok(self.scrubbed(forgotten).await)
            }
            None => {
                if let Some(until) = made_until(&wish) {
                    wish["madeUntil"] = json!(until);
                }
                self.erase(wish).await
            }
        }
    }

    /// Removes intents whose deletion succeeded. If the text is still in a file, an intent that only purges the files
    /// replaces them.
    pub(super) fn remove_intents(
        &self,
        finished: Vec<DeletionIntent>,
        is_in_file: bool,
    ) -> Result<(), StoreError> {
        if is_in_file {
            let mut purging = self.purging.lock();
            if purging.is_none() {
                match self.engine.record_intent(&json!({"purge": true})) {
                    Ok(intent) => *purging = intent,
                    Err(error) => {
                        let error = &error as &dyn std::error::Error;
                        // The disk may be full. The earlier intents purge as well.
                        tracing::warn!(error, "intents of a deletion are kept");
                        return Ok(());
                    }
                }
            }
        }
        finished
            .into_iter()
            .try_for_each(DeletionIntent::remove_intent)
    }

    /// An intent, and those of earlier tries of the same deletion.
    fn take_finished(&self, last: &DeletionIntent, subject: &Value) -> Vec<DeletionIntent> {
        let mut unfinished = self.unfinished.lock();
        let is_finished =
            |(intent, of): &mut (DeletionIntent, Value)| *of == *subject && *intent <= *last;
        let finished = unfinished.extract_if(.., is_finished);
        finished.map(|(intent, _)| intent).collect()
    }

    /// The turns that a deletion is about, of those that were kept up to a moment; `None` if the wish itself has a bound.
    async fn turns_meant(
        &self,
        wish: &Value,
        until: Option<DateTime<Utc>>,
    ) -> Result<Option<Vec<String>>, StoreError> {
        let has = |field: &str| !wish[field].is_null();
        let statement = if has("people") || has("old") || has("id") || has("turns") {
            return Ok(None);
        } else if has("author") {
            messages::ALL_SAID_BY
        } else {
            cypher::TURNS_OF
        };
        let bound = params(json!({
            "session": wish["session"], "audience": wish["audience"], "author": wish["author"],
        }));
        let rows = self.engine.read(statement, bound).await?;
        let is_meant = |row: &&Row| match (until, row.get("createdAt").and_then(instant)) {
            (Some(until), Some(created)) => created <= until,
            (None, _) | (_, None) => true,
        };
        let meant = rows.iter().filter(is_meant);
        Ok(Some(meant.filter_map(|row| text(row, "id")).collect()))
    }

    /// Deletes those of some turns that are still there.
    pub(super) async fn erase_turns(
        &self,
        wish: &Value,
        turns: &[String],
    ) -> Result<Forgotten, StoreError> {
        let session = wish["session"].as_str();
        if session.is_some() && wish["until"].is_i64() {
            self.mark_session(wish).await?;
        }
        let mut forgotten = Forgotten::default();
        for ids in turns.chunks(MAX_TURNS_PER_TRANSACTION) {
            let bound = json!({"ids": ids, "most": MAX_TURNS_PER_TRANSACTION});
            forgotten = forgotten.plus(self.erase_found(cypher::AMONG, bound, true).await?);
        }
        if session.is_some() {
            let sessions = params(json!({"sessions": [session]}));
            let drop = cypher::DROP_EMPTY_SESSIONS;
            self.engine.write(drop, sessions).await?;
        }
        Ok(forgotten)
    }
}

/// Until when tokens, links between accounts, lists and answers were made that forgetting a person is about, in
/// milliseconds.
fn made_until(wish: &Value) -> Option<i64> {
    let until = wish["people"]
        .is_array()
        .then(|| wish["until"].as_str())??;
    let until = DateTime::parse_from_rfc3339(until).ok()?;
    Some(until.timestamp_millis())
}

/// What a deletion is about, which is the same at each try.
fn subject(wish: &Value) -> Value {
    let mut subject = wish.clone();
    if let Some(fields) = subject.as_object_mut() {
        fields.remove("until");
        fields.remove("saidUntil");
        // Each try means another moment, and only the last one counts.
        if let Some(old) = fields.get_mut("old") {
            *old = Value::Bool(true);
        }
        fields.remove("madeUntil");
    }
    subject
}
