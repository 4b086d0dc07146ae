//! Generated Cypher, confined: one read-only statement that reaches knowledge and never memory.
//!
//! The text is read into a tree (`parser`) that has no place for anything but reading. The tree
//! is changed so that every node and relationship in it is knowledge (`shield`), and printed anew
//! (`print`). Nothing that a model wrote runs as it wrote it.

mod functions;
mod lexer;
mod parser;
mod print;
mod problem;
mod shield;
#[cfg(test)]
mod tests;
mod tree;

use std::fmt;

use self::shield::Shielded;
use super::schema::Schema;

/// A statement that may be run. Only [`confine`] makes one, by printing the checked tree anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfinedCypher {
    text: String,
    id_columns: Vec<String>,
    notes: Vec<String>,
}

impl ConfinedCypher {
    /// The statement, as it runs.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Columns of the result that hold `elementId`s of nodes (or lists of them) and nothing else.
    pub fn id_columns(&self) -> &[String] {
        &self.id_columns
    }

    /// What was changed beyond confining, in words for a model: an arrow that was turned round.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// How much a statement may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows of the result.
    pub rows: u32,
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

/// Confines a statement to the knowledge that the schema names. It has no parameters.
///
/// # Errors
/// When it is not one read-only statement, reaches for memory, or does not fit the schema.
pub fn confine(query: &str, schema: &Schema, limits: &Limits) -> Result<ConfinedCypher, Refusal> {
    confine_with(query, schema, limits, &[])
}

/// Confines a statement that may use these parameters, named without `$`.
///
/// # Errors
/// When it is not one read-only statement, reaches for memory, or does not fit the schema.
pub fn confine_with(
    query: &str,
    schema: &Schema,
    limits: &Limits,
    parameters: &[&str],
) -> Result<ConfinedCypher, Refusal> {
    let shielded = parser::parse(query)
        .and_then(|tree| shield::shield(tree, schema, limits, parameters))
        .map_err(|problem| problem.in_text(query))?;
    let Shielded {
        query,
        id_columns,
        notes,
    } = shielded;
    Ok(ConfinedCypher {
        text: print::query(&query),
        id_columns,
        notes,
    })
}
