//! Explains to a person what an answer was made from: `why`.

use crate::conversation::commands::{for_money, tokens_read};
use crate::graph::answers::Votes;
use crate::graph::trace::{FoundPassage, ModelStep, ToolUse, Trace};
use crate::graph::{Explanation, KnowledgeNode, Source, Trust, Turn};
use crate::knowledge::search::facts::is_path;
use crate::llm::Money;
use crate::retrieval::scores::shown_score;
use muninn_platform::{Language, TimeZone, excerpt, one_line};
use muninn_texts::{Text, Value, text};

/// Maximum number of nodes listed; the others are counted.
const NODES: usize = 12;

/// The explanation, in lines of Markdown, with dates of a time zone.
pub(crate) fn explain(explained: &Explanation, language: Language, zone: TimeZone) -> String {
    let Explanation {
        turn,
        votes,
        trace,
        recalled,
        places,
        context,
        removed_sources,
    } = explained;
    let said = |text: Text| text.in_language(language);
    let mut lines = vec![
        said(text!("why-answered", question = excerpt(&turn.input))),
        said(written(turn, trace)),
    ];
    if let Some(question) = &turn.rephrased_question {
        lines.push(said(text!("why-understood", question = excerpt(question))));
    }
    lines.extend(worked(trace, language));
    if let Some(cypher) = &turn.cypher {
        let heading = said(text!("why-cypher"));
        lines.push(format!("{heading}\n```cypher\n{cypher}\n```"));
    }
    lines.extend(sources(context, &trace.passages, language));
    lines.extend(rests_on(turn.trust).map(said));
    if !removed_sources.is_empty() {
        let names = plain_list(removed_sources);
        lines.push(said(text!("why-removed", names)));
    }
    if recalled.is_empty() {
        lines.push(said(text!("why-recalled-nothing")));
    } else {
        lines.push(said(text!("why-recalled")));
        let place = |memory: &Turn| places.get(&memory.id).map(String::as_str);
        lines.extend(recalled.iter().zip(1..).map(|((score, memory), number)| {
            from_memory(number, *score, memory, place(memory), (language, zone))
        }));
    }
    lines.extend(thought(*votes).map(said));
    lines.join("\n")
}

/// The least trusted input of the answer; `None` if people said all of it.
fn rests_on(trust: Trust) -> Option<Text> {
    match trust {
        Trust::File => Some(text!("why-trust-file")),
        Trust::Tool => Some(text!("why-trust-tool")),
        Trust::Documents => Some(text!("why-trust-documents")),
        Trust::Talk | Trust::Person => None,
    }
}

/// A memory that the answer was given, with its link: a question, or what a person said to others.
fn from_memory(
    number: usize,
    score: f64,
    memory: &Turn,
    place: Option<&str>,
    (language, zone): (Language, TimeZone),
) -> String {
    let date = Value::date(&memory.created_at.with_timezone(&zone));
    let score = Value::Decimal(shown_score(score, 2));
    let author = &memory.author_name;
    let said = excerpt(&memory.input);
    if memory.is_note() {
        return text!("recalled-note", number, score, author, date, said).in_language(language);
    }
    if !memory.is_message() {
        return text!("recalled-turn", number, score, author, date, said).in_language(language);
    }
    let place = place
        .filter(|place| !place.is_empty())
        .map(|place| match place.contains(' ') {
            // For example direct messages.
            true => place.to_owned(),
            false => format!("#{}", place.trim_start_matches('#')),
        });
    let line = match place {
        Some(place) => text!(
            "recalled-message-in",
            number,
            score,
            author,
            place,
            date,
            said
        ),
        None => text!("recalled-message", number, score, author, date, said),
    };
    let link = memory.link.as_deref().map(|link| format!(" {link}"));
    format!("{}{}", line.in_language(language), link.unwrap_or_default())
}

fn plain_list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| excerpt(name)).collect();
    names.join(", ")
}

/// The votes on an answer.
fn thought(votes: Votes) -> Option<Text> {
    let Votes { good, bad } = votes;
    (good + bad > 0).then(|| text!("why-feedback", good, bad))
}

/// Which model wrote it, and what that cost.
fn written(turn: &Turn, trace: &Trace) -> Text {
    let model = turn.model.as_deref().filter(|model| !model.is_empty());
    let named = || model.map_or_else(|| text!("why-the-model").into(), Value::from);
    let cost = || cost(turn, trace);
    match turn.source {
        Source::Model => text!("why-written", model = named(), cost = cost()),
        Source::Knowledge if model.is_some() => {
            text!("why-written-knowledge", model = named(), cost = cost())
        }
        Source::Knowledge => text!("why-quotes-knowledge"),
        Source::Retrieval if model.is_some() => {
            text!("why-written-documents", model = named(), cost = cost())
        }
        Source::Retrieval => text!("why-quotes-documents"),
        Source::Memory => text!("why-quotes-memory"),
        Source::Message | Source::Note => text!("why-not-answered"),
    }
}

