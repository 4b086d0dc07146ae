//! A draft: an answer between the model and the graph, with its sources and notices.

use crate::agent::Evidence;
use crate::agent::model_session;
use crate::agent::tools::{notes, proposed};
use crate::conversation::notice::Notice;
use crate::graph::trace::{FoundPassage, ModelCall, ToolUse, Trace};
use crate::graph::{ResponseId, Source, Trust};
use crate::knowledge::search::citations::{self, CheckedAnswer};
use crate::knowledge::search::{Degradation, Policy};
use crate::memory::{Recalled, TurnSaveOutcome};
use muninn_platform::{IncomingMessage, Language};
use muninn_texts::text;
use uuid::Uuid;

use super::Read;

/// The score of what a tool listed, by which the graph knows that the answer shows it.
const LISTED: f64 = 1.0;
/// The greatest score of what was recalled: the cosine of the same words is 1, too.
const MOST_RECALLED: f64 = 0.999;

/// An answer, before it is kept.
pub(super) struct Draft {
    pub(super) text: String,
    /// The sources that it cites, listed below it and kept with it.
    pub(super) sources: Option<String>,
    pub(super) source: Source,
    /// The memories it was given.
    pub(super) recalled: Vec<Recalled>,
    /// How it came to be; empty if no model was asked.
    pub(super) evidence: Evidence,
    pub(super) calls: Vec<ModelCall>,
    /// Shown above and below it, but not kept with it.
    pub(super) above: Option<Notice>,
    pub(super) below: Vec<Notice>,
    /// Warnings that policies add to every answer.
    pub(super) warnings: Vec<String>,
    /// The lowest trust class of its inputs.
    pub(super) trust: Trust,
    /// Whether it was cut short because nobody waited for it any more.
    pub(super) is_given_up: bool,
}

/// The questions below an answer, from the tools that were called for it.
pub(super) fn questions(tools: &[ToolUse]) -> Vec<Notice> {
    let note = notes::proposed(tools).map(Notice::ProposesNote);
    let call = proposed(tools).map(Notice::ProposesCall);
    note.into_iter().chain(call).collect()
}

/// Takes back what tools proposed, for an answer below which nothing is asked: a question that nobody saw must not be
/// agreed to.
pub(super) fn take_back_proposals(tools: &mut [ToolUse]) {
    for used in tools {
        if used.is_proposed || notes::proposed(std::slice::from_ref(used)).is_some() {
            used.is_proposed = false;
            used.found = None;
            used.error = Some("not asked about, as the model gave no answer".to_owned());
        }
    }
}

impl Draft {
    pub(super) fn of_model(
        text: String,
        evidence: Evidence,
        read: &Read,
        language: Language,
    ) -> Self {
        let has_none = evidence.cited.is_empty() && !may_copy_citations(&evidence, read);
        let checked = match evidence.shows_records || has_none {
            true => uses_all(text, &evidence),
            false => citations::check(&text, &numbers(&evidence)),
        };
        Self::checked(checked, evidence, read, language)
    }

    /// An answer that no model wrote, but that quotes everything that was found. Numbers in brackets
    /// are a part of what is quoted.
    pub(super) fn of_quotes(
        text: String,
        evidence: Evidence,
        read: &Read,
        language: Language,
    ) -> Self {
        Self::checked(uses_all(text, &evidence), evidence, read, language)
    }

    fn checked(
        checked: CheckedAnswer,
        mut evidence: Evidence,
        read: &Read,
        language: Language,
    ) -> Self {
        let CheckedAnswer { text, used } = checked;
        let sources = cited(&used, &mut evidence, language);
        let mut below = Self::notices(read, &evidence.degradations);
        if evidence.all_calls_failed() {
            let why = evidence.tools.iter().find_map(|used| used.error.as_deref());
            tracing::warn!(why, "every tool call of a turn failed");
            below.push(Notice::LookUpsFailed);
        } else if evidence.failed_beside_nothing() {
            below.push(Notice::LookUpFailed);
        }
        below.extend(questions(&evidence.tools));
        let mut recalled = read.recalled.clone();
        recalled.extend(evidence.recalled.iter().cloned());
        recalled.retain(|memory| !evidence.set_aside.contains(&memory.id));
        Self {
            text,
            sources,
            source: if evidence.has_searched {
                Source::Retrieval
            } else if evidence.has_knowledge() {
                Source::Knowledge
            } else {
                Source::Model
            },
            recalled,
            evidence,
            calls: Vec::new(),
            above: None,
            below,
            warnings: Vec::new(),
            trust: Trust::Talk,
            is_given_up: false,
        }
    }

