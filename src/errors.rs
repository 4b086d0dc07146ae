//! Errors in one line, for a log or a terminal.

pub use muninn_platform::in_one_line;
