//! Outcomes of answers: the memories that they were given, and the votes on them.

use std::collections::BTreeMap;

use muninn_platform::AudienceId;
use serde_json::{Value, json};

use super::GraphStore;
use super::answers::Votes;
use super::record::{integer, list, params, response_id, text};
use super::statements::answers;
use crate::graph::StoreError;
use crate::graph::engine::{Engine, Params, Row};
use crate::graph::types::response_id::ResponseId;

/// The outcome of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub id: ResponseId,
    pub votes: Votes,
    /// The memories that it was given, unordered.
    pub recalled: Vec<ResponseId>,
    /// Number of existing knowledge nodes from which it was made.
    pub knowledge: usize,
    /// Number of those that have changed since, including sources that were removed.
    pub changed: usize,
}

impl GraphStore {
    /// Number of turns of each audience, including heard messages.
    pub async fn turns_by_audience(&self) -> Result<BTreeMap<String, usize>, StoreError> {
        let rows = self
            .engine
            .read(answers::TURNS_BY_AUDIENCE, Params::new())
            .await?;
        let of = |row: &Row| {
            let turns = usize::try_from(integer(row, "turns")).unwrap_or_default();
            Some((text(row, "audience")?, turns))
        };
        Ok(rows.iter().filter_map(of).collect())
    }

    /// The outcomes of an audience's answers after one position and up to another, unordered.
    pub async fn outcomes(
        &self,
        audience: &AudienceId,
        behind: i64,
        through: i64,
    ) -> Result<Vec<Outcome>, StoreError> {
        let bound = json!({"audience": audience.as_str(), "first": behind + 1, "last": through});
        let rows = self.engine.read(answers::OUTCOMES, params(bound)).await?;
        rows.iter().map(outcome).collect()
    }
}

fn outcome(row: &Row) -> Result<Outcome, StoreError> {
    let recalled = list(row, "recalled").iter().filter_map(Value::as_str);
    let sources = list(row, "sources");
    let changed = sources.iter().filter(|it| it.as_bool() == Some(true));
    let removed = usize::try_from(integer(row, "removed")).unwrap_or_default();
    Ok(Outcome {
        id: response_id(&text(row, "id").unwrap_or_default())?,
        votes: Votes::of(&text(row, "feedback").unwrap_or_default()),
        recalled: recalled.map(response_id).collect::<Result<_, _>>()?,
        knowledge: sources.len(),
        changed: changed.count() + removed,
    })
}
