//! Reads everything that is served into an index: one version of each source.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::index::{Builder, KnowledgeIndex, Moved};
use super::nodes::NodeChunks;
use super::policy::Policy;
use crate::graph::ingest::searching::SourceVersion;
use crate::graph::{GraphStore, StoreError};
use muninn_platform::joined;

/// How often it is read again when something is exchanged meanwhile.
const TRIES: usize = 6;
/// The pause before what was read incompletely is read again.
const PAUSE: Duration = Duration::from_millis(100);
/// Chunks that wait to be taken in.
const IN_FLIGHT: usize = 500;
/// Policies that are read.
const POLICIES: usize = 500;

/// Reads what is served, which is `versions` as far as is known, beside the nodes of the graph.
///
/// # Errors
/// When the store fails, or when the versions change faster than they are read.
pub(super) async fn read(
    store: &Arc<GraphStore>,
    embedder: Option<(&str, usize)>,
    mut versions: Vec<SourceVersion>,
    nodes: &Arc<NodeChunks>,
) -> Result<KnowledgeIndex, StoreError> {
    for attempt in 1..=TRIES {
        let read = read_versions(store, embedder, versions.clone(), nodes).await?;
        let served = store.source_versions().await?;
        // What was exchanged after the last chunk does no harm, but it was not read either.
        if let Ok(index) = read
            && served == versions
        {
            let incomplete = index.incomplete();
            if incomplete.is_empty() {
                return Ok(index);
            }
            if attempt == TRIES {
                // Somebody has changed the graph by hand.
                tracing::warn!(sources = ?incomplete, "chunks of sources are missing or too many");
                return Ok(index);
            }
            tokio::time::sleep(PAUSE).await;
        }
        versions = served;
    }
    Err(StoreError::Refused {
        message: "the sources change faster than they are read".to_owned(),
        transient: true,
    })
}

async fn read_versions(
    store: &Arc<GraphStore>,
    embedder: Option<(&str, usize)>,
    versions: Vec<SourceVersion>,
    nodes: &Arc<NodeChunks>,
) -> Result<Result<KnowledgeIndex, Moved>, StoreError> {
    let is_ingested = !versions.is_empty();
    let all = versions.into_iter().chain(nodes.version.clone()).collect();
    let mut builder = Builder::new(all, embedder);
    let nodes = Arc::clone(nodes);
    let taking = tokio::task::spawn_blocking(move || {
        for chunk in &nodes.chunks {
            builder.push(chunk.clone());
        }
        for link in &nodes.links {
            builder.link(link);
        }
        builder
    });
    let mut builder = joined(taking).await;
    if !is_ingested {
        return Ok(builder.finish(Vec::new()));
    }
    let (sender, mut chunks) = mpsc::channel(IN_FLIGHT);
    let taking = tokio::task::spawn_blocking(move || {
        while let Some(chunk) = chunks.blocking_recv() {
            builder.push(chunk);
        }
        builder
    });
    store.served_chunks(sender).await?;
    let mut builder = joined(taking).await;

    let (sender, mut links) = mpsc::channel(IN_FLIGHT);
    let taking = tokio::task::spawn_blocking(move || {
        while let Some(link) = links.blocking_recv() {
            builder.link(&link);
        }
        builder
    });
    store.served_links(sender).await?;
    let builder = joined(taking).await;

    let policies = policies(store, &builder).await?;
    Ok(builder.finish(policies))
}

async fn policies(store: &Arc<GraphStore>, builder: &Builder) -> Result<Vec<Policy>, StoreError> {
    let mut named = builder.policies();
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
    Ok(policies)
}
