//! Nodes that were in the graph before the bot came, searched like what is ingested: they are one more
//! source in the index.
//!
//! Nothing is written to them. The built-in embedder makes their vectors anew at each start, at about 20 µs
//! a node; those of a service are kept in `DATA_DIR` by what was embedded (`vectors`).

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

/// The name of the source that they are. No ingested one can have it: names have no blanks.
pub const NODES: &str = "the graph";

/// How long what was read is taken for current, at least…
const CURRENT: Duration = Duration::from_secs(30);
/// …and by how long reading took: a graph is read for 2 % of the time at most.
const SHARE: u32 = 50;
/// Nodes and relationships that wait to be taken in.
const IN_FLIGHT: usize = 500;
/// Relationships of one kind that are read for each node that may be read.
const LINKS_PER_NODE: usize = 10;

/// Reads the nodes again from time to time.
#[derive(Debug)]
pub(super) struct NodeReader {
    settings: ArcSwap<NodeSettings>,
    vectors: NodeVectors,
    last: Mutex<Option<Looked>>,
}

#[derive(Debug)]
struct Looked {
    at: Instant,
    took: Duration,
    /// What the graph was made of then.
    survey: Arc<Survey>,
    /// None: nothing is searched.
    version: Option<SourceVersion>,
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct NodeChunks {
    pub(super) version: Option<SourceVersion>,
    pub(super) chunks: Vec<ServedChunk>,
    pub(super) links: Vec<ServedLink>,
}

impl NodeReader {
    /// Searches by these settings; vectors of a service are kept in `folder`, if there is one.
    pub(super) fn new(settings: NodeSettings, folder: Option<&Path>) -> Self {
        Self {
            settings: ArcSwap::from_pointee(settings),
            vectors: NodeVectors::new(folder),
            last: Mutex::default(),
        }
    }

    /// Searches by other settings from the next look on.
    pub(super) fn use_settings(&self, settings: NodeSettings) {
        self.settings.store(Arc::new(settings));
        *self.last() = None;
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<Looked>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The nodes as they are now, if it is time to look.
    pub(super) async fn look(
        &self,
        store: &GraphStore,
        embedder: &Embedder,
    ) -> Result<Option<NodeChunks>, StoreError> {
        let survey = store.schema().await?;
        let is_current = self.last().as_ref().is_some_and(|last| {
            let is_young = last.at.elapsed() < CURRENT.max(last.took * SHARE);
            is_young && Arc::ptr_eq(&last.survey, &survey)
        });
        if is_current {
            return Ok(None);
        }
        self.read_as(survey, store, embedder).await.map(Some)
    }

    /// What was read last.
    pub(super) fn version(&self) -> Option<SourceVersion> {
        self.last().as_ref().and_then(|last| last.version.clone())
    }

    /// The nodes as they are now.
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
        let looked = Looked {
            at: began,
            took: began.elapsed(),
            survey,
            version: read.version.clone(),
        };
        // What has no vector yet gets one at the next look, which is due at once.
        *self.last() = (!can_go_on).then_some(looked);
        Ok(read)
    }

    /// Gives the chunks their vectors. True: more of them can be embedded at once.
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
        // The name is read for itself, since it may not be among what is searched.
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

/// A node's name in the index.
fn key(label: &str, element: &str) -> String {
    format!("{element} of {label}")
}

/// The label and the `elementId` of a node by its name in the index.
fn parts(chunk: &str) -> Option<(&str, &str)> {
    let (element, label) = chunk.split_once(" of ")?;
    Some((label, element))
}

/// None where it has no text at all.
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

/// What tells one state of the nodes from another, in whatever order they were read.
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
        // Above 0, as the versions of sources that are served.
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

/// What nodes say now, by their names in the index.
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

/// Each property in a line, what is searched first.
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
