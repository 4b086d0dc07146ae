//! Shell completions and man pages, generated from the command definitions.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;

use super::args::Cli;
use super::command_line::command_line;
use super::exit::Exit;

const NAME: &str = "muninn";

/// `muninn completions SHELL`
pub(super) fn completions(shell: Shell) -> anyhow::Result<Exit> {
    // Not directly to stdout: the generator panics if the reader closes it early.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    print(&script)
}

/// `muninn man`: writes the page of the program, or a page per command into a folder.
pub(super) fn manual(folder: Option<&Path>) -> anyhow::Result<Exit> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        Man::new(described()).render(&mut page)?;
        return print(&page);
    };
    let unusable = || format!("cannot write manual pages to {}", folder.display());
    std::fs::create_dir_all(folder).with_context(unusable)?;
    clap_mangen::generate_to(described(), folder).with_context(unusable)?;
    Ok(Exit::SUCCESS)
}

/// The definitions with every setting described. What the short help leaves out has no description in a manual page
/// either, where it has no long one.
fn described() -> Command {
    command_line().mut_args(|argument| argument.hide_short_help(false))
}

fn print(text: &[u8]) -> anyhow::Result<Exit> {
    std::io::stdout().lock().write_all(text)?;
    Ok(Exit::SUCCESS)
}
