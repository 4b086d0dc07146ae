//! Splits long texts into chunks that an embedder can tell apart, at places where a reader would
//! split.

use text_splitter::{MarkdownSplitter, TextSplitter};

/// Maximum characters of a chunk: some 200 to 250 tokens.
pub(super) const CHUNK_CHARS: usize = 1_000;

/// The markup of a text, which decides where it may be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkupKind {
    Plain,
    Markdown,
}

/// Characters that are split at once: the splitter's time grows faster than linearly.
const STRETCH: usize = 64 * 1024;

/// Splits a text into pieces of at most [`CHUNK_CHARS`], trimmed. Only blanks are lost.
pub(super) fn pieces(text: &str, form: MarkupKind) -> Vec<String> {
    let mut pieces = Vec::new();
    for stretch in stretches(text) {
        let cut: Vec<&str> = match form {
            MarkupKind::Plain => TextSplitter::new(CHUNK_CHARS).chunks(stretch).collect(),
            MarkupKind::Markdown => MarkdownSplitter::new(CHUNK_CHARS).chunks(stretch).collect(),
        };
        let filled = cut.into_iter().filter(|piece| !piece.trim().is_empty());
        pieces.extend(filled.map(|piece| piece.trim_end().to_owned()));
    }
    pieces
}

/// Splits a very long text into parts, after a line end where there is one.
fn stretches(mut text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    while text.len() > STRETCH {
        let mut end = STRETCH;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let cut = text[..end]
            .rfind("\n\n")
            .or_else(|| text[..end].rfind('\n'));
        let cut = cut.map_or(end, |cut| cut + 1);
        let (part, rest) = text.split_at(cut);
        parts.push(part);
        text = rest;
    }
    parts.push(text);
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn letters(text: &str) -> String {
        text.chars().filter(|c| !c.is_whitespace()).collect()
    }

    #[test]
    fn short_texts_stay_whole_and_blank_ones_are_none() {
        assert_eq!(pieces("One line.", MarkupKind::Plain), ["One line."]);
        assert!(pieces(" \n\t ", MarkupKind::Markdown).is_empty());
    }

    #[test]
    fn a_huge_text_is_cut_in_time() {
        let text = "word ".repeat(40_000);
        let cut = pieces(&text, MarkupKind::Plain);
        assert_eq!(letters(&cut.concat()), letters(&text));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn nothing_is_lost_and_no_piece_is_too_long(
            words in prop::collection::vec("[a-zA-Zäß日本#*`.,-]{1,30}[ \n]{1,3}", 0..400),
            wild in any::<String>(),
        ) {
            for text in [words.concat(), wild] {
                for form in [MarkupKind::Plain, MarkupKind::Markdown] {
                    let cut = pieces(&text, form);
                    prop_assert_eq!(letters(&cut.concat()), letters(&text));
                    for piece in cut {
                        prop_assert!(piece.chars().count() <= CHUNK_CHARS);
                    }
                }
            }
        }
    }
}
