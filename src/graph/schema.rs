//! What the team's knowledge is made of: labels, relationship types, properties and patterns.

mod cache;
mod survey;
mod tally;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::cache::Cache;

/// The schema of the knowledge in a graph; memory is no part of it.
///
/// As JSON it is `{"nodes": {label: [[property, type], …]}, "relationships": {type: […]},
/// "patterns": [[from, type, to], …]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// By label.
    pub nodes: BTreeMap<String, Vec<Property>>,
    /// By relationship type.
    pub relationships: BTreeMap<String, Vec<Property>>,
    pub patterns: BTreeSet<Pattern>,
}

/// A property, and the type its values have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, String)", into = "(String, String)")]
pub struct Property {
    pub name: String,
    /// As Neo4j names types: `STRING`, `INTEGER`, `LIST`…
    pub kind: String,
}

/// `(:from)-[:kind]->(:to)`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(String, String, String)", into = "(String, String, String)")]
pub struct Pattern {
    pub from: String,
    pub kind: String,
    pub to: String,
}

/// The schema of the knowledge, how much there is of everything, and what values look like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    pub schema: Schema,
    /// Nodes of each label.
    pub nodes: BTreeMap<String, u64>,
    /// Relationships of each type that a query can reach.
    pub relationships: BTreeMap<String, u64>,
    /// By label or type, and by property.
    pub values: BTreeMap<String, BTreeMap<String, Values>>,
}

/// What values of a property look like.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// All there are among those looked at, each with how often; the most frequent first.
    Few(Vec<(Value, u64)>),
    /// Some of many.
    Many(Vec<Value>),
}

impl Survey {
    /// No knowledge at all.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The labels with their numbers of nodes, the most counted first.
    pub fn ranked_labels(&self) -> Vec<(&str, u64)> {
        text::ranked(&self.nodes)
    }

    /// For a prompt: the most counted first, in at most `budget` tokens by
    /// [`estimate`](crate::llm::tokens::estimate); says how much has no room. A budget of less
    /// than 120 holds nothing.
    pub fn text(&self, budget: u32) -> String {
        text::text(self, budget)
    }
}

impl From<(String, String)> for Property {
    fn from((name, kind): (String, String)) -> Self {
        Self { name, kind }
    }
}

impl From<Property> for (String, String) {
    fn from(property: Property) -> Self {
        (property.name, property.kind)
    }
}

impl From<(String, String, String)> for Pattern {
    fn from((from, kind, to): (String, String, String)) -> Self {
        Self { from, kind, to }
    }
}

impl From<Pattern> for (String, String, String) {
    fn from(pattern: Pattern) -> Self {
        (pattern.from, pattern.kind, pattern.to)
    }
}
