//! The evidence evidence for an answer.

use super::prompt::Memory;
use super::prompts::Finding;
use super::tools::{
    LIST_NOTES, SAVE_NOTE, SEARCH_KNOWLEDGE, SEARCH_MEMORY, SEARCH_NODES, ToolResult,
};
use crate::graph::trace::ToolUse;
use crate::graph::{ResponseId, Trust};
use crate::knowledge::search::citations::Cited;
use crate::knowledge::search::policy::POLICY;
use crate::knowledge::search::{Degradation, Policy};
use crate::llm::Completion;
use crate::memory::Recalled;

/// The evidence evidence for an answer, also if gathering was cut short.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The rephrased question, if it was rephrased.
    pub understood: Option<String>,
    /// Results from the graph, followed by passages.
    pub findings: Vec<Finding>,
    /// Number of passages among them.
    passages: usize,
    /// Memories that tools found.
    pub recalled: Vec<Recalled>,
    /// Turns that tools showed beside these memories.
    pub listed: Vec<ResponseId>,
    /// Memories that only the rephrased question found.
    pub also_recalled: Vec<Memory>,
    /// Recalled memories that have no room, or that a rerank found not to help.
    pub set_aside: Vec<ResponseId>,
    /// Distinct `elementId`s of the knowledge nodes that tools returned.
    pub nodes: Vec<String>,
    pub tools: Vec<ToolUse>,
    pub follow_ups: Vec<String>,
    pub is_volatile: bool,
    /// The passages of the team's knowledge that were found, by number.
    pub cited: Vec<Cited>,
    pub degradations: Vec<Degradation>,
    /// The policies that were triggered.
    pub policies: Vec<Policy>,
    /// The names of the files that came with the message of which the last prompt had only a part.
    pub cut_files: Vec<String>,
    /// Whether the team's documents and records were searched.
    pub has_searched: bool,
    /// Whether a look-up failed, which says nothing of what there is.
    has_failed: bool,
    /// Whether the answer shows records, so that there is nothing to check in it.
    pub shows_records: bool,
    /// The model that wrote last, as the service names it.
    pub model: String,
    /// Why its last text is not the complete answer.
    pub incomplete: Option<Incomplete>,
}

/// Why an answer is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// It reached a token limit: the bot's, or what the model had room for.
    CutOff { written: u32 },
    /// The service's content filter ended it.
    Withheld,
}

impl Incomplete {
    pub(super) fn of(completion: &Completion) -> Option<Self> {
        if completion.withheld {
            Some(Self::Withheld)
        } else {
            let written = completion.usage.completion;
            completion.truncated.then_some(Self::CutOff { written })
        }
    }
}

impl Evidence {
    /// Whether a statement on the team's graph ran without an error.
    pub fn has_knowledge(&self) -> bool {
        self.tools
            .iter()
            .any(|used| used.cypher.is_some() && used.error.is_none())
    }

    /// Whether tools were called and all of them failed.
    pub fn all_calls_failed(&self) -> bool {
        !self.tools.is_empty() && self.tools.iter().all(|used| used.error.is_some())
    }

    /// Whether nothing was found but passages.
    pub(super) fn has_only_passages(&self) -> bool {
        self.findings.len() == self.passages
    }

    /// The lowest trust class of what was looked up.
    pub fn trust(&self) -> Trust {
        let looked_up = self.tools.iter().filter(|used| used.error.is_none());
        let of_tools = looked_up.filter_map(|used| match used.name.as_str() {
            SEARCH_MEMORY | SAVE_NOTE | LIST_NOTES => None,
            name if is_search(name) => Some(Trust::Documents),
            _ => Some(Trust::Tool),
        });
        let cited = (!self.cited.is_empty()).then_some(Trust::Documents);
        let recalled = self.recalled.iter().map(|memory| memory.trust);
        Trust::derived(of_tools.chain(cited).chain(recalled))
    }

    /// Whether the team's documents and records were searched and nothing useful was found at all.
    pub(super) fn is_fruitless(&self) -> bool {
        self.found_nothing() && !self.has_failed
    }

    /// Whether nothing useful was found, and a look-up that failed might have found it.
    pub fn failed_beside_nothing(&self) -> bool {
        self.found_nothing() && self.has_failed
    }

