//! Caches the indexes of the audiences that talked last.
//!
//! The graph is the source of truth: whatever is dropped here is loaded from it again. No lock is
//! held longer than a call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use muninn_platform::AudienceId;

use super::index::AudienceIndex;
use crate::graph::{AudienceChanges, ResponseId};

/// Holds a bounded number of exchanges; the least recently used audience is dropped first.
#[derive(Debug)]
pub struct RecallCache {
    max_exchanges: usize,
    state: Mutex<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    indexes: HashMap<AudienceId, CachedIndex>,
    clock: u64,
}

#[derive(Debug)]
struct CachedIndex {
    index: SharedIndex,
    used: u64,
}

/// The index of one audience, shared by its running turns.
#[derive(Clone, Debug)]
pub struct SharedIndex(Arc<RwLock<AudienceIndex>>);

/// The result of applying news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// The index contains everything in the news.
    Current,
    /// Something was forgotten or replaced meanwhile: load the audience again.
    Stale,
    /// The news are older than the index. Load the audience again if a backup of the graph was restored.
    Doubtful,
}

impl SharedIndex {
    pub fn new(index: AudienceIndex) -> Self {
        Self(Arc::new(RwLock::new(index)))
    }

    /// Reads the index; several readers may do so at once.
    pub fn read<R>(&self, look: impl FnOnce(&AudienceIndex) -> R) -> R {
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds what is new. The same or older news may come again.
    pub fn update(&self, news: &AudienceChanges) -> Freshness {
        let mut index = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if news.epoch > index.epoch() {
            return Freshness::Stale;
        }
        if news.is_behind {
            return Freshness::Doubtful;
        }
        // News that were read before the index was reloaded may contain what was forgotten since.
        if news.epoch == index.epoch() {
            news.turns.iter().for_each(|turn| index.push(turn));
            index.skip_to(news.through);
        }
        Freshness::Current
    }

    /// Records which turns a turn replaces.
    pub fn link(&self, later: ResponseId, earlier: impl Iterator<Item = ResponseId>) {
        let mut index = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for earlier in earlier {
            index.link(later, earlier);
        }
    }

    /// The position and epoch that it has seen.
    pub fn seen(&self) -> (i64, i64) {
        self.read(|index| (index.position(), index.epoch()))
    }
}

impl RecallCache {
    /// Holds about `max_exchanges`; the index used last is held whatever its size.
    pub fn new(max_exchanges: usize) -> Self {
        Self {
            max_exchanges,
            state: Mutex::default(),
        }
    }

    pub fn get(&self, audience: &AudienceId) -> Option<SharedIndex> {
        let mut state = self.lock();
        state.clock += 1;
        let now = state.clock;
        let held = state.indexes.get_mut(audience)?;
        held.used = now;
        Some(held.index.clone())
    }

    /// Inserts an index, unless the present one has a later epoch, or has seen more of the same
    /// epoch (two turns may have loaded the audience at once). If both have seen the same, one that
    /// compares vectors is held. Returns the index that is held then.
    pub fn insert(&self, audience: AudienceId, index: AudienceIndex) -> SharedIndex {
        let rank = |index: &AudienceIndex| {
            let compares_vectors = index.embedder().is_some();
            (index.epoch(), index.position(), compares_vectors)
        };
        let new = rank(&index);
        let mut state = self.lock();
        state.clock += 1;
        let used = state.clock;
        let known = state.indexes.get(&audience).map(|held| held.index.clone());
        let newer = known.filter(|known| known.read(rank) >= new);
        let index = newer.unwrap_or_else(|| SharedIndex::new(index));
        let held = CachedIndex {
            index: index.clone(),
            used,
        };
        state.indexes.insert(audience, held);
        state.shrink(self.max_exchanges);
        index
    }

    /// Drops an audience; it is loaded again when somebody talks there.
    pub fn invalidate(&self, audience: &AudienceId) {
        self.lock().indexes.remove(audience);
    }

    /// Total number of exchanges.
    pub fn exchanges(&self) -> usize {
        self.lock().exchanges()
    }

    fn lock(&self) -> MutexGuard<'_, CacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheState {
    fn exchanges(&self) -> usize {
        let lengths = self.indexes.values();
        lengths
            .map(|held| held.index.read(AudienceIndex::len))
            .sum()
    }

    fn shrink(&mut self, max: usize) {
        while self.indexes.len() > 1 && self.exchanges() > max {
            let oldest = self.indexes.iter().min_by_key(|(_, held)| held.used);
            let Some(oldest) = oldest.map(|(audience, _)| audience.clone()) else {
                return;
            };
            self.indexes.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::turn;

    fn index(exchanges: i64, epoch: i64) -> AudienceIndex {
        let mut index = AudienceIndex::new(None, epoch);
        for position in 1..=exchanges {
            index.push(&turn(position, "question", "answer"));
        }
        index
    }

    fn audience(name: &str) -> AudienceId {
        AudienceId::new(name)
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let cache = RecallCache::new(10);
        cache.insert(audience("a"), index(4, 0));
        cache.insert(audience("b"), index(4, 0));
        assert!(cache.get(&audience("a")).is_some());
        cache.insert(audience("c"), index(4, 0));
        assert!(cache.get(&audience("b")).is_none());
        assert!(cache.get(&audience("a")).is_some());
        cache.insert(audience("large"), index(40, 0));
        assert_eq!(cache.exchanges(), 40);
    }

    #[test]
    fn news_are_added_once_and_an_epoch_ends_an_index() {
        let cache = RecallCache::new(10);
        let shared = cache.insert(audience("a"), index(2, 5));
        let news = |epoch| AudienceChanges {
            turns: vec![turn(2, "question", "answer"), turn(3, "new", "news")],
            epoch,
            through: 3,
            more: false,
            is_behind: false,
        };
        assert_eq!(shared.update(&news(5)), Freshness::Current);
        assert_eq!(shared.update(&news(5)), Freshness::Current);
        assert_eq!(shared.read(AudienceIndex::len), 3);
        assert_eq!(shared.update(&news(6)), Freshness::Stale);
        assert_eq!(shared.seen(), (3, 5));
        cache.insert(audience("a"), index(2, 6));
        assert_eq!(shared.update(&news(5)), Freshness::Current);
        let restored = AudienceChanges {
            is_behind: true,
            ..news(5)
        };
        assert_eq!(shared.update(&restored), Freshness::Doubtful);
    }

    #[test]
    fn of_two_loaded_at_once_the_further_is_held() {
        let cache = RecallCache::new(10);
        cache.insert(audience("a"), index(3, 1));
        assert_eq!(cache.insert(audience("a"), index(2, 1)).seen(), (3, 1));
        assert_eq!(cache.insert(audience("a"), index(1, 2)).seen(), (1, 2));
        cache.invalidate(&audience("a"));
        assert!(cache.get(&audience("a")).is_none());
    }

    #[test]
    fn of_two_that_saw_the_same_the_one_with_vectors_is_held() {
        let with_vectors = || AudienceIndex::new(Some(("embedder", 2)), 1);
        let without = || AudienceIndex::new(None, 1);
        for [first, second] in [
            [with_vectors(), without()],
            [without(), with_vectors()],
            [with_vectors(), with_vectors()],
        ] {
            let cache = RecallCache::new(10);
            cache.insert(audience("a"), first);
            let held = cache.insert(audience("a"), second);
            let embedder = held.read(|index| index.embedder().map(str::to_owned));
            assert_eq!(embedder.as_deref(), Some("embedder"));
        }
    }
}
