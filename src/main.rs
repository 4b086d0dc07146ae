//! The `muninn` command: reads the options, wires what they ask for, and runs it.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // Two TLS providers end up in the tree, and rustls panics unless one is chosen.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if let Err(error) = load_env_file() {
        return complain(&error);
    }
    match cli::run(cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) => complain(&error),
    }
}

/// `.env` in the working directory adds what the environment lacks.
fn load_env_file() -> anyhow::Result<()> {
    match dotenvy::from_path(".env") {
        Ok(()) => Ok(()),
        Err(error) if error.not_found() => Ok(()),
        Err(error) => Err(anyhow::anyhow!("cannot read .env: {error}")),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the last word of a command that failed"
)]
fn complain(error: &anyhow::Error) -> ExitCode {
    eprintln!("muninn: {error:#}");
    ExitCode::FAILURE
}