/// `in 1.2 s, from 100 tokens read and 20 written, in 3 calls: route 0.8 s, critique 0.2 s, answer 1.1 s`
fn cost(turn: &Turn, trace: &Trace) -> Text {
    let cost = text!(
        "why-cost",
        seconds = Value::decimal(f64::from(turn.duration_ms) / 1_000.0, 1),
        read = tokens_read(turn.prompt_tokens.into(), trace.cached()),
        written = text!("tokens-written", count = turn.completion_tokens)
    );
    let cost = for_money(cost, Money(trace.cost_micros()));
    let told: Vec<String> = trace
        .calls
        .iter()
        .map(|call| format!("{} {:.1} s", call.step.name(), f64::from(call.ms) / 1_000.0))
        .collect();
    match told.len() {
        0 => cost,
        1 => text!("why-cost-one-call", cost),
        count => text!("why-cost-calls", cost, count, calls = told.join(", ")),
    }
}

/// The tools that were called, and what the critic asked for.
fn worked(trace: &Trace, language: Language) -> Vec<String> {
    let mut lines = Vec::new();
    if !trace.tools.is_empty() {
        lines.push(text!("why-tools").in_language(language));
        lines.extend(trace.tools.iter().map(|used| tool(used, language)));
        lines.extend(critic(trace).map(|said| said.in_language(language)));
    }
    lines
}

/// What the critic asked; `None` if it was not called.
fn critic(trace: &Trace) -> Option<Text> {
    if !trace.follow_ups.is_empty() {
        let questions = trace.follow_ups.join(" ");
        return Some(text!("why-critic-asked", questions));
    }
    let mut calls = trace.calls.iter();
    let was_called = calls.any(|call| call.step == ModelStep::Critique);
    was_called.then(|| text!("why-critic-nothing"))
}

fn tool(used: &ToolUse, language: Language) -> String {
    let ToolUse {
        name,
        arguments,
        cypher: _,
        found,
        error,
        repairs,
        notes,
        is_proposed,
        ms,
    } = used;
    let outcome = match (found, error) {
        (_, Some(error)) => text!("tool-failed", error = excerpt(error)),
        (_, None) if *is_proposed => text!("tool-proposed"),
        (Some(found), None) => text!("tool-found", count = *found),
        (None, None) => text!("tool-found-nothing"),
    };
    let (arguments, ms) = (excerpt(arguments), *ms);
    let line = match *repairs {
        0 => text!("why-tool", name, arguments, outcome, ms),
        repairs => text!("why-tool-repaired", name, arguments, outcome, repairs, ms),
    };
    let notes = notes.iter().map(|note| format!(" {note}"));
    format!(
        "{}{}",
        line.in_language(language),
        notes.collect::<String>()
    )
}

/// A node as people see it: without local paths, and with long texts cut.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShownNode {
    pub(crate) labels: String,
    pub(crate) name: Option<String>,
    /// Its other properties: `date: 2026-01-02; pages: 3`.
    pub(crate) properties: String,
    /// Its search score, if it was found by a search.
    pub(crate) score: Option<f32>,
}

impl ShownNode {
    pub(crate) fn of(node: &KnowledgeNode, passages: &[FoundPassage]) -> Self {
        let mut properties = node.properties.clone();
        let chunk = properties.remove("chunkId");
        let chunk = chunk.as_ref().and_then(|chunk| chunk.as_str());
        let found = passages.iter().find(|it| Some(&*it.chunk) == chunk);
        let is_told = |value: &serde_json::Value| !value.as_str().is_some_and(is_path);
        properties.retain(|name, value| name != "chunkSeqId" && is_told(value));
        let name = node.name_property();
        let name = name.and_then(|name| properties.remove(name));
        Self {
            labels: node.labels.join(", "),
            name: name.as_ref().and_then(|it| it.as_str()).map(one_line),
            properties: excerpt(&in_words(&properties)),
            score: found.map(|it| it.score),
        }
    }
}

/// `date: 2026-01-02; pages: 3`
fn in_words(properties: &serde_json::Map<String, serde_json::Value>) -> String {
    let told = properties.iter().map(|(name, value)| match value.as_str() {
        Some(text) => format!("{name}: {text}"),
        None => format!("{name}: {value}"),
    });
    told.collect::<Vec<_>>().join("; ")
}

