//! Asks the person at the terminal.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use super::context::Context;
use super::output::Output;

/// Asks within a command, which may run in another process than the user's.
///
/// # Errors
/// Fails when nobody is there to answer.
pub(super) fn confirmed(at: &Context, question: &str) -> anyhow::Result<bool> {
    match at.out {
        Output::Here => answered(question),
        Output::There { .. } | Output::Nowhere => Err(unanswered(question)),
    }
}

pub(super) fn answered(question: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(unanswered(question));
    }
    let mut err = std::io::stderr().lock();
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

pub(super) fn unanswered(question: &str) -> anyhow::Error {
    anyhow::anyhow!("{question} Nobody can answer here: add --yes if that is meant")
}
