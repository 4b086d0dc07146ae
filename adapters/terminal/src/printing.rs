//! Decides what to print next, given what was printed. A terminal cannot take back what has
//! scrolled.

/// The next step of printing an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PrintStep<'a> {
    Nothing,
    /// Print the new text.
    Append(&'a str),
    /// The answer changed: print all of it again, below the earlier text.
    Afresh(&'a str),
}

/// Returns the step while an answer grows. A changed answer waits for its end, and trailing blanks
/// wait for the text after them.
pub(crate) fn on_update<'a>(printed: &str, so_far: &'a str) -> PrintStep<'a> {
    match so_far.trim_end().strip_prefix(printed) {
        Some("") | None => PrintStep::Nothing,
        Some(new) => PrintStep::Append(new),
    }
}

/// Returns the step when the answer is complete.
pub(crate) fn at_end<'a>(printed: &str, whole: &'a str) -> PrintStep<'a> {
    let whole = whole.trim_end();
    match whole.strip_prefix(printed) {
        Some("") => PrintStep::Nothing,
        Some(new) => PrintStep::Append(new),
        None => PrintStep::Afresh(whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_is_printed() {
        for (printed, so_far, update, end) in [
            ("", "", PrintStep::Nothing, PrintStep::Nothing),
            (
                "",
                "One",
                PrintStep::Append("One"),
                PrintStep::Append("One"),
            ),
            (
                "One",
                "One two\n\n",
                PrintStep::Append(" two"),
                PrintStep::Append(" two"),
            ),
            ("One", "One\n", PrintStep::Nothing, PrintStep::Nothing),
            ("One", "Two", PrintStep::Nothing, PrintStep::Afresh("Two")),
            (
                "One two",
                "One",
                PrintStep::Nothing,
                PrintStep::Afresh("One"),
            ),
        ] {
            assert_eq!(on_update(printed, so_far), update, "{printed:?} {so_far:?}");
            assert_eq!(at_end(printed, so_far), end, "{printed:?} {so_far:?}");
        }
    }
}
