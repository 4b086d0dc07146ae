//! Asks the person at the terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use super::context::Context;
use super::output::Output;

/// Asks within a command, which may run in another process than the user's. `None`: nobody is there
/// to answer.
///
/// # Errors
/// Fails when the terminal does.
pub(super) fn confirmed(at: &Context, question: &str) -> io::Result<Option<bool>> {
    match at.out {
        Output::Here if io::stdin().is_terminal() => asked(question).map(Some),
        Output::Here | Output::There { .. } | Output::Nowhere => Ok(None),
    }
}

/// Asks the user of this process.
///
/// # Errors
/// Fails when nobody is there to answer.
pub(super) fn answered(question: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(unanswered(question));
    }
    Ok(asked(question)?)
}

fn asked(question: &str) -> io::Result<bool> {
    let mut err = io::stderr().lock();
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

pub(super) fn unanswered(question: &str) -> anyhow::Error {
    anyhow::anyhow!("{question} Nobody can answer here: add --yes if that is meant")
}