    /// Whether neither the searches nor other tools found anything useful. Policies do not count: they tell what to say, not what is
    /// true.
    fn found_nothing(&self) -> bool {
        let is_nothing =
            |used: &ToolUse| is_search(&used.name) || used.found.is_none_or(|found| found == 0);
        self.has_searched
            && self.tools.iter().all(is_nothing)
            && self.cited.iter().all(|one| one.hit.label == POLICY)
    }

    /// What ran, for an answer that is made from something else: without what was found and who wrote.
    #[must_use]
    pub fn without_findings(self) -> Self {
        Self {
            findings: Vec::new(),
            passages: 0,
            recalled: Vec::new(),
            listed: Vec::new(),
            also_recalled: Vec::new(),
            nodes: Vec::new(),
            cited: Vec::new(),
            shows_records: false,
            model: String::new(),
            ..self
        }
    }

    /// Adds the result of a call.
    pub fn take(&mut self, result: ToolResult) {
        let ToolResult {
            finding,
            used,
            recalled,
            listed,
            nodes,
            is_volatile,
            cited,
            degradations,
            policies,
            has_searched,
            shows_records: _,
            is_wrong_call,
        } = result;
        if !is_wrong_call {
            self.has_failed |= used.error.is_some();
            let is_of_passages = is_search(&used.name);
            let from_graph = self.findings.len() - self.passages;
            let place = if is_of_passages {
                self.findings.len()
            } else {
                from_graph
            };
            self.findings.insert(place, finding);
            self.passages += usize::from(is_of_passages);
        }
        self.tools.push(used);
        self.is_volatile |= is_volatile;
        self.has_searched |= has_searched;
        let is_new = |one: &Cited| !self.cited.iter().any(|it| it.number == one.number);
        let new: Vec<Cited> = cited.into_iter().filter(is_new).collect();
        self.cited.extend(new);
        for degradation in degradations {
            if !self.degradations.contains(&degradation) {
                self.degradations.push(degradation);
            }
        }
        for policy in policies {
            if !self.policies.contains(&policy) {
                self.policies.push(policy);
            }
        }
        self.listed.extend(listed);
        let known: Vec<ResponseId> = self.recalled.iter().map(|it| it.id).collect();
        let is_new = |memory: &Recalled| !known.contains(&memory.id);
        self.recalled.extend(recalled.into_iter().filter(is_new));
        for node in nodes {
            if !self.nodes.contains(&node) {
                self.nodes.push(node);
            }
        }
    }
}

/// Whether a tool finds passages.
fn is_search(tool: &str) -> bool {
    [SEARCH_KNOWLEDGE, SEARCH_NODES].contains(&tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_graph_answered_stands_before_passages() {
        let mut evidence = Evidence::default();
        for (tool, heading, is_wrong_call) in [
            (SEARCH_KNOWLEDGE, "passages", false),
            ("films_of", "films", false),
            (SEARCH_NODES, "nodes", false),
            ("films_of", "no such film", true),
            ("text2cypher", "rows", false),
        ] {
            evidence.take(ToolResult {
                finding: Finding {
                    heading: heading.to_owned(),
                    lines: Vec::new(),
                },
                used: ToolUse {
                    name: tool.to_owned(),
                    ..ToolUse::default()
                },
                is_wrong_call,
                ..ToolResult::default()
            });
        }
        let headings: Vec<&str> = evidence.findings.iter().map(|it| &*it.heading).collect();
        assert_eq!(headings, ["films", "rows", "passages", "nodes"]);
        assert!(!evidence.has_only_passages());
    }

    #[test]
    fn a_look_up_that_failed_is_none_that_found_nothing() {
        for (error, is_wrong_call, is_fruitless) in [
            (None, false, true),
            (Some("no answer within 10 s"), false, false),
            (Some("there is no such tool"), true, true),
        ] {
            let mut evidence = Evidence::default();
            evidence.take(ToolResult {
                has_searched: true,
                ..ToolResult::default()
            });
            evidence.take(ToolResult {
                used: ToolUse {
                    name: "berths".to_owned(),
                    error: error.map(str::to_owned),
                    ..ToolUse::default()
                },
                is_wrong_call,
                ..ToolResult::default()
            });
            assert_eq!(evidence.is_fruitless(), is_fruitless, "{error:?}");
            assert_eq!(evidence.failed_beside_nothing(), !is_fruitless, "{error:?}");
        }
    }
}