fn sources(
    context: &[KnowledgeNode],
    passages: &[FoundPassage],
    language: Language,
) -> Vec<String> {
    if context.is_empty() {
        return Vec::new();
    }
    let node = |node: &KnowledgeNode| {
        let ShownNode {
            labels,
            name,
            properties,
            score,
        } = ShownNode::of(node, passages);
        let told = [name.unwrap_or_default(), properties];
        let told: Vec<String> = told.into_iter().filter(|it| !it.is_empty()).collect();
        let told = told.join("; ");
        let score = score.map(|score| {
            let score = Value::Decimal(shown_score(score.into(), 2));
            text!("source-score", score).in_language(language)
        });
        let score = score.map_or_else(String::new, |score| format!(" {score}"));
        let since = if node.has_changed {
            format!(" {}", text!("source-changed").in_language(language))
        } else {
            String::new()
        };
        format!("- ({labels}) {told}{score}{since}")
    };
    let mut lines = vec![text!("why-made-from").in_language(language)];
    lines.extend(context.iter().take(NODES).map(node));
    if let Some(more @ 1..) = context.len().checked_sub(NODES) {
        lines.push(text!("source-more", count = more).in_language(language));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::trace::ModelCall;

    #[test]
    fn a_passage_is_shown_with_its_score_and_without_paths_of_a_machine() {
        let properties = serde_json::json!({
            "title": "Dues", "chunkId": "manual/1#0", "chunkSeqId": 0, "file_name": "/srv/manual/dues.md",
            "date": "2026-01-02",
        });
        let mut node = KnowledgeNode {
            labels: vec!["Document".to_owned()],
            properties: properties.as_object().unwrap().clone(),
            has_changed: false,
        };
        let found = [FoundPassage {
            chunk: "manual/1#0".to_owned(),
            score: 0.834,
        }];
        assert_eq!(
            sources(&[node.clone()], &found, Language::English)[1],
            "- (Document) Dues; date: 2026-01-02 (score 0.83)"
        );
        // Other nodes than the one found have no score.
        node.properties["chunkId"] = "manual/1#1".into();
        assert_eq!(
            sources(&[node], &found, Language::English)[1],
            "- (Document) Dues; date: 2026-01-02"
        );
    }

    #[test]
    fn a_critic_that_was_not_called_says_nothing() {
        let call = |step| ModelCall {
            step,
            prompt: 1,
            completion: 1,
            cached: 0,
            cost_micros: 0,
            ms: 1,
        };
        let trace = |steps: &[ModelStep], follow_ups: &[&str]| Trace {
            calls: steps.iter().map(|step| call(*step)).collect(),
            tools: vec![ToolUse::default()],
            follow_ups: follow_ups.iter().map(|it| (*it).to_owned()).collect(),
            ..Trace::default()
        };
        let nothing = "The critic asked nothing more.";
        let cases: [(&[ModelStep], &[&str], Option<&str>); 4] = [
            (&[], &[], None),
            (&[ModelStep::Answer], &[], None),
            (&[ModelStep::Critique], &[], Some(nothing)),
            (
                &[ModelStep::Critique],
                &["Who?"],
                Some("The critic asked: Who?"),
            ),
        ];
        for (steps, follow_ups, said) in cases {
            let lines = worked(&trace(steps, follow_ups), Language::English);
            assert_eq!(lines.get(2).map(String::as_str), said);
        }
    }

    #[test]
    fn what_a_person_said_is_shown_with_its_place_and_link() {
        let mut said = Turn::message("s", "Priya", "The audit is on\nThursday");
        said.created_at = "2026-04-02T10:00:00Z".parse().unwrap();
        said.link = Some("https://chat.test/7".to_owned());
        let reader = (Language::English, TimeZone::UTC);
        assert_eq!(
            from_memory(1, 0.514, &said, Some("ops"), reader),
            "1. 0.51 said by Priya in #ops on 2026-04-02: The audit is on Thursday https://chat.test/7"
        );
        said.link = None;
        assert_eq!(
            from_memory(2, 0.514, &said, None, reader),
            "2. 0.51 said by Priya on 2026-04-02: The audit is on Thursday"
        );
        // Its date is that of whoever reads it.
        let reader = (Language::English, TimeZone::Pacific__Kiritimati);
        assert_eq!(
            from_memory(3, 0.514, &said, None, reader),
            "3. 0.51 said by Priya on 2026-04-03: The audit is on Thursday"
        );
    }

    #[test]
    fn what_was_recalled_with_a_tiny_score_is_shown_without_a_zero() {
        let mut said = Turn::message("s", "Priya", "The audit is on\nThursday");
        said.created_at = "2026-04-02T10:00:00Z".parse().unwrap();
        let place = Some("ops");
        for (language, expected) in [
            (
                Language::English,
                "1. < 0.01 said by Priya in #ops on 2026-04-02: The audit is on Thursday",
            ),
            (Language::German, "1. < 0,01 gesagt von Priya in #ops am "),
        ] {
            let line = from_memory(1, 0.003, &said, place, (language, TimeZone::UTC));
            assert!(line.starts_with(expected), "{line}");
        }
    }
}
