//! Tells the number of a thing, such as a ward, a room or a shed, from an amount.

use super::super::when::weekdays;
use super::{
    LETTERS, MEASURES, MONEY_SIGNS, NUMBERS, StatedValue, TextToken, Unit, ValueExtractor,
    ValueKind,
};
use crate::retrieval::language::{Guess, WordList, is_auxiliary};

/// Maximum number of digits of a label: longer ones are years, codes and sums.
const MAX_LABEL_DIGITS: usize = 3;
/// Nouns before a number that is a value of its own: "the rent 640", "the code 471".
const MEASURED: WordList = WordList::of(
    "max min maximum minimum price fee rate rent cost salary wage fine fare tip deposit budget balance total sum limit number phone extension code \
    password pin key port age size weight height length width speed temperature score capacity count amount volume \
    preis gebühr miete kosten gehalt summe nummer telefon passwort alter größe gewicht höhe länge temperatur anzahl menge \
    prix loyer tarif code numéro âge taille poids température nombre precio tarifa número edad peso altura temperatura \
    cantidad preço aluguel idade quantidade prezzo affitto numero età prijs huur nummer leeftijd aantal",
);
/// Verbs before an amount that look like nouns: "bring 3 bottles".
const VERBS: WordList = WordList::of(
    "say says bring order need buy sell make take want get send book pay add use keep give move put see ship plan hire invite \
    expect reserve raise cut bake cook pick hold drop gave took sold made bought paid sent held kept spent lost won \
    brauchen bringen kaufen nehmen wollen bestellen zahlen machen kostet dauert zahlt braucht bringt nimmt",
);
/// Words between the subject and the verb.
const NOW: WordList = WordList::of(
    "now also still only jetzt nun auch maintenant désormais ahora agora adesso ora nu teraz теперь",
);
/// Words before a verb, and not before the name of a thing.
const PRONOUNS: WordList = WordList::of(
    "i you he she it we they who me te nos ich du er sie es wir ihr man je tu il elle nous vous ils elles on yo nosotros ellos \
    io noi loro ik jij hij zij wij ja on ona oni я ты он она мы вы они",
);
/// Units, and letters behind thousands and millions.
const UNITS: WordList = WordList::of(
    "kg g km m cm mm l ml gb mb tb kb ghz mhz kw kwh watt volt hz k mio mrd million millions billion degree degrees grad \
    degrés grados gradi celsius litre litres liter liters metre metres meter meters gram grams kilo kilos times x",
);
/// Signs behind a quantity, a range or a date.
const BEHIND_QUANTITY: [char; 5] = ['%', '/', '-', '–', '°'];

impl ValueExtractor<'_> {
    /// A number behind the name of what it numbers: "ward 3", but not "costs 3", "the code 471" and "for 3 wards".
    pub(super) fn label(&self, digits: &str, suffix: &str, at: usize) -> Option<StatedValue> {
        let noun = at.checked_sub(1)?;
        let is_short =
            digits.len() <= MAX_LABEL_DIGITS && digits.bytes().all(|it| it.is_ascii_digit());
        let is_label = is_short
            && suffix.is_empty()
            && !self.is_quantity(at)
            && self.may_be_numbered(self.word(Some(noun)));
        if !is_label {
            return None;
        }
        // "Ward 3 has": the sentence is about it.
        let (begins, after) = (self.begins_sentence(noun), self.word(Some(at + 1)));
        let is_verb = |word: &str| is_auxiliary(word) || self.is_of_content(word);
        let is_verb_behind_now = || NOW.has(after) && is_verb(self.word(Some(at + 2)));
        let leads = begins && (is_verb(after) || is_verb_behind_now());
        let stands_as_name = || {
            let before = noun.checked_sub(1).map(|at| self.tokens[at]);
            let is_behind_name = !self.is_of_content(after);
            is_behind_name && before.is_none_or(|before| self.may_precede_name(before))
        };
        (leads || stands_as_name()).then(|| StatedValue {
            kind: ValueKind::Label,
            text: digits.trim_start_matches('0').to_owned(),
            unit: Some(Unit::new(self.stemmer.stem(self.word(Some(noun))))),
            leads,
        })
    }

    /// Whether what stands behind a number shows that it counts or measures something.
    fn is_quantity(&self, at: usize) -> bool {
        let (sign, unit) = (self.sign(Some(at + 1)), self.word(Some(at + 1)));
        let is_sign = |sign| BEHIND_QUANTITY.contains(&sign) || MONEY_SIGNS.contains(&sign);
        let is_unit = |lists: &[WordList]| lists.iter().any(|list| list.has(unit));
        sign.is_some_and(is_sign) || is_unit(&[UNITS, LETTERS]) || is_unit(&MEASURES)
    }

    /// Whether a word has content: it is no function word.
    fn is_of_content(&self, word: &str) -> bool {
        let is_stop_word =
            || self.guess().is_stop_word(word) || Guess::default().is_stop_word(word);
        !word.is_empty() && !is_auxiliary(word) && !is_stop_word()
    }

    /// Whether a name may stand behind this: "in shed 7", but not "they say 340".
    fn may_precede_name(&self, token: TextToken<'_>) -> bool {
        match token {
            TextToken::Sign(_) => true,
            TextToken::Word(word) => {
                !self.is_of_content(word) && !is_auxiliary(word) && !PRONOUNS.has(word)
            }
            TextToken::Number(_) | TextToken::Mixed(_) => false,
        }
    }

    /// Whether a word may be the name of a thing of which there are several, each with a number.
    fn may_be_numbered(&self, word: &str) -> bool {
        let is_verb = (word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us"))
            || (word.len() > 4 && word.ends_with("ed"))
            || VERBS.has(word);
        word.chars().count() >= 3
            && !is_verb
            && !MEASURED.has(word)
            && !MEASURES.iter().any(|list| list.has(word))
            && !NUMBERS.contains_key(word)
            && word.chars().all(is_latin_or_cyrillic)
            && self.is_of_content(word)
            && weekdays(&[word.to_owned()]).is_empty()
    }

    /// Whether a sentence begins with the noun at a position, but for function words and an adjective.
    fn begins_sentence(&self, noun: usize) -> bool {
        let before = (0..noun).rev().map(|at| &self.tokens[at]);
        let mut of_content = 0;
        for token in before {
            match token {
                TextToken::Sign('.' | '!' | '?' | ':' | ';') => return true,
                TextToken::Word(word) if self.guess().is_stop_word(word) && !is_auxiliary(word) => {
                }
                TextToken::Word(_) if of_content == 0 => of_content += 1,
                TextToken::Word(_)
                | TextToken::Number(_)
                | TextToken::Mixed(_)
                | TextToken::Sign(_) => {
                    return false;
                }
            }
        }
        true
    }
}

/// Whether a letter is of a script whose units and currencies are known here.
fn is_latin_or_cyrillic(letter: char) -> bool {
    letter < '\u{370}' || ('\u{400}'..'\u{530}').contains(&letter)
}
