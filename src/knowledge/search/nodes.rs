//! Searches nodes that were in the graph before the bot like ingested sources: they are one more
//! source in the index.
//!
//! The nodes are never written to. The built-in embedder computes their vectors at each start, at
//! about 20 µs per node; vectors by a service are kept in `DATA_DIR`, by the embedded text
//! (`vectors`).

mod settings;
mod vectors;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

pub use self::settings::{
    NodePlan, NodeSettings, NodeSettingsError, SearchedLabel, in_a_line, proposed,
};
use self::vectors::NodeVectors;
use crate::graph::ingest::ServedChunk;
use crate::graph::ingest::searching::{Passage, ServedLink, SourceVersion};
use crate::graph::nodes::{NodeLink, NodeTexts};
use crate::graph::schema::Survey;
use crate::graph::{GraphStore, StoreError};
use crate::llm::Embedder;

/// The name of their source. No ingested source can have it: names have no blanks.
pub const NODES: &str = "the graph";

/// Minimum time for which the nodes read count as current…
const MIN_REREAD_INTERVAL: Duration = Duration::from_secs(30);
/// …and the factor of the time it took: at most 2 % of the time is spent reading.
const REREAD_TIME_FACTOR: u32 = 50;
/// Nodes and relationships that wait to be processed.
const IN_FLIGHT: usize = 500;
/// Relationships of one type read per node that may be read.
const LINKS_PER_NODE: usize = 10;

/// Reads the nodes periodically.
#[derive(Debug)]
pub(super) struct NodeReader {
    settings: ArcSwap<NodeSettings>,
    vectors: NodeVectors,
    last: Mutex<Option<NodeSearch>>,
}

#[derive(Debug)]
struct NodeSearch {
    at: Instant,
    took: Duration,
    /// The schema of the graph at that time.
    survey: Arc<Survey>,
    /// `None`: nothing is searched.
    version: Option<SourceVersion>,
}

/// The nodes that were read.
#[derive(Debug, Default)]
pub(super) struct NodeChunks {
    pub(super) version: Option<SourceVersion>,
    pub(super) chunks: Vec<ServedChunk>,
    pub(super) links: Vec<ServedLink>,
}

impl NodeReader {
    /// Creates a reader with these settings; vectors by a service are kept in `folder`, if given.
    pub(super) fn new(settings: NodeSettings, folder: Option<&Path>) -> Self {
        Self {
            settings: ArcSwap::from_pointee(settings),
            vectors: NodeVectors::new(folder),
            last: Mutex::default(),
        }
    }

