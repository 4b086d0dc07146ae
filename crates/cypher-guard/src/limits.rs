//! Limits of a statement.

use std::collections::BTreeMap;

/// Limits of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementLimits<'a> {
    /// Rows of the result.
    pub rows: u32,
    /// The number of nodes of each label, if known: that many may be collected into one list.
    pub nodes: Option<&'a BTreeMap<String, u64>>,
}

impl<'a> StatementLimits<'a> {
    /// For a graph of unknown size.
    pub const fn of_rows(rows: u32) -> Self {
        Self { rows, nodes: None }
    }

    /// For a graph with these numbers of nodes per label.
    #[must_use]
    pub fn with_nodes(self, nodes: &'a BTreeMap<String, u64>) -> Self {
        Self {
            nodes: Some(nodes),
            ..self
        }
    }
}
