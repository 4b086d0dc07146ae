//! What the knowledge is made of.

use std::collections::BTreeMap;

use cypher_guard::Schema;
use serde_json::Value;

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
