//! Recall in a turn: embeds, keeps the audiences' indexes current with the graph, and ranks.
//!
//! The graph is the truth; an index is loaded from it when its audience first talks, and then
//! follows the news that each turn reads.

use std::sync::Arc;

use muninn_platform::{AudienceId, Channels};

use super::cache::{Freshness, RecallCache, SharedIndex};
use super::reembed::{Stale, stale};
use super::{
    AudienceIndex, Calibration, Candidate, Earlier, Query, RecallSettings, Recalled, candidates,
    recall, within_budget,
};
use crate::graph::{Embedding, GraphStore, News, ResponseId, Source, StoreError, Turn};
use crate::llm::Embedder;
use crate::tasks::joined;

/// Turns read at once while an index is loaded: as many as the stores give in one statement.
const PAGE: usize = 1_024;
/// Exchanges held in memory at most, of all audiences; about 1 KB each.
const MAX_EXCHANGES: usize = 200_000;
/// Turns before a message that it may lean on.
const REACH: usize = 2;

/// Recalls.
#[derive(Debug)]
pub struct Recaller {
    embedder: Embedder,
    calibration: Calibration,
    settings: RecallSettings,
    /// Some channels have a threshold of their own.
    channels: Arc<Channels>,
    indexes: RecallCache,
}

/// A message as it is looked for.
#[derive(Clone, Debug, Default)]
pub struct Sought {
    pub text: String,
    /// None where the embedder knows no word of it, or does not answer.
    pub vector: Option<Vec<f32>>,
    /// The embedding service does not answer: only words are compared.
    pub embeddings_down: bool,
}

impl Recaller {
    pub fn new(embedder: Embedder, calibration: Calibration, settings: RecallSettings) -> Self {
        Self {
            embedder,
            calibration,
            settings,
            channels: Arc::default(),
            indexes: RecallCache::new(MAX_EXCHANGES),
        }
    }

    /// With what is set for single channels.
    #[must_use]
    pub fn with_channels(self, channels: Arc<Channels>) -> Self {
        Self { channels, ..self }
    }

    fn settings_of(&self, audience: &AudienceId) -> RecallSettings {
        let set = self.channels.of(audience);
        let threshold = set.and_then(|settings| settings.recall_threshold);
        RecallSettings {
            threshold: threshold.unwrap_or(self.settings.threshold),
            ..self.settings
        }
    }

    /// Embeds an exchange that is to be kept. None where it embeds to nothing, or cannot be.
    pub async fn embed_exchange(&self, text: &str) -> Option<Embedding> {
        let vector = self.seek(text).await.vector?;
        Some(Embedding {
            embedder: self.embedder.name()?.to_owned(),
            vector,
        })
    }

