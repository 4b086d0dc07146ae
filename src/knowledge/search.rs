//! Searching in the team's knowledge: what the graph knows and what reads alike, fused.
//!
//! The index is in files of our own on both stores, one of each source, which is made anew when another
//! version is served; what it ranks is decided by pure functions ([`plan`], [`rank`]). The
//! store is asked once more for what the finds say. Each part that fails is left out, and said so.

mod alike;
mod answerability;
pub mod cards;
pub mod citations;
pub mod facts;
pub mod hit;
pub mod index;
mod loading;
mod names;
pub mod nodes;
pub mod plan;
pub mod policy;
pub mod rank;
mod read;
#[cfg(test)]
mod tests;
pub mod weights;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use chrono::Utc;
use muninn_platform::{AudienceId, joined};
use muninn_texts::{Text, text};
use tokio::time::timeout;

pub use self::hit::{Hit, Step};
pub use self::index::{IndexFolder, KnowledgeIndex};
pub use self::policy::Policy;
pub use self::weights::{Weights, WeightsError};

use self::answerability::answerability;
use self::nodes::{NODES, NodeReader, NodeSettings};
use self::plan::{Meant, Plan};
use self::rank::{Confidence, Ranked, Scanned};
use crate::graph::GraphStore;
use crate::graph::ingest::searching::Passage;
use crate::memory::{RecallQuery, Recaller};
use crate::retrieval::speech::without_framing;

/// How long it waits for the embedding of the question.
const EMBEDDING: Duration = Duration::from_secs(5);
/// How long it waits for the graph to tell what the finds say.
const GRAPH: Duration = Duration::from_secs(2);

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub text: &'a str,
    /// The questions before it, oldest first.
    pub earlier: &'a [&'a str],
    pub audience: &'a AudienceId,
    pub among: Among,
    /// The names of the sources that are searched; none for all that may be seen. Policies hold whatever is searched.
    pub only: Option<&'a [String]>,
    /// Hits at most; none for what the weights say.
    pub limit: Option<usize>,
}

impl Query<'_> {
    /// Whether a source is searched, as far as it may be seen.
    fn has(&self, source: &str) -> bool {
        let is_named = |only: &[String]| source == NODES || only.iter().any(|it| it == source);
        self.among.has(source) && self.only.is_none_or(is_named)
    }
}

/// In what is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Among {
    #[default]
    Everything,
    /// What was in the graph before ([`nodes`]).
    Nodes,
}

impl Among {
    fn has(self, source: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Nodes => source == NODES,
        }
    }
}

/// A part of the search that was left out, or lags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Degradation {
    /// The index is not there yet.
    Loading,
    /// Another version is served meanwhile than the one that was searched.
    Lagging,
    /// The question could not be embedded: only words and names were looked for.
    WordsOnly,
    /// The graph did not say in time what the finds are part of.
    GraphAway,
    /// The graph did not say what can be asked of it.
    NotAsked,
}

impl Degradation {
    /// As it is counted.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loading => "knowledge-loading",
            Self::Lagging => "knowledge-lagging",
            Self::WordsOnly => "knowledge-words",
            Self::GraphAway => "knowledge-graph",
            Self::NotAsked => "knowledge-query",
        }
    }

    /// As people are told.
    pub fn text(self) -> Text {
        match self {
            Self::Loading => text!("knowledge-loading"),
            Self::Lagging => text!("knowledge-lagging"),
            Self::WordsOnly => text!("knowledge-words-only"),
            Self::GraphAway => text!("knowledge-graph-away"),
            Self::NotAsked => text!("knowledge-not-asked"),
        }
    }

    /// In English: for models, and at a terminal.
    pub fn sentence(self) -> String {
        self.text().to_string()
    }
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// The probability that one of them answers the question.
    pub answerability: f32,
    pub degradations: Vec<Degradation>,
    /// The policies that the question triggered, the weightiest first.
    pub policies: Vec<Policy>,
}

/// Searches.
#[derive(Debug)]
pub struct Searcher {
    store: Arc<GraphStore>,
    recaller: Arc<Recaller>,
    weights: ArcSwap<Weights>,
    nodes: NodeReader,
    folder: Arc<IndexFolder>,
    current: RwLock<Option<Arc<KnowledgeIndex>>>,
    looked: Mutex<Option<Instant>>,
    /// Another version is served than the one that is searched.
    lags: AtomicBool,
    /// It could not be loaded the last time.
    has_failed: AtomicBool,
    loading: tokio::sync::Mutex<()>,
}

