//! The graph of a run, as `muninn export` writes it.

use std::collections::BTreeMap;

use muninn::graph::transfer::{self, GraphNode, GraphRelationship};
use muninn::graph::{self, GraphConfig, GraphStore};
use serde_json::Value;

use crate::desk::PlatformDesk;

/// A turn.
#[derive(Clone, Debug)]
pub(crate) struct ExportedTurn {
    pub(crate) event: String,
    pub(crate) audience: String,
    pub(crate) input: String,
    pub(crate) output: String,
}

#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) turns: Vec<ExportedTurn>,
    /// The nodes of conversations, by id.
    pub(crate) sessions: BTreeMap<String, String>,
    pub(crate) relationships: Vec<(String, String, String)>,
    /// Events that wait for an answer.
    pub(crate) pending: Vec<String>,
    /// Every line that concerns the run.
    pub(crate) text: String,
}

impl Graph {
    /// Reads the whole graph, while no process has it open.
    pub(crate) async fn read(
        config: &GraphConfig,
        run: &str,
        desk: &PlatformDesk,
    ) -> Result<Self, String> {
        let store = graph::open(config)
            .await
            .map_err(|error| format!("{error:?}"))?;
        let exported = export(&store).await;
        let closed = store.close().await;
        closed.map_err(|error| format!("{error:?}"))?;
        Ok(Self::of(&desk.translated(exported?), run))
    }

    fn of(exported: &str, run: &str) -> Self {
        let mut read = Self::default();
        for line in exported.lines() {
            let line_of: Value = serde_json::from_str(line).unwrap();
            if line.contains(run) {
                read.text.push_str(line);
                read.text.push('\n');
            }
            if let Some(node) = line_of.get("node") {
                read.take(&serde_json::from_value(node.clone()).unwrap());
            } else if let Some(one) = line_of.get("relationship") {
                let one: GraphRelationship = serde_json::from_value(one.clone()).unwrap();
                read.relationships.push((one.kind, one.from, one.to));
            }
        }
        read.turns.retain(|turn| turn.event.contains(run));
        read.sessions.retain(|_, id| id.contains(run));
        read.pending.retain(|event| event.contains(run));
        read
    }

    fn take(&mut self, node: &GraphNode) {
        let text = |key: &str| {
            let value = node.properties.get(key);
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let is = |label: &str| node.labels.iter().any(|it| it == label);
        if is("Response") {
            self.turns.push(ExportedTurn {
                event: text("eventId"),
                audience: text("audience"),
                input: text("input"),
                output: text("output"),
            });
        } else if is("Session") {
            self.sessions.insert(node.id.clone(), text("id"));
        } else if is("Pending") {
            self.pending.push(text("eventId"));
        }
    }

    /// Returns the ends of relationships of a type from a node.
    pub(crate) fn from<'a>(
        &'a self,
        kind: &'a str,
        node: &'a str,
    ) -> impl Iterator<Item = &'a str> {
        let all = self.relationships.iter();
        all.filter(move |(its, from, _)| its == kind && from == node)
            .map(|(_, _, to)| to.as_str())
    }
}

async fn export(store: &GraphStore) -> Result<String, String> {
    let mut bytes = Vec::new();
    let exported = transfer::export(store, &mut bytes, &mut |_| {}).await;
    exported.map_err(|error| format!("{error:?}"))?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}