    /// The event under which it is kept: its message's, unless that is still to be answered when it is told again.
    pub(super) fn event(&self, message: &IncomingMessage) -> String {
        match self.is_given_up {
            true => format!("{}/given-up/{}", message.event, Uuid::now_v7().simple()),
            false => message.event.as_str().to_owned(),
        }
    }

    /// The earlier turns that it was given, with their scores.
    pub(super) fn given(&self) -> Vec<(ResponseId, f64)> {
        let recalled = self.recalled.iter().map(|memory| (memory.id, memory.score));
        with_scores(recalled, &self.evidence.listed)
    }

    /// Adds the warnings of these policies and of those that knowledge search matched.
    pub(super) fn warning(mut self, policies: &[Policy]) -> Self {
        for policy in policies.iter().chain(&self.evidence.policies) {
            let warning = policy.warning().filter(|it| !self.text.contains(it));
            if let Some(warning) = warning
                && !self.warnings.iter().any(|it| it == warning)
            {
                self.warnings.push(warning.to_owned());
            }
        }
        self
    }

    /// The model that wrote it.
    pub(super) fn model(&self) -> Option<String> {
        match self.source {
            Source::Model => Some(self.evidence.model.clone()),
            // An answer that only quotes was not written by a model.
            Source::Knowledge | Source::Retrieval => {
                Some(self.evidence.model.clone()).filter(|it| !it.is_empty())
            }
            Source::Memory | Source::Message | Source::Note => None,
        }
    }

    /// Every statement that ran for it.
    pub(super) fn cypher(&self) -> Option<String> {
        let ran = self.evidence.tools.iter().filter(|it| it.error.is_none());
        let statements: Vec<&str> = ran.filter_map(|it| it.cypher.as_deref()).collect();
        (!statements.is_empty()).then(|| statements.join(";\n"))
    }

    pub(super) fn trace(&self) -> Trace {
        Trace {
            calls: self.calls.clone(),
            tools: self.evidence.tools.clone(),
            follow_ups: self.evidence.follow_ups.clone(),
            passages: self
                .evidence
                .cited
                .iter()
                .map(|cited| FoundPassage {
                    chunk: cited.hit.chunk.clone(),
                    score: cited.hit.scores.total,
                })
                .collect(),
        }
    }

    /// The degradations of this turn, as far as they are known after reading.
    pub(super) fn notices(read: &Read, degradations: &[Degradation]) -> Vec<Notice> {
        let mut notices = Vec::new();
        if read.sought.embeddings_down {
            metrics::counter!("muninn_degradations_total", "degradation" => "embeddings")
                .increment(1);
            notices.push(Notice::EmbeddingsDown);
        }
        if read.recall_failed {
            metrics::counter!("muninn_degradations_total", "degradation" => "recall").increment(1);
            notices.push(Notice::RecallFailed);
        }
        notices.extend(degradations.iter().copied().map(Notice::KnowledgeInPart));
        notices
    }

    /// The text to keep: with warnings and sources.
    pub(super) fn kept_text(&self) -> String {
        let warnings = self.warnings.iter();
        let parts = warnings.chain([&self.text]).chain(&self.sources);
        parts.cloned().collect::<Vec<_>>().join("\n\n")
    }

    /// The text to deliver: with notices.
    pub(super) fn outgoing(
        &self,
        kept: &TurnSaveOutcome,
        read: &Read,
        language: Language,
    ) -> String {
        let kept = self.kept_notice(kept, read);
        let said = |notice: &Notice| notice.in_language(language);
        let above = self.above.iter().map(said);
        let below = self.below.iter().chain(&kept).map(said);
        let text = match kept {
            Some(Notice::NotKept) => without_promise(&self.kept_text(), language),
            Some(_) | None => self.kept_text(),
        };
        let parts = above.chain([text]).chain(below);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join("\n\n")
    }

    /// The notice that the graph was away, or that the turn is not kept.
    fn kept_notice(&self, kept: &TurnSaveOutcome, read: &Read) -> Option<Notice> {
        let turns = read.context.window.len();
        // What the process holds in memory is recalled without the graph.
        let has_recalled = !self.recalled.is_empty();
        match kept {
            TurnSaveOutcome::Graph if !read.store_away => None,
            // Of these, nothing is delivered.
            TurnSaveOutcome::Duplicate(_)
            | TurnSaveOutcome::Forgotten
            | TurnSaveOutcome::Unknown => None,
            // The graph came back meanwhile.
            TurnSaveOutcome::Graph if has_recalled => Some(Notice::StoreWasDownInPart),
            TurnSaveOutcome::Graph => Some(Notice::StoreWasDown { turns }),
            // It was there when the turn was read.
            TurnSaveOutcome::Journal if !read.store_away => Some(Notice::StoreDownLater),
            TurnSaveOutcome::Journal if has_recalled => Some(Notice::StoreDownInPart),
            TurnSaveOutcome::Journal => Some(Notice::StoreDown { turns }),
            TurnSaveOutcome::Nowhere => Some(Notice::NotKept),
        }
    }

