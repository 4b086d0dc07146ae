//! Searches the team's knowledge by the graph, by vectors and by words, and fuses the results.
//!
//! With both stores the index is in files of our own, one per source, rebuilt when another version
//! is served; pure functions ([`plan`], [`rank`]) do the ranking. The store is only asked for the
//! content of the hits. A part that fails is left out and reported as a degradation.

mod alike;
mod answerability;
pub mod cards;
pub mod citations;
pub mod facts;
pub mod hit;
pub mod index;
mod loading;
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
use muninn_platform::{AudienceId, join_task};
use muninn_texts::{Text, text};
use tokio::time::timeout;

pub use self::hit::{Hit, RelatedRecord};
pub use self::index::{IndexFolder, KnowledgeIndex};
pub use self::policy::Policy;
pub use self::weights::{Weights, WeightsError};

use self::answerability::answerability;
use self::nodes::{NODES, NodeReader, NodeSettings};
use self::plan::{Plan, QueryVectors};
use self::rank::{Confidence, Ranked, Scanned};
use crate::graph::GraphStore;
use crate::graph::ingest::searching::Passage;
use crate::memory::{RecallQuery, Recaller};
use crate::retrieval::speech::{subject_of_decision, without_framing};

/// Maximum wait for the embedding of the question.
const EMBEDDING: Duration = Duration::from_secs(5);
/// Maximum wait for the graph to return the content of the hits.
const GRAPH: Duration = Duration::from_secs(2);

/// A search query.
#[derive(Clone, Copy, Debug)]
pub struct SearchQuery<'a> {
    pub text: &'a str,
    /// The questions before it, oldest first.
    pub earlier: &'a [&'a str],
    pub audience: &'a AudienceId,
    pub among: KnowledgeFilter,
    /// The sources to search, by name; `None`: all visible ones. Policies apply in any case.
    pub only: Option<&'a [String]>,
    /// Maximum number of hits; `None`: as the weights say.
    pub limit: Option<usize>,
}

impl SearchQuery<'_> {
    /// Whether the query includes a source, if it is visible.
    fn has(&self, source: &str) -> bool {
        let is_named = |only: &[String]| source == NODES || only.iter().any(|it| it == source);
        self.among.has(source) && self.only.is_none_or(is_named)
    }
}

/// Which kind of knowledge to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KnowledgeFilter {
    #[default]
    Everything,
    /// Nodes that were in the graph before ([`nodes`]).
    Nodes,
}

impl KnowledgeFilter {
    fn has(self, source: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Nodes => source == NODES,
        }
    }
}

/// A part of the search that was left out, or is outdated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Degradation {
    /// The index is not loaded yet.
    Loading,
    /// A newer version is served than the one that was searched.
    Lagging,
    /// The question could not be embedded: the search used only words and names.
    WordsOnly,
    /// The graph did not return the context of the hits in time.
    GraphAway,
    /// The graph did not return its schema.
    NotAsked,
}

impl Degradation {
    /// Returns the name for metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loading => "knowledge-loading",
            Self::Lagging => "knowledge-lagging",
            Self::WordsOnly => "knowledge-words",
            Self::GraphAway => "knowledge-graph",
            Self::NotAsked => "knowledge-query",
        }
    }

    /// Returns the text for people.
    pub fn text(self) -> Text {
        match self {
            Self::Loading => text!("knowledge-loading"),
            Self::Lagging => text!("knowledge-lagging"),
            Self::WordsOnly => text!("knowledge-words-only"),
            Self::GraphAway => text!("knowledge-graph-away"),
            Self::NotAsked => text!("knowledge-not-asked"),
        }
    }

    /// Returns the sentence in English: for models, and for the terminal.
    pub fn sentence(self) -> String {
        self.text().to_string()
    }
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// Best first.
    pub hits: Vec<Hit>,
    /// The probability that one of them answers the question.
    pub answerability: f32,
    pub degradations: Vec<Degradation>,
    /// The policies that the question triggered, by descending weight.
    pub policies: Vec<Policy>,
}

impl SearchResults {
    /// Leaves out hits below the best one that add nothing to it for a person.
    fn without_weak(mut self, weights: &Weights) -> Self {
        if let Some(best) = self.hits.first().map(|hit| hit.scores) {
            let is_quoted = |hit: &Hit| rank::is_quoted_below(&best, &hit.scores, weights);
            self.hits.retain(is_quoted);
        }
        self
    }
}

/// The search engine over the team's knowledge.
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
    /// The last attempt to load it failed.
    has_failed: AtomicBool,
    loading: tokio::sync::Mutex<()>,
}

