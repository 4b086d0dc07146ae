//! Extracts the values that a text names: amounts, dates, times of day, codes. If two texts about the same subject
//! name different values of one kind, they do not both hold.
//!
//! It knows nothing of exchanges.

mod labels;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use super::when::month_of;
use crate::retrieval::language::{Guess, Language, WordList};
use crate::retrieval::text::bounded;

/// Maximum characters of one text that are searched for values.
const MAX_READ_CHARS: usize = 2_048;
/// Maximum number of values of one text that are kept; a long table names no value in particular.
const MAX_VALUES: usize = 24;

const MONEY: WordList = WordList::of(
    "euro euros eur usd dollar dollars pound pounds gbp chf zł złotych zloty руб рублей",
);
const MONEY_SIGNS: [char; 6] = ['€', '$', '£', '¥', '₹', '₽'];
const PERCENT: WordList =
    WordList::of("percent prozent procent procento procenta pourcent porciento percento");
const TIME: WordList = WordList::of(
    "minute minutes min mins hour hours day days week weeks month months year years minuten stunde stunden tag tage tagen \
    woche wochen monat monate monaten jahr jahre jahren heure heures jour jours semaine semaines mois an ans minuto minutos \
    hora horas día días dia dias semana semanas mes meses mês año años ano anos minuti ora ore giorno giorni settimana \
    settimane mese mesi anno anni minuut uur dag dagen weken maand maanden jaar minut minuty godzin godziny dzień dni \
    tygodni miesięcy lat минут часов дней недель месяцев лет",
);
/// Words that name the unit of a number, and not its subject.
pub(in crate::memory) const MEASURES: [WordList; 3] = [MONEY, PERCENT, TIME];
/// Units of one letter, which only tell that a number is a quantity.
const LETTERS: WordList = WordList::of("g l m s t");
const OF_DAY: WordList = WordList::of("am pm uhr h oclock heures uur godz");
const ORDINAL: WordList = WordList::of("st nd rd th er e");
const COUNTED: [(&str, u32); 60] = [
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("twenty", 20),
    ("thirty", 30),
    ("eins", 1),
    ("zwei", 2),
    ("drei", 3),
    ("vier", 4),
    ("fünf", 5),
    ("sechs", 6),
    ("sieben", 7),
    ("acht", 8),
    ("neun", 9),
    ("zehn", 10),
    ("elf", 11),
    ("zwölf", 12),
    ("zwanzig", 20),
    ("deux", 2),
    ("trois", 3),
    ("quatre", 4),
    ("cinq", 5),
    ("sept", 7),
    ("huit", 8),
    ("neuf", 9),
    ("dix", 10),
    ("dos", 2),
    ("tres", 3),
    ("cuatro", 4),
    ("cinco", 5),
    ("seis", 6),
    ("siete", 7),
    ("ocho", 8),
    ("nueve", 9),
    ("diez", 10),
    ("due", 2),
    ("tre", 3),
    ("quattro", 4),
    ("cinque", 5),
    ("otto", 8),
    ("dieci", 10),
    ("twee", 2),
    ("drie", 3),
    ("vijf", 5),
    ("zes", 6),
    ("zeven", 7),
    ("negen", 9),
    ("tien", 10),
    ("dwa", 2),
    ("trzy", 3),
    ("два", 2),
];

static NUMBERS: LazyLock<HashMap<&'static str, u32>> =
    LazyLock::new(|| COUNTED.into_iter().collect());

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memory) enum ValueKind {
    Amount,
    Date,
    TimeOfDay,
    /// A version, a colour, a gate number.
    Code,
    /// The number of a thing: "ward 3", "shed 7".
    Label,
}

/// A value that a text states. Two values can replace one another if they have the same kind and the same unit, or
/// if one of them has no unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::memory) struct StatedValue {
    pub(in crate::memory) kind: ValueKind,
    text: String,
    /// For an amount what is counted, for a date its month, for a label what is numbered.
    pub(in crate::memory) unit: Option<Unit>,
    /// A label with which its sentence begins, so that the sentence is about that thing.
    leads: bool,
}

/// What is counted or numbered, or the month of a date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::memory) struct Unit {
    name: String,
    /// The substance of a quantity: beer, in litres of beer. For a month, its year.
    of: Option<String>,
}

impl Unit {
    fn new(name: impl Into<String>) -> Self {
        let (name, of) = (name.into(), None);
        Self { name, of }
    }

