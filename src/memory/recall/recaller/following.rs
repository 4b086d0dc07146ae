//! Keeps the audiences' indexes current with the graph.
//!
//! The graph is the source of truth. An index is loaded from it when its audience first talks, and
//! is then updated with the news that each turn reads.

use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Duration;

use muninn_platform::{AudienceId, in_one_line, join_task};

use super::Recaller;
use crate::graph::items::ReadTurn;
use crate::graph::{AudienceChanges, GraphStore, Replaced, StoreError, Turn};
use crate::memory::keeping::reembed::{embed_missing, foreign};
use crate::memory::recall::cache::{Freshness, SharedIndex};
use crate::memory::{AudienceIndex, Candidate, RecallQuery, replaced};

/// Turns read at once while an index is loaded: the most that the stores return from one statement.
const PAGE: usize = 1_024;
/// How often turns without a vector are looked for, if there may be any.
const MEND_EVERY: Duration = Duration::from_secs(30);

impl Recaller {
    /// Periodically embeds what was kept without a vector, until the recaller is dropped.
    pub async fn embed_missing_periodically(recaller: Weak<Self>, store: Weak<GraphStore>) {
        let parts = (recaller, store);
        loop {
            tokio::time::sleep(MEND_EVERY).await;
            let (Some(recaller), Some(store)) = (parts.0.upgrade(), parts.1.upgrade()) else {
                return;
            };
            recaller.embed_missing_vectors(&store).await;
        }
    }

    /// Embeds what was kept without a vector, if there may be anything.
    pub async fn embed_missing_vectors(&self, store: &GraphStore) {
        if !self.has_missed.swap(false, Ordering::Relaxed) {
            return;
        }
        match embed_missing(store, &self.embedder).await {
            Ok(audiences) => {
                self.breaker.succeeded();
                for audience in &audiences {
                    self.forget(audience);
                }
                if !audiences.is_empty() {
                    tracing::info!(
                        audiences = audiences.len(),
                        "turns that were kept without a vector have one now"
                    );
                }
            }
            Err(error) => {
                self.has_missed.store(true, Ordering::Relaxed);
                tracing::debug!(
                    why = in_one_line(&error),
                    "turns are still without a vector"
                );
            }
        }
    }

    /// Loads the audience's index unless it is loaded. Without the graph there is no index, and
    /// nothing is recalled.
    pub async fn load(&self, store: &GraphStore, audience: &AudienceId) {
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

    /// Whether an index is loaded. One made before the embedding service reported its dimension
    /// compares no vectors and does not count.
    fn is_loaded(&self, audience: &AudienceId) -> bool {
        let made_by = |index: SharedIndex| index.read(|index| index.embedder().map(str::to_owned));
        self.indexes
            .get(audience)
            .is_some_and(|index| made_by(index).as_deref() == self.embedder.name())
    }

    /// Whether the audience's turns can be recalled now.
    pub fn is_ready(&self, audience: &AudienceId) -> bool {
        self.indexes.get(audience).is_some()
    }

    /// The position up to which the audience's turns are known. Without an index it is the maximum,
    /// so that no turn reads all turns as news.
    pub fn known_position(&self, audience: &AudienceId) -> i64 {
        self.indexes
            .get(audience)
            .map_or(i64::MAX, |index| index.seen().0)
    }

    /// Applies the news that a turn read, and what is behind them if there is more than one turn reads. Reloads the index if
    /// something was forgotten since, or a backup of the graph restored.
    pub async fn apply_news(
        &self,
        store: &GraphStore,
        audience: &AudienceId,
        news: &AudienceChanges,
    ) {
        let Some(index) = self.indexes.get(audience) else {
            return;
        };
        let mut fresh = index.update(news);
        let mut more = news.more;
        // A busy channel may produce more between two questions than one turn reads.
        while fresh == Freshness::Current && more {
            let (seen, _) = index.seen();
            match store.turns_since(audience, seen, PAGE).await {
                Ok(next) => {
                    fresh = index.update(&next);
                    // A page of an earlier epoch adds nothing, however often it is read.
                    more = next.more && index.seen().0 > seen;
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    return tracing::warn!(error, %audience, "its news cannot be read");
                }
            }
        }
        let seen = index.seen();
        // News of an earlier epoch may only have been read before the index was loaded.
        let is_doubtful = fresh == Freshness::Doubtful || news.epoch < seen.1;
        if fresh == Freshness::Stale || is_doubtful && was_restored(store, audience, seen).await {
            self.indexes.invalidate(audience);
            self.load(store, audience).await;
        }
    }

    /// Links a kept turn to the earlier ones that it replaces. If this fails, recall still compares
    /// them.
    pub async fn link(&self, store: &GraphStore, audience: &AudienceId, turn: &Turn) {
        let Some(index) = self
            .indexes
            .get(audience)
            .filter(|_| turn.can_be_recalled())
        else {
            return;
        };
        let earlier = index.read(|index| replaced(index, &self.calibration, turn));
        if earlier.is_empty() {
            return;
        }
        match store.supersede(audience, turn.id, &earlier).await {
            Ok(_) => index.link(turn.id, earlier.into_iter().map(|(id, _)| id)),
            Err(error) => tracing::debug!(
                error = &error as &dyn std::error::Error,
                "what a turn replaces cannot be linked"
            ),
        }
    }

    /// Updates an audience's index for a message that is asked elsewhere. Returns whether it could.
    pub async fn catch_up(&self, store: &GraphStore, audience: &AudienceId) -> bool {
        if !self.is_loaded(audience) {
            self.load(store, audience).await;
            return self.is_ready(audience);
        }
        match store
            .turns_since(audience, self.known_position(audience), PAGE)
            .await
        {
            Ok(news) => {
                self.apply_news(store, audience, &news).await;
                self.is_ready(audience)
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, %audience, "its news cannot be read");
                false
            }
        }
    }

