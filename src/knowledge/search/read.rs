//! Builds the index of everything that is served: one version of each source, each in a file.
//! Matching files are opened; the others are built from the store's chunks, read one at a time.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::blocking;
use super::index::{Builder, IndexFolder, KnowledgeIndex, Moved, Segment};
use super::nodes::{NODES, NodeChunks};
use super::policy::Policy;
use crate::graph::ingest::searching::SourceVersion;
use crate::graph::{GraphStore, StoreError};
use muninn_platform::join_task;

/// Number of attempts when a version is exchanged meanwhile.
const MAX_ATTEMPTS: usize = 6;
/// Pause before an incomplete read is repeated.
const PAUSE: Duration = Duration::from_millis(100);
/// Chunks that wait to be processed.
const IN_FLIGHT: usize = 500;
/// Maximum policies that are read.
const POLICIES: usize = 500;

/// Why there is no index.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a file of the index cannot be written or read")]
    Files(#[from] io::Error),
}

/// The inputs of an index, and its location.
#[derive(Clone, Debug)]
pub(super) struct IndexBuilder {
    pub(super) store: Arc<GraphStore>,
    pub(super) folder: Arc<IndexFolder>,
    /// The embedder whose vectors are compared, with their dimension.
    pub(super) embedder: Option<(String, usize)>,
    /// The current nodes of the graph.
    pub(super) nodes: Arc<NodeChunks>,
    /// Files that are already open.
    pub(super) open: Vec<Arc<Segment>>,
}

/// A source, with its file if a matching one exists.
type SearchableSource = (SourceVersion, Option<Arc<Segment>>);

impl IndexBuilder {
    fn embedder(&self) -> Option<(&str, usize)> {
        let embedder = self.embedder.as_ref();
        embedder.map(|(name, dimension)| (name.as_str(), *dimension))
    }

    /// Returns the sources to search, with their existing files. Builds nothing.
    pub(super) async fn open_existing(&self, served: Vec<SourceVersion>) -> Vec<SearchableSource> {
        let own = self.clone();
        blocking(move || {
            let all = served.into_iter().chain(own.nodes.version.clone());
            let known = all.map(|source| {
                let is_it = |open: &&Arc<Segment>| open.is_of(&source, own.embedder());
                let open = own.open.iter().find(is_it).cloned();
                let there = || own.folder.open(&source, own.embedder()).map(Arc::new);
                let segment = open.or_else(there);
                (source, segment)
            });
            known.collect()
        })
        .await
    }

    /// Returns the index of the sources whose files exist.
    pub(super) async fn index(
        &self,
        known: &[SearchableSource],
    ) -> Result<KnowledgeIndex, LoadError> {
        let known = known.iter().cloned();
        let there = known.filter_map(|(source, segment)| Some((source, segment?)));
        let index = KnowledgeIndex::new(there.collect(), self.embedder());
        Ok(with_policies(&self.store, index).await?)
    }

    /// Builds the missing files, and returns the index of all sources.
    ///
    /// # Errors
    /// Fails when the store or a file fails, or when the versions change faster than they are read.
    pub(super) async fn build_missing(
        &mut self,
        mut known: Vec<SearchableSource>,
    ) -> Result<KnowledgeIndex, LoadError> {
        for attempt in 1..=MAX_ATTEMPTS {
            let is_last = attempt == MAX_ATTEMPTS;
            let mut is_whole = true;
            for (source, segment) in &mut known {
                if segment.is_none() {
                    *segment = self.made(source, is_last).await?;
                }
                self.open.extend(segment.clone());
                is_whole &= segment.is_some();
            }
            let served = self.store.source_versions().await?;
            // An exchange after the last chunk does no harm, but its version was not read.
            let expected = served.iter().chain(&self.nodes.version);
            if is_whole && known.iter().map(|(source, _)| source).eq(expected) {
                let sources = known.iter().map(|(source, _)| source.name.clone());
                self.tidy(sources.collect()).await;
                return self.index(&known).await;
            }
            tokio::time::sleep(PAUSE).await;
            known = self.open_existing(served).await;
        }
        Err(LoadError::Store(StoreError::Refused {
            message: "the sources change faster than they are read".to_owned(),
            transient: true,
        }))
    }

