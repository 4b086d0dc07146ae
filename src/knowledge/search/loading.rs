//! Keeps the index up to date with the served versions.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::nodes::{NODES, NodeChunks};
use super::policy::{self, Policy, TriggerVector};
use super::read::{IndexBuilder, LoadError};
use super::{EMBEDDING, KnowledgeIndex, Searcher};
use crate::graph::ingest::searching::SourceVersion;
use crate::llm::Embedder;

/// Maximum wait of a search for the first index.
const FIRST_LOAD: Duration = Duration::from_secs(5);
/// Maximum time for embedding triggers again after it failed.
const EMBEDDING_AGAIN: Duration = Duration::from_secs(30);
/// Minimum time between two comparisons of versions.
const MIN_CHECK_INTERVAL: Duration = Duration::from_secs(3);
/// Time between two comparisons while nobody searches.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(60);

impl Searcher {
    /// Returns the current index.
    pub(super) fn current(&self) -> Option<Arc<KnowledgeIndex>> {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the index. The first call waits briefly; later the existing index is used while a
    /// newer one is loaded in the background.
    pub async fn ready(self: &Arc<Self>) -> Option<Arc<KnowledgeIndex>> {
        let current = self.current();
        if self.is_to_look() {
            let own = Arc::clone(self);
            // It continues when nobody waits any more.
            let looking = tokio::spawn(async move { own.refresh().await });
            if current.is_none() {
                let _ = timeout(FIRST_LOAD, looking).await;
            }
        } else if current.is_none() {
            let _ = timeout(FIRST_LOAD, self.loading.lock()).await;
        }
        current.or_else(|| self.current())
    }

    /// Compares the versions, and loads the served ones if they differ.
    pub async fn refresh(&self) {
        let (began, before) = (Instant::now(), self.current());
        self.load().await;
        let Some(index) = self.current() else { return };
        let is_new = before.is_none_or(|before| !Arc::ptr_eq(&before, &index));
        if is_new && !index.is_empty() {
            tracing::debug!(
                chunks = index.len(),
                sources = index.versions().len(),
                bytes = index.heap_bytes(),
                ms = began.elapsed().as_millis() as u64,
                "the team's knowledge is loaded"
            );
        }
    }

    async fn load(&self) {
        let _loading = self.loading.lock().await;
        let loaded = self.load_served().await;
        self.has_failed.store(loaded.is_err(), Ordering::Relaxed);
        match loaded {
            Ok(()) => {}
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the team's knowledge could not be loaded: what was loaded before is searched"
            ),
        }
    }

    /// Compares the versions periodically, also while nobody asks: what was removed elsewhere must
    /// not stay in files here. Ends with the searcher.
    pub async fn follow(searcher: Weak<Self>) {
        loop {
            tokio::time::sleep(IDLE_CHECK_INTERVAL).await;
            let Some(own) = searcher.upgrade() else {
                return;
            };
            if own.has_moved().await {
                own.refresh().await;
            }
        }
    }

    /// Whether other versions are served than those in the index, as far as the store answers.
    async fn has_moved(&self) -> bool {
        let Some(index) = self.current() else {
            return false;
        };
        let searched = index.versions().iter().filter(|it| it.name != NODES);
        let served = self.store.source_versions().await;
        served.is_ok_and(|served| !searched.eq(&served))
    }

    /// Builds the files of changed sources silently, so that the next question need not wait. Not
    /// before the embedder is known: they would be built twice.
    pub async fn prepare(&self) {
        if self.recaller.embedder().name().is_some() {
            self.load().await;
        }
    }

    fn is_to_look(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = looked.is_none_or(|at| at.elapsed() >= MIN_CHECK_INTERVAL);
        if is_due {
            *looked = Some(Instant::now());
        }
        is_due
    }

