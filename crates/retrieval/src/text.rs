//! Splits texts into words for BM25: lower-cased, without stop words, stemmed.
//!
//! It knows nothing of exchanges or scores.

use std::borrow::Cow;

use crate::language::{self, Guess, Language};
use crate::stems::Stems;
use chrono::{DateTime, Datelike, Utc};
use icu_normalizer::ComposingNormalizerBorrowed;

/// Maximum characters of one text that are indexed by words.
pub const MAX_SEARCHED_CHARS: usize = 16_384;

/// The stemmers for every text of an index; queries and exchanges must use the same.
#[derive(Debug, Default)]
pub struct WordStemmer {
    stems: Stems,
}

impl WordStemmer {
    /// Calls `word` with the stem of each word that is not a stop word of the text's language, in
    /// order, for the first [`MAX_SEARCHED_CHARS`] characters.
    pub fn each(&self, text: &str, mut word: impl FnMut(&str)) {
        each_content_word(text, |language, written| {
            word(&self.stem(language, written));
        });
    }

    /// Whether it is an English stop word.
    pub fn is_english_stop_word(written: &str) -> bool {
        Guess::default().is_stop_word(written)
    }

    pub fn stem<'a>(&self, language: Language, written: &'a str) -> Cow<'a, str> {
        self.stems.of(language, written)
    }

    /// The stems as a list.
    pub fn list(&self, text: &str) -> Vec<String> {
        let mut list = Vec::new();
        self.each(text, |word| list.push(word.to_owned()));
        list
    }
}

/// Calls `word` with the text's language and each lower-case word that is not a stop word of it, for
/// the first [`MAX_SEARCHED_CHARS`] characters.
pub fn each_content_word(text: &str, mut word: impl FnMut(Language, &str)) {
    each_word_with_language(text, |guess, written| {
        if !guess.is_stop_word(written) {
            word(guess.language(), written);
        }
    });
}

/// The same including stop words.
pub fn each_word_with_language(text: &str, mut word: impl FnMut(Guess, &str)) {
    let lower = lower(text);
    let words: Vec<&str> = tokens(&lower).map(bare).collect();
    let guess = Guess::of(words.iter().copied().take(GUESSED_BY));
    words.into_iter().for_each(|token| word(guess, token));
}

/// Calls `word` with every word in lower case, for the first [`MAX_SEARCHED_CHARS`] characters.
pub fn each_lowercase_word(text: &str, mut word: impl FnMut(&str)) {
    tokens(&lower(text)).for_each(|token| word(bare(token)));
}

/// In lower case, with letters and their marks composed: what was pasted from macOS or read from a PDF may have them apart, and
/// a mark alone is no part of a word.
pub(crate) fn lower(text: &str) -> String {
    let text = bounded(text, MAX_SEARCHED_CHARS);
    let lower = ComposingNormalizerBorrowed::new_nfc()
        .normalize(text)
        .to_lowercase();
    if lower.contains(APOSTROPHES) {
        lower.replace(APOSTROPHES, "'")
    } else {
        lower
    }
}

/// The words of a text in lower case.
pub fn lowercase_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_lowercase_word(text, |word| words.push(word.to_owned()));
    words
}

/// Whether two texts are in the same language, judging by their letters and words.
pub fn is_same_language(one: &str, other: &str) -> bool {
    let guess = |text: &str| language::Guess::of(lowercase_words(text).iter().map(String::as_str));
    // English is also the guess if no word shows the language.
    let told = guess(other);
    language::script(one) == language::script(other)
        && (told == language::Guess::default() || guess(one) == told)
}

/// A word without clitics: "who's" becomes "who", "l'heure" becomes "heure", and a negation becomes
/// "not".
pub(crate) fn bare(token: &str) -> &str {
    match token.split_once('\'') {
        None => token,
        Some((head, "")) => head,
        Some((_, "t")) => "not",
        Some((head, "s" | "m" | "d" | "ll" | "re" | "ve")) => head,
        // Articles and pronouns of the Romance languages: l', qu', dell'.
        Some((head, tail)) if head.chars().count() <= 2 || head.ends_with("ll") => tail,
        Some((head, _)) => head,
    }
}

/// The date words by which an exchange is found: `2023 may 8 monday`. (This is why "may" is not a stop
/// word.)
pub fn date_words(at: DateTime<Utc>) -> [String; 4] {
    [
        at.year().to_string(),
        at.format("%B").to_string().to_lowercase(),
        at.day().to_string(),
        at.format("%A").to_string().to_lowercase(),
    ]
}

