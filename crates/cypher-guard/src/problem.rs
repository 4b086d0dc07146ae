//! A problem in a statement, before its line is determined.

use crate::refusal::Refusal;

/// The inside of a [`Refusal`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    message: String,
    /// Offset in bytes.
    at: Option<usize>,
    advice: Option<String>,
}

pub(super) type CheckResult<T> = Result<T, Problem>;

impl Problem {
    pub(super) fn at(offset: impl Into<usize>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            at: Some(offset.into()),
            advice: None,
        }
    }

    /// A problem of the whole statement.
    pub(super) fn of_all(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            at: None,
            advice: None,
        }
    }

    pub(super) fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Its offset in the statement.
    pub(super) fn offset(&self) -> usize {
        self.at.unwrap_or(0)
    }

    pub(super) fn in_text(self, text: &str) -> Refusal {
        Refusal {
            message: self.message,
            at: self.at.map(|offset| place(text, offset)),
            advice: self.advice,
        }
    }
}

fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}