    async fn load_served(&self) -> Result<(), LoadError> {
        let served = self.store.source_versions().await?;
        let embedder = self.recaller.embedder();
        let (nodes, version) = self.look_at_nodes(embedder).await;
        let is_same = self.current().is_some_and(|index| {
            let expected = served.iter().chain(&version);
            index.damaged().is_empty()
                && index.versions().iter().eq(expected)
                && index.embedder() == embedder.name()
        });
        if is_same {
            self.lags.store(false, Ordering::Relaxed);
            self.complete_triggers().await;
            return Ok(());
        }
        // Building the files takes long, and may fail; what a source is limited to counts at once.
        let limited = self.current().and_then(|index| index.limited_to(&served));
        if let Some(limited) = limited {
            self.replace(limited);
        }
        let nodes = match nodes {
            Some(nodes) => nodes,
            None if version.is_some() => self.nodes_again(embedder).await,
            None => NodeChunks::default(),
        };
        let current = self.current();
        self.lags.store(current.is_some(), Ordering::Relaxed);
        let made_by = embedder.name().zip(embedder.dimension());
        let mut reading = IndexBuilder {
            store: Arc::clone(&self.store),
            folder: Arc::clone(&self.folder),
            embedder: made_by.map(|(name, dimension)| (name.to_owned(), dimension)),
            nodes: Arc::new(nodes),
            open: current.map_or_else(Vec::new, |index| index.segments().to_vec()),
        };
        self.load_by(&mut reading, served).await
    }

    async fn load_by(
        &self,
        reading: &mut IndexBuilder,
        served: Vec<SourceVersion>,
    ) -> Result<(), LoadError> {
        let known = reading.open_existing(served).await;
        let there = known.iter().filter(|(_, file)| file.is_some()).count();
        if self.current().is_none() && there > 0 && there < known.len() {
            // Existing files are searched while the others are built.
            let index = reading.index(&known).await?;
            self.lags.store(true, Ordering::Relaxed);
            self.serve(index).await;
        }
        let index = reading.build_missing(known).await?;
        self.serve(index).await;
        self.lags.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Searches this index from now on.
    async fn serve(&self, mut index: KnowledgeIndex) {
        if let Some(current) = self.current() {
            take_meanings(&mut index, &current);
        }
        self.embed_triggers(&mut index, EMBEDDING).await;
        if !index.policies().iter().all(Policy::has_meanings) {
            tracing::warn!(
                "policies go by words alone until their triggers can be embedded, which is tried again"
            );
        }
        self.replace(index);
    }

    fn replace(&self, index: KnowledgeIndex) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::new(index));
    }

    /// Embeds the triggers that could not be embedded when their index was loaded.
    async fn complete_triggers(&self) {
        let Some(current) = self.current() else {
            return;
        };
        let has_embedder = self.recaller.embedder().name().is_some();
        if !has_embedder || current.policies().iter().all(Policy::has_meanings) {
            return;
        }
        let mut index = KnowledgeIndex::clone(&current);
        if self.embed_triggers(&mut index, EMBEDDING_AGAIN).await {
            self.replace(index);
        }
    }

    /// Returns the nodes, if they were read again, and the version of them to search from now on.
    async fn look_at_nodes(
        &self,
        embedder: &Embedder,
    ) -> (Option<NodeChunks>, Option<SourceVersion>) {
        match self.nodes.look(&self.store, embedder).await {
            Ok(Some(nodes)) => {
                let version = nodes.version.clone();
                (Some(nodes), version)
            }
            Ok(None) => (None, self.nodes.version()),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "nodes of the graph could not be read: those that were read before are searched"
                );
                let current = self.current();
                (None, current.and_then(|index| index.version_of(NODES)))
            }
        }
    }

    /// Whether no damage was found in the index. Damaged files are removed, and rebuilt in the
    /// background.
    pub(super) fn is_sound(self: &Arc<Self>, index: &Arc<KnowledgeIndex>) -> bool {
        let damaged = index.damaged();
        if damaged.is_empty() {
            return true;
        }
        tracing::error!(sources = ?damaged, "index files are damaged: they are made again");
        {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            if current.as_ref().is_some_and(|it| Arc::ptr_eq(it, index)) {
                *current = None;
            }
        }
        for source in damaged {
            if let Err(error) = self.folder.remove(source) {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, source, "a damaged index file could not be removed");
            }
        }
        let own = Arc::clone(self);
        tokio::spawn(async move { own.refresh().await });
        false
    }

    /// Reads the nodes again for an index that is rebuilt. Documents do not wait for nodes that
    /// cannot be read.
    async fn nodes_again(&self, embedder: &Embedder) -> NodeChunks {
        let read = self.nodes.read(&self.store, embedder).await;
        read.unwrap_or_else(|error| {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "nodes of the graph could not be read: they are not searched until they can be"
            );
            NodeChunks::default()
        })
    }

    /// Embeds the triggers of policies that have no meanings yet. Returns whether some have them now.
    /// Without an embedder policies are triggered by words alone.
    async fn embed_triggers(&self, index: &mut KnowledgeIndex, longest: Duration) -> bool {
        let policies = index.policies_mut();
        let mut policies: Vec<&mut Policy> = policies
            .iter_mut()
            .filter(|policy| !policy.has_meanings())
            .collect();
        if policies.is_empty() {
            return false;
        }
        let triggers = policies.iter().flat_map(|policy| policy.triggers.clone());
        let everyday = policy::EVERYDAY.iter().map(|text| (*text).to_owned());
        let texts: Vec<String> = everyday.chain(triggers).collect();
        let embedded = timeout(longest, self.recaller.embedder().embed(&texts)).await;
        let Ok(Ok(vectors)) = embedded else {
            return false;
        };
        let mut vectors = vectors.into_iter();
        let everyday: Vec<Vec<f32>> = vectors
            .by_ref()
            .take(policy::EVERYDAY.len())
            .flatten()
            .collect();
        for policy in &mut policies {
            let own = vectors.by_ref().take(policy.triggers.len()).flatten();
            policy.meanings = own.map(|it| TriggerVector::new(it, &everyday)).collect();
        }
        policies.iter().any(|policy| policy.has_meanings())
    }
}

