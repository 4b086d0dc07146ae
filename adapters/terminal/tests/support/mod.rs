//! The example bot as a process.

use std::path::PathBuf;

/// Returns the path at which `cargo test` put the example.
pub(crate) fn echo_bot() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples/echo_bot")
}
