//! What to print next, given what was printed. A terminal cannot take back what has scrolled.

/// The next thing to do with an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Nothing,
    /// What is new.
    Append(&'a str),
    /// The answer became another one: all of it again, below what was printed.
    Afresh(&'a str),
}

/// While an answer is being written. One that changed waits for its end, and blanks at the end
/// wait for what follows them.
pub(crate) fn on_update<'a>(printed: &str, so_far: &'a str) -> Step<'a> {
    match so_far.trim_end().strip_prefix(printed) {
        Some("") | None => Step::Nothing,
        Some(new) => Step::Append(new),
    }
}

/// When the answer is whole.
pub(crate) fn at_end<'a>(printed: &str, whole: &'a str) -> Step<'a> {
    let whole = whole.trim_end();
    match whole.strip_prefix(printed) {
        Some("") => Step::Nothing,
        Some(new) => Step::Append(new),
        None => Step::Afresh(whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_is_printed() {
        for (printed, so_far, update, end) in [
            ("", "", Step::Nothing, Step::Nothing),
            ("", "One", Step::Append("One"), Step::Append("One")),
            (
                "One",
                "One two\n\n",
                Step::Append(" two"),
                Step::Append(" two"),
            ),
            ("One", "One\n", Step::Nothing, Step::Nothing),
            ("One", "Two", Step::Nothing, Step::Afresh("Two")),
            ("One two", "One", Step::Nothing, Step::Afresh("One")),
        ] {
            assert_eq!(on_update(printed, so_far), update, "{printed:?} {so_far:?}");
            assert_eq!(at_end(printed, so_far), end, "{printed:?} {so_far:?}");
        }
    }
}
