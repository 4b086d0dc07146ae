//! Why a statement was refused.

use std::fmt;

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
