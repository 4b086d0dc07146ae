//! The tool that searches what the team has ingested.

use std::sync::{Arc, Mutex, PoisonError};

use muninn_platform::{AudienceId, counted, one_line};
use serde::Deserialize;
use serde_json::json;

use super::{ToolResult, wrong_call};
use crate::agent::prompts::{Finding, lines};
use crate::graph::trace::ToolUse;
use crate::knowledge::search::citations::Cited;
use crate::knowledge::search::plan::{Want, want};
use crate::knowledge::search::{Found, Hit, Query, Searcher};
use crate::llm::ToolSpec;

pub(in crate::agent) const SEARCH_KNOWLEDGE: &str = "search_knowledge";

/// Sources that are named where knowledge is described in a line.
const NAMED_SOURCES: usize = 12;
/// Records that are shown where records are asked for.
const CARDS: usize = 10;
/// Steps of a path, and related things, that a passage's head names.
const NAMED: usize = 4;

/// What the team has ingested, as far as an audience may see it.
#[derive(Debug)]
pub struct Knowledge<'a> {
    searcher: &'a Arc<Searcher>,
    /// Names of the sources; at least one.
    sources: Vec<String>,
    /// The questions before this one, oldest first.
    earlier: Vec<&'a str>,
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
    /// None where these people may see no source.
    pub fn new(
        searcher: &'a Arc<Searcher>,
        sources: Vec<String>,
        earlier: Vec<&'a str>,
    ) -> Option<Self> {
        (!sources.is_empty()).then(|| Self {
            searcher,
            sources,
            earlier,
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

    pub(super) fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: SEARCH_KNOWLEDGE.to_owned(),
            description: format!(
                "Searches the team's documents and records ({}) by meaning, words and names. Use it \
                 for anything that they may say, and to show records.",
                self.in_a_line()
            ),
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

    pub(super) async fn call(&self, audience: &AudienceId, arguments: &str) -> ToolResult {
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
                self.search(audience, &query, want).await
            }
            Err(error) => wrong_call(SEARCH_KNOWLEDGE, &error.to_string()),
        }
    }

    /// Searches, and numbers what was found.
    pub async fn search(&self, audience: &AudienceId, query: &str, want: Want) -> ToolResult {
        let found = self
            .searcher
            .search(&Query {
                text: query,
                earlier: &self.earlier,
                audience,
                limit: match want {
                    Want::Answer => None,
                    Want::Records => Some(CARDS),
                },
            })
            .await;
        let Found {
            hits,
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
                heading: format!("{SEARCH_KNOWLEDGE}({:?}): {count}", one_line(query)),
                lines: cited.iter().flat_map(passage).collect(),
            },
            used: ToolUse {
                found: Some(cited.len()),
                notes: rungs.iter().map(|it| it.sentence().to_owned()).collect(),
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

/// A passage as it is quoted. Each line of its text has a mark, so that none can be taken for the
/// head of another passage.
fn passage(cited: &Cited) -> Vec<String> {
    let Cited { number, hit } = cited;
    let mut about = vec![format!("source {}", one_line(&hit.source))];
    if let Some(link) = &hit.link {
        about.push(one_line(link));
    }
    if !hit.path.is_empty() {
        let from = hit.path.len().saturating_sub(NAMED);
        let names: Vec<String> = hit.path[from..]
            .iter()
            .map(|it| one_line(&it.name))
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