    /// Whether both may be the same unit: litres and litres of beer may, litres of beer and of milk may not.
    fn may_be(&self, other: &Self) -> bool {
        let of_both = self.of.as_ref().zip(other.of.as_ref());
        self.name == other.name && of_both.is_none_or(|(one, other)| one == other)
    }
}

impl StatedValue {
    /// Whether it may be a sum of money: not a number of days, and not a percentage.
    pub(in crate::memory) fn may_be_money(&self) -> bool {
        let is_other = |unit: &Unit| TIME.has(&unit.name) || PERCENT.has(&unit.name);
        self.kind == ValueKind::Amount && !self.unit.as_ref().is_some_and(is_other)
    }

    /// Whether both may be a quantity or a time of the same thing.
    pub(in crate::memory) fn is_like(&self, other: &Self) -> bool {
        // Dates are of the same kind, whatever their months.
        self.kind == other.kind && (self.kind == ValueKind::Date || self.is_of_unit(other))
    }

    /// Whether both are the same value.
    pub(in crate::memory) fn is(&self, other: &Self) -> bool {
        self.kind == other.kind && self.is_of_unit(other) && self.text == other.text
    }

    /// Whether it is another number of the same kind of thing: "ward 5", and "ward 3".
    pub(in crate::memory) fn is_other_label(&self, other: &Self) -> bool {
        self.kind == ValueKind::Label && self.is_like(other) && !self.is(other)
    }

    /// Whether a sentence is about the numbered thing.
    pub(in crate::memory) fn leads(&self) -> bool {
        self.leads
    }

    /// Whether they have the same number, whatever it counts.
    pub(in crate::memory) fn has_number_of(&self, other: &Self) -> bool {
        self.text == other.text
    }

