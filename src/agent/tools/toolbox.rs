//! The tools for the team's graph: loaded once, and fitted to the present graph.

use muninn_platform::{AudienceId, count_with_noun};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use tokio::sync::OnceCell;

use super::files::ToolFiles;
use super::names::TEXT2CYPHER;
use super::outside::OutsideTool;
use super::tool_file::ToolFileError;
use crate::agent::prompts::{Example, PromptError, Prompts};
use crate::graph::confine::{ConfinedCypher, StatementLimits, confine};
use crate::graph::schema::Survey;
use crate::graph::{GraphStore, StoreError};
use crate::memory::Recaller;

/// Maximum number of examples in a prompt.
const EXAMPLES: usize = 4;
/// Maximum number of labels named in a one-line description of the graph.
const NAMED_LABELS: usize = 12;

/// The tools for a team's graph, and what its prompt contains beside the schema.
#[derive(Debug)]
pub struct Toolbox {
    pub(super) store: Arc<GraphStore>,
    pub(super) tools: ToolFiles,
    pub(super) terminology: String,
    examples: Vec<Example>,
    /// Vectors of the examples' questions.
    vectors: OnceCell<Vec<Option<Vec<f32>>>>,
    offer: Mutex<Option<Arc<OfferedTools>>>,
}

/// The tools that fit the present graph.
#[derive(Debug)]
pub struct OfferedTools {
    pub(super) survey: Arc<Survey>,
    /// The content of the graph, on one line.
    pub knowledge: String,
    /// Indexes of tools, with their statements.
    pub(super) ready: Vec<(usize, ConfinedCypher)>,
    /// Indexes of the examples that fit.
    examples: Vec<usize>,
    /// Tools that do not fit, with reasons.
    pub unfit: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExampleFile {
    #[serde(default)]
    example: Vec<Example>,
}

/// Why there is no toolbox.
#[derive(Debug, thiserror::Error)]
pub enum ToolboxError {
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error(transparent)]
    Tool(#[from] ToolFileError),
}

impl Toolbox {
    /// Loads the tools, the examples and the terminology, built-in or from `folder`.
    ///
    /// # Errors
    /// Fails when a file is invalid; the error names it.
    pub fn load(
        folder: Option<&Path>,
        prompts: &Prompts,
        store: Arc<GraphStore>,
    ) -> Result<Self, ToolboxError> {
        let examples: ExampleFile =
            toml::from_str(prompts.examples()).map_err(|error| PromptError::Wrong {
                file: "examples.toml".to_owned(),
                detail: error.to_string(),
            })?;
        let tools = ToolFiles::load(folder)?;
        for problem in tools.http.iter().filter_map(|tool| tool.problem()) {
            tracing::warn!("{problem}");
        }
        Ok(Self {
            store,
            tools,
            terminology: prompts.terminology().trim().to_owned(),
            examples: examples.example,
            vectors: OnceCell::new(),
            offer: Mutex::default(),
        })
    }

    /// Returns the tools that fit the present graph; `None` if it holds no knowledge.
    ///
    /// # Errors
    /// Fails when the schema of the graph was never read, and cannot be.
    pub async fn offer(&self) -> Result<Option<Arc<OfferedTools>>, StoreError> {
        let survey = self.store.kept_schema().await?;
        if survey.is_empty() {
            return Ok(None);
        }
        let mut last = self.offer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(offer) = last.as_ref().filter(|it| Arc::ptr_eq(&it.survey, &survey)) {
            return Ok(Some(Arc::clone(offer)));
        }
        let offer = Arc::new(self.fit(survey));
        for why in &offer.unfit {
            tracing::warn!("{why}");
        }
        *last = Some(Arc::clone(&offer));
        Ok(Some(offer))
    }

    /// The tools with an address that are offered in a channel.
    pub fn outside(&self, channel: &AudienceId) -> Vec<Arc<dyn OutsideTool>> {
        let all = self.tools.http.iter();
        let offered = all.filter(|tool| tool.is_offered_in(channel));
        offered
            .map(|tool| Arc::clone(tool) as Arc<dyn OutsideTool>)
            .collect()
    }

    /// The names of the tools that query the graph.
    pub fn names<'a>(&'a self, offer: &'a OfferedTools) -> impl Iterator<Item = &'a str> {
        let made = offer.ready.iter();
        let made = made.map(|(index, _)| self.tools.cypher[*index].spec.name.as_str());
        made.chain([TEXT2CYPHER])
    }

    fn fit(&self, survey: Arc<Survey>) -> OfferedTools {
        let mut ready = Vec::new();
        let mut unfit = Vec::new();
        for (index, tool) in self.tools.cypher.iter().enumerate() {
            match tool.confined(&survey) {
                Ok(confined) => ready.push((index, confined)),
                Err(_) if tool.is_shipped => {}
                Err(refusal) => unfit.push(format!(
                    "the tool {} of {} is not offered, since it does not fit the graph: {refusal}",
                    tool.spec.name, tool.file
                )),
            }
        }
        let fits = |index: &usize| {
            let cypher = &self.examples[*index].cypher;
            let limits = StatementLimits::of_rows(1).with_nodes(&survey.nodes);
            confine(cypher, &survey.schema, &limits).is_ok()
        };
        OfferedTools {
            knowledge: in_a_line(&survey),
            ready,
            unfit,
            examples: (0..self.examples.len()).filter(fits).collect(),
            survey,
        }
    }

    /// The examples nearest to the question, the nearest last, as the last one has the most weight.
    pub(super) async fn examples(
        &self,
        offer: &OfferedTools,
        question: &str,
        recaller: &Recaller,
    ) -> Vec<Example> {
        let asked = recaller.embed_query(question).await.vector;
        let vectors = self
            .vectors
            .get_or_init(|| async {
                let mut vectors = Vec::new();
                for example in &self.examples {
                    vectors.push(recaller.embed_query(&example.question).await.vector);
                }
                vectors
            })
            .await;
        let nearness = |index: usize| match (&asked, &vectors[index]) {
            (Some(asked), Some(vector)) => cosine(asked, vector),
            (None, _) | (_, None) => 0.0,
        };
        let mut nearest = offer.examples.clone();
        nearest.sort_by(|a, b| nearness(*b).total_cmp(&nearness(*a)));
        nearest.truncate(EXAMPLES);
        nearest.reverse();
        let example = |index: usize| self.examples[index].clone();
        nearest.into_iter().map(example).collect()
    }
}

/// For unit vectors.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Rounded to two significant digits: otherwise a growing graph would change every prompt.
fn rounded(count: u64) -> u64 {
    let unit = 10_u64.pow(count.checked_ilog10().unwrap_or_default().saturating_sub(1));
    count / unit * unit
}

/// The content of the graph: its labels, most frequent first, and its relationship types.
fn in_a_line(survey: &Survey) -> String {
    let labels = survey.ranked_labels();
    let rest = labels.len().saturating_sub(NAMED_LABELS);
    let mut parts: Vec<String> = labels
        .iter()
        .take(NAMED_LABELS)
        .map(|(label, count)| format!("{label} ({})", rounded(*count)))
        .collect();
    if rest > 0 {
        parts.push(count_with_noun(rest, "more label"));
    }
    let types: Vec<&str> = survey
        .relationships
        .keys()
        .take(NAMED_LABELS)
        .map(String::as_str)
        .collect();
    if types.is_empty() {
        return parts.join(", ");
    }
    format!("{}, connected by {}", parts.join(", "), types.join(", "))
}
