//! Anonymises what people said before it is kept: names, addresses and numbers are replaced by
//! placeholders. A placeholder stands for the same text in the whole source; the key to it stays
//! with the operator.
//!
//! Works by rules, without a model, so it misses what no rule covers. The recall was measured
//! (`docs/knowledge.md`).

pub mod key;

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

use crate::retrieval::language::WordList;
use crate::retrieval::rarity::rarity;

/// Minimum rarity of a capitalised word within a sentence to count as a name: minus the logarithm
/// of its share of exchanges in English talk.
const MIN_NAME_RARITY: f32 = 8.5;
/// The same for a word after "my name is" and the like.
const MIN_CUED_NAME_RARITY: f32 = 5.5;
/// Minimum characters of a part of a name: shorter ones are initials, or words that only look like
/// names.
const SHORTEST: usize = 2;

/// Words before places and documents rather than people.
const PLACED: WordList = WordList::of("in the");
/// Capitalised words that are not names.
const NOBODY: WordList = WordList::of(
    "monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday saturdays sunday sundays \
     january february march april may june july august september october november december easter christmas ramadan hanukkah \
     english german french spanish italian polish dutch russian chinese american british european internet google okay mr mrs ms miss mx dr prof professor sir herr frau madame monsieur señor señora",
);

/// The kinds of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum PersonalDataKind {
    Person,
    Address,
    Email,
    Number,
}

impl PersonalDataKind {
    fn word(self) -> &'static str {
        match self {
            Self::Person => "Person",
            Self::Address => "Address",
            Self::Email => "Email",
            Self::Number => "Number",
        }
    }

    /// Whether a match is personal data: numbers need five digits or more and must not be dates.
    fn is_it(self, found: &str) -> bool {
        let digits = || found.bytes().filter(u8::is_ascii_digit).count();
        match self {
            Self::Number => digits() >= 5 && !DATE.is_match(found.trim()),
            Self::Person | Self::Address | Self::Email => true,
        }
    }
}

/// The original text of each placeholder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Originals(pub BTreeMap<String, String>);

/// Replaces personal data in the texts of one source.
#[derive(Debug, Default)]
pub struct Anonymiser {
    originals: Originals,
    /// The placeholder of each text, by kind and lower-case text.
    known: HashMap<(PersonalDataKind, String), String>,
    counts: HashMap<PersonalDataKind, usize>,
}

static EMAIL: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"));

/// A street with its number, before or after it, and optionally a postal code with its town.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)
        \b\d{1,5}[a-z]?\ (?:\p{Lu}[\p{L}'.-]+\ ){1,3}
            (?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Way|Square|Place|Court|Boulevard|Blvd|Terrace|Close|Crescent)\b
            (?:,?\ \p{Lu}\p{Ll}+(?:\ \p{Lu}\p{Ll}+)?)?(?:,?\ (?:[A-Z]{1,2}\d[\dA-Z]?\ \d[A-Z]{2}|[A-Z]{2}\ \d{5}))?
        | \b\p{Lu}\p{L}+(?:straße|strasse|str\.|gasse|weg|allee|platz|straat|gata|vegen|gaten)\ \d{1,4}[a-z]?\b
            (?:,?\ \d{4,5}\ \p{Lu}\p{L}+)?
        | \b(?:\d{1,4},?\ )?(?:rue|boulevard|calle|viale|piazza|rua)\ (?:de\ |del\ |della\ |la\ |du\ |des\ )*\p{Lu}[\p{L}'-]+
            (?:\ \p{Lu}[\p{L}'-]+)?(?:,?\ \d{1,4})?
        | \bP\.?O\.?\ Box\ \d+\b
        | \b[A-Z]{1,2}\d[\dA-Z]?\ \d[A-Z]{2}\b",
    )
});

/// Telephone numbers, and numbers of five digits or more: of people, accounts, files. Dates are
/// excluded.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?:\+|\b00)?\(?\b\d(?:[\d()./ -]{3,}\d)(?:\s?(?:x|ext\.?)\s?\d+)?\b")
});
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|(?:1[89]|20)\d\d\s?[-/]\s?(?:1[89]|20)\d\d)$",
    )
});

/// Words that introduce a name.
static CUE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)
        (?:(?i:\b(?:my|his|her|their|our)\ (?:\p{L}+\ )?(?:name\ is|name's|name\ was|is\ called|husband|wife|partner|mother|father|mum|mom
                |dad|brother|sister|son|daughter|uncle|aunt|cousin|friend|girlfriend|boyfriend|boss|colleague|neighbour|neighbor)
            |\bcall\ me|\bcalled|\bnamed|\bI'm|\bI\ am|\bthis\ is|\bich\ heiße|\bmein\ name\ ist|\bje\ m'appelle|\bme\ llamo|\bmi\ chiamo)
          |\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Herr|Frau|Madame|Monsieur|Señor|Señora)\.?)
        ,?\ (\p{Lu}[\p{L}'-]+(?:\ \p{Lu}[\p{L}'-]+){0,2})",
    )
});
static CAPITALISED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\p{Lu}[\p{Ll}][\p{L}'-]*(?:\ \p{Lu}[\p{Ll}][\p{L}'-]*)*"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of this program")
}

