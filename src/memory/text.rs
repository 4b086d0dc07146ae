//! Words as BM25 counts them: lower-cased, without stop words, stemmed.
//!
//! Knows nothing of exchanges or scores.

use std::borrow::Cow;

use chrono::{DateTime, Datelike, Utc};
use rust_stemmers::{Algorithm, Stemmer};

/// Characters of one text that are searched by words; what follows is not.
pub const MAX_SEARCHED_CHARS: usize = 16_384;

/// Words that say nothing of what is talked about. Sorted.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "also", "am", "an", "and", "are", "as", "at", "be", "been", "before",
    "being", "but", "by", "can", "could", "did", "do", "does", "done", "down", "for", "from",
    "had", "has", "have", "having", "he", "her", "here", "him", "his", "how", "i", "if", "in",
    "into", "is", "it", "its", "just", "me", "might", "must", "my", "no", "not", "of", "off", "on",
    "or", "our", "out", "over", "shall", "she", "should", "so", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "to", "too", "up", "us", "very",
    "was", "we", "were", "what", "when", "where", "which", "who", "whom", "why", "will", "with",
    "would", "you", "your",
];

/// A stemmer for every text of an index; queries and exchanges have to use the same.
pub(crate) struct Words {
    stemmer: Stemmer,
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Words")
    }
}

impl Default for Words {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
        }
    }
}

impl Words {
    /// Calls `word` with the stem of every word of the first [`MAX_SEARCHED_CHARS`] characters
    /// that is not a stop word, in their order.
    pub(crate) fn each(&self, text: &str, mut word: impl FnMut(&str)) {
        self.each_written(text, |written| {
            if !Self::says_nothing(written) {
                word(&self.stem(written));
            }
        });
    }

    /// The same, as they were written and with stop words.
    pub(crate) fn each_written(&self, text: &str, word: impl FnMut(&str)) {
        let lower = bounded(text, MAX_SEARCHED_CHARS).to_lowercase();
        tokens(&lower).for_each(word);
    }

    /// Whether it is a stop word.
    pub(crate) fn says_nothing(written: &str) -> bool {
        STOP_WORDS.binary_search(&written).is_ok()
    }

    /// "Melanie's" is "Melanie"; "don't" is what is left of it.
    pub(crate) fn stem<'a>(&self, written: &'a str) -> Cow<'a, str> {
        let head = written.split('\'').next().unwrap_or(written);
        if head.is_ascii() {
            self.stemmer.stem(head)
        } else {
            Cow::Borrowed(head)
        }
    }

    /// The stems as a list.
    pub(crate) fn list(&self, text: &str) -> Vec<String> {
        let mut list = Vec::new();
        self.each(text, |word| list.push(word.to_owned()));
        list
    }
}

/// The words by which an exchange is found by its date: `2023 may 8 monday`. (Which is why "may"
/// is no stop word.)
pub(crate) fn date_words(at: DateTime<Utc>) -> [String; 4] {
    [
        at.year().to_string(),
        at.format("%B").to_string().to_lowercase(),
        at.day().to_string(),
        at.format("%A").to_string().to_lowercase(),
    ]
}

/// The first `limit` characters.
pub(crate) fn bounded(text: &str, limit: usize) -> &str {
    match text.char_indices().nth(limit) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Runs of letters and digits, with an apostrophe's tail; ideographs and kana are words one by
/// one, since nothing separates theirs.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(char::is_alphanumeric)?;
        rest = &rest[start..];
        let end = token_end(rest);
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

fn token_end(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    let mut in_tail = false;
    while let Some((at, character)) = characters.next() {
        let next_is_letter = characters
            .peek()
            .is_some_and(|(_, next)| next.is_alphabetic());
        match character {
            _ if stands_alone(character) => {
                return if at == 0 { character.len_utf8() } else { at };
            }
            '\'' if at > 0 && !in_tail && next_is_letter => in_tail = true,
            _ if character.is_alphanumeric() => {}
            _ => return at,
        }
    }
    text.len()
}

fn stands_alone(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_stemmed_and_stop_words_left_out() {
        let words = Words::default();
        for (text, expected) in [
            ("The ferries were leaving", vec!["ferri", "leav"]),
            (
                "Melanie's kids don't camp",
                vec!["melani", "kid", "don", "camp"],
            ),
            ("v1.2 on 2023-05-08", vec!["v1", "2", "2023", "05", "08"]),
            ("東京 Straße", vec!["東", "京", "straße"]),
            ("🎉 … ' '' ", vec![]),
        ] {
            assert_eq!(words.list(text), expected, "{text}");
        }
    }

    #[test]
    fn the_stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn a_date_is_four_words() {
        let at = "2023-05-08T13:56:00Z".parse().unwrap();
        assert_eq!(date_words(at), ["2023", "may", "8", "monday"]);
    }

    proptest! {
        #[test]
        fn any_text_has_words_without_blanks(text in "\\PC{0,200}") {
            Words::default().each(&text, |word| {
                assert!(!word.is_empty() && !word.contains(char::is_whitespace));
            });
        }
    }
}
