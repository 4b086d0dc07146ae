//! The usage of answers by day, for the operator.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::json;

use super::GraphStore;
use super::record::{integer, params, text};
use super::statements::spending as cypher;
use crate::graph::StoreError;
use crate::graph::engine::{Engine, Row};

/// Maximum number of rows of days, people and places in one table.
const MAX_ROWS: usize = 50_000;

/// The usage of the answers to one person in one place on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayOfAnswers {
    /// `2026-11-24`, in UTC.
    pub day: String,
    /// The display name.
    pub person: String,
    /// The name of the place.
    pub place: String,
    pub platform: String,
    pub answers: u64,
    pub tokens: u64,
    /// In millionths of a dollar.
    pub cost_micros: u64,
    /// Of all answers together.
    pub duration_ms: u64,
}

impl GraphStore {
    /// The usage of answers since then, unordered.
    pub async fn days_of_answers(
        &self,
        since: DateTime<Utc>,
    ) -> Result<Vec<DayOfAnswers>, StoreError> {
        let bound = params(json!({"since": since.to_rfc3339(), "most": MAX_ROWS}));
        let rows = self.engine.read(cypher::DAYS, bound).await?;
        let day = |row: &Row| {
            let said = |column| text(row, column).unwrap_or_default();
            let count = |column| u64::try_from(integer(row, column)).unwrap_or_default();
            DayOfAnswers {
                day: said("day"),
                person: said("person"),
                place: said("place"),
                platform: said("platform"),
                answers: count("answers"),
                tokens: count("tokens"),
                cost_micros: count("costMicros"),
                duration_ms: count("durationMs"),
            }
        };
        Ok(rows.iter().map(day).collect())
    }

    /// The number of answers since then that were given recalled turns, by day.
    pub async fn days_of_recall(
        &self,
        since: DateTime<Utc>,
    ) -> Result<BTreeMap<String, u64>, StoreError> {
        let bound = params(json!({"since": since.to_rfc3339()}));
        let rows = self.engine.read(cypher::RECALLED, bound).await?;
        let day = |row: &Row| {
            let answers = u64::try_from(integer(row, "answers")).unwrap_or_default();
            Some((text(row, "day")?, answers))
        };
        Ok(rows.iter().filter_map(day).collect())
    }
}