    /// Changes the settings, from the next look on.
    pub(super) fn use_settings(&self, settings: NodeSettings) {
        self.settings.store(Arc::new(settings));
        *self.last() = None;
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<NodeSearch>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current nodes, if it is time to look.
    pub(super) async fn look(
        &self,
        store: &GraphStore,
        embedder: &Embedder,
    ) -> Result<Option<NodeChunks>, StoreError> {
        let survey = store.schema().await?;
        let is_current = self.last().as_ref().is_some_and(|last| {
            let is_young =
                last.at.elapsed() < MIN_REREAD_INTERVAL.max(last.took * REREAD_TIME_FACTOR);
            is_young && Arc::ptr_eq(&last.survey, &survey)
        });
        if is_current {
            return Ok(None);
        }
        self.read_as(survey, store, embedder).await.map(Some)
    }

    /// Returns the version read last.
    pub(super) fn version(&self) -> Option<SourceVersion> {
        self.last().as_ref().and_then(|last| last.version.clone())
    }

    /// Reads the current nodes.
    pub(super) async fn read(
        &self,
        store: &GraphStore,
        embedder: &Embedder,
    ) -> Result<NodeChunks, StoreError> {
        let survey = store.schema().await?;
        self.read_as(survey, store, embedder).await
    }

    async fn read_as(
        &self,
        survey: Arc<Survey>,
        store: &GraphStore,
        embedder: &Embedder,
    ) -> Result<NodeChunks, StoreError> {
        let began = Instant::now();
        let plan = self.settings.load().plan(&survey);
        for problem in &plan.problems {
            tracing::warn!("nodes.toml: {problem}");
        }
        let mut read = NodeChunks::default();
        let mut can_go_on = false;
        if !plan.labels.is_empty() {
            read_nodes(store, &plan, &mut read).await?;
            can_go_on = self.embed(&plan, embedder, &mut read.chunks).await;
            read.version = Some(version(&plan, &read));
        }
        let looked = NodeSearch {
            at: began,
            took: began.elapsed(),
            survey,
            version: read.version.clone(),
        };
        // Chunks without a vector get one at the next look, which is due at once.
        *self.last() = (!can_go_on).then_some(looked);
        Ok(read)
    }

    /// Adds vectors to the chunks. Returns true if more of them can be embedded at once.
    async fn embed(
        &self,
        plan: &NodePlan,
        embedder: &Embedder,
        chunks: &mut [ServedChunk],
    ) -> bool {
        let beside = plan.labels.iter().filter(|one| one.is_beside);
        let beside: Vec<&str> = beside.map(|one| one.label.as_str()).collect();
        let to_embed: Vec<&mut ServedChunk> = chunks
            .iter_mut()
            .filter(|chunk| !beside.contains(&chunk.label.as_str()))
            .collect();
        self.vectors.embed(embedder, to_embed).await
    }
}

async fn read_nodes(
    store: &GraphStore,
    plan: &NodePlan,
    read: &mut NodeChunks,
) -> Result<(), StoreError> {
    for searched in &plan.labels {
        let (sender, mut nodes) = mpsc::channel(IN_FLIGHT);
        let chunks = &mut read.chunks;
        let taking = async {
            while let Some(node) = nodes.recv().await {
                chunks.extend(chunk(searched, node));
            }
        };
        // The name is read too, since it may not be among the searched properties.
        let mut properties = searched.properties.clone();
        properties.extend(searched.name.clone());
        let reading = store.node_texts(&searched.label, &properties, plan.most_nodes, sender);
        let (done, ()) = tokio::join!(reading, taking);
        done?;
    }
    for (from, kind, to) in &plan.links {
        let (sender, mut found) = mpsc::channel(IN_FLIGHT);
        let links = &mut read.links;
        let taking = async {
            while let Some(NodeLink { from: a, to: b }) = found.recv().await {
                links.push(ServedLink {
                    from: key(from, &a),
                    kind: kind.clone(),
                    to: key(to, &b),
                });
            }
        };
        let most = plan.most_nodes.saturating_mul(LINKS_PER_NODE);
        let reading = store.node_links((from, kind, to), most, sender);
        let (done, ()) = tokio::join!(reading, taking);
        done?;
    }
    Ok(())
}

/// Returns a node's name in the index.
fn key(label: &str, element: &str) -> String {
    format!("{element} of {label}")
}

/// Returns the label and the `elementId` of a node from its name in the index.
fn parts(chunk: &str) -> Option<(&str, &str)> {
    let (element, label) = chunk.split_once(" of ")?;
    Some((label, element))
}

/// Returns a chunk; `None` if there is no text at all.
fn chunk(searched: &SearchedLabel, node: NodeTexts) -> Option<ServedChunk> {
    let NodeTexts { element, mut texts } = node;
    let name = if searched.name.is_some() {
        texts.pop().filter(|name| !name.is_empty())
    } else {
        None
    };
    texts.retain(|text| !text.trim().is_empty());
    let title = name.or_else(|| texts.first().cloned())?;
    if texts.is_empty() {
        return None;
    }
    let chunk = key(&searched.label, &element);
    Some(ServedChunk {
        record: chunk.clone(),
        chunk,
        source: NODES.to_owned(),
        label: searched.label.clone(),
        title: Some(title),
        text: texts.join("\n"),
        sequence: 0,
        version: 0,
        heading: None,
        link: None,
        embedding: None,
        tags: Vec::new(),
        date: None,
        parent: None,
    })
}

/// Returns a version that identifies a state of the nodes, independently of reading order.
fn version(plan: &NodePlan, read: &NodeChunks) -> SourceVersion {
    let of_chunks = read.chunks.iter().map(|chunk| {
        hashed((
            &chunk.chunk,
            &chunk.title,
            &chunk.text,
            chunk.embedding.as_ref().map(|it| &it.embedder),
        ))
    });
    let of_links = read
        .links
        .iter()
        .map(|link| hashed((&link.from, &link.kind, &link.to)));
    let sum = of_chunks.chain(of_links).fold(0, u64::wrapping_add);
    let searched = plan.labels.iter().filter(|one| !one.is_beside);
    SourceVersion {
        name: NODES.to_owned(),
        // Above 0, like the versions of served sources.
        version: i64::try_from(sum >> 1).unwrap_or(i64::MAX).max(1),
        property_order: searched
            .map(|one| (one.label.clone(), one.properties.clone()))
            .collect(),
        ..SourceVersion::default()
    }
}

fn hashed(of: impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Returns the current content of nodes, by their names in the index.
pub(super) async fn passages(
    store: &GraphStore,
    chunks: &[String],
    order: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<Passage>, StoreError> {
    let mut by_label: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (label, element) in chunks.iter().filter_map(|chunk| parts(chunk)) {
        by_label.entry(label).or_default().push(element.to_owned());
    }
    let mut passages = Vec::new();
    for (label, elements) in by_label {
        let first = order.get(label).map_or(&[][..], Vec::as_slice);
        let said = store.node_properties(label, &elements).await?;
        passages.extend(said.into_iter().map(|(element, properties)| Passage {
            chunk: key(label, &element),
            text: in_lines(&properties, first),
            element,
            properties,
        }));
    }
    Ok(passages)
}

/// Formats one property per line, searched ones first.
fn in_lines(properties: &Map<String, Value>, first: &[String]) -> String {
    let place = |name: &String| first.iter().position(|one| one == name);
    let mut ordered: Vec<(&String, &Value)> = properties.iter().collect();
    ordered.sort_by_key(|(name, _)| (place(name).unwrap_or(first.len()), *name));
    let line = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("{name}: {value}")
        }
    };
    ordered.into_iter().map(line).collect::<Vec<_>>().join("\n")
}
