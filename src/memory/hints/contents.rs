//! The kinds of answers that an exchange contains, whatever it is about.

use super::values::values;
use super::when;
use crate::retrieval::language::WordList;
use crate::retrieval::text::lowercase_words;

const NUMBERS: WordList = WordList::of(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty hundred half once twice none \
                       dozen ein eine zwei drei vier fünf sechs sieben acht neun zehn un une deux trois quatre cinq dos tres \
                       cuatro cinco due tre quattro cinque",
);

const AGES: WordList = WordList::of(
    "year years yr yrs yo month months week weeks old older aged age born birthday jahr jahre jahren alt älter geboren geburtstag \
                       an ans mois né née anniversaire año años meses nacido nacida cumpleaños ano anos anni mesi nato nata jaar \
                       maanden oud jarig lat rok urodziny год года лет месяцев",
);

/// What an exchange contains. It depends on its text alone, so it is read once, when first needed: reading it for each question
/// took a third of the time of recall.
#[derive(Clone, Copy, Debug)]
pub(in crate::memory) struct Contents {
    pub(in crate::memory) has_digit: bool,
    /// A number in words.
    pub(in crate::memory) has_number_word: bool,
    /// An amount that may be a sum of money.
    pub(in crate::memory) may_be_money: bool,
    /// An age, a birthday or a span of years or months.
    pub(in crate::memory) has_age: bool,
    /// A day or a time, if only roughly: "on weekdays", "in the evening".
    pub(in crate::memory) says_when: bool,
}

impl Contents {
    pub(in crate::memory) fn of(texts: [&str; 2]) -> Self {
        let words = texts.map(lowercase_words);
        let has = |list: WordList| words.iter().flatten().any(|word| list.has(word));
        let has_digit = texts.iter().any(|text| has_digit(text));
        Self {
            has_digit,
            has_number_word: has(NUMBERS),
            may_be_money: has_digit
                && texts
                    .into_iter()
                    .flat_map(values)
                    .any(|it| it.may_be_money()),
            has_age: has(AGES),
            says_when: words.iter().any(|words| when::says_when(words)),
        }
    }
}

pub(super) fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}
