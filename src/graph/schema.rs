//! What the team's knowledge is made of: labels, relationship types, properties and patterns.

mod cache;
mod survey;
mod tally;
mod text;

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) use self::cache::Cache;
pub use cypher_guard::{Pattern, Property, Schema};

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