/// Takes the meanings of equal triggers from an index of the same embedder.
fn take_meanings(index: &mut KnowledgeIndex, from: &KnowledgeIndex) {
    if index.embedder() != from.embedder() {
        return;
    }
    for policy in index.policies_mut() {
        let mut known = from.policies().iter();
        if let Some(known) = known.find(|known| known.triggers == policy.triggers) {
            policy.meanings.clone_from(&known.meanings);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn index(embedder: &str, triggers: &[&str]) -> KnowledgeIndex {
        let policy = |trigger: &&str| {
            let properties = json!({"title": "p", "triggers": [trigger]});
            Policy::of(0, properties.as_object().unwrap())
        };
        let policies = triggers.iter().map(policy).collect();
        KnowledgeIndex::new(Vec::new(), Some((embedder, 2))).with_policies(policies)
    }

    #[test]
    fn meanings_of_equal_triggers_are_kept() {
        let mut before = index("e", &["leak", "fire"]);
        let meaning = TriggerVector::new(vec![1.0, 0.0], &[]);
        before.policies_mut()[0].meanings = vec![meaning.clone()];
        let mut after = index("e", &["flood", "leak", "fire"]);
        take_meanings(&mut after, &before);
        let has = |index: &KnowledgeIndex| -> Vec<bool> {
            index.policies().iter().map(Policy::has_meanings).collect()
        };
        assert_eq!(has(&after), [false, true, false]);
        assert_eq!(after.policies()[1].meanings, [meaning]);
        let mut other = index("f", &["leak"]);
        take_meanings(&mut other, &before);
        assert_eq!(has(&other), [false]);
    }
}