impl Searcher {
    /// Creates a searcher with temporary files.
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

    /// Keeps its files in a data folder, so that they exist at the next start.
    pub fn in_data_dir(self, data_dir: &Path) -> Self {
        Self {
            folder: Arc::new(IndexFolder::in_data_dir(data_dir)),
            ..self
        }
    }

    /// Searches nodes of the graph too; vectors made by a service are kept in `folder`.
    pub fn with_nodes(self, settings: NodeSettings, folder: &Path) -> Self {
        Self {
            nodes: NodeReader::new(settings, Some(folder)),
            ..self
        }
    }

    /// Changes which nodes are searched, from the next check on.
    pub fn use_nodes(&self, settings: NodeSettings) {
        self.nodes.use_settings(settings);
    }

    /// Changes the weights of later searches.
    pub fn weigh_by(&self, weights: Weights) {
        self.weights.store(Arc::new(weights));
    }

    /// Returns the labels of the nodes that are searched by meaning, in alphabetical order.
    pub async fn node_labels(self: &Arc<Self>) -> Vec<String> {
        let index = self.ready().await;
        index.map_or_else(Vec::new, |index| index.node_labels())
    }

    /// The same for what is loaded, without waiting.
    pub fn known_node_labels(&self) -> Vec<String> {
        self.current()
            .map_or_else(Vec::new, |index| index.node_labels())
    }

    /// Returns the names of the sources that this audience may search.
    pub async fn sources(self: &Arc<Self>, audience: &AudienceId) -> Vec<String> {
        let index = self.ready().await;
        index.map_or_else(Vec::new, |index| names(&index, audience))
    }

    /// Returns the names of all sources, regardless of access.
    pub async fn all_sources(self: &Arc<Self>) -> Vec<String> {
        let index = self.ready().await;
        index.map_or_else(Vec::new, |index| {
            let sources = index.versions().iter().filter(|it| it.name != NODES);
            sources.map(|it| it.name.clone()).collect()
        })
    }

    /// The same for what is loaded, without waiting.
    pub fn known_sources(&self, audience: &AudienceId) -> Vec<String> {
        let index = self.current();
        index.map_or_else(Vec::new, |index| names(&index, audience))
    }

