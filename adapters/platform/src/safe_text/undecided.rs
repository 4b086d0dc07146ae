//! What the passes say of a text that may go on.

/// Whether the text ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextCompleteness {
    /// No: what cannot be decided yet is held back.
    Open,
    Final,
}

/// The result of looking at the rest of a text.
pub(super) enum Decision {
    /// The rule does not apply here.
    No,
    /// It depends on what comes next.
    Undecided,
    Yes,
}

/// Whether `text` begins with `word` (ASCII, lower case), in any case.
pub(super) fn begins_with(text: &str, word: &str) -> Decision {
    let length = text.len().min(word.len());
    let same = text.as_bytes()[..length].eq_ignore_ascii_case(&word.as_bytes()[..length]);
    match (same, length == word.len()) {
        (false, _) => Decision::No,
        (true, true) => Decision::Yes,
        (true, false) => Decision::Undecided,
    }
}
