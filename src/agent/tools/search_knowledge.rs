//! The tools that search what the team has ingested, and what its graph held before.

use std::sync::{Arc, Mutex, PoisonError};

use muninn_platform::{AudienceId, counted, one_line};
use serde::Deserialize;
use serde_json::json;

use super::{ToolResult, wrong_call};
use crate::agent::prompts::{Finding, lines};
use crate::graph::trace::ToolUse;
use crate::knowledge::search::citations::Cited;
use crate::knowledge::search::facts::is_path;
use crate::knowledge::search::plan::{Want, want};
use crate::knowledge::search::{Among, Found, Hit, Query, Searcher};
use crate::llm::ToolSpec;

pub const SEARCH_KNOWLEDGE: &str = "search_knowledge";
pub const SEARCH_NODES: &str = "search_nodes";

/// Sources that are named where knowledge is described in a line.
const NAMED_SOURCES: usize = 12;
/// Records that are shown where records are asked for.
const CARDS: usize = 10;
/// Steps of a path, and related things, that a passage's head names.
const NAMED: usize = 4;

/// What the team has ingested, as far as an audience may see it, and what its graph held before.
#[derive(Debug)]
pub struct Knowledge<'a> {
    searcher: &'a Arc<Searcher>,
    /// Names of the ingested sources.
    sources: Vec<String>,
    /// Labels of the nodes that are searched. There is one of these or of the sources at least.
    labels: Vec<String>,
    /// The questions before this one, oldest first.
    earlier: Vec<&'a str>,
    /// The sources that are searched here; none for all that may be seen.
    only: Option<&'a [String]>,
    /// The chunks that have a number in this turn, in the order of their numbers.
    numbered: Mutex<Vec<String>>,
}

/// What it takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
    show_records: Option<bool>,
}

impl<'a> Knowledge<'a> {
    /// None where these people may see no source, and no nodes are searched.
    pub fn new(
        searcher: &'a Arc<Searcher>,
        sources: Vec<String>,
        labels: Vec<String>,
        earlier: Vec<&'a str>,
        only: Option<&'a [String]>,
    ) -> Option<Self> {
        (!sources.is_empty() || !labels.is_empty()).then(|| Self {
            searcher,
            sources,
            labels,
            earlier,
            only,
            numbered: Mutex::default(),
        })
    }