impl Searcher {
    /// Its files are temporary ones.
    pub fn new(store: Arc<GraphStore>, recaller: Arc<Recaller>, weights: Weights) -> Self {
        Self {
            store,
            recaller,
            weights: ArcSwap::from_pointee(weights),
            nodes: NodeReader::new(NodeSettings::default(), None),
            folder: Arc::new(IndexFolder::temporary()),
            current: RwLock::default(),
            looked: Mutex::default(),
            lags: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            loading: tokio::sync::Mutex::default(),
        }
    }

    /// Keeps its files in a data folder, so that they are there at the next start.
    pub fn in_data_dir(self, data_dir: &Path) -> Self {
        Self {
            folder: Arc::new(IndexFolder::in_data_dir(data_dir)),
            ..self
        }
    }

    /// Searches nodes of the graph too; vectors that a service made of them are kept in `folder`.
    pub fn with_nodes(self, settings: NodeSettings, folder: &Path) -> Self {
        Self {
            nodes: NodeReader::new(settings, Some(folder)),
            ..self
        }
    }

    /// Searches other nodes from the next look on.
    pub fn use_nodes(&self, settings: NodeSettings) {
        self.nodes.use_settings(settings);
    }

    /// Weighs later searches by these.
    pub fn weigh_by(&self, weights: Weights) {
        self.weights.store(Arc::new(weights));
    }

    /// The labels of the nodes that are searched by meaning, by the alphabet.
    pub async fn node_labels(self: &Arc<Self>) -> Vec<String> {
        let index = self.ready().await;
        index.map_or_else(Vec::new, |index| index.node_labels())
    }

    /// The same of what is loaded, without waiting for anything.
    pub fn known_node_labels(&self) -> Vec<String> {
        self.current()
            .map_or_else(Vec::new, |index| index.node_labels())
    }

    /// The names of the sources that these people may search.
    pub async fn sources(self: &Arc<Self>, audience: &AudienceId) -> Vec<String> {
        let index = self.ready().await;
        index.map_or_else(Vec::new, |index| names(&index, audience))
    }

    /// The names of all sources, whoever may search them.
    pub async fn all_sources(self: &Arc<Self>) -> Vec<String> {
        let index = self.ready().await;
        index.map_or_else(Vec::new, |index| {
            let sources = index.versions().iter().filter(|it| it.name != NODES);
            sources.map(|it| it.name.clone()).collect()
        })
    }

    /// The same of what is loaded, without waiting for anything.
    pub fn known_sources(&self, audience: &AudienceId) -> Vec<String> {
        let index = self.current();
        index.map_or_else(Vec::new, |index| names(&index, audience))
    }

