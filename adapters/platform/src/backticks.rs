//! Runs of backticks, which open and close code within text.

/// How many backticks a text begins with.
pub fn backticks(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// Returns the end of the next run of exactly `length` backticks, which closes the code that such a
/// run opened.
pub fn closing_backticks(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('`')?;
        let found = backticks(&text[at..]);
        at += found;
        if found == length {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_of_the_same_length_closes() {
        assert_eq!(backticks("``a`"), 2);
        assert_eq!(backticks("a"), 0);
        for (text, length, end) in [
            ("a` b", 1, Some(2)),
            ("a``b` c", 1, Some(5)),
            ("a`b`` c", 2, Some(5)),
            ("a```", 2, None),
            ("", 1, None),
        ] {
            assert_eq!(closing_backticks(text, length), end, "{text:?}");
        }
    }
}