    /// Whether nothing can be searched because loading failed.
    pub fn is_missing(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed) && self.current().is_none()
    }

    /// Returns the policies that a message, or one before it, triggers, independently of what
    /// answers it. Does not wait if the graph `is_away`.
    pub async fn policies(
        self: &Arc<Self>,
        query: &SearchQuery<'_>,
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
        let seen = index.visible_sources(query.audience);
        let triggered = self.triggered(&index, query, sought, &seen);
        let policies = triggered.into_iter();
        policies.map(|at| index.policies()[at].clone()).collect()
    }

    fn triggered(
        &self,
        index: &KnowledgeIndex,
        query: &SearchQuery<'_>,
        sought: &RecallQuery,
        seen: &[bool],
    ) -> Vec<usize> {
        if index.policies().is_empty() {
            return Vec::new();
        }
        // A service would need a call per sentence; then the whole message has to do.
        let sentences = policy::sentences(query.text).into_iter();
        let own = sentences.filter_map(|sentence| self.recaller.vector_of(sentence));
        let vectors: Vec<Vec<f32>> = own.chain(sought.vector.clone()).collect();
        let meant = QueryVectors {
            vectors: &vectors,
            least: self.weights.load().policies.likeness,
        };
        plan::triggered_policies(index, query.text, query.earlier, meant, seen)
    }

    /// Searches for passages to quote to a person when no model answers: few, and none when they
    /// hardly answer the question.
    pub async fn search_to_quote(self: &Arc<Self>, query: &SearchQuery<'_>) -> SearchResults {
        let weights = self.weights.load();
        let choice = &weights.choice;
        let limit = Some(query.limit.unwrap_or(choice.quoted));
        let mut found = self.search(&SearchQuery { limit, ..*query }).await;
        let answers = |found: &SearchResults| found.answerability >= choice.least_answerability;
        if answers(&found) {
            return found.without_weak(&weights);
        }
        // Minutes seldom have the word "decide". If their subject alone leads to the same passage, it is the one that is meant.
        if let Some(text) = &subject_of_decision(query.text) {
            let of_subject = SearchQuery {
                text,
                limit,
                ..*query
            };
            let again = self.search(&of_subject).await;
            let first = |found: &SearchResults| found.hits.first().map(|hit| hit.chunk.clone());
            if answers(&again) && first(&again).is_some() && first(&again) == first(&found) {
                return again.without_weak(&weights);
            }
        }
        found.hits.clear();
        found
    }

    /// Returns a caveat, in English, for hits that hardly answer the question.
    pub fn answer_caveat(&self, found: &SearchResults) -> Option<String> {
        let least = self.weights.load().choice.least_answerability;
        let is_doubtful = !found.hits.is_empty() && found.answerability < least;
        is_doubtful.then(|| {
            let chance = 100.0 * found.answerability;
            format!(
                "It is uncertain whether one of these answers that (the chance is {chance:.0} %). They come nearest:"
            )
        })
    }

    /// Searches.
    pub async fn search(self: &Arc<Self>, query: &SearchQuery<'_>) -> SearchResults {
        let Some(index) = self.ready().await else {
            return report_degradations(SearchResults {
                degradations: vec![Degradation::Loading],
                ..SearchResults::default()
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
            return report_degradations(SearchResults {
                degradations: vec![Degradation::Loading],
                ..SearchResults::default()
            });
        }
        let policies = plan.policies.iter();
        report_degradations(SearchResults {
            answerability,
            hits,
            degradations,
            policies: policies.map(|&at| index.policies()[at].clone()).collect(),
        })
    }

    /// Ranks the index for a question; returns whether the question could be embedded, or did not
    /// need to be.
    async fn rank(
        &self,
        index: &Arc<KnowledgeIndex>,
        query: &SearchQuery<'_>,
        weights: &Weights,
    ) -> (Arc<Plan>, Vec<Ranked>, bool) {
        let seen = seen(index, query);
        let text = index.without_sources(without_framing(query.text), &seen);
        let sought = timeout(EMBEDDING, self.recaller.embed_query(&text)).await;
        let sought = sought.unwrap_or_else(|_late| RecallQuery {
            text: text.clone(),
            vector: None,
            embeddings_down: true,
            ..RecallQuery::default()
        });
        let has_vector = !sought.embeddings_down;
        let plan = Arc::new(Plan {
            text,
            policies: self.triggered(index, query, &sought, &seen),
            identified: identified(index, query.text).await,
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

    /// Scans by vectors and by words.
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

    /// Returns the content of chunks, by number; `None` if the graph does not answer in time.
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

    /// Returns the ranking without the content from the store: for measurements.
    pub async fn ranked(
        self: &Arc<Self>,
        query: &SearchQuery<'_>,
        weights: &Weights,
    ) -> Vec<Ranked> {
        let Some(index) = self.ready().await else {
            return Vec::new();
        };
        self.rank(&index, query, weights).await.1
    }
}

/// The ranked chunks that are shown.
struct Chosen {
    ranked: Vec<Ranked>,
    answerability: f32,
    /// The chunks whose content is needed, with their names.
    around: Vec<(usize, String)>,
}

async fn choose(index: &Arc<KnowledgeIndex>, mut ranked: Vec<Ranked>, weights: Weights) -> Chosen {
    let index = Arc::clone(index);
    blocking(move || {
        // A node that is only connected to a hit is shown together with that hit.
        ranked.retain(|one| {
            one.named.is_none_or(|named| named.steps == 0) || !index.is_beside(one.entry)
        });
        let best = ranked.first().map(|one| index.text(one.entry));
        let is_copy = |entry| best.as_ref() == Some(&index.text(entry));
        let likelihood = answerability(&ranked, &weights.fusion, &is_copy);
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

async fn identified(index: &Arc<KnowledgeIndex>, text: &str) -> Vec<usize> {
    // An identifier has one.
    if !text.contains(|it: char| it.is_ascii_digit()) {
        return Vec::new();
    }
    let (index, text) = (Arc::clone(index), text.to_owned());
    blocking(move || plan::identified(&index, &text)).await
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
    let seen = index.visible_sources(audience);
    let named = index.versions().iter().zip(seen);
    named
        .filter(|(source, seen)| *seen && source.name != NODES)
        .map(|(source, _)| source.name.clone())
        .collect()
}

/// Returns which sources are searched.
fn seen(index: &KnowledgeIndex, query: &SearchQuery<'_>) -> Vec<bool> {
    let seen = index.visible_sources(query.audience);
    let sources = index.versions().iter().zip(seen);
    sources
        .map(|(source, seen)| seen && query.has(&source.name))
        .collect()
}

fn report_degradations(found: SearchResults) -> SearchResults {
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

/// Runs work on a thread of its own, so that it does not block other turns.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    join_task(tokio::task::spawn_blocking(work)).await
}