    /// Whether nothing can be searched because loading it failed.
    pub fn is_missing(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed) && self.current().is_none()
    }

    /// The policies that a message triggers, or one before it, whoever answers it and from whatever.
    /// Nothing is waited for where the graph `is_away`.
    pub async fn policies(
        self: &Arc<Self>,
        query: &Query<'_>,
        sought: &RecallQuery,
        is_away: bool,
    ) -> Vec<Policy> {
        let index = if is_away {
            self.current()
        } else {
            self.ready().await
        };
        let Some(index) = index else {
            return Vec::new();
        };
        let seen = index.seen_by(query.audience);
        let triggered = self.triggered(&index, query, sought, &seen);
        let policies = triggered.into_iter();
        policies.map(|at| index.policies()[at].clone()).collect()
    }

    fn triggered(
        &self,
        index: &KnowledgeIndex,
        query: &Query<'_>,
        sought: &RecallQuery,
        seen: &[bool],
    ) -> Vec<usize> {
        if index.policies().is_empty() {
            return Vec::new();
        }
        // A service would have to be asked for each sentence; the whole message has to do then.
        let sentences = policy::sentences(query.text).into_iter();
        let own = sentences.filter_map(|sentence| self.recaller.vector_of(sentence));
        let vectors: Vec<Vec<f32>> = own.chain(sought.vector.clone()).collect();
        let meant = Meant {
            vectors: &vectors,
            least: self.weights.load().policies.likeness,
        };
        plan::triggered(index, query.text, query.earlier, meant, seen)
    }

    /// Searches for what a person is quoted where no model answers: a little, and nothing where that hardly answers.
    pub async fn search_to_quote(self: &Arc<Self>, query: &Query<'_>) -> Found {
        let weights = self.weights.load();
        let choice = &weights.choice;
        let limit = Some(query.limit.unwrap_or(choice.quoted));
        let mut found = self.search(&Query { limit, ..*query }).await;
        if found.answerability < choice.least_answerability {
            found.hits.clear();
        }
        found
    }

    /// What goes before finds that hardly answer the question, in English.
    pub fn doubt(&self, found: &Found) -> Option<String> {
        let least = self.weights.load().choice.least_answerability;
        let is_doubtful = !found.hits.is_empty() && found.answerability < least;
        is_doubtful.then(|| {
            let chance = 100.0 * found.answerability;
            format!(
                "Probably none of these answers that (the chance that one does is {chance:.0} %). They come nearest:"
            )
        })
    }

    /// Searches.
    pub async fn search(self: &Arc<Self>, query: &Query<'_>) -> Found {
        let Some(index) = self.ready().await else {
            return told(Found {
                degradations: vec![Degradation::Loading],
                ..Found::default()
            });
        };
        let mut degradations = Vec::new();
        if self.lags.load(Ordering::Relaxed) {
            degradations.push(Degradation::Lagging);
        }
        let weights = self.weights.load_full();
        let (plan, ranked, has_vector) = self.rank(&index, query, &weights).await;
        if !has_vector {
            degradations.push(Degradation::WordsOnly);
        }
        let Chosen {
            ranked,
            answerability,
            around,
        } = choose(&index, ranked, weights.limited_to(query.limit)).await;
        let passages = self.passages(&index, &around).await;
        if passages.is_none() {
            degradations.push(Degradation::GraphAway);
        }
        let its_index = Arc::clone(&index);
        let hits = blocking(move || {
            let passages = passages.as_ref();
            hit::hits(&its_index, &ranked, passages)
        });
        let hits = hits.await;
        if !self.is_sound(&index) {
            return told(Found {
                degradations: vec![Degradation::Loading],
                ..Found::default()
            });
        }
        let policies = plan.policies.iter();
        told(Found {
            answerability,
            hits,
            degradations,
            policies: policies.map(|&at| index.policies()[at].clone()).collect(),
        })
    }

    /// Ranks what is in the index for a question; says whether it could be embedded, or need not be.
    async fn rank(
        &self,
        index: &Arc<KnowledgeIndex>,
        query: &Query<'_>,
        weights: &Weights,
    ) -> (Arc<Plan>, Vec<Ranked>, bool) {
        let seen = seen(index, query);
        let text = index.without_sources(without_framing(query.text), &seen);
        let sought = timeout(EMBEDDING, self.recaller.seek(&text)).await;
        let sought = sought.unwrap_or_else(|_late| RecallQuery {
            text: text.clone(),
            vector: None,
            embeddings_down: true,
            ..RecallQuery::default()
        });
        let has_vector = !sought.embeddings_down;
        let identifiers = plan::identifiers(query.text);
        let plan = Arc::new(Plan {
            text,
            policies: self.triggered(index, query, &sought, &seen),
            identified: identified(index, identifiers).await,
            seen,
        });
        let (scanned, graph) = tokio::join!(
            self.scan(index, &plan, sought.vector, query.earlier),
            graph_match(index, &plan, weights)
        );
        let (today, fusion) = (Utc::now().date_naive(), weights.fusion);
        let (its_index, its_plan) = (Arc::clone(index), Arc::clone(&plan));
        let ranked =
            blocking(move || rank::fuse(&its_index, &its_plan, &scanned, &graph, &fusion, today));
        (plan, ranked.await, has_vector)
    }

    /// What reads alike and has the words.
    async fn scan(
        &self,
        index: &Arc<KnowledgeIndex>,
        plan: &Arc<Plan>,
        vector: Option<Vec<f32>>,
        earlier: &[&str],
    ) -> Scanned {
        let earlier: Vec<Option<Vec<f32>>> = earlier
            .iter()
            .map(|text| self.recaller.vector_of(text))
            .collect();
        let history = self.weights.load().history;
        let vector = vector.map(|vector| plan::weighted(&vector, &earlier, &history));
        let (index, plan) = (Arc::clone(index), Arc::clone(plan));
        blocking(move || rank::scan(&index, &plan, vector.as_deref())).await
    }

    /// What chunks say, by their numbers; none where the graph does not tell in time.
    async fn passages(
        &self,
        index: &KnowledgeIndex,
        named: &[(usize, String)],
    ) -> Option<HashMap<usize, Passage>> {
        let by_chunk: HashMap<&str, usize> = named
            .iter()
            .map(|(number, chunk)| (chunk.as_str(), *number))
            .collect();
        let chunks = |is_meant: &dyn Fn(usize) -> bool| -> Vec<String> {
            let such = named.iter().filter(|(number, _)| is_meant(*number));
            such.map(|(_, chunk)| chunk.clone()).collect()
        };
        let is_node = |number| index.source(number).name == NODES;
        let of = |private: bool| {
            chunks(&|number| !is_node(number) && index.is_private(number) == private)
        };
        let ask = |chunks: Vec<String>, private| async move {
            if chunks.is_empty() {
                return Ok(Vec::new());
            }
            self.store.passages(&chunks, private).await
        };
        let (nodes, order) = (chunks(&is_node), index.node_properties());
        let asked = async {
            tokio::try_join!(
                ask(of(false), false),
                ask(of(true), true),
                nodes::passages(&self.store, &nodes, &order),
            )
        };
        match timeout(GRAPH, asked).await {
            Ok(Ok((public, private, nodes))) => Some(
                public
                    .into_iter()
                    .chain(private)
                    .chain(nodes)
                    .filter_map(|passage| Some((*by_chunk.get(passage.chunk.as_str())?, passage)))
                    .collect(),
            ),
            Ok(Err(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "the graph did not tell what is around the finds");
                None
            }
            Err(_late) => {
                tracing::warn!("the graph did not tell in time what is around the finds");
                None
            }
        }
    }

    /// What was ranked, without a word of the store: for measuring.
    pub async fn ranked(self: &Arc<Self>, query: &Query<'_>, weights: &Weights) -> Vec<Ranked> {
        let Some(index) = self.ready().await else {
            return Vec::new();
        };
        self.rank(&index, query, weights).await.1
    }
}

