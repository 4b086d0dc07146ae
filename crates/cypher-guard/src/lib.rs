//! Generated Cypher, confined: one read-only statement that reaches what a schema names, and nothing else.
//!
//! A [`Guard`] knows the labels and relationship types that stay hidden, whatever the schema says. The text is read into a tree (`parser`) that has no place for anything but reading. The tree
//! is changed so that every node and relationship in it is knowledge (`shield`), and printed anew
//! (`print`). Nothing that a model wrote runs as it wrote it.

mod functions;
mod lexer;
mod parser;
mod print;
mod problem;
mod schema;
mod shield;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

use self::print::Printed;
pub use self::schema::{Pattern, Property, Schema};
use self::shield::Findings;

/// A statement that may be run. Only [`Guard::confine`] makes one, by printing the checked tree anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfinedCypher {
    printed: Printed,
    findings: Findings,
}

impl ConfinedCypher {
    /// The statement, as it runs.
    pub fn as_str(&self) -> &str {
        &self.printed.text
    }

    /// The same for an engine that knows no `&` between labels.
    pub fn older(&self) -> &str {
        self.printed.older.as_deref().unwrap_or(&self.printed.text)
    }

    /// Columns of the result that hold `elementId`s of nodes (or lists of them) and nothing else.
    pub fn id_columns(&self) -> &[String] {
        &self.findings.id_columns
    }

    /// What was changed beyond confining, in words for a model: an arrow that was turned round.
    pub fn notes(&self) -> &[String] {
        &self.findings.notes
    }

    /// The statement with hints to begin at the labels of these variables, where that can be said.
    pub fn hinted(&self, variables: &[String]) -> String {
        let mut text = self.printed.text.clone();
        let mut hinted = BTreeSet::new();
        let hints = self.printed.hints.iter();
        let first: Vec<_> = hints
            .filter(|hint| {
                variables.contains(&hint.variable) && hinted.insert((hint.at, &hint.variable))
            })
            .collect();
        for hint in first.iter().rev() {
            text.insert_str(hint.at, &hint.text);
        }
        text
    }

    /// Labels of the knowledge that stand in it.
    pub fn labels(&self) -> &BTreeSet<String> {
        &self.findings.labels
    }

    /// Types of the knowledge that stand in it.
    pub fn types(&self) -> &BTreeSet<String> {
        &self.findings.types
    }

    /// A statement as if it had been confined; whatever stands after a colon or bar is knowledge.
    #[cfg(any(test, feature = "testing"))]
    pub fn as_if(text: &str) -> Self {
        let after_signs = text.split([':', '|']).skip(1);
        let is_part = |c: char| c == '_' || c.is_alphanumeric();
        let names = after_signs.map(|rest| rest.split(|c| !is_part(c)).next().unwrap_or_default());
        let names: BTreeSet<String> = names.map(str::to_owned).collect();
        Self {
            printed: Printed {
                text: text.to_owned(),
                ..Printed::default()
            },
            findings: Findings {
                labels: names.clone(),
                types: names,
                ..Findings::default()
            },
        }
    }

    /// What a column of its result is called in the model's text.
    pub fn column<'a>(&'a self, column: &'a str) -> &'a str {
        let mut renamed = self.findings.columns.iter();
        renamed
            .find(|(printed, _)| printed == column)
            .map_or(column, |(_, written)| written)
    }

    /// That the parameters which are regular expressions cost little.
    ///
    /// # Errors
    /// When one may take long, with the reason.
    pub fn check_parameters(&self, values: &Map<String, Value>) -> Result<(), String> {
        for name in &self.findings.regex_parameters {
            if let Some(Value::String(pattern)) = values.get(name) {
                shield::check_regex(pattern)
                    .map_err(|why| format!("${name} is a regular expression that {why}"))?;
            }
        }
        Ok(())
    }
}

/// How much a statement may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits<'a> {
    /// Rows of the result.
    pub rows: u32,
    /// Nodes of each label, where they are known: as many may be collected into one list.
    pub nodes: Option<&'a BTreeMap<String, u64>>,
}

impl<'a> Limits<'a> {
    /// For a graph of unknown size.
    pub const fn of_rows(rows: u32) -> Self {
        Self { rows, nodes: None }
    }

    /// For a graph with so many nodes of each label.
    #[must_use]
    pub fn with_nodes(self, nodes: &'a BTreeMap<String, u64>) -> Self {
        Self {
            nodes: Some(nodes),
            ..self
        }
    }
}

/// Why a statement was refused, in words that help a model to write a better one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    pub message: String,
    /// Line and column in characters, counted from 1.
    pub at: Option<(usize, usize)>,
    /// What to write instead.
    pub advice: Option<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.at {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(advice) = &self.advice {
            write!(f, "; {advice}")?;
        }
        Ok(())
    }
}

/// What a graph holds besides what may be asked for: no statement reaches it, whatever the schema says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guard<'a> {
    pub hidden_labels: &'a [&'a str],
    pub hidden_types: &'a [&'a str],
}

impl Guard<'_> {
    /// Confines a statement to what the schema names. It may use these parameters, named without `$`.
    ///
    /// # Errors
    /// When it is not one read-only statement, reaches for what is hidden, or does not fit the schema.
    pub fn confine(
        &self,
        query: &str,
        schema: &Schema,
        limits: &Limits<'_>,
        parameters: &[&str],
    ) -> Result<ConfinedCypher, Refusal> {
        let (tree, findings) = parser::parse(query)
            .and_then(|tree| shield::shield(tree, self, schema, limits, parameters))
            .map_err(|problem| problem.in_text(query))?;
        Ok(ConfinedCypher {
            printed: print::query(&tree),
            findings,
        })
    }
}

/// A statement that was read and printed, but not confined: for tests of the reader and the printer.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBack {
    pub printed: String,
    /// What is printed is read as the same tree, and printed as the same text.
    pub is_same: bool,
}

/// Reads a statement, prints it, and reads that again.
///
/// # Errors
/// When it cannot be read the first time.
#[doc(hidden)]
pub fn read_back(query: &str) -> Result<ReadBack, Refusal> {
    let tree = parser::parse(query).map_err(|problem| problem.in_text(query))?;
    let printed = print::query(&tree).text;
    let is_same = parser::parse(&printed)
        .is_ok_and(|again| again == tree && print::query(&again).text == printed);
    Ok(ReadBack { printed, is_same })
}

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
