//! Translates common words of other languages to English, so that a question in one language finds what
//! was said in another.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::language::{LANGUAGES, Language};
use crate::stems::Stems;
use crate::text::{each_content_word, each_lowercase_word};

/// One line per meaning: words of each language in the order of [`LANGUAGES`], separated by bars, and
/// words of the same language by blanks. Written by hand for this project.
const TABLE: &str = include_str!("../embedder/translations.txt");
/// A Chinese or Japanese word is represented by this many pairs of characters.
const PAIRS: usize = 2;

/// An English word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct English {
    pub written: &'static str,
    pub stem: String,
}

static ENGLISH: LazyLock<Vec<HashMap<String, Vec<English>>>> = LazyLock::new(|| {
    let stems = Stems::default();
    let mut found: Vec<HashMap<String, Vec<English>>> = vec![HashMap::new(); LANGUAGES.len()];
    for line in TABLE.lines() {
        let mut columns = line.split('|');
        let english: Vec<English> = columns
            .next()
            .unwrap_or_default()
            .split(' ')
            .map(|written| English {
                written,
                stem: stems.of(Language::English, written).into_owned(),
            })
            .collect();
        for (language, words) in LANGUAGES.into_iter().skip(1).zip(columns) {
            let known = &mut found[language as usize];
            for word in words.split(' ').filter(|word| !word.is_empty()) {
                let mut parts = 0;
                each_lowercase_word(word, |part| {
                    parts += 1;
                    if parts <= PAIRS {
                        let meanings: &mut Vec<English> = known
                            .entry(stems.of(language, part).into_owned())
                            .or_default();
                        let new = english.iter().filter(|it| !meanings.contains(it)).cloned();
                        let new: Vec<English> = new.collect();
                        meanings.extend(new);
                    }
                });
            }
        }
    }
    found
});

/// The English translations of a foreign stem.
pub fn english(language: Language, stem: &str) -> &'static [English] {
    ENGLISH[language as usize]
        .get(stem)
        .map_or(&[], Vec::as_slice)
}

/// The English translations of a text's known words, joined, for an embedder made for English.
pub fn translate_known_words(stems: &Stems, text: &str) -> String {
    let mut glosses = String::new();
    each_content_word(text, |language, written| {
        if language != Language::English {
            for meaning in english(language, &stems.of(language, written)) {
                glosses.push_str(meaning.written);
                glosses.push(' ');
            }
        }
    });
    glosses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_column_a_language() {
        for line in TABLE.lines() {
            let columns: Vec<&str> = line.split('|').collect();
            assert_eq!(columns.len(), LANGUAGES.len(), "{line}");
            assert!(
                columns[0]
                    .split(' ')
                    .all(|word| word.is_ascii() && word.len() > 1),
                "{line}"
            );
            assert!(columns.iter().all(|words| *words == words.trim()), "{line}");
        }
    }

    #[test]
    fn forms_of_words_are_known_in_english() {
        let stems = Stems::default();
        for (language, word, expected) in [
            (Language::German, "schlüssels", "key"),
            (Language::French, "fenêtres", "window"),
            (Language::Spanish, "reuniones", "meeting"),
            (Language::Portuguese, "janelas", "window"),
            (Language::Italian, "biglietti", "ticket"),
            (Language::Dutch, "sleutels", "key"),
            (Language::Polish, "kaczkę", "duck"),
            (Language::Russian, "ключами", "key"),
            (Language::Chinese, "钥匙", "key"),
            (Language::Japanese, "会議", "meeting"),
            (Language::Korean, "열쇠", "key"),
        ] {
            let known = english(language, &stems.of(language, word));
            assert!(
                known.iter().any(|it| it.written == expected),
                "{word}: {known:?}"
            );
        }
        assert!(english(Language::German, "gibtesnicht").is_empty());
        assert!(english(Language::English, "key").is_empty());
    }
}
