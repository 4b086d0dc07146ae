//! Runs a confined statement: its limits, its result, and its errors.

mod shown;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::time::Duration;

use serde_json::{Map, Value};

pub(crate) use self::shown::{VECTOR, shown, without_vectors};
use super::StoreError;
use super::engine::value::map;
use super::types::labels::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};

/// Maximum characters of an engine's error message: as many as a model needs.
const MAX_ERROR_CHARS: usize = 300;

/// Limits for running a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// Rows that are kept; further rows are not read.
    pub rows: usize,
    /// Bytes of the rows as JSON.
    pub bytes: usize,
    /// From the call to the last row.
    pub time: Duration,
}

/// The result of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryResult {
    pub columns: Vec<String>,
    /// One value per column, in order. Nodes are `{"labels", "properties"}`, relationships
    /// `{"type", "properties"}`, and paths alternating lists of both. Times, durations and points
    /// are text, and vectors are left out.
    pub rows: Vec<Vec<Value>>,
    /// The distinct `elementId`s in the columns that the confiner named, in the order of rows.
    pub nodes: Vec<String>,
    /// Set if there was more.
    pub cut: Option<Cut>,
}

/// The limit that ended a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Rows,
    Bytes,
}

/// Why a statement returned nothing. No message names anything of memory.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The engine refuses the statement or fails to run it; a model may write a better one.
    #[error("{}{message}", place(*.at))]
    Repairable {
        message: String,
        /// Line and column in the statement that ran, in characters, counted from 1.
        at: Option<(usize, usize)>,
    },
    #[error("the query took longer than {} ms; ask for less", .limit.as_millis())]
    TimedOut { limit: Duration },
    /// It needs more memory or work than allowed, or a single row exceeds the limit of all.
    #[error("the query needs too much memory, or returns too much; ask for less")]
    TooBig,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl QueryError {
    /// An engine's error message on one line. Names of memory that are not in the statement are
    /// removed, because engines suggest similar names.
    pub(crate) fn complaint(message: &str, at: Option<(usize, usize)>, statement: &str) -> Self {
        let first = message.lines().next().unwrap_or_default();
        let line: String = first.chars().take(MAX_ERROR_CHARS).collect();
        let betrays = MEMORY_LABELS
            .iter()
            .chain(MEMORY_RELATIONSHIPS)
            .filter(|name| name.len() > 2)
            .any(|name| line.contains(name) && !statement.contains(name));
        Self::Repairable {
            message: if betrays {
                "the graph does not take this statement".to_owned()
            } else {
                line
            },
            at,
        }
    }
}

fn place(at: Option<(usize, usize)>) -> String {
    at.map_or_else(String::new, |(line, column)| {
        format!("line {line}, column {column}: ")
    })
}

/// Finds `line 1, column 17` (or `col 17`) in an engine's message.
pub(crate) fn position(message: &str) -> Option<(usize, usize)> {
    let mut numbers = message
        .split_once("line ")?
        .1
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty());
    let line = numbers.next()?.parse().ok()?;
    Some((line, numbers.next()?.parse().ok()?))
}

/// An engine's rows for a statement, before IDs are looked for.
#[derive(Debug)]
pub(crate) struct ResultRows {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Value>>,
    pub(crate) cut: Option<Cut>,
    bytes: usize,
    limits: QueryLimits,
}

impl ResultRows {
    pub(crate) fn within(limits: QueryLimits, columns: Vec<String>) -> Self {
        Self {
            columns,
            rows: Vec::new(),
            cut: None,
            bytes: 0,
            limits,
        }
    }

    /// Adds a row in the form in which it is shown, or tells the caller to stop.
    pub(crate) fn push(&mut self, row: Vec<Value>) -> Result<ControlFlow<()>, QueryError> {
        if self.rows.len() >= self.limits.rows {
            self.cut = Some(Cut::Rows);
            return Ok(ControlFlow::Break(()));
        }
        self.bytes += row.iter().map(json_length).sum::<usize>();
        if self.bytes > self.limits.bytes {
            if self.rows.is_empty() {
                return Err(QueryError::TooBig);
            }
            self.cut = Some(Cut::Bytes);
            return Ok(ControlFlow::Break(()));
        }
        self.rows.push(row);
        Ok(ControlFlow::Continue(()))
    }

    pub(crate) fn finish(self, id_columns: &[String]) -> QueryResult {
        QueryResult {
            nodes: ids(&self, id_columns),
            columns: self.columns,
            rows: self.rows,
            cut: self.cut,
        }
    }
}

/// The approximate size of a value as JSON in bytes; never less than that of its texts.
fn json_length(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => {
            2 + items
                .iter()
                .map(|item| json_length(item) + 1)
                .sum::<usize>()
        }
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| key.len() + 4 + json_length(value))
            .sum::<usize>()
            .saturating_add(2),
    }
}

fn ids(result: &ResultRows, id_columns: &[String]) -> Vec<String> {
    let is_id: Vec<bool> = result
        .columns
        .iter()
        .map(|column| id_columns.contains(column))
        .collect();
    let mut seen = std::collections::HashSet::new();
    let mut found = Vec::new();
    for row in &result.rows {
        for (value, _) in row.iter().zip(&is_id).filter(|(_, is_id)| **is_id) {
            collect_ids(value, &mut |id| {
                if seen.insert(id.to_owned()) {
                    found.push(id.to_owned());
                }
            });
        }
    }
    found
}

fn collect_ids(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::String(id) => found(id),
        Value::Array(items) => {
            for item in items {
                collect_ids(item, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

/// Parameters as people write them: a map is a map, whatever its keys are.
pub(crate) fn literal(params: Map<String, Value>) -> Map<String, Value> {
    fn value(from: Value) -> Value {
        match from {
            Value::Array(items) => items.into_iter().map(value).collect(),
            Value::Object(object) => map(literal(object)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => from,
        }
    }
    params
        .into_iter()
        .map(|(key, from)| (key, value(from)))
        .collect()
}