    /// The sources, in a line.
    pub fn in_a_line(&self) -> String {
        let rest = self.sources.len().saturating_sub(NAMED_SOURCES);
        let named = self.sources.iter().take(NAMED_SOURCES).cloned();
        let more = (rest > 0).then(|| counted(rest, "more source"));
        named.chain(more).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn specs(&self) -> Vec<ToolSpec> {
        let sources = (!self.sources.is_empty()).then(|| {
            let about = format!(
                "Searches the team's documents and records ({}) by meaning, words and names. Use it \
                 for anything that they may say, and to show records.",
                self.in_a_line()
            );
            spec(SEARCH_KNOWLEDGE, about)
        });
        let nodes = (!self.labels.is_empty()).then(|| {
            let about = format!(
                "Searches nodes of the team's graph ({}) by what their texts mean, by words and by \
                 names, and tells what they are connected to. Use it where something is described \
                 rather than named, as in a question for a recommendation.",
                self.labels.join(", ")
            );
            spec(SEARCH_NODES, about)
        });
        sources.into_iter().chain(nodes).collect()
    }

    /// The tool of this name that is offered, by what it searches.
    pub(super) fn among(&self, tool: &str) -> Option<Among> {
        match tool {
            SEARCH_KNOWLEDGE => Some(Among::Everything),
            SEARCH_NODES => (!self.labels.is_empty()).then_some(Among::Nodes),
            _ => None,
        }
    }

    pub(super) async fn call(
        &self,
        audience: &AudienceId,
        (tool, among): (&str, Among),
        arguments: &str,
    ) -> ToolResult {
        match serde_json::from_str(arguments) {
            Ok(Arguments {
                query,
                show_records,
            }) => {
                let want = match show_records {
                    Some(true) => Want::Records,
                    Some(false) => Want::Answer,
                    None => want(&query),
                };
                self.find(audience, (tool, among), &query, want).await
            }
            Err(error) => wrong_call(tool, &error.to_string()),
        }
    }

    /// What a person is quoted, as no model answers: numbered, and nothing where it hardly answers.
    pub async fn quote(&self, audience: &AudienceId, query: &str) -> ToolResult {
        let sought = self.sought(audience, Among::Everything, query, Want::Answer);
        let found = self.searcher.search_to_quote(&sought).await;
        self.result(SEARCH_KNOWLEDGE, query, found, Want::Answer)
    }

    async fn find(
        &self,
        audience: &AudienceId,
        (tool, among): (&str, Among),
        query: &str,
        want: Want,
    ) -> ToolResult {
        let sought = self.sought(audience, among, query, want);
        let found = self.searcher.search(&sought).await;
        self.result(tool, query, found, want)
    }

    fn sought<'q>(
        &'q self,
        audience: &'q AudienceId,
        among: Among,
        query: &'q str,
        want: Want,
    ) -> Query<'q> {
        Query {
            text: query,
            earlier: &self.earlier,
            audience,
            among,
            only: self.only,
            limit: match want {
                Want::Answer => None,
                Want::Records => Some(CARDS),
            },
        }
    }

    fn result(&self, tool: &str, query: &str, found: Found, want: Want) -> ToolResult {
        let Found {
            hits,
            answerability: _,
            rungs,
            policies,
        } = found;
        let cited = self.number(hits);
        let count = match cited.len() {
            0 => "nothing found".to_owned(),
            passages => counted(passages, "passage"),
        };
        ToolResult {
            finding: Finding {
                heading: format!("{tool}({:?}): {count}", one_line(query)),
                lines: cited.iter().flat_map(passage).collect(),
            },
            used: ToolUse {
                found: Some(cited.len()),
                notes: rungs.iter().map(|it| it.sentence()).collect(),
                ..ToolUse::default()
            },
            shows_records: want == Want::Records && !cited.is_empty(),
            cited,
            rungs,
            policies,
            has_searched: true,
            ..ToolResult::default()
        }
    }

    /// A chunk that was found before keeps its number.
    fn number(&self, hits: Vec<Hit>) -> Vec<Cited> {
        let mut numbered = self.numbered.lock().unwrap_or_else(PoisonError::into_inner);
        let number = |hit: Hit| {
            let known = numbered.iter().position(|chunk| *chunk == hit.chunk);
            let at = known.unwrap_or_else(|| {
                numbered.push(hit.chunk.clone());
                numbered.len() - 1
            });
            Cited {
                number: at + 1,
                hit,
            }
        };
        hits.into_iter().map(number).collect()
    }
}

fn spec(name: &str, description: String) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description,
        parameters: json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "What to look for, understandable alone, with all names in it.",
                },
                "show_records": {
                    "type": "boolean",
                    "description": "True only where records, documents or sources themselves \
                                    are asked for, to be shown or listed; false for a question.",
                },
            },
            "required": ["query"],
            "additionalProperties": false,
        }),
    }
}

/// A passage as it is quoted. Each line of its text has a mark, so that none can be taken for the
/// head of another passage.
fn passage(cited: &Cited) -> Vec<String> {
    let Cited { number, hit } = cited;
    let mut about = vec![format!("source {}", one_line(&hit.source))];
    if let Some(link) = hit.link.as_deref().filter(|link| !is_path(link)) {
        about.push(one_line(link));
    }
    if !hit.path.is_empty() {
        let from = hit.path.len().saturating_sub(NAMED);
        let names: Vec<String> = hit.path[from..]
            .iter()
            .map(|it| match it.told.as_str() {
                "" => one_line(&it.name),
                told => format!("{} ({})", one_line(&it.name), one_line(told)),
            })
            .collect();
        about.push(format!("part of {}", names.join(" › ")));
    }
    let related: Vec<String> = hit
        .related
        .iter()
        .take(NAMED)
        .map(|(kind, one)| format!("{} ({kind})", one_line(&one.name)))
        .collect();
    if !related.is_empty() {
        about.push(format!("related: {}", related.join(", ")));
    }
    let mut told = vec![format!(
        "[{number}] {} ({})",
        one_line(&hit.name()),
        about.join("; ")
    )];
    let texts = [&hit.before, &Some(hit.text.clone()), &hit.after];
    let texts = texts.into_iter().flatten();
    told.extend(
        texts
            .flat_map(|text| lines(text))
            .map(|line| format!("| {line}")),
    );
    told
}
