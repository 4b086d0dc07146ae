//! Vectors of turns, and which turn replaces which, as recall determines later.

use muninn_platform::AudienceId;
use serde_json::{Value, json};

use super::record::{integer, list, params, response_id, text};
use super::single;
use super::turns::news;
use super::{GraphStore, statements};
use crate::graph::engine::value::instant;
use crate::graph::engine::{Engine, Params, Row};
use crate::graph::types::response_id::ResponseId;
use crate::graph::{
    AudienceChanges, EmbeddedBy, EmbedderFilter, Replaced, ReplacementKind, StoreError, Turn,
};
use crate::retrieval::speech::states_something;

/// Maximum number of embedders that are told apart.
const MAX_EMBEDDERS: usize = 100;

impl GraphStore {
    /// The names of all embedders of which a turn has a vector, in order.
    pub async fn embedder_names(&self) -> Result<Vec<String>, StoreError> {
        let mut names: Vec<String> = Vec::new();
        while names.len() < MAX_EMBEDDERS {
            let after = params(json!({"after": names.last().map_or("", String::as_str)}));
            let rows = self.engine.read(statements::NEXT_EMBEDDER, after).await?;
            let Some(name) = rows.first().and_then(|row| text(row, "embedder")) else {
                break;
            };
            names.push(name);
        }
        Ok(names)
    }

    /// The embedders of the turns whose vectors recall compares: neither volatile turns nor questions
    /// that memory alone answered.
    pub async fn embedders(
        &self,
        filter: EmbedderFilter<'_>,
    ) -> Result<Vec<EmbeddedBy>, StoreError> {
        let (statement, bound) = match filter {
            EmbedderFilter::All => (statements::EMBEDDERS, Params::new()),
            EmbedderFilter::Missing => (statements::WITHOUT_EMBEDDER, Params::new()),
            EmbedderFilter::Named(name) => {
                (statements::OF_EMBEDDER, params(json!({"embedder": name})))
            }
        };
        let rows = self.engine.read(statement, bound).await?;
        let told = |row: &Row| {
            let told = list(row, "told").iter().filter_map(Value::as_str);
            told.filter(|text| states_something(text)).count()
        };
        let by = |row: &Row| EmbeddedBy {
            audience: AudienceId::new(text(row, "audience").unwrap_or_default()),
            embedder: text(row, "embedder").filter(|name| !name.is_empty()),
            turns: usize::try_from(integer(row, "turns")).unwrap_or_default() + told(row),
        };
        Ok(rows.iter().map(by).filter(|by| by.turns > 0).collect())
    }

    /// Reads a range of the audience's turns after `seen`, at most `limit` long. Returns those of its
    /// turns whose vector is missing, or, with an embedder, was not made by it; without their vectors.
    pub async fn stale_embeddings(
        &self,
        embedder: Option<&str>,
        audience: &AudienceId,
        seen: i64,
        limit: usize,
    ) -> Result<AudienceChanges, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let until = seen.saturating_add(limit.min(statements::NEWS_LIMIT));
        let (statement, mut bound) = match embedder {
            Some(name) => (
                statements::STALE_EMBEDDINGS,
                params(json!({"embedder": name})),
            ),
            None => (statements::MISSING_EMBEDDINGS, Params::new()),
        };
        bound.extend(params(
            json!({"audience": audience.as_str(), "seen": seen, "until": until}),
        ));
        let rows = self.engine.read(statement, bound).await?;
        let mut found = news(single(&rows)?, seen, until)?;
        found.turns.retain(Turn::can_be_recalled);
        Ok(found)
    }

    /// Replaces vectors with those of `embedder` and ends the audience's epoch, in one transaction.
    /// `None` means that the embedder can embed nothing of the turn's text, so that the turn is not
    /// stale any more. Returns how many of the turns still existed, with the same text.
    pub async fn set_embeddings(
        &self,
        embedder: &str,
        audience: &AudienceId,
        vectors: &[(&Turn, Option<Vec<f32>>)],
    ) -> Result<usize, StoreError> {
        let rows: Vec<Value> = vectors
            .iter()
            .map(|(turn, vector)| {
                let vector = vector.as_deref();
                let embedding = vector.map_or(Value::Null, |vector| {
                    (self.engine.dialect().embedding)(vector)
                });
                json!({"id": turn.id.to_string(), "input": turn.input, "output": turn.output, "embedding": embedding})
            })
            .collect();
        let bound = json!({"embedder": embedder, "audience": audience.as_str(), "rows": rows});
        let rows = self
            .engine
            .write(statements::SET_EMBEDDINGS, params(bound))
            .await?;
        let turns = rows.first().map_or(0, |row| integer(row, "turns"));
        Ok(usize::try_from(turns).unwrap_or_default())
    }

    /// Links a turn to earlier ones of its audience that it replaces. Those that were deleted, are
    /// later or belong to another audience are skipped. Returns how many were linked.
    pub async fn supersede(
        &self,
        audience: &AudienceId,
        turn: ResponseId,
        earlier: &[(ResponseId, ReplacementKind)],
    ) -> Result<usize, StoreError> {
        let rows: Vec<Value> = earlier
            .iter()
            .map(|(id, how)| json!({"id": id.to_string(), "how": how.as_str()}))
            .collect();
        let bound = json!({"audience": audience.as_str(), "id": turn.to_string(), "rows": rows});
        let rows = self
            .engine
            .write(statements::SUPERSEDE, params(bound))
            .await?;
        let links = rows.first().map_or(0, |row| integer(row, "links"));
        Ok(usize::try_from(links).unwrap_or_default())
    }

    /// Which turn of an audience replaces which earlier one, unordered.
    pub async fn superseded(&self, audience: &AudienceId) -> Result<Vec<Replaced>, StoreError> {
        let bound = params(json!({"audience": audience.as_str()}));
        let rows = self.engine.read(statements::SUPERSEDED, bound).await?;
        let id = |row, column| response_id(&text(row, column).unwrap_or_default());
        rows.iter()
            .map(|row| {
                let is_correction =
                    text(row, "how").as_deref() == Some(ReplacementKind::Correction.as_str());
                let at = row.get("at").and_then(instant);
                Ok(Replaced {
                    later: id(row, "later")?,
                    earlier: id(row, "earlier")?,
                    corrected_at: at.filter(|_| is_correction),
                })
            })
            .collect()
    }
}