    /// The candidates for a message as the graph has them now: with the newest turns, and without what was forgotten elsewhere
    /// or emptied.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn current_candidates(
        &self,
        store: &GraphStore,
        audience: &AudienceId,
        sought: &RecallQuery,
        limit: usize,
    ) -> Result<Vec<Candidate>, StoreError> {
        self.catch_up(store, audience).await;
        let mut found = self.candidates(audience, sought, limit);
        let read = found.iter().map(|it| ReadTurn::new(it.exchange.id, ""));
        let read: Vec<ReadTurn> = read.collect();
        let changed = store.find_changed_turns(&read).await?;
        let gone = [changed.forgotten, changed.emptied].concat();
        found.retain(|it| !gone.contains(&it.exchange.id));
        Ok(found)
    }

    /// Updates an audience's index if it is loaded.
    pub async fn follow(&self, store: &GraphStore, audience: &AudienceId) {
        if self.is_loaded(audience) {
            self.catch_up(store, audience).await;
        }
    }

    /// Logs whether there are turns whose vectors cannot be compared.
    pub async fn notice_stale(&self, store: &GraphStore) {
        match foreign(store, &self.embedder).await {
            Ok(0) => {}
            Ok(turns) => tracing::warn!(
                turns,
                "turns have vectors of another embedder, so only their words are found; run `muninn reembed`"
            ),
            Err(error) => tracing::debug!(
                error = &error as &dyn std::error::Error,
                "the vectors cannot be counted"
            ),
        }
    }

    /// Drops the audience's index because something in it was forgotten.
    pub fn forget(&self, audience: &AudienceId) {
        self.indexes.invalidate(audience);
    }

    async fn read_index(
        &self,
        store: &GraphStore,
        audience: &AudienceId,
    ) -> Result<AudienceIndex, StoreError> {
        let embedder = self.embedder.name().zip(self.embedder.dimension());
        let mut news = store.turns_since(audience, 0, PAGE).await?;
        let mut index = AudienceIndex::new(embedder, news.epoch);
        while news.more {
            // The store reads the next page while this one is indexed.
            let through = news.through;
            let (next, taken) = tokio::join!(
                store.turns_since(audience, through, PAGE),
                join_task(tokio::task::spawn_blocking(move || taken_in(index, &news)))
            );
            index = taken;
            news = next?;
            if news.epoch != index.epoch() {
                // Something was forgotten while this was reading, so earlier pages may contain it.
                news = store.turns_since(audience, 0, PAGE).await?;
                index = AudienceIndex::new(embedder, news.epoch);
            }
        }
        let mut index = taken_in(index, &news);
        for Replaced {
            later,
            earlier,
            corrected_at,
        } in store.superseded(audience).await?
        {
            match corrected_at {
                Some(at) => index.correct(later, earlier, at),
                None => index.link(later, earlier),
            }
        }
        Ok(index)
    }
}

/// Whether a backup of the graph was restored since an index saw this position and epoch; not if the graph cannot be asked.
async fn was_restored(store: &GraphStore, audience: &AudienceId, seen: (i64, i64)) -> bool {
    let restored = store.was_restored(audience, seen).await;
    restored.unwrap_or_default()
}

fn taken_in(mut index: AudienceIndex, news: &AudienceChanges) -> AudienceIndex {
    news.turns.iter().for_each(|turn| index.push(turn));
    index.skip_to(news.through);
    index
}
