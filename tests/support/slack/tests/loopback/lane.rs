//! Lanes that need a server or a program which is not there by itself.

use std::io::Write;

/// What a variable names; none where there is nothing to test with, which is said.
///
/// # Panics
/// When `required` is set to 1, and the variable is not.
pub(crate) fn lane(variable: &str, required: &str) -> Option<String> {
    let named = std::env::var(variable).ok();
    if named.is_none() {
        let is_required = std::env::var(required).as_deref() == Ok("1");
        assert!(!is_required, "{required} is set, but {variable} is not");
        // Past the capture of a test's output: a lane that did not run must not look like one that did.
        let said = format!("SLACK LANE DID NOT RUN: {variable} is not set\n");
        std::io::stderr().write_all(said.as_bytes()).unwrap();
    }
    named
}
