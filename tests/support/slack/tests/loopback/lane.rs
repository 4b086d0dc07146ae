//! Lanes that need a server or a program which is not there by itself.

/// What a variable names.
///
/// # Panics
/// Panics when it is not set. Tests that need it are ignored unless they are asked for.
pub(crate) fn lane(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is set; see .ci/run"))
}
