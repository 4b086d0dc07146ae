//! The sources of an answer as a graph, from which both the picture and the table are made. Pure.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use muninn_platform::{ConversationId, excerpt};
use serde::Serialize;

use crate::conversation::explain::ShownNode;
use crate::graph::trace::ToolUse;
use crate::graph::{Explanation, Turn};

/// A picture for `picture.js`.
#[derive(Debug, Serialize)]
pub(super) struct Drawing {
    /// `around` the first node, or `free`.
    pub(super) layout: &'static str,
    pub(super) things: Vec<DrawnThing>,
    pub(super) links: Vec<DrawnLink>,
}

#[derive(Debug, Serialize)]
pub(super) struct DrawnThing {
    /// Determines its colour.
    pub(super) kind: &'static str,
    pub(super) kind_said: String,
    pub(super) label: String,
    pub(super) text: String,
    /// A page with details.
    pub(super) address: Option<String>,
}

/// A link between two nodes, given by their indices.
#[derive(Debug, Serialize)]
pub(super) struct DrawnLink {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) said: Option<String>,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PictureNodeKind {
    Question,
    Recalled,
    RecalledMessage,
    RecalledNote,
    Context,
    Tool,
    Statement,
    Critic,
    RemovedSource,
}

impl PictureNodeKind {
    /// The name in the pages' texts.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Recalled => "recalled",
            Self::RecalledMessage => "recalled_message",
            Self::RecalledNote => "recalled_note",
            Self::Context => "context",
            Self::Tool => "tool",
            Self::Statement => "statement",
            Self::Critic => "critic",
            Self::RemovedSource => "removed_source",
        }
    }
}

/// How it is related to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParentRelation {
    /// It is the answer itself.
    Answered,
    RecalledScore,
    ContextOf,
    Called,
    Ran,
    Criticised,
    Removed,
}

impl ParentRelation {
    /// The name in the pages' texts.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::RecalledScore => "recalled_score",
            Self::ContextOf => "context_of",
            Self::Called => "called",
            Self::Ran => "ran",
            Self::Criticised => "criticised",
            Self::Removed => "removed",
        }
    }
}

/// A node of the picture, and a row of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PictureNode {
    pub(super) kind: PictureNodeKind,
    pub(super) how: ParentRelation,
    /// Index of its parent; `None` for the question.
    pub(super) of: Option<usize>,
    /// On one line.
    pub(super) label: String,
    /// The full text shown.
    pub(super) text: String,
    /// Its ranking score.
    pub(super) score: Option<f64>,
    /// A remark on it.
    pub(super) note: Option<Note>,
    /// A turn with its own page.
    pub(super) turn: Option<TurnLink>,
    /// Its address on the platform, or where it was read.
    pub(super) link: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Note {
    ChangedSince,
    FailedCall,
}

impl Note {
    /// The name in the pages' texts.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ChangedSince => "changed_since",
            Self::FailedCall => "failed_call",
        }
    }
}

/// Identifies a turn's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TurnLink {
    pub(super) conversation: ConversationId,
    pub(super) answer: String,
    pub(super) at: DateTime<Utc>,
}

impl PictureNode {
    fn new(kind: PictureNodeKind, how: ParentRelation, text: &str) -> Self {
        Self {
            kind,
            how,
            of: Some(0),
            label: excerpt(text),
            text: text.to_owned(),
            score: None,
            note: None,
            turn: None,
            link: None,
        }
    }
}

/// All sources of an answer. The first node is its question.
pub(super) fn things(explained: &Explanation) -> Vec<PictureNode> {
    let Explanation {
        turn,
        votes: _,
        trace,
        recalled,
        places: _,
        context,
        removed_sources,
    } = explained;
    let mut things = vec![PictureNode {
        of: None,
        ..PictureNode::new(
            PictureNodeKind::Question,
            ParentRelation::Answered,
            &turn.input,
        )
    }];
    things.extend(
        recalled
            .iter()
            .map(|(score, memory)| from_memory(*score, memory)),
    );
    things.extend(context.iter().map(|node| {
        let shown = ShownNode::of(node, &trace.passages);
        let name = shown.name.as_deref().unwrap_or(&shown.labels);
        PictureNode {
            label: excerpt(name),
            score: shown.score.map(f64::from),
            note: node.has_changed.then_some(Note::ChangedSince),
            link: web_link(node.properties.get("link")),
            ..PictureNode::new(
                PictureNodeKind::Context,
                ParentRelation::ContextOf,
                &format!("({}) {name} {}", shown.labels, shown.properties),
            )
        }
    }));
    for used in &trace.tools {
        let tool = things.len();
        things.push(called(used));
        if let Some(cypher) = &used.cypher {
            things.push(PictureNode {
                of: Some(tool),
                ..PictureNode::new(PictureNodeKind::Statement, ParentRelation::Ran, cypher)
            });
        }
    }
    let is_traced = trace.tools.iter().any(|used| used.cypher.is_some());
    if let Some(cypher) = turn.cypher.as_ref().filter(|_| !is_traced) {
        things.push(PictureNode::new(
            PictureNodeKind::Statement,
            ParentRelation::Ran,
            cypher,
        ));
    }
    let asked = trace.follow_ups.iter();
    things.extend(
        asked.map(|asked| {
            PictureNode::new(PictureNodeKind::Critic, ParentRelation::Criticised, asked)
        }),
    );
    let removed = removed_sources.iter();
    things.extend(
        removed.map(|it| {
            PictureNode::new(PictureNodeKind::RemovedSource, ParentRelation::Removed, it)
        }),
    );
    things
}

