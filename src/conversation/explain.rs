//! What an answer was made from, for a person to read: `why`.

use crate::conversation::commands::{for_money, of_those_cached};
use crate::graph::answers::Votes;
use crate::graph::trace::{FoundPassage, ModelCall, ToolUse, Trace};
use crate::graph::{Explanation, KnowledgeNode, Source, Trust, Turn};
use crate::knowledge::search::facts::is_path;
use crate::llm::Money;
use muninn_platform::{counted, excerpt, one_line};

/// Nodes that are listed; of the others their number.
const NODES: usize = 12;

/// The explanation, in lines of Markdown.
pub(crate) fn explain(explained: &Explanation) -> String {
    let Explanation {
        turn,
        votes,
        trace,
        recalled,
        places,
        context,
        removed_sources,
    } = explained;
    let mut lines = vec![
        format!("My last answer was to: {}", excerpt(&turn.input)),
        written(turn, trace),
    ];
    if let Some(question) = &turn.rephrased_question {
        lines.push(format!("Understood as: {}", excerpt(question)));
    }
    lines.extend(worked(trace));
    if let Some(cypher) = &turn.cypher {
        lines.push(format!("Cypher that was run:\n```cypher\n{cypher}\n```"));
    }
    lines.extend(sources(context, &trace.passages));
    lines.extend(rests_on(turn.trust).map(|what| {
        format!("It rests on {what}: a link to a place that only these name is shown as text.")
    }));
    if !removed_sources.is_empty() {
        let names = plain_list(removed_sources);
        lines.push(format!(
            "Made from sources that were removed since, so nothing of them can be shown: {names}."
        ));
    }
    if recalled.is_empty() {
        lines.push("Recalled: nothing.".to_owned());
    } else {
        lines.push("Recalled:".to_owned());
        let place = |memory: &Turn| places.get(&memory.id).map(String::as_str);
        lines.extend(
            recalled.iter().zip(1..).map(|((score, memory), number)| {
                from_memory(number, *score, memory, place(memory))
            }),
        );
    }
    lines.extend(thought(*votes));
    lines.join("\n")
}

/// What the least trusted thing is that an answer was given; none where people said all of it.
fn rests_on(trust: Trust) -> Option<&'static str> {
    match trust {
        Trust::File => Some("a file that came with a message, or on an answer that does"),
        Trust::Tool => Some("what a tool gave, or on an answer that does"),
        Trust::Documents => Some("documents or records of the team, or on an answer that does"),
        Trust::Talk | Trust::Person => None,
    }
}

/// A memory that the answer was given: what was asked, or what a person said to others, with its link.
fn from_memory(number: usize, score: f64, memory: &Turn, place: Option<&str>) -> String {
    let date = memory.created_at.format("%Y-%m-%d");
    let author = &memory.author_name;
    let said = excerpt(&memory.input);
    if memory.is_note() {
        return format!("{number}. {score:.2} noted by {author} on {date}: {said}");
    }
    if !memory.is_message() {
        return format!("{number}. {score:.2} [{date}, {author}] {said}");
    }
    let place = place
        .filter(|place| !place.is_empty())
        .map(|place| match place.contains(' ') {
            // Direct messages, for one.
            true => format!(" in {place}"),
            false => format!(" in #{}", place.trim_start_matches('#')),
        })
        .unwrap_or_default();
    let link = memory.link.as_deref().map(|link| format!(" {link}"));
    format!(
        "{number}. {score:.2} said by {author}{place} on {date}: {said}{}",
        link.unwrap_or_default()
    )
}

fn plain_list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| excerpt(name)).collect();
    names.join(", ")
}

/// What people thought of it.
fn thought(votes: Votes) -> Option<String> {
    let Votes { good, bad } = votes;
    (good + bad > 0).then(|| format!("Feedback: 👍 {good}, 👎 {bad}."))
}

/// Who wrote it, and what that cost.
fn written(turn: &Turn, trace: &Trace) -> String {
    let seconds = f64::from(turn.duration_ms) / 1_000.0;
    let cost = format!(
        "in {seconds:.1} s, from {} read{} and {} written{}{}",
        counted(turn.prompt_tokens, "token"),
        of_those_cached(trace.cached()),
        turn.completion_tokens,
        for_money(Money(trace.cost_micros())),
        in_calls(&trace.calls)
    );
    let model = turn.model.as_deref().filter(|model| !model.is_empty());
    match turn.source {
        Source::Model => format!("Written by {} {cost}.", model.unwrap_or("the model")),
        Source::Knowledge => format!(
            "Written by {} from the team's knowledge graph {cost}.",
            model.unwrap_or("the model")
        ),
        Source::Retrieval => match model {
            Some(model) => {
                format!("Written by {model} from the team's documents and records {cost}.")
            }
            None => "No model wrote it: it quotes the team's documents and records.".to_owned(),
        },
        Source::Memory => "No model wrote it: it only quotes memory.".to_owned(),
        Source::Message | Source::Note => "Nothing was answered to it.".to_owned(),
    }
}