    /// Whether both may have the same unit: a missing unit may be any.
    fn is_of_unit(&self, other: &Self) -> bool {
        let units = self.unit.as_ref().zip(other.unit.as_ref());
        units.is_none_or(|(one, other)| one.may_be(other))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextToken<'a> {
    /// Digits with points, commas and colons in between.
    Number(&'a str),
    Word(&'a str),
    /// Letters and digits.
    Mixed(&'a str),
    Sign(char),
}

/// The values of a text, in order.
pub(in crate::memory) fn values(text: &str) -> Vec<StatedValue> {
    let lower = bounded(text, MAX_READ_CHARS).to_lowercase();
    let tokens = tokens(&lower);
    let stemmer = Stemmer::create(Algorithm::English);
    let reader = ValueExtractor {
        tokens: &tokens,
        stemmer,
        told: OnceCell::new(),
    };
    let all = (0..tokens.len()).filter_map(|at| reader.value(at));
    all.take(MAX_VALUES).collect()
}

struct ValueExtractor<'a> {
    tokens: &'a [TextToken<'a>],
    stemmer: Stemmer,
    /// The language, if the words tell it.
    told: OnceCell<Option<Guess>>,
}

impl ValueExtractor<'_> {
    fn guess(&self) -> Guess {
        self.told().unwrap_or_default()
    }

    /// An estimate: most texts have no number.
    fn told(&self) -> Option<Guess> {
        let words = || {
            self.tokens.iter().filter_map(|token| match token {
                TextToken::Word(word) => Some(*word),
                TextToken::Number(_) | TextToken::Mixed(_) | TextToken::Sign(_) => None,
            })
        };
        *self.told.get_or_init(|| Guess::told(words()))
    }

    fn word(&self, at: Option<usize>) -> &str {
        match at.and_then(|at| self.tokens.get(at)) {
            Some(TextToken::Word(word)) => word,
            Some(TextToken::Number(_) | TextToken::Mixed(_) | TextToken::Sign(_)) | None => "",
        }
    }

    fn sign(&self, at: Option<usize>) -> Option<char> {
        match at.and_then(|at| self.tokens.get(at)) {
            Some(TextToken::Sign(sign)) => Some(*sign),
            Some(TextToken::Number(_) | TextToken::Mixed(_) | TextToken::Word(_)) | None => None,
        }
    }

    fn value(&self, at: usize) -> Option<StatedValue> {
        match self.tokens[at] {
            TextToken::Number(digits) => Some(self.number(digits, "", at)),
            TextToken::Mixed(mixed) => {
                let letters =
                    mixed.trim_start_matches(|c: char| c.is_ascii_digit() || ".,:".contains(c));
                let digits = &mixed[..mixed.len() - letters.len()];
                if digits.is_empty() || letters.chars().any(|c| c.is_ascii_digit()) {
                    return Some(code(mixed));
                }
                Some(self.number(digits, letters, at))
            }
            TextToken::Word(word) => {
                let number = NUMBERS.get(word)?;
                Some(StatedValue {
                    kind: ValueKind::Amount,
                    text: number.to_string(),
                    unit: self.unit(at),
                    leads: false,
                })
            }
            TextToken::Sign(_) => None,
        }
    }

    fn number(&self, digits: &str, suffix: &str, at: usize) -> StatedValue {
        let (before, after) = (at.checked_sub(1), Some(at + 1));
        let marker = self.marker(suffix, at);
        let is_code = digits.matches('.').count() > 1 && !has_thousands(digits);
        if (digits.contains(':') && !is_code) || OF_DAY.has(marker) {
            return StatedValue {
                kind: ValueKind::TimeOfDay,
                text: self.time_of_day(digits, marker),
                unit: None,
                leads: false,
            };
        }
        if is_code {
            return date(digits)
                .filter(|_| suffix.is_empty())
                .unwrap_or_else(|| code(&format!("{digits}{suffix}")));
        }
        if let Some(month) = self.month_beside(at).filter(|_| is_day(digits)) {
            let text = digits.trim_start_matches('0').to_owned();
            return StatedValue {
                kind: ValueKind::Date,
                text,
                unit: Some(Unit::new(month.to_string())),
                leads: false,
            };
        }
        if ORDINAL.has(suffix) && !suffix.is_empty() && is_day(digits) {
            return StatedValue {
                kind: ValueKind::Date,
                text: digits.to_owned(),
                unit: None,
                leads: false,
            };
        }
        if let Some(label) = self.label(digits, suffix, at) {
            return label;
        }
        let thousands = suffix == "k" || (suffix.is_empty() && self.word(after) == "k");
        let signs = [self.sign(before), self.sign(after)];
        let is_money = signs
            .into_iter()
            .flatten()
            .any(|sign| MONEY_SIGNS.contains(&sign))
            || MONEY.has(self.word(after));
        let unit = if is_money {
            Some(Unit::new("money"))
        } else if self.sign(after) == Some('%') || PERCENT.has(self.word(after)) {
            Some(Unit::new("%"))
        } else if thousands {
            None
        } else if !suffix.is_empty() {
            Some(Unit::new(suffix))
        } else {
            self.unit(at)
        };
        // The zero in "version 1.90" counts, and the one in "£7.50" does not.
        let is_quantity = unit.is_some() || digits.contains(',') || LETTERS.has(self.word(after));
        let mut text = plain(digits, is_quantity);
        if thousands {
            text.push_str("000");
        }
        StatedValue {
            kind: ValueKind::Amount,
            text,
            unit,
            leads: false,
        }
    }

    /// The word or suffix that makes a number a time of day, also "a.m.", "p.m." and "o'clock".
    fn marker<'b>(&'b self, suffix: &'b str, at: usize) -> &'b str {
        let (first, sign) = if suffix.is_empty() {
            (self.word(Some(at + 1)), at + 2)
        } else {
            (suffix, at + 1)
        };
        let last = || self.word(Some(sign + 1));
        match (first, self.sign(Some(sign))) {
            ("a", Some('.')) if last() == "m" => "am",
            ("p", Some('.')) if last() == "m" => "pm",
            ("o", Some('\'' | '’' | '‘')) if last() == "clock" => "oclock",
            (word, _) => word,
        }
    }

    /// Hours and minutes of 24 hours: 21:00 for "9 pm", 10:30 for "10.30 Uhr". What is no such time, such as a ratio,
    /// stays as it is written.
    fn time_of_day(&self, digits: &str, marker: &str) -> String {
        let (hour, minute) = digits.split_once([':', '.']).unwrap_or((digits, "00"));
        let number = |digits: &str| digits.parse::<u32>().ok();
        let (Some(hour), Some(minute), 2) = (number(hour), number(minute), minute.len()) else {
            return digits.trim_start_matches('0').to_owned();
        };
        // "Um 12 am Montag" is noon.
        let is_english = || self.guess().language() != Language::German;
        let hour = match marker {
            "pm" if hour < 12 => hour + 12,
            "am" if hour == 12 && is_english() => 0,
            _ => hour,
        };
        format!("{hour}:{minute:02}")
    }

    /// The unit: the word after a number, unless it is a filler word.
    fn unit(&self, at: usize) -> Option<Unit> {
        let word = self.word(Some(at + 1));
        let counts = word.chars().count() > 1
            && !self.guess().is_stop_word(word)
            && !Guess::default().is_stop_word(word);
        counts.then(|| Unit {
            name: self.stemmer.stem(word).into_owned(),
            of: self.counted_of(at + 2).map(Cow::into_owned),
        })
    }

    /// The substance: "litres of beer", "litres of the beer".
    fn counted_of(&self, at: usize) -> Option<Cow<'_, str>> {
        let is_of = self.word(Some(at)) == "of";
        let beside = [at + 1, at + 2].map(|at| self.word(Some(at)));
        let mut words = beside.into_iter().take_while(|word| !word.is_empty());
        let what = words.find(|word| !Guess::default().is_stop_word(word));
        what.filter(|_| is_of).map(|what| self.stemmer.stem(what))
    }

