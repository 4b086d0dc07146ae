//! The tools that search ingested knowledge, and what the graph held before.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use muninn_platform::{AudienceId, count_with_noun, one_line};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::result::{ToolResult, wrong_call};
use crate::agent::prompts::{Finding, lines};
use crate::graph::trace::ToolUse;
use crate::knowledge::search::citations::Cited;
use crate::knowledge::search::facts::is_path;
use crate::knowledge::search::plan::{QueryIntent, want};
use crate::knowledge::search::{Hit, KnowledgeFilter, SearchQuery, SearchResults, Searcher};
use crate::llm::{ToolSpec, millis};

pub const SEARCH_KNOWLEDGE: &str = "search_knowledge";
pub const SEARCH_NODES: &str = "search_nodes";

/// Maximum number of sources named in a one-line description of the knowledge.
const NAMED_SOURCES: usize = 12;
/// Maximum number of records shown if records are asked for.
const CARDS: usize = 10;
/// Maximum steps of a path named in a passage's heading.
const NAMED: usize = 4;

/// The ingested knowledge that an audience may see, and what the graph held before.
#[derive(Debug)]
pub struct Knowledge<'a> {
    searcher: &'a Arc<Searcher>,
    /// Names of the ingested sources.
    sources: Vec<String>,
    /// Labels of the searched nodes. There is at least one label or source.
    labels: Vec<String>,
    /// The earlier questions, oldest first.
    earlier: Vec<&'a str>,
    /// The sources that are searched here; `None` means all visible ones.
    only: Option<&'a [String]>,
    /// The chunks with a number in this turn, in order of their numbers.
    numbered: Mutex<Vec<String>>,
}

/// The tool's arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(deserialize_with = "text_or_texts")]
    query: String,
    show_records: Option<bool>,
}

/// Reads a text, or several as one: weak models write a list of queries.
pub(super) fn text_or_texts<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Texts {
        One(String),
        Several(Vec<String>),
    }

    Ok(match Texts::deserialize(from)? {
        Texts::One(text) => text,
        Texts::Several(texts) => texts.join(" "),
    })
}

impl<'a> Knowledge<'a> {
    /// `None` if these people may see no source, and no nodes are searched.
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

    /// The sources on one line.
    pub fn in_a_line(&self) -> String {
        let rest = self.sources.len().saturating_sub(NAMED_SOURCES);
        let named = self.sources.iter().take(NAMED_SOURCES).cloned();
        let more = (rest > 0).then(|| count_with_noun(rest, "more source"));
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

    /// What the offered tool of this name searches.
    pub(super) fn among(&self, tool: &str) -> Option<KnowledgeFilter> {
        match tool {
            SEARCH_KNOWLEDGE => Some(KnowledgeFilter::Everything),
            SEARCH_NODES => (!self.labels.is_empty()).then_some(KnowledgeFilter::Nodes),
            _ => None,
        }
    }

    pub(super) async fn call(
        &self,
        audience: &AudienceId,
        (tool, among): (&str, KnowledgeFilter),
        arguments: &str,
    ) -> ToolResult {
        match serde_json::from_str(arguments) {
            Ok(Arguments {
                query,
                show_records,
            }) => {
                let want = match show_records {
                    Some(true) => QueryIntent::Records,
                    Some(false) => QueryIntent::Answer,
                    None => want(&query),
                };
                self.find(audience, (tool, among), &query, want).await
            }
            Err(error) => wrong_call(tool, &error.to_string()),
        }
    }

    /// Numbered quotes for a person, if no model answers; empty if they hardly answer the question.
    pub async fn quote(&self, audience: &AudienceId, query: &str) -> ToolResult {
        let sought = self.sought(
            audience,
            KnowledgeFilter::Everything,
            query,
            QueryIntent::Answer,
        );
        let began = Instant::now();
        let found = self.searcher.search_to_quote(&sought).await;
        let mut result = self.result(SEARCH_KNOWLEDGE, query, found, QueryIntent::Answer);
        // No model called it, so nothing else says what was called.
        result.used.name = SEARCH_KNOWLEDGE.to_owned();
        result.used.arguments = json!({"query": query}).to_string();
        result.used.ms = millis(began.elapsed());
        result
    }

    async fn find(
        &self,
        audience: &AudienceId,
        (tool, among): (&str, KnowledgeFilter),
        query: &str,
        want: QueryIntent,
    ) -> ToolResult {
        let sought = self.sought(audience, among, query, want);
        let found = self.searcher.search(&sought).await;
        self.result(tool, query, found, want)
    }

    fn sought<'q>(
        &'q self,
        audience: &'q AudienceId,
        among: KnowledgeFilter,
        query: &'q str,
        want: QueryIntent,
    ) -> SearchQuery<'q> {
        SearchQuery {
            text: query,
            earlier: &self.earlier,
            audience,
            among,
            only: self.only,
            limit: match want {
                QueryIntent::Answer => None,
                QueryIntent::Records => Some(CARDS),
            },
        }
    }

    fn result(
        &self,
        tool: &str,
        query: &str,
        found: SearchResults,
        want: QueryIntent,
    ) -> ToolResult {
        let SearchResults {
            hits,
            answerability: _,
            degradations,
            policies,
        } = found;
        let cited = self.number(hits);
        let count = match cited.len() {
            0 => "nothing found".to_owned(),
            passages => count_with_noun(passages, "passage"),
        };
        ToolResult {
            finding: Finding {
                heading: format!("{tool}({:?}): {count}", one_line(query)),
                lines: cited.iter().flat_map(passage).collect(),
            },
            used: ToolUse {
                found: Some(cited.len()),
                notes: degradations.iter().map(|it| it.sentence()).collect(),
                ..ToolUse::default()
            },
            shows_records: want == QueryIntent::Records && !cited.is_empty(),
            cited,
            degradations,
            policies,
            has_searched: true,
            ..ToolResult::default()
        }
    }

    /// Numbers the hits; a chunk that was found before keeps its number.
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

/// A passage as it is quoted. Each line of its text has a marker, so that none can be mistaken for
/// the heading of another passage.
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
    let related = hit.related_in_words(|kind, one| format!("{} ({kind})", one_line(&one.name)));
    about.extend(related.map(|related| format!("related: {related}")));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_queries_is_one_query() {
        for (written, expected) in [
            (r#"{"query": "till PIN"}"#, Some("till PIN")),
            (r#"{"query": ["till", "PIN"]}"#, Some("till PIN")),
            (r#"{"query": 7}"#, None),
            ("{}", None),
        ] {
            let read: Option<Arguments> = serde_json::from_str(written).ok();
            let query = read.map(|read| read.query);
            assert_eq!(query.as_deref(), expected, "{written}");
        }
    }
}
