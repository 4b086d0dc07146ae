//! Splits text into ever finer pieces. Joined, they give the text back.

use unicode_segmentation::UnicodeSegmentation;

/// How finely a text is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SplitGranularity {
    Block,
    Line,
    Sentence,
    Word,
    /// A grapheme cluster: what a reader sees as one character.
    Grapheme,
    Char,
}

impl SplitGranularity {
    pub(super) fn finer(self) -> Option<Self> {
        match self {
            Self::Block => Some(Self::Line),
            Self::Line => Some(Self::Sentence),
            Self::Sentence => Some(Self::Word),
            Self::Word => Some(Self::Grapheme),
            Self::Grapheme => Some(Self::Char),
            Self::Char => None,
        }
    }

    /// Code has no sentences.
    pub(super) fn finer_in_code(self) -> Option<Self> {
        match self {
            Self::Line | Self::Sentence => Some(Self::Word),
            Self::Block | Self::Word | Self::Grapheme | Self::Char => self.finer(),
        }
    }

    pub(super) fn cuts_lines(self) -> bool {
        match self {
            Self::Block | Self::Line => false,
            Self::Sentence | Self::Word | Self::Grapheme | Self::Char => true,
        }
    }

    pub(super) fn pieces(self, text: &str) -> Vec<&str> {
        match self {
            Self::Block => vec![text],
            Self::Line => text.split_inclusive('\n').collect(),
            Self::Sentence => text.split_sentence_bounds().collect(),
            Self::Word => words(text),
            Self::Grapheme => text.graphemes(true).collect(),
            Self::Char => text.split_inclusive(|_| true).collect(),
        }
    }
}

/// Splits into words with the blanks after them; an address stays one word.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut before_is_blank = false;
    for (at, c) in text.char_indices() {
        if before_is_blank && !c.is_whitespace() {
            words.push(&text[start..at]);
            start = at;
        }
        before_is_blank = c.is_whitespace();
    }
    words.push(&text[start..]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_what_people_see() {
        for (grain, text, pieces) in [
            (SplitGranularity::Line, "a\nb", &["a\n", "b"][..]),
            (
                SplitGranularity::Sentence,
                "One. Two? Three",
                &["One. ", "Two? ", "Three"][..],
            ),
            (
                SplitGranularity::Word,
                "a  https://b.c/d-e  f",
                &["a  ", "https://b.c/d-e  ", "f"][..],
            ),
            (
                SplitGranularity::Grapheme,
                "e\u{301}👩‍🚀",
                &["e\u{301}", "👩‍🚀"][..],
            ),
            (SplitGranularity::Char, "e\u{301}", &["e", "\u{301}"][..]),
        ] {
            assert_eq!(grain.pieces(text), pieces, "{grain:?} {text:?}");
        }
    }
}
