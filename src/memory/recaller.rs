//! Recall in a turn: embeds, keeps the audiences' indexes current with the graph, and ranks.
//!
//! The graph is the truth; an index is loaded from it when its audience first talks, and then
//! follows the news that each turn reads.

use std::sync::PoisonError;

use muninn_platform::AudienceId;

use super::{AudienceCache, AudienceIndex, RecallSettings, Recalled};
use crate::graph::{Embedding, GraphStore, News, ResponseId, StoreError};
use crate::llm::Embedder;

/// Turns read at once while an index is loaded.
const PAGE: usize = 1_000;

/// Recalls.
#[derive(Debug)]
pub struct Recaller {
    embedder: Embedder,
    settings: RecallSettings,
    indexes: AudienceCache,
}

/// A message as it is looked for.
#[derive(Clone, Debug, Default)]
pub struct Sought {
    /// None where the embedder knows no word of it, or does not answer.
    pub vector: Option<Vec<f32>>,
    /// The embedding service does not answer: only words are compared.
    pub embeddings_down: bool,
}

impl Recaller {
    pub fn new(embedder: Embedder, settings: RecallSettings) -> Self {
        Self {
            embedder,
            settings,
            indexes: AudienceCache::default(),
        }
    }

    /// Embeds an exchange that is to be kept. None where it embeds to nothing, or cannot be.
    pub async fn embed_exchange(&self, text: &str) -> Option<Embedding> {
        let vector = self.embed(text).await.vector?;
        Some(Embedding {
            embedder: self.embedder.name()?.to_owned(),
            vector,
        })
    }

    /// Embeds a message that is looked for.
    pub async fn embed(&self, text: &str) -> Sought {
        match self.embedder.embed(&[text.to_owned()]).await {
            Ok(vectors) => Sought {
                vector: vectors.into_iter().next().flatten(),
                embeddings_down: false,
            },
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "no embedding: recalling by words only");
                Sought {
                    vector: None,
                    embeddings_down: true,
                }
            }
        }
    }

    /// Loads the audience's index, unless it is there. Without the graph there is none, and nothing
    /// is recalled.
    pub async fn load(&self, store: &dyn GraphStore, audience: &AudienceId) {
        if self.indexes.get(audience).is_some() {
            return;
        }
        match read_index(store, audience).await {
            Ok(index) => self.indexes.insert(audience, index),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, %audience, "no recall: its turns cannot be read");
            }
        }
    }

    /// The position up to which the audience's turns are known; none of them without an index, so
    /// that no turn reads all of them as news.
    pub fn seen(&self, audience: &AudienceId) -> i64 {
        self.indexes.get(audience).map_or(i64::MAX, |index| {
            index.read().unwrap_or_else(PoisonError::into_inner).seen
        })
    }

    /// Takes in what a turn read; loads the index again where something was forgotten since.
    pub async fn learn(&self, store: &dyn GraphStore, audience: &AudienceId, news: News) {
        let Some(index) = self.indexes.get(audience) else {
            return;
        };
        {
            let mut index = index.write().unwrap_or_else(PoisonError::into_inner);
            if index.epoch == news.epoch {
                for turn in news.turns {
                    index.push(turn);
                }
                index.seen = news.through.max(index.seen);
                return;
            }
        }
        self.indexes.invalidate(audience);
        self.load(store, audience).await;
    }

    /// Drops the audience's index: something in it was forgotten.
    pub fn forget(&self, audience: &AudienceId) {
        self.indexes.invalidate(audience);
    }

    /// The audience's earlier turns that help with `text`, without those that are shown already.
    pub fn recall(
        &self,
        audience: &AudienceId,
        text: &str,
        sought: &Sought,
        shown: &[ResponseId],
    ) -> Vec<Recalled> {
        let Some(index) = self.indexes.get(audience) else {
            return Vec::new();
        };
        let index = index.read().unwrap_or_else(PoisonError::into_inner);
        index.recall(sought.vector.as_deref(), text, shown, self.settings.threshold.unwrap_or(0.45))
    }
}

async fn read_index(
    store: &dyn GraphStore,
    audience: &AudienceId,
) -> Result<AudienceIndex, StoreError> {
    let mut index = AudienceIndex::default();
    loop {
        let news = store.turns_since(audience, index.seen, PAGE).await?;
        index.epoch = news.epoch;
        for turn in news.turns {
            index.push(turn);
        }
        index.seen = news.through;
        if !news.more {
            return Ok(index);
        }
    }
}

/// Whether a message asks rather than tells. A question that only memory answered says nothing that
/// would be worth recalling.
pub fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？', '؟'])
}
