//! Running a confined statement: what it may cost, what it gives, and why it failed.

use std::time::Duration;

use serde_json::Value;

use super::StoreError;

/// What running a statement may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// Rows that are kept; what comes after them is not read.
    pub rows: usize,
    /// Bytes of the rows as JSON.
    pub bytes: usize,
    /// From the call to the last row.
    pub time: Duration,
}

/// What a statement gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryResult {
    pub columns: Vec<String>,
    /// A value a column, in their order. Nodes are `{"labels", "properties"}`, relationships
    /// `{"type", "properties"}`, paths lists of both; times, durations and points are text, and
    /// vectors are left out.
    pub rows: Vec<Vec<Value>>,
    /// The `elementId`s in the columns that the confiner named, each once, in the order of rows.
    pub nodes: Vec<String>,
    /// There was more.
    pub cut: Option<Cut>,
}

/// Which limit ended a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Rows,
    Bytes,
}

/// Why a statement gave nothing. No message holds values from the graph.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The engine does not take the statement; a model may write a better one.
    #[error("{}{message}", place(*.at))]
    Repairable {
        message: String,
        /// Line and column in characters, counted from 1.
        at: Option<(usize, usize)>,
    },
    #[error("the query took longer than {} ms; ask for less", .limit.as_millis())]
    TimedOut { limit: Duration },
    /// It needs more memory or work than it may have.
    #[error("the query needs too much memory or work; ask for less")]
    TooBig,
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn place(at: Option<(usize, usize)>) -> String {
    at.map_or_else(String::new, |(line, column)| {
        format!("line {line}, column {column}: ")
    })
}
