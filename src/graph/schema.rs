//! What the team's knowledge is made of: labels, relationship types, properties and patterns.

mod cache;
mod limits;
mod overview;
mod survey;
mod tally;
mod text;

pub(crate) use self::cache::Cache;
pub use self::overview::{Survey, Values};
pub use cypher_guard::{Pattern, Property, Schema};

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
