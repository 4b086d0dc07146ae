//! Stems words in each language, so that "Schlüssel" finds "Schlüsseln".
//!
//! It uses Snowball's stemmers where they exist. For Polish, which the crate lacks, the endings of nouns,
//! adjectives and the most common verbs are removed. Irregular English forms ("kept", "children") are looked up.
//! Diacritics are removed last, as many people leave them out.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use crate::language::{LANGUAGES, Language};

/// Polish endings; the longest that fits is removed, and at least [`LEAST`] letters stay.
const POLISH: [&str; 46] = [
    "iejszych", "owskiego", "iejszy", "owania", "owanie", "eniach", "eniami", "aniami", "aniach",
    "iego", "iemu", "ymi", "imi", "ych", "ich", "ego", "emu", "ach", "ami", "owi", "owie", "iem",
    "iej", "eni", "ają", "uje", "ować", "ów", "om", "em", "ej", "ym", "im", "ie", "ia", "iu", "ią",
    "ię", "a", "ą", "e", "ę", "i", "o", "u", "y",
];
const LEAST: usize = 3;

/// One line per English word: its form for lookups, and the forms that its stem would not find. Written by hand
/// for this project; forms that more often are another word ("rose", "wound") are left out.
const IRREGULAR: &str = include_str!("../embedder/irregular.txt");
static REGULAR: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let lines = IRREGULAR.lines().filter_map(|line| line.split_once(' '));
    lines
        .flat_map(|(word, forms)| forms.split(' ').map(move |form| (form, word)))
        .collect()
});

/// The stemmers, one per language.
pub struct Stems([Option<Stemmer>; LANGUAGES.len()]);

impl Default for Stems {
    fn default() -> Self {
        Self(LANGUAGES.map(|language| algorithm(language).map(Stemmer::create)))
    }
}

impl std::fmt::Debug for Stems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stems")
    }
}

fn algorithm(language: Language) -> Option<Algorithm> {
    match language {
        Language::English => Some(Algorithm::English),
        Language::German => Some(Algorithm::German),
        Language::French => Some(Algorithm::French),
        Language::Spanish => Some(Algorithm::Spanish),
        Language::Portuguese => Some(Algorithm::Portuguese),
        Language::Italian => Some(Algorithm::Italian),
        Language::Dutch => Some(Algorithm::Dutch),
        Language::Russian => Some(Algorithm::Russian),
        Language::Polish | Language::Chinese | Language::Japanese | Language::Korean => None,
    }
}

impl Stems {
    /// The stem of a lower-case word.
    pub fn of<'a>(&self, language: Language, written: &'a str) -> Cow<'a, str> {
        let irregular = REGULAR
            .get(written)
            .filter(|_| language == Language::English);
        let written = irregular.copied().unwrap_or(written);
        let stem = match (&self.0[language as usize], language) {
            (Some(stemmer), _) => stemmer.stem(written),
            (None, Language::Polish) => Cow::Borrowed(without_polish_ending(written)),
            (None, _) => Cow::Borrowed(written),
        };
        if stem.is_ascii() { stem } else { plain(stem) }
    }
}

fn without_polish_ending(word: &str) -> &str {
    let fits = |ending: &&str| {
        word.strip_suffix(*ending)
            .is_some_and(|rest| rest.chars().count() >= LEAST)
    };
    let ending = POLISH
        .iter()
        .filter(|it| fits(it))
        .max_by_key(|it| it.len());
    ending.map_or(word, |ending| &word[..word.len() - ending.len()])
}

/// Removes diacritics from Latin letters, and replaces ё with е.
fn plain(word: Cow<'_, str>) -> Cow<'_, str> {
    if !word.chars().any(|c| bare(c) != Bare::Same) {
        return word;
    }
    let mut plain = String::with_capacity(word.len());
    for c in word.chars() {
        match bare(c) {
            Bare::Same => plain.push(c),
            Bare::One(letter) => plain.push(letter),
            Bare::Two(letters) => plain.push_str(letters),
        }
    }
    Cow::Owned(plain)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bare {
    Same,
    One(char),
    Two(&'static str),
}

fn bare(letter: char) -> Bare {
    Bare::One(match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => 'o',
        'ś' | 'š' => 's',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        'ё' => 'е',
        'ß' => return Bare::Two("ss"),
        'æ' => return Bare::Two("ae"),
        'œ' => return Bare::Two("oe"),
        _ => return Bare::Same,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        let stems = Stems::default();
        for (language, one, other) in [
            (Language::English, "ferries", "ferry"),
            (Language::English, "kept", "keeping"),
            (Language::English, "children", "child"),
            (Language::German, "schlüssel", "schlüssels"),
            (Language::German, "öfen", "ofen"),
            (Language::French, "réunions", "réunion"),
            (Language::Spanish, "llegan", "llegamos"),
            (Language::Spanish, "año", "ano"),
            (Language::Portuguese, "janelas", "janela"),
            (Language::Italian, "biglietti", "biglietto"),
            (Language::Dutch, "vergaderingen", "vergadering"),
            (Language::Polish, "kluczami", "klucze"),
            (Language::Polish, "kaczkę", "kaczka"),
            (Language::Russian, "ключами", "ключ"),
            (Language::Korean, "회의", "회의"),
        ] {
            assert_eq!(stems.of(language, one), stems.of(language, other), "{one}");
        }
        assert_ne!(
            stems.of(Language::Polish, "dom"),
            stems.of(Language::Polish, "do")
        );
    }

    proptest! {
        #[test]
        fn any_word_has_a_stem(word in "\\PC{1,40}", language in 0..LANGUAGES.len()) {
            let stem = Stems::default().of(LANGUAGES[language], &word.to_lowercase()).into_owned();
            prop_assert!(stem.chars().count() <= 2 * word.to_lowercase().chars().count());
        }
    }
}
