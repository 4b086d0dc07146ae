//! Confines generated Cypher: a single read-only statement that reaches what a schema names, and nothing else.
//!
//! A [`Guard`] knows the labels and relationship types that stay hidden, whatever the schema says. The text is parsed into a tree
//! (`parser`) that can only represent reading. The tree is changed so that every node and relationship in it is knowledge
//! (`shield`), and printed again (`print`). No text of a model runs as it was written.

mod functions;
mod hidden;
mod lexer;
mod limits;
mod parser;
mod print;
mod problem;
mod refusal;
mod schema;
mod shield;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

pub use self::hidden::Guard;
pub use self::limits::StatementLimits;
use self::print::Printed;
pub use self::refusal::Refusal;
pub use self::schema::{Pattern, Property, Schema};
use self::shield::Findings;

/// A statement that may be run. Only [`Guard::confine`] creates one, by printing the checked tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfinedCypher {
    printed: Printed,
    findings: Findings,
}

impl ConfinedCypher {
    /// The text of the statement to run.
    pub fn as_str(&self) -> &str {
        &self.printed.text
    }

    /// The same for an engine that does not support `&` between labels.
    pub fn legacy_syntax(&self) -> &str {
        self.printed.older.as_deref().unwrap_or(&self.printed.text)
    }

    /// Columns of the result that contain only `elementId`s of nodes, or lists of them.
    pub fn id_columns(&self) -> &[String] {
        &self.findings.id_columns
    }

    /// Changes beyond confining, described for a model: a reversed arrow.
    pub fn notes(&self) -> &[String] {
        &self.findings.notes
    }

    /// The statement with hints to begin at the labels of these variables, where possible.
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

    /// Whether its result changes by itself: it counts, sums up or compares all there is, or uses the current time or
    /// chance.
    pub fn is_volatile(&self) -> bool {
        self.findings.is_volatile
    }

    /// Labels of the knowledge that it uses.
    pub fn labels(&self) -> &BTreeSet<String> {
        &self.findings.labels
    }

    /// Relationship types of the knowledge that it uses.
    pub fn types(&self) -> &BTreeSet<String> {
        &self.findings.types
    }

    /// Treats a statement as if it had been confined; every name after a colon or bar counts as knowledge.
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

    /// The name of a result column in the model's text.
    pub fn column<'a>(&'a self, column: &'a str) -> &'a str {
        let mut renamed = self.findings.columns.iter();
        renamed
            .find(|(printed, _)| printed == column)
            .map_or(column, |(_, written)| written)
    }

    /// Checks that the parameters used as regular expressions are cheap.
    ///
    /// # Errors
    /// Fails when one may take long; the error gives the reason.
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

impl Guard<'_> {
    /// Confines a statement to what the schema names. It may use these parameters, which are named without `$`.
    ///
    /// # Errors
    /// Fails when it is not a single read-only statement, reaches for something hidden, or does not fit the schema.
    pub fn confine(
        &self,
        query: &str,
        schema: &Schema,
        limits: &StatementLimits<'_>,
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

/// A statement that was parsed and printed, but not confined: for tests of the parser and the printer.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBack {
    pub printed: String,
    /// Whether the printed text parses to the same tree, and prints as the same text.
    pub is_same: bool,
}

/// Parses a statement, prints it, and parses the result again.
///
/// # Errors
/// Fails when it cannot be parsed the first time.
#[doc(hidden)]
pub fn round_trip(query: &str) -> Result<ReadBack, Refusal> {
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