    /// Removes the files of sources that are not served any more.
    async fn tidy(&self, sources: Vec<String>) {
        let folder = Arc::clone(&self.folder);
        let kept = blocking(move || folder.remove_all_but(sources.iter().map(String::as_str)));
        if let Err(error) = kept.await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "index files of sources that are not served any more could not be removed"
            );
        }
    }

    /// Builds the file of a source. `None`: the source has moved meanwhile, or was incomplete.
    async fn made(
        &self,
        source: &SourceVersion,
        is_last: bool,
    ) -> Result<Option<Arc<Segment>>, LoadError> {
        let builder = self.folder.build(source, self.embedder())?;
        let builder = if source.name == NODES {
            self.with_nodes(builder).await?
        } else {
            self.with_served(builder, &source.name).await?
        };
        if !builder.is_whole() {
            if !is_last {
                return Ok(None);
            }
            // Somebody has changed the graph by hand.
            tracing::warn!(
                source = source.name,
                "chunks of a source are missing or too many"
            );
        }
        let (folder, name) = (Arc::clone(&self.folder), source.name.clone());
        let put = blocking(move || folder.put(&name, builder)).await?;
        Ok(match put {
            Ok(segment) => Some(Arc::new(segment)),
            Err(Moved) => None,
        })
    }

    async fn with_nodes(&self, mut builder: Builder) -> io::Result<Builder> {
        let nodes = Arc::clone(&self.nodes);
        blocking(move || {
            for chunk in &nodes.chunks {
                builder.push(chunk)?;
            }
            for link in &nodes.links {
                builder.link(link)?;
            }
            Ok(builder)
        })
        .await
    }

    async fn with_served(&self, mut builder: Builder, source: &str) -> Result<Builder, LoadError> {
        let (sender, mut chunks) = mpsc::channel(IN_FLIGHT);
        let taking = tokio::task::spawn_blocking(move || -> io::Result<Builder> {
            while let Some(chunk) = chunks.blocking_recv() {
                builder.push(&chunk)?;
            }
            Ok(builder)
        });
        self.store.served_chunks(source, sender).await?;
        let mut builder = join_task(taking).await?;

        let (sender, mut links) = mpsc::channel(IN_FLIGHT);
        let taking = tokio::task::spawn_blocking(move || -> io::Result<Builder> {
            while let Some(link) = links.blocking_recv() {
                builder.link(&link)?;
            }
            Ok(builder)
        });
        self.store.served_links(source, sender).await?;
        Ok(join_task(taking).await?)
    }
}

/// Adds the policies of its chunks, whose full text is in the graph.
async fn with_policies(
    store: &Arc<GraphStore>,
    index: KnowledgeIndex,
) -> Result<KnowledgeIndex, StoreError> {
    let (index, mut named) = blocking(move || {
        let entries = index.policy_entries();
        let named = entries.map(|at| (at, index.entry(at).chunk, index.is_private(at)));
        let named: Vec<(usize, String, bool)> = named.collect();
        (index, named)
    })
    .await;
    if named.len() > POLICIES {
        tracing::warn!(
            policies = named.len(),
            most = POLICIES,
            "there are too many policies"
        );
        named.truncate(POLICIES);
    }
    let mut policies = Vec::new();
    for private in [false, true] {
        let such: Vec<&(usize, String, bool)> =
            named.iter().filter(|(.., is)| *is == private).collect();
        if such.is_empty() {
            continue;
        }
        let chunks: Vec<String> = such.iter().map(|(_, chunk, _)| chunk.clone()).collect();
        for passage in store.passages(&chunks, private).await? {
            let of = such.iter().find(|(_, chunk, _)| *chunk == passage.chunk);
            if let Some((entry, ..)) = of {
                policies.push(Policy::of(*entry, &passage.properties));
            }
        }
    }
    policies.sort_by_key(|policy| policy.entry);
    Ok(index.with_policies(policies))
}