    fn month_beside(&self, at: usize) -> Option<u32> {
        let step = |at: Option<usize>| match self.tokens.get(at?) {
            Some(TextToken::Sign('.')) => at,
            _ => None,
        };
        let after = step(Some(at + 1)).map_or(at + 1, |at| at + 1);
        let after = if matches!(self.word(Some(after)), "of" | "de") {
            after + 1
        } else {
            after
        };
        let before = at.checked_sub(1);
        let month = |word| month_of(word, || self.told().map(Guess::language));
        month(self.word(Some(after))).or_else(|| month(self.word(before)))
    }
}

fn code(text: &str) -> StatedValue {
    StatedValue {
        kind: ValueKind::Code,
        text: text.to_owned(),
        unit: None,
        leads: false,
    }
}

fn is_day(digits: &str) -> bool {
    digits.parse().is_ok_and(|day: u32| (1..=31).contains(&day))
}

/// Whether digits with several points are a number with thousands separators: "1.250.000".
fn has_thousands(digits: &str) -> bool {
    let whole = digits.split(',').next().unwrap_or_default();
    let mut groups = whole.split('.');
    let first = groups.next().map_or(0, str::len);
    (1..=3).contains(&first) && groups.all(|group| group.len() == 3)
}

/// A date of digits with a year: "24.12.2026".
fn date(digits: &str) -> Option<StatedValue> {
    let mut parts = digits.split('.');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let is_month = month.parse().is_ok_and(|it: u32| (1..=12).contains(&it));
    let is_date = is_day(day) && is_month && year.len() == 4 && parts.next().is_none();
    is_date.then(|| StatedValue {
        kind: ValueKind::Date,
        text: day.trim_start_matches('0').to_owned(),
        unit: Some(Unit {
            name: month.trim_start_matches('0').to_owned(),
            of: Some(year.to_owned()),
        }),
        leads: false,
    })
}

/// A number without thousands separators, with a decimal point. A unit tells that zeros at its end say nothing.
fn plain(digits: &str, is_quantity: bool) -> String {
    let mut plain = String::new();
    let mut parts = digits.split(['.', ',']).peekable();
    plain.push_str(parts.next().unwrap_or_default());
    while let Some(part) = parts.next() {
        if part.len() != 3 && parts.peek().is_none() {
            let decimals = if is_quantity {
                part.trim_end_matches('0')
            } else {
                part
            };
            if !decimals.is_empty() {
                plain.push('.');
                plain.push_str(decimals);
            }
        } else {
            plain.push_str(part);
        }
    }
    plain
}

fn tokens(text: &str) -> Vec<TextToken<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = token_end(rest);
        let (token, after) = rest.split_at(end);
        rest = after;
        let (mut digit, mut letter) = (false, false);
        for character in token.chars() {
            digit |= character.is_ascii_digit();
            letter |= character.is_alphabetic() || character == '#';
        }
        match (digit, letter) {
            (true, true) => tokens.push(TextToken::Mixed(token)),
            (true, false) => tokens.push(TextToken::Number(token)),
            (false, true) if first != '#' => tokens.push(TextToken::Word(token)),
            (false, true | false) if first.is_whitespace() => {}
            (false, true | false) => tokens.push(TextToken::Sign(first)),
        }
    }
    tokens
}

/// The end of a token: letters and digits belong together, and separators before further digits.
fn token_end(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    let mut last_was_digit = false;
    while let Some((at, character)) = characters.next() {
        let digit_follows = characters
            .peek()
            .is_some_and(|(_, next)| next.is_ascii_digit());
        let belongs = character.is_alphanumeric()
            || (at == 0
                && character == '#'
                && characters
                    .peek()
                    .is_some_and(|(_, next)| next.is_ascii_alphanumeric()))
            || (last_was_digit && digit_follows && ".,:".contains(character));
        if !belongs {
            return if at == 0 { character.len_utf8() } else { at };
        }
        last_was_digit = character.is_ascii_digit();
    }
    text.len()
}