    pub(super) fn count(&self) {
        let source = match self.source {
            Source::Model => "model",
            Source::Knowledge => "knowledge",
            Source::Retrieval => "retrieval",
            Source::Memory => "memory",
            Source::Message => "message",
            Source::Note => "note",
        };
        let usage = model_session::usage(&self.calls);
        metrics::counter!("muninn_turns_total", "source" => source).increment(1);
        metrics::counter!("muninn_recalled_total").increment(self.recalled.len() as u64);
        metrics::counter!("muninn_tokens_total", "kind" => "prompt")
            .increment(u64::from(usage.prompt));
        metrics::counter!("muninn_tokens_total", "kind" => "completion")
            .increment(u64::from(usage.completion));
        metrics::counter!("muninn_tokens_total", "kind" => "cached")
            .increment(u64::from(usage.cached));
        metrics::counter!("muninn_cost_microdollars_total").increment(self.trace().cost_micros());
    }
}

/// An answer without the promise to remember what could not be kept. A quote may have the same words.
fn without_promise(text: &str, language: Language) -> String {
    let promise = text!("remember-nothing-noted").in_language(language);
    let before = text.strip_suffix(&promise);
    let before = before.filter(|before| before.is_empty() || before.ends_with("\n\n"));
    before.unwrap_or(text).trim_end().to_owned()
}

fn with_scores(
    recalled: impl Iterator<Item = (ResponseId, f64)>,
    listed: &[ResponseId],
) -> Vec<(ResponseId, f64)> {
    let score = |(id, score): (ResponseId, f64)| match listed.contains(&id) {
        true => (id, LISTED),
        false => (id, score.min(MOST_RECALLED)),
    };
    let mut given: Vec<(ResponseId, f64)> = recalled.map(score).collect();
    for id in listed {
        if !given.iter().any(|(known, _)| known == id) {
            given.push((*id, LISTED));
        }
    }
    given
}

/// Returns the numbers of everything that was found.
fn numbers(evidence: &Evidence) -> Vec<usize> {
    evidence.cited.iter().map(|one| one.number).collect()
}

/// Whether a model to which nothing was cited may cite all the same: it was asked to, or copies from an earlier answer.
/// Otherwise a number in brackets is a part of what it says.
fn may_copy_citations(evidence: &Evidence, read: &Read) -> bool {
    let mut window = read.context.window.iter();
    evidence.has_searched || window.any(|turn| turn.source == Source::Retrieval)
}

fn uses_all(text: String, evidence: &Evidence) -> CheckedAnswer {
    let used = numbers(evidence);
    CheckedAnswer { text, used }
}