/// The year that a word of four digits names, if people talk about it: from 1900 to 2199.
pub fn year(word: &str) -> Option<i32> {
    let year = word.parse().ok().filter(|_| word.len() == 4);
    year.filter(|year| (1900..=2199).contains(year))
}

/// The first `limit` characters.
pub fn bounded(text: &str, limit: usize) -> &str {
    match text.char_indices().nth(limit) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The words of a lower-case text.
pub(crate) fn spoken(lower: &str) -> impl Iterator<Item = &str> {
    tokens(lower).map(bare)
}

/// Number of words from which the language of a text is guessed.
pub(crate) const GUESSED_BY: usize = 64;
/// Characters used as an apostrophe.
const APOSTROPHES: [char; 3] = ['’', '‘', 'ʼ'];

/// Runs of letters and digits, including the part after an apostrophe. For ideographs, kana and
/// Hangul, whose words are not separated or whose endings are not recognised, every two adjacent
/// characters.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    // The rest of a run of ideographs.
    let mut pairs: &str = "";
    std::iter::from_fn(move || {
        if let Some((pair, next)) = first_pair(pairs) {
            pairs = next;
            return Some(pair);
        }
        let start = rest.find(char::is_alphanumeric)?;
        rest = &rest[start..];
        let end = token_end(rest);
        let (token, after) = rest.split_at(end);
        rest = after;
        match first_pair(token) {
            Some((pair, next)) if token.starts_with(is_paired) => {
                pairs = next;
                Some(pair)
            }
            Some(_) | None => Some(token),
        }
    })
}

/// The first two characters, and the rest from the second one on.
fn first_pair(run: &str) -> Option<(&str, &str)> {
    let mut starts = run.char_indices().map(|(at, _)| at).skip(1);
    let second = starts.next()?;
    let end = starts.next().unwrap_or(run.len());
    Some((&run[..end], &run[second..]))
}

fn token_end(text: &str) -> usize {
    if text.starts_with(is_paired) {
        return text.find(|c| !is_paired(c)).unwrap_or(text.len());
    }
    let mut characters = text.char_indices().peekable();
    let mut in_tail = false;
    while let Some((at, character)) = characters.next() {
        let next_is_letter = characters
            .peek()
            .is_some_and(|(_, next)| next.is_alphabetic());
        match character {
            _ if is_paired(character) => return at,
            '\'' if at > 0 && !in_tail && next_is_letter => in_tail = true,
            _ if character.is_alphanumeric() => {}
            _ => return at,
        }
    }
    text.len()
}

fn is_paired(character: char) -> bool {
    matches!(character,
        '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{20000}'..='\u{3FFFF}')
        && character.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_stemmed_and_stop_words_left_out() {
        let words = WordStemmer::default();
        for (text, expected) in [
            ("The ferries were leaving", vec!["ferri", "leav"]),
            ("Melanie's kids don't camp", vec!["melani", "kid", "camp"]),
            ("who’s on call? what's new", vec!["call", "new"]),
            ("l'heure du départ", vec!["heur", "du", "depart"]),
            ("v1.2 on 2023-05-08", vec!["v1", "2", "2023", "05", "08"]),
            ("東京 Straße", vec!["東京", "strass"]),
            (
                "部屋は5階 회의실에서",
                vec!["部屋", "屋は", "5", "階", "회의", "의실", "실에"],
            ),
            ("🎉 … ' '' ", vec![]),
            // The marks are characters of their own.
            ("Schlu\u{308}ssel cafe\u{301}", vec!["schlussel", "cafe"]),
        ] {
            assert_eq!(words.list(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_sought_is_read_in_its_language() {
        for (text, expected) in [
            ("who's on call?", vec!["call"]),
            ("was kostet das ticket?", vec!["kostet", "ticket"]),
            ("quel alcool faut-il y verser", vec!["alcool", "verser"]),
            ("会议室在哪里", vec!["会议", "议室", "室在", "在哪"]),
            ("gdzie są klucze do piwnicy?", vec!["klucze", "piwnicy"]),
        ] {
            let mut words = Vec::new();
            each_content_word(text, |_, written| words.push(written.to_owned()));
            assert_eq!(words, expected, "{text}");
        }
    }

    #[test]
    fn a_date_is_four_words() {
        let at = "2023-05-08T13:56:00Z".parse().unwrap();
        assert_eq!(date_words(at), ["2023", "may", "8", "monday"]);
    }

    proptest! {
        #[test]
        fn any_text_has_words_without_blanks(text in "\\PC{0,200}") {
            WordStemmer::default().each(&text, |word| {
                assert!(!word.is_empty() && !word.contains(char::is_whitespace));
            });
        }
    }
}
