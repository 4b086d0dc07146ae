//! Matches brackets as Markdown does.

/// Returns the position after the bracket that closes the one at the beginning.
pub fn balanced(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(at + c.len_utf8());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_closed_at_its_own_depth() {
        for (text, end) in [
            ("[a]", Some(3)),
            ("[a [b] c](d)", Some(9)),
            (r"[a \] b]", Some(8)),
            ("[a", None),
            ("a]", Some(2)),
            ("", None),
        ] {
            assert_eq!(balanced(text, '[', ']'), end, "{text:?}");
        }
    }
}