/// ` in 3 calls: route 0.8 s, critique 0.2 s, answer 1.1 s`
fn in_calls(calls: &[ModelCall]) -> String {
    let told: Vec<String> = calls
        .iter()
        .map(|call| format!("{} {:.1} s", call.step.name(), f64::from(call.ms) / 1_000.0))
        .collect();
    match told.len() {
        0 => String::new(),
        1 => ", in 1 call".to_owned(),
        n => format!(", in {n} calls: {}", told.join(", ")),
    }
}

/// The tools that were called, and what the critic asked.
fn worked(trace: &Trace) -> Vec<String> {
    let mut lines = Vec::new();
    if !trace.tools.is_empty() {
        lines.push("Tools:".to_owned());
        lines.extend(trace.tools.iter().map(tool));
        lines.push(if trace.follow_ups.is_empty() {
            "The critic asked nothing more.".to_owned()
        } else {
            format!("The critic asked: {}", trace.follow_ups.join(" "))
        });
    }
    lines
}

fn tool(used: &ToolUse) -> String {
    let ToolUse {
        name,
        arguments,
        cypher: _,
        found,
        error,
        repairs,
        notes,
        ms,
    } = used;
    let outcome = match (found, error) {
        (_, Some(error)) => format!("failed: {}", excerpt(error)),
        (Some(1), None) => "found 1".to_owned(),
        (Some(found), None) => format!("found {found}"),
        (None, None) => "found nothing".to_owned(),
    };
    let repaired = match repairs {
        0 => String::new(),
        1 => ", written again once".to_owned(),
        n => format!(", written again {n} times"),
    };
    let notes = notes.iter().map(|note| format!(" {note}"));
    format!(
        "- {name} {}: {outcome}{repaired}, in {ms} ms{}",
        excerpt(arguments),
        notes.collect::<String>()
    )
}

/// A node as people are shown it: without paths of a machine, and each long text cut.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShownNode {
    pub(crate) labels: String,
    pub(crate) name: Option<String>,
    /// The others, as JSON.
    pub(crate) properties: String,
    /// What it was ranked by, where it was searched for.
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
            properties: excerpt(&serde_json::Value::Object(properties).to_string()),
            score: found.map(|it| it.score),
        }
    }
}

fn sources(context: &[KnowledgeNode], passages: &[FoundPassage]) -> Vec<String> {
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
        let name = name.map_or_else(String::new, |name| format!("{name} "));
        let score = score.map_or_else(String::new, |score| format!(" (score {score:.2})"));
        let since = if node.has_changed {
            " (it has changed since)"
        } else {
            ""
        };
        format!("- ({labels}) {name}{properties}{score}{since}")
    };
    let mut lines = vec!["Made from:".to_owned()];
    lines.extend(context.iter().take(NODES).map(node));
    if let Some(more @ 1..) = context.len().checked_sub(NODES) {
        lines.push(format!("- and {more} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

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
            sources(&[node.clone()], &found)[1],
            r#"- (Document) Dues {"date":"2026-01-02"} (score 0.83)"#
        );
        // What stands beside a find has none.
        node.properties["chunkId"] = "manual/1#1".into();
        assert_eq!(
            sources(&[node], &found)[1],
            r#"- (Document) Dues {"date":"2026-01-02"}"#
        );
    }

    #[test]
    fn what_a_person_said_is_shown_with_its_place_and_link() {
        let mut said = Turn::message("s", "Priya", "The audit is on\nThursday");
        said.created_at = "2026-04-02T10:00:00Z".parse().unwrap();
        said.link = Some("https://chat.test/7".to_owned());
        assert_eq!(
            from_memory(1, 0.514, &said, Some("ops")),
            "1. 0.51 said by Priya in #ops on 2026-04-02: The audit is on Thursday https://chat.test/7"
        );
        said.link = None;
        assert_eq!(
            from_memory(2, 0.514, &said, None),
            "2. 0.51 said by Priya on 2026-04-02: The audit is on Thursday"
        );
    }
}
