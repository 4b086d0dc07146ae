//! The `muninn` command: reads the options, wires what they ask for, and runs it.

mod cli;

use std::io;
use std::process::ExitCode;

use cli::env_file::unread_env_file;
use mimalloc::MiMalloc;
use muninn_platform::{in_one_line, without_controls};

/// Gives back what was used for a moment, whichever thread used it.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    #[cfg(feature = "pdf")]
    if let Some(code) = muninn::extract::pdf::process::run() {
        return code;
    }
    // Two TLS providers end up in the tree, and rustls panics unless one is chosen.
    let _ = rustls::crypto::ring::default_provider().install_default();
    private_files::set_private_umask();
    let environment = cli::Environment::read();
    if let Err(error) = load_env_file() {
        return complain(&error);
    }
    let read = match cli::read() {
        Ok(read) => read,
        Err(code) => return code,
    };
    match cli::run(read, environment) {
        Ok(code) => code,
        Err(error) if nobody_reads(&error) => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

/// Whoever read the output has enough of it, as in `muninn catalog | head`.
fn nobody_reads(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// `.env` in the working directory adds what the environment lacks.
fn load_env_file() -> anyhow::Result<()> {
    match dotenvy::from_path(".env") {
        Ok(()) => Ok(()),
        Err(error) if error.not_found() => Ok(()),
        Err(error) => Err(anyhow::anyhow!("{}", unread_env_file(&error))),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the last word of a command that failed"
)]
fn complain(error: &anyhow::Error) -> ExitCode {
    eprintln!("muninn: {}", without_controls(&in_one_line(error.as_ref())));
    ExitCode::FAILURE
}