impl Anonymiser {
    /// Continues with known originals, so that placeholders stay the same.
    pub fn new(originals: Originals) -> Self {
        let mut new = Self::default();
        for (placeholder, original) in &originals.0 {
            let Some((kind, number)) = read(placeholder) else {
                continue;
            };
            let key = (kind, original.to_lowercase());
            new.known.insert(key, placeholder.clone());
            let count = new.counts.entry(kind).or_default();
            *count = (*count).max(number);
        }
        new.originals = originals;
        new
    }

    /// Returns the originals of all placeholders.
    pub fn originals(&self) -> &Originals {
        &self.originals
    }

    /// Learns the personal data in a text. All texts of a source are learnt before the first is
    /// rewritten: one text may name without a cue somebody whom another text introduces.
    pub fn learn(&mut self, text: &str) {
        let mut rest = text.to_owned();
        for (kind, what) in patterns() {
            let found: Vec<String> = what
                .find_iter(&rest)
                .map(|found| found.as_str().to_owned())
                .filter(|found| kind.is_it(found))
                .collect();
            for found in found {
                self.placeholder(kind, &found);
                rest = rest.replace(&found, "…");
            }
        }
        let mut names: Vec<String> = Vec::new();
        for found in CUE.captures_iter(&rest).filter_map(|found| found.get(1)) {
            let parts =
                name_parts(found.as_str()).filter(|part| may_be_name(part, MIN_CUED_NAME_RARITY));
            names.extend(parts.map(str::to_owned));
        }
        for found in CAPITALISED.find_iter(&rest) {
            let before = &rest[..found.start()];
            let is_first_alone = begins_sentence(before) && !found.as_str().contains(' ');
            let mut previous = before.split_whitespace().next_back().unwrap_or_default();
            for part in name_parts(found.as_str()) {
                let is_place = PLACED.has(&previous.to_lowercase());
                if !is_first_alone && !is_place && may_be_name(part, MIN_NAME_RARITY) {
                    names.push(part.to_owned());
                }
                previous = part;
            }
        }
        for name in &names {
            self.placeholder(PersonalDataKind::Person, name);
        }
    }

    /// Learns the name of a person: a speaker.
    pub fn learn_person(&mut self, name: &str) {
        for part in name_parts(name) {
            self.placeholder(PersonalDataKind::Person, part);
        }
    }

    /// Returns a text with what was learnt replaced.
    pub fn replace_learnt(&self, text: &str) -> String {
        let mut told = text.to_owned();
        for (kind, what) in patterns() {
            let placed = |found: &Captures<'_>| match kind.is_it(&found[0]) {
                true => {
                    let known = self.known.get(&(kind, found[0].to_lowercase()));
                    // It was added after learning; it is replaced all the same.
                    known.map_or_else(|| format!("[{}]", kind.word()), Clone::clone)
                }
                false => found[0].to_owned(),
            };
            told = what.replace_all(&told, placed).into_owned();
        }
        self.without_names(&told)
    }

    /// Replaces each word that is part of a known name and written as one.
    fn without_names(&self, text: &str) -> String {
        let mut told = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let end = match is_of_word(next) {
                true => rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len()),
                false => next.len_utf8(),
            };
            let (word, after) = rest.split_at(end);
            let name = word.trim_end_matches("'s").trim_end_matches("’s");
            let known = self
                .known
                .get(&(PersonalDataKind::Person, name.to_lowercase()));
            let known = known.filter(|_| next.is_uppercase());
            told.push_str(known.map_or(name, String::as_str));
            told.push_str(&word[name.len()..]);
            rest = after;
        }
        told
    }

    fn placeholder(&mut self, kind: PersonalDataKind, original: &str) -> String {
        let key = (kind, original.to_lowercase());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let placeholder = format!("[{} {count}]", kind.word());
        self.known.insert(key, placeholder.clone());
        let originals = &mut self.originals.0;
        originals.insert(placeholder.clone(), original.to_owned());
        placeholder
    }
}

/// Returns the patterns in the order in which they are applied.
fn patterns() -> [(PersonalDataKind, &'static Regex); 3] {
    [
        (PersonalDataKind::Email, &EMAIL),
        (PersonalDataKind::Address, &ADDRESS),
        (PersonalDataKind::Number, &NUMBER),
    ]
}

/// Parses a placeholder into its kind and number.
fn read(placeholder: &str) -> Option<(PersonalDataKind, usize)> {
    let inner = placeholder.strip_prefix('[')?.strip_suffix(']')?;
    let kinds = [
        PersonalDataKind::Person,
        PersonalDataKind::Address,
        PersonalDataKind::Email,
        PersonalDataKind::Number,
    ];
    kinds.into_iter().find_map(|kind| {
        let number = inner.strip_prefix(kind.word())?.trim().parse().ok()?;
        Some((kind, number))
    })
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\'' | '’' | '-')
}

