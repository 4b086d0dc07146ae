//! Legal holds: what is forgotten in a place under a hold is first copied for the operator. A copy is not a turn;
//! only an export of the graph shows it.

use std::sync::PoisonError;

use chrono::Utc;
use muninn_platform::AudienceId;
use serde_json::json;

use super::GraphStore;
use super::record::{integer, params, text};
use super::statements::forgetting as cypher;
use crate::graph::StoreError;
use crate::graph::engine::{Engine, Params, Purge, Row};
use crate::graph::types::response_id::ResponseId;

impl GraphStore {
    /// Puts these places and everything below them under a legal hold, and no others.
    pub fn hold_places(&self, places: Vec<AudienceId>) {
        *self.holds.write().unwrap_or_else(PoisonError::into_inner) = places;
    }

    /// Whether what is forgotten in an audience is copied first.
    pub fn is_held(&self, audience: &AudienceId) -> bool {
        let holds = self.holds.read().unwrap_or_else(PoisonError::into_inner);
        holds.iter().any(|place| audience.is_within(place))
    }

    /// Copies those of some turns that are under a hold. Turns with the same `suffix` are copied once.
    pub(in crate::graph) async fn copy_held_turns(
        &self,
        turns: &[ResponseId],
        suffix: &str,
    ) -> Result<(), StoreError> {
        let is_any = |holds: &Vec<AudienceId>| !holds.is_empty();
        if !is_any(&self.holds.read().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(());
        }
        let ids: Vec<String> = turns.iter().map(ResponseId::to_string).collect();
        let bound = params(json!({"ids": ids}));
        let rows = self.engine.read(cypher::AUDIENCES_OF, bound).await?;
        let is_held = |row: &&Row| {
            let audience = text(row, "audience").unwrap_or_default();
            self.is_held(&AudienceId::new(audience))
        };
        let held = rows.iter().filter(is_held);
        let held: Vec<String> = held.filter_map(|row| text(row, "id")).collect();
        if held.is_empty() {
            return Ok(());
        }
        let bound = json!({"ids": held, "suffix": suffix, "now": Utc::now().to_rfc3339()});
        self.engine
            .write(cypher::HOLD, params(bound))
            .await
            .map(drop)
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