    /// Makes a message ready to be looked for.
    pub async fn seek(&self, text: &str) -> Sought {
        let embedded = self.embedder.embed(&[text.to_owned()]).await;
        let (vector, embeddings_down) = match embedded {
            Ok(vectors) => (vectors.into_iter().next().flatten(), false),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "no embedding");
                (None, true)
            }
        };
        Sought {
            text: text.to_owned(),
            vector,
            embeddings_down,
        }
    }

    /// Loads the audience's index, unless it is there. Without the graph there is none, and nothing
    /// is recalled.
    pub async fn load(&self, store: &dyn GraphStore, audience: &AudienceId) {
        if self.is_loaded(audience) {
            return;
        }
        match self.read_index(store, audience).await {
            Ok(index) => {
                self.indexes.insert(audience.clone(), index);
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, %audience, "no recall: its turns cannot be read");
            }
        }
    }

    /// An index that was made before the embedding service had said what it makes compares no
    /// vectors, so it does not count.
    fn is_loaded(&self, audience: &AudienceId) -> bool {
        let made_by = |index: SharedIndex| index.read(|index| index.embedder().map(str::to_owned));
        self.indexes
            .get(audience)
            .is_some_and(|index| made_by(index).as_deref() == self.embedder.name())
    }

    /// The position up to which the audience's turns are known; beyond all of them without an
    /// index, so that no turn reads all of them as news.
    pub fn seen(&self, audience: &AudienceId) -> i64 {
        self.indexes
            .get(audience)
            .map_or(i64::MAX, |index| index.seen().0)
    }

    /// Takes in what a turn read; loads the index again where something was forgotten since, or
    /// where there was more than a turn reads.
    pub async fn learn(&self, store: &dyn GraphStore, audience: &AudienceId, news: &News) {
        let Some(index) = self.indexes.get(audience) else {
            return;
        };
        match index.update(news) {
            Freshness::Current if !news.more => {}
            Freshness::Current | Freshness::Stale => {
                self.indexes.invalidate(audience);
                self.load(store, audience).await;
            }
        }
    }

    /// Takes in what an audience said since, for a message that is asked elsewhere.
    pub async fn catch_up(&self, store: &dyn GraphStore, audience: &AudienceId) {
        if !self.is_loaded(audience) {
            return self.load(store, audience).await;
        }
        match store.turns_since(audience, self.seen(audience), PAGE).await {
            Ok(news) => self.learn(store, audience, &news).await,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, %audience, "its news cannot be read");
            }
        }
    }

    /// Says in the log where turns have vectors that cannot be compared.
    pub async fn notice_stale(&self, store: &dyn GraphStore) {
        match stale(store, &self.embedder).await {
            Ok(Stale {
                foreign: 0,
                missing: _,
            }) => {}
            Ok(Stale {
                foreign,
                missing: _,
            }) => tracing::warn!(
                turns = foreign,
                "turns have vectors of another embedder, so only their words are found; run `muninn reembed`"
            ),
            Err(error) => tracing::debug!(
                error = &error as &dyn std::error::Error,
                "the vectors cannot be counted"
            ),
        }
    }

    /// Drops the audience's index: something in it was forgotten.
    pub fn forget(&self, audience: &AudienceId) {
        self.indexes.invalidate(audience);
    }

    /// The audiences' earlier turns that help with a message, oldest first, without those that are
    /// `shown` already. A message may lean on the turns `before` it in its session. The budget is
    /// that of the first audience, for all of them together.
    pub fn recall(
        &self,
        audiences: &[&AudienceId],
        sought: &Sought,
        before: &[Turn],
        shown: &[ResponseId],
    ) -> Vec<Recalled> {
        let recalled = |audience: &&AudienceId| {
            let settings = self.settings_of(audience);
            self.look(audience, sought, before, shown, |index, query| {
                recall(index, &self.calibration, query, &settings)
            })
        };
        match audiences {
            // The usual case, and within the budget already.
            [one] => recalled(one),
            several => within_budget(several.iter().map(recalled).collect(), &self.settings),
        }
    }

    /// What was considered for a message, best first, and what became of it.
    pub fn candidates(
        &self,
        audience: &AudienceId,
        sought: &Sought,
        limit: usize,
    ) -> Vec<Candidate> {
        let settings = self.settings_of(audience);
        self.look(audience, sought, &[], &[], |index, query| {
            candidates(index, &self.calibration, query, &settings, limit)
        })
    }

    fn look<T>(
        &self,
        audience: &AudienceId,
        sought: &Sought,
        before: &[Turn],
        shown: &[ResponseId],
        look: impl Fn(&AudienceIndex, &Query<'_>) -> Vec<T>,
    ) -> Vec<T> {
        let Some(index) = self.indexes.get(audience) else {
            return Vec::new();
        };
        let before = &before[before.len().saturating_sub(REACH)..];
        let vectors: Vec<Option<Vec<f32>>> = before
            .iter()
            .map(|turn| self.vector_of(&turn.input))
            .collect();
        let earlier: Vec<Earlier<'_>> = before
            .iter()
            .zip(&vectors)
            .map(|(turn, vector)| Earlier {
                text: &turn.input,
                vector: vector.as_deref(),
            })
            .collect();
        let query = Query {
            text: &sought.text,
            vector: sought.vector.as_deref(),
            earlier: &earlier,
            exclude: shown,
        };
        index.read(|index| look(index, &query))
    }

    /// What embeds.
    pub fn embedder(&self) -> &Embedder {
        &self.embedder
    }

    /// A service would have to be asked; words have to do then.
    pub(crate) fn vector_of(&self, text: &str) -> Option<Vec<f32>> {
        match &self.embedder {
            Embedder::Local(local) => local.embed(text),
            Embedder::Remote(_) => None,
        }
    }

    async fn read_index(
        &self,
        store: &dyn GraphStore,
        audience: &AudienceId,
    ) -> Result<AudienceIndex, StoreError> {
        let embedder = self.embedder.name().zip(self.embedder.dimension());
        let mut news = store.turns_since(audience, 0, PAGE).await?;
        let mut index = AudienceIndex::new(embedder, news.epoch);
        while news.more {
            // The store works on the next ones while these are taken in.
            let through = news.through;
            let (next, taken) = tokio::join!(
                store.turns_since(audience, through, PAGE),
                joined(tokio::task::spawn_blocking(move || taken_in(index, &news)))
            );
            index = taken;
            news = next?;
            if news.epoch != index.epoch() {
                // Something was forgotten while we read: what was read before may hold it.
                news = store.turns_since(audience, 0, PAGE).await?;
                index = AudienceIndex::new(embedder, news.epoch);
            }
        }
        Ok(taken_in(index, &news))
    }
}

fn taken_in(mut index: AudienceIndex, news: &News) -> AudienceIndex {
    news.turns.iter().for_each(|turn| index.push(turn));
    index.skip_to(news.through);
    index
}

/// Whether a turn says anything that may be recalled, and so has a vector: the one rule of the index
/// and of the stores.
pub fn can_be_recalled(turn: &Turn) -> bool {
    let says_something = match turn.source {
        Source::Model | Source::Knowledge | Source::Retrieval => true,
        // What it answered only quotes; what it was told may be worth recalling.
        Source::Memory => !is_question(&turn.input),
    };
    says_something && !turn.volatile
}

/// Whether a message asks rather than tells. A question that only memory answered says nothing that
/// would be worth recalling.
pub fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？', '؟'])
}