/// What is told of what was ranked.
struct Chosen {
    ranked: Vec<Ranked>,
    answerability: f32,
    /// The chunks of which something is asked, and their names.
    around: Vec<(usize, String)>,
}

async fn choose(index: &Arc<KnowledgeIndex>, mut ranked: Vec<Ranked>, weights: Weights) -> Chosen {
    let index = Arc::clone(index);
    blocking(move || {
        // What is only connected to a find is told with that.
        ranked.retain(|one| {
            one.named.is_none_or(|named| named.steps == 0) || !index.is_beside(one.entry)
        });
        let likelihood = answerability(&ranked, &weights.fusion);
        let ranked = rank::choose(&index, &ranked, &weights.choice);
        let around = hit::around(&index, &ranked).into_iter();
        Chosen {
            answerability: if ranked.is_empty() { 0.0 } else { likelihood },
            around: around.map(|at| (at, index.entry(at).chunk)).collect(),
            ranked,
        }
    })
    .await
}

async fn identified(index: &Arc<KnowledgeIndex>, identifiers: Vec<String>) -> Vec<usize> {
    if identifiers.is_empty() {
        return Vec::new();
    }
    let index = Arc::clone(index);
    blocking(move || index.identified(&identifiers)).await
}

async fn graph_match(
    index: &Arc<KnowledgeIndex>,
    plan: &Arc<Plan>,
    weights: &Weights,
) -> HashMap<usize, Confidence> {
    let (index, plan, weights) = (Arc::clone(index), Arc::clone(plan), weights.graph);
    blocking(move || rank::graph_match(&index, &plan, &weights)).await
}

fn names(index: &KnowledgeIndex, audience: &AudienceId) -> Vec<String> {
    let seen = index.seen_by(audience);
    let named = index.versions().iter().zip(seen);
    named
        .filter(|(source, seen)| *seen && source.name != NODES)
        .map(|(source, _)| source.name.clone())
        .collect()
}

/// Which sources are searched.
fn seen(index: &KnowledgeIndex, query: &Query<'_>) -> Vec<bool> {
    let seen = index.seen_by(query.audience);
    let sources = index.versions().iter().zip(seen);
    sources
        .map(|(source, seen)| seen && query.has(&source.name))
        .collect()
}

fn told(found: Found) -> Found {
    for degradation in &found.degradations {
        metrics::counter!("muninn_degradations_total", "degradation" => degradation.name())
            .increment(1);
        tracing::warn!(
            degradation = degradation.name(),
            "the team's knowledge is searched in part"
        );
    }
    found
}

/// Work that would hold up other turns, on a thread of its own.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    joined(tokio::task::spawn_blocking(work)).await
}