fn from_memory(score: f64, memory: &Turn) -> PictureNode {
    let kind = if memory.is_note() {
        PictureNodeKind::RecalledNote
    } else if memory.is_message() {
        PictureNodeKind::RecalledMessage
    } else {
        PictureNodeKind::Recalled
    };
    let mut text = format!("{}: {}", memory.author_name, memory.input);
    if !memory.output.is_empty() {
        let _ = write!(text, "\n\n{}", memory.output);
    }
    PictureNode {
        label: excerpt(&memory.input),
        score: Some(score),
        turn: Some(TurnLink {
            conversation: ConversationId::new(memory.session.as_str()),
            answer: memory.id.to_string(),
            at: memory.created_at,
        }),
        link: memory.link.clone().filter(|link| is_web(link)),
        ..PictureNode::new(kind, ParentRelation::RecalledScore, &text)
    }
}

fn called(used: &ToolUse) -> PictureNode {
    let mut text = format!("{} {}", used.name, used.arguments);
    let outcome = used.error.clone();
    let notes = used.notes.iter().cloned();
    for said in outcome.into_iter().chain(notes) {
        let _ = write!(text, "\n{said}");
    }
    PictureNode {
        label: used.name.clone(),
        note: used.error.is_some().then_some(Note::FailedCall),
        ..PictureNode::new(PictureNodeKind::Tool, ParentRelation::Called, &text)
    }
}

fn web_link(link: Option<&serde_json::Value>) -> Option<String> {
    let link = link.and_then(|link| link.as_str());
    link.filter(|link| is_web(link)).map(str::to_owned)
}

/// Whether a browser may open the address: it must not run anything.
pub(super) fn is_web(link: &str) -> bool {
    let link = link.to_ascii_lowercase();
    link.starts_with("https://") || link.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::graph::KnowledgeNode;
    use crate::graph::answers::Votes;
    use crate::graph::trace::{FoundPassage, Trace};

    #[test]
    fn what_an_answer_came_from_stands_around_its_question() {
        let mut said = Turn::message("slack/T/C/1", "Ann", "The ferry leaves at nine");
        said.link = Some("javascript:alert(1)".to_owned());
        let node = serde_json::json!({ "title": "Ferry", "chunkId": "m#0", "link": "https://docs.test/f" });
        let tool = ToolUse {
            name: "search_knowledge".to_owned(),
            arguments: "{}".to_owned(),
            cypher: Some("RETURN 1".to_owned()),
            error: Some("too slow".to_owned()),
            ..ToolUse::default()
        };
        let explained = Explanation {
            turn: Turn::of("slack/T/C/2", "Bob", "When does it leave?", "At nine."),
            votes: Votes::default(),
            trace: Trace {
                tools: vec![tool],
                follow_ups: vec!["From where?".to_owned()],
                passages: vec![FoundPassage {
                    chunk: "m#0".to_owned(),
                    score: 0.5,
                }],
                ..Trace::default()
            },
            recalled: vec![(0.75, said)],
            places: HashMap::new(),
            context: vec![KnowledgeNode {
                labels: vec!["Document".to_owned()],
                properties: node.as_object().unwrap().clone(),
                has_changed: true,
            }],
            removed_sources: vec!["old".to_owned()],
        };
        let things = things(&explained);
        let told: Vec<_> = things
            .iter()
            .map(|it| {
                (
                    it.kind,
                    it.of,
                    it.label.as_str(),
                    it.score,
                    it.link.as_deref(),
                )
            })
            .collect();
        let expected = [
            (
                PictureNodeKind::Question,
                None,
                "When does it leave?",
                None,
                None,
            ),
            (
                PictureNodeKind::RecalledMessage,
                Some(0),
                "The ferry leaves at nine",
                Some(0.75),
                None,
            ),
            (
                PictureNodeKind::Context,
                Some(0),
                "Ferry",
                Some(0.5),
                Some("https://docs.test/f"),
            ),
            (
                PictureNodeKind::Tool,
                Some(0),
                "search_knowledge",
                None,
                None,
            ),
            (PictureNodeKind::Statement, Some(3), "RETURN 1", None, None),
            (PictureNodeKind::Critic, Some(0), "From where?", None, None),
            (PictureNodeKind::RemovedSource, Some(0), "old", None, None),
        ];
        assert_eq!(told, expected);
        assert_eq!(things[2].note, Some(Note::ChangedSince));
        assert_eq!(things[3].note, Some(Note::FailedCall));
        assert_eq!(
            things[1].turn.as_ref().unwrap().conversation.as_str(),
            "slack/T/C/1"
        );
    }
}
