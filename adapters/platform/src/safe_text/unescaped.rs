//! Takes the escapes out of our own lines, for platforms that show Markdown as it is written.
//!
//! [`escaped`](crate::escaped) puts names that others chose into the lines of lists and cards. Only these lines are
//! changed, and no code in them: what people said is quoted in its own words, and a backslash of theirs is part of it.

use super::SafeText;
use super::code::{MarkdownSpan, Scan};
use super::undecided::TextCompleteness;
use crate::markdown::is_escaped;

impl SafeText {
    /// A whole text without the escapes in lists and cards.
    pub fn unescaped(&self) -> String {
        unescaped(self.as_str(), TextCompleteness::Final)
    }

    /// The same for the beginning of a text that is still being written: [`SafeText::unescaped`] of the complete text
    /// begins with this.
    pub fn unescaped_streaming(&self) -> String {
        unescaped(self.as_str(), TextCompleteness::Open)
    }
}

fn unescaped(text: &str, end: TextCompleteness) -> String {
    let mut shown = String::with_capacity(text.len());
    for part in Scan::of(text, end).parts() {
        match part {
            MarkdownSpan::Code(range) => shown.push_str(&text[range]),
            MarkdownSpan::Prose(range) => {
                let mut at = range.start;
                for line in text[range].split_inclusive('\n') {
                    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
                    match is_ours(&text[start..]) {
                        true => push_unescaped(line, end, &mut shown),
                        false => shown.push_str(line),
                    }
                    at += line.len();
                }
            }
        }
    }
    shown
}

/// Whether a text begins with a line of a list, or with the name of a card.
fn is_ours(text: &str) -> bool {
    let line = text.trim_start_matches(' ');
    line.starts_with("- ") || line.starts_with("**")
}

fn push_unescaped(line: &str, end: TextCompleteness, shown: &mut String) {
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('\\') {
        shown.push_str(before);
        rest = behind;
        match behind.chars().next() {
            Some(next) if is_escaped(next) => {
                shown.push(next);
                rest = &behind[next.len_utf8()..];
            }
            // What follows decides.
            None if end == TextCompleteness::Open => {}
            Some(_) | None => shown.push('\\'),
        }
    }
    shown.push_str(rest);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{escaped, linked};

    #[test]
    fn names_in_lists_are_shown_as_they_are() {
        for name in ["Using fd with `fzf` (api_ref.md)", r"C:\_a*[b]<c>|~"] {
            let text = format!("- [1] {}\n\n**2.** {}", escaped(name), escaped(name));
            let shown = SafeText::new(&text).unescaped();
            assert_eq!(shown, format!("- [1] {name}\n\n**2.** {name}"));
        }
        let link = format!("  - {}", linked("a_b", "https://a.b/c_d"));
        let shown = SafeText::new(&link).unescaped();
        assert_eq!(shown, "  - [a_b](https://a.b/c_d)");
    }

    #[test]
    fn what_was_said_and_code_stay() {
        for text in [
            r"> grep 'a\|b' \\server\share",
            r"2. [2026-04-02] you noted: the share is \\server\_share",
            r"- run `grep 'a\|b'` there",
            "- so:\n\n  ```\n  - a\\_b\n  ```\n",
            r"- C:\temp",
            r"a \_ b",
        ] {
            assert_eq!(SafeText::new(text).unescaped(), text);
        }
    }

    proptest! {
        #[test]
        fn longer_text_extends_what_was_shown(pieces in prop::collection::vec(
            prop_oneof![
                Just("- "), Just("\\"), Just("\n"), Just("`"), Just("```"), Just("_"), Just("a"), Just(" "),
                Just("["), Just("]"), Just("<"), Just("@"), Just("**"), Just(">"), Just("here"),
            ],
            0..20,
        )) {
            let text = pieces.concat();
            let whole = SafeText::new(&text).unescaped();
            for end in 0..=text.len() {
                let now = SafeText::streaming(&text[..end]).unescaped_streaming();
                prop_assert!(whole.starts_with(&now), "{now:?} {whole:?}");
            }
        }
    }
}
