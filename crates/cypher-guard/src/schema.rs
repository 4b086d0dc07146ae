//! The schema of what may be queried: labels, relationship types, properties and patterns.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// What a statement may query.
///
/// As JSON it is `{"nodes": {label: [[property, type], …]}, "relationships": {type: […]},
/// "patterns": [[from, type, to], …]}`, and where not all was looked at, `"sampled": [label or type, …]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// By label.
    pub nodes: BTreeMap<String, Vec<Property>>,
    /// By relationship type.
    pub relationships: BTreeMap<String, Vec<Property>>,
    pub patterns: BTreeSet<Pattern>,
    /// Labels and types that may have more properties than are named here.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub sampled: BTreeSet<String>,
}

/// A property and the type of its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, String)", into = "(String, String)")]
pub struct Property {
    pub name: String,
    /// In Neo4j's type names: `STRING`, `INTEGER`, `LIST`…
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