/// Lists the sources that an answer uses. The evidence is then what the answer cites; if it cites
/// nothing, everything that was found.
fn cited(used: &[usize], evidence: &mut Evidence, language: Language) -> Option<String> {
    let is_used = |number: usize| used.is_empty() || used.contains(&number);
    let made_from = evidence.cited.iter().filter(|one| is_used(one.number));
    for node in made_from.flat_map(|one| &one.hit.nodes) {
        if !evidence.nodes.contains(node) {
            evidence.nodes.push(node.clone());
        }
    }
    // A list of records already contains its links.
    let listed = !evidence.shows_records;
    let sources = listed.then(|| citations::listed(&evidence.cited, used, language));
    sources.flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::ToolResult;
    use crate::graph::Turn;

    #[test]
    fn what_could_not_be_kept_is_not_promised_to_be_remembered() {
        let promise = text!("remember-nothing-noted").in_language(Language::German);
        let quote = format!("2026-11-03, ada:\n> {promise}");
        let warned = format!("Open to all.\n\n{promise}");
        for (text, without) in [
            (promise.as_str(), ""),
            (warned.as_str(), "Open to all."),
            (quote.as_str(), quote.as_str()),
            ("> Tea", "> Tea"),
        ] {
            assert_eq!(without_promise(text, Language::German), without);
        }
    }

    #[test]
    fn a_citation_of_nothing_is_taken_out_where_a_model_may_have_copied_it() {
        let turn = |source| Turn {
            source,
            ..Turn::of("c", "ada", "When?", "At seven [1].")
        };
        for (has_searched, window, text) in [
            (false, Vec::new(), "The list is [1]."),
            (false, vec![turn(Source::Model)], "The list is [1]."),
            (false, vec![turn(Source::Retrieval)], "The list is."),
            (true, Vec::new(), "The list is."),
        ] {
            let read = Read::of_window(window);
            let mut evidence = Evidence::default();
            evidence.has_searched = has_searched;
            let answer = "The list is [1].".to_owned();
            let draft = Draft::of_model(answer, evidence, &read, Language::English);
            assert_eq!((draft.text.as_str(), draft.sources), (text, None));
        }
    }

    #[test]
    fn a_look_up_that_failed_beside_a_search_without_hits_is_told() {
        let failed = || ToolUse {
            name: "berths".to_owned(),
            error: Some("no answer within 10 s".to_owned()),
            ..ToolUse::default()
        };
        let found = ToolUse {
            name: "weather".to_owned(),
            found: Some(1),
            ..ToolUse::default()
        };
        for (used, notice) in [
            (vec![ToolUse::default()], None),
            (vec![failed()], Some(Notice::LookUpsFailed)),
            (
                vec![ToolUse::default(), failed()],
                Some(Notice::LookUpFailed),
            ),
            (vec![ToolUse::default(), failed(), found], None),
        ] {
            let mut evidence = Evidence::default();
            for used in used {
                evidence.take(ToolResult {
                    has_searched: true,
                    used,
                    ..ToolResult::default()
                });
            }
            let (refusal, read) = ("I cannot answer that.".to_owned(), Read::of_window(vec![]));
            let draft = Draft::of_model(refusal, evidence, &read, Language::English);
            assert_eq!(draft.below, Vec::from_iter(notice));
        }
    }

    #[test]
    fn nobody_is_told_that_memory_was_away_from_an_answer_that_was_made_with_it() {
        let window = vec![Turn::of("c", "ada", "When?", "At seven.")];
        let recalled = [crate::testing::recalled(chrono::Utc::now())];
        let (all, none) = (&recalled[..], &recalled[..0]);
        let (graph, journal) = (TurnSaveOutcome::Graph, TurnSaveOutcome::Journal);
        let (turns, in_part) = (1, Notice::StoreDownInPart);
        for (kept, store_away, recalled, notice) in [
            (&graph, false, all, None),
            (&journal, false, all, Some(Notice::StoreDownLater)),
            (&journal, true, all, Some(in_part)),
            (&journal, true, none, Some(Notice::StoreDown { turns })),
            (&graph, true, all, Some(Notice::StoreWasDownInPart)),
            (&graph, true, none, Some(Notice::StoreWasDown { turns })),
        ] {
            let mut read = Read::of_window(window.clone());
            read.store_away = store_away;
            read.recalled = recalled.to_vec();
            let (text, evidence) = ("At seven.".to_owned(), Evidence::default());
            let draft = Draft::of_model(text, evidence, &read, Language::English);
            let below = notice.map(|it| format!("\n\n{}", it.in_language(Language::English)));
            let outgoing = draft.outgoing(kept, &read, Language::English);
            assert_eq!(outgoing, format!("At seven.{}", below.unwrap_or_default()));
        }
    }

    #[test]
    fn only_what_was_listed_scores_as_listed() {
        let [same_words, less, both, listed] = [(); 4].map(|()| ResponseId::fresh());
        let recalled = [(same_words, 1.0), (less, 0.5), (both, 0.7)];
        let given = with_scores(recalled.into_iter(), &[both, listed, listed]);
        let expected = [
            (same_words, MOST_RECALLED),
            (less, 0.5),
            (both, LISTED),
            (listed, LISTED),
        ];
        assert_eq!(given, expected);
    }

    #[test]
    fn what_was_taken_back_is_not_asked_and_what_was_found_stays() {
        let used = |name: &str, is_proposed| ToolUse {
            name: name.to_owned(),
            arguments: r#"{"text": "Tea is at four."}"#.to_owned(),
            found: Some(1),
            is_proposed,
            ..ToolUse::default()
        };
        let mut tools = [
            used("save_note", false),
            used("open_ticket", true),
            used("weather", false),
        ];
        assert_eq!(questions(&tools).len(), 2);
        take_back_proposals(&mut tools);
        assert!(questions(&tools).is_empty(), "{tools:?}");
        let failed = tools.each_ref().map(|used| used.error.is_some());
        assert_eq!(failed, [true, true, false]);
    }
}