fn name_parts(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split_whitespace();
    let parts = parts.map(|part| part.trim_matches(['\'', '-', '.', ',']));
    let parts = parts.map(|part| part.strip_suffix("'s").unwrap_or(part));
    parts.filter(|part| part.chars().count() >= SHORTEST && part.chars().all(is_of_word))
}

fn may_be_name(word: &str, least: f32) -> bool {
    let word = word.to_lowercase();
    rarity(&word) >= least && !NOBODY.has(&word)
}

fn begins_sentence(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '"', '“', '„', '(', '\'', '*', '_', '>']);
    before.is_empty() || before.ends_with(['.', '!', '?', ':', '\n', '…', '-', '–'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(texts: &[&str]) -> Vec<String> {
        let mut anonymiser = Anonymiser::default();
        texts.iter().for_each(|text| anonymiser.learn(text));
        texts
            .iter()
            .map(|text| anonymiser.replace_learnt(text))
            .collect()
    }

    #[test]
    fn what_is_of_people_is_taken_out() {
        for (text, expected) in [
            ("My name is Sarah.", "My name is [Person 1]."),
            (
                "I spoke to Dr. Okonkwo's nurse.",
                "I spoke to Dr. [Person 1]'s nurse.",
            ),
            (
                "Write to ana.lima@example.org or call +44 20 7946 0958.",
                "Write to [Email 1] or call [Number 1].",
            ),
            (
                "I live at 12 Larkspur Lane, Whitby YO21 3PU.",
                "I live at [Address 1].",
            ),
            (
                "Sie wohnt in der Gartenstraße 4, 12345 Berlin.",
                "Sie wohnt in der [Address 1].",
            ),
            (
                "My file is number 48213377.",
                "My file is number [Number 1].",
            ),
            // Other numbers stay.
            (
                "On 2026-01-02 we had 14 ships and 1,200 crates at 8:30.",
                "On 2026-01-02 we had 14 ships and 1,200 crates at 8:30.",
            ),
            (
                "Well, I want to stop smoking.",
                "Well, I want to stop smoking.",
            ),
            (
                "On Monday in March I speak English.",
                "On Monday in March I speak English.",
            ),
        ] {
            assert_eq!(told(&[text]), [expected]);
        }
    }

    #[test]
    fn who_is_introduced_once_is_nowhere_and_the_same_everywhere() {
        assert_eq!(
            told(&[
                "Ann came with Tomasz Wieczorek.",
                "Call me Ann.",
                "Tomasz left, and wieczorek is evening.",
            ]),
            [
                "[Person 3] came with [Person 1] [Person 2].",
                "Call me [Person 3].",
                "[Person 1] left, and wieczorek is evening.",
            ]
        );
    }

    #[test]
    fn placeholders_stay_what_they_are() {
        let mut first = Anonymiser::default();
        first.learn("I met Tomasz at 4 Larkspur Lane.");
        let mut again = Anonymiser::new(first.originals().clone());
        again.learn("I met Agnieszka, then Tomasz, at 4 Larkspur Lane.");
        assert_eq!(
            again.replace_learnt("Agnieszka and Tomasz at 4 Larkspur Lane"),
            "[Person 2] and [Person 1] at [Address 1]"
        );
        let person = again.originals().0.get("[Person 2]");
        assert_eq!(person.map(String::as_str), Some("Agnieszka"));
        // What was not learnt is replaced too.
        assert_eq!(again.replace_learnt("x@y.org"), "[Email]");
    }

    /// The sample has personal data in braces: counts how much of it is removed, and how much other
    /// text.
    #[test]
    fn most_of_what_is_of_people_is_taken_out_and_little_else() {
        let sample = include_str!("../../tests/data/knowledge/people.txt");
        let lines: Vec<&str> = sample
            .lines()
            .filter(|line| !line.starts_with('#'))
            .collect();
        let plain: Vec<String> = lines
            .iter()
            .map(|line| line.replace(['{', '}'], ""))
            .collect();
        let texts: Vec<&str> = plain.iter().map(String::as_str).collect();
        let (mut found, mut missed, mut beside) = (0, Vec::new(), Vec::new());
        for (line, told) in lines.iter().zip(told(&texts)) {
            let mut placeholders = told.matches('[').count();
            for marked in line.split('{').skip(1) {
                let marked = marked.split('}').next().unwrap();
                if told.contains(marked) {
                    missed.push(marked.to_owned());
                } else {
                    found += 1;
                    placeholders = placeholders.saturating_sub(1);
                }
            }
            if placeholders > 0 {
                beside.push(told);
            }
        }
        assert!(
            found >= 30 && missed.len() <= 2 && beside.len() <= 1,
            "{found} found; missed: {missed:?}; beside: {beside:#?}"
        );
    }
}
