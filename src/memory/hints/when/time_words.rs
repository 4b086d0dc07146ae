//! The words of a text as words about time. Some of them mean something else in another language.

use std::cell::OnceCell;

use super::vocabulary::{
    BEFORE_MONTH, BEFORE_MONTH_IN_POLISH, BEFORE_MONTH_IN_SPANISH, COMES, DOUBTFUL_IN_ENGLISH,
    DOUBTFUL_MONTHS, HAS_IN_FRENCH, IN, LAST, MONTHS, NEXT, NEXT_BEHIND, OF, ON, PORTUGUESE_DAYS,
    SINCE, WEEKDAYS, YEAR, place,
};
use crate::retrieval::language::{Guess, Language};
use crate::retrieval::text::year;

/// Maximum number of words from a month to its year: "novembre de l'année dernière".
const MAX_YEAR_DISTANCE: usize = 3;

/// The lower-case words of a text.
pub(super) struct TimeWords<'a> {
    words: &'a [String],
    /// The text is nothing but the name of a time, so that no word of it means anything else.
    is_name: bool,
    /// The language, if the words tell it. Few texts have words for which it matters.
    told: OnceCell<Option<Language>>,
}

impl<'a> TimeWords<'a> {
    pub(super) fn of(words: &'a [String]) -> Self {
        Self {
            words,
            is_name: false,
            told: OnceCell::new(),
        }
    }

    /// Of a text that is the name of a time: "april".
    pub(super) fn of_name(words: &'a [String]) -> Self {
        Self {
            is_name: true,
            ..Self::of(words)
        }
    }

    pub(super) fn written(&self) -> &'a [String] {
        self.words
    }

    pub(super) fn positions(&self) -> std::ops::Range<usize> {
        0..self.words.len()
    }

    fn told(&self) -> Option<Language> {
        let told = || Guess::told(self.words.iter().map(String::as_str));
        self.told
            .get_or_init(|| told().map(Guess::language))
            .to_owned()
    }

    /// The language; English if nothing tells it.
    pub(super) fn language(&self) -> Language {
        self.told().unwrap_or_default()
    }

    /// The word before a position.
    pub(super) fn before(&self, at: usize) -> &'a str {
        at.checked_sub(1).map_or("", |at| &*self.words[at])
    }

    pub(super) fn after(&self, at: usize) -> &'a str {
        self.words.get(at + 1).map_or("", String::as_str)
    }

    /// The word at a position, or none if it means something else.
    pub(super) fn at(&self, at: usize) -> &'a str {
        let word = &*self.words[at];
        if self.is_otherwise(word, at) {
            ""
        } else {
            word
        }
    }

    fn is_otherwise(&self, word: &str, at: usize) -> bool {
        if self.is_name {
            return false;
        }
        match word {
            // "Here" in German and Dutch.
            "hier" => self.told() != Some(Language::French),
            // "My" in French.
            "mon" => self.told() != Some(Language::English) && !ON.has(self.before(at)),
            // An article in English and a preposition in German.
            "an" => self.told() != Some(Language::French) && !self.is_last(at) && !self.is_next(at),
            // "Been" in French.
            "été" => HAS_IN_FRENCH.has(self.before(at)),
            _ => means_otherwise(word, || self.told()),
        }
    }

    /// The weekday at a position, from Monday on.
    pub(super) fn weekday(&self, at: usize) -> Option<u32> {
        let word = self.at(at);
        place(word, &WEEKDAYS).or_else(|| {
            let day = PORTUGUESE_DAYS.iter().position(|day| *day == word)?;
            let day = u32::try_from(day).ok()?;
            self.is_portuguese_day(at).then_some(day)
        })
    }

    /// "Segunda" also means "second".
    fn is_portuguese_day(&self, at: usize) -> bool {
        let (before, after) = (self.before(at), self.after(at));
        let is_beside = |word| LAST.has(word) || NEXT.has(word);
        let ends_with_it = || after.is_empty() && (before == "na" || SINCE.has(before));
        let is_coming = || after == "que" && COMES.has(self.after(at + 1));
        after == "feira"
            || self.is_name
            || (self.told() == Some(Language::Portuguese)
                && (is_beside(before) || is_beside(after) || ends_with_it() || is_coming()))
    }

    /// Whether a word beside a time says that it is the next one.
    pub(super) fn is_next(&self, at: usize) -> bool {
        let last = if self.after(at) == "feira" {
            at + 1
        } else {
            at
        };
        let after = self.after(last);
        NEXT.has(self.before(at))
            || NEXT_BEHIND.has(after)
            || (after == "que" && COMES.has(self.after(last + 1)))
    }

    /// Whether a word beside a time says that it is the previous one.
    pub(super) fn is_last(&self, at: usize) -> bool {
        LAST.has(self.before(at)) || LAST.has(self.after(at))
    }

    /// Whether last year is named near the month at a position: "in november last year", "last year in november".
    pub(super) fn is_of_last_year(&self, at: usize) -> bool {
        let near = at.saturating_sub(MAX_YEAR_DISTANCE)..=at.saturating_add(MAX_YEAR_DISTANCE);
        let near = near.take_while(|&near| near < self.words.len());
        let mut years = near.filter(|&near| YEAR.has(self.at(near)));
        years.any(|year| self.is_last(year))
    }

    /// The past year that stands at a position by itself: "in 2025".
    pub(super) fn past_year(&self, at: usize, this: i32) -> Option<i32> {
        let year = year(self.at(at)).filter(|year| *year < this)?;
        IN.has(self.before(at)).then_some(year)
    }

    /// The month at a position, from 1, whether or not the word may mean something else there.
    pub(super) fn month(&self, at: usize) -> Option<u32> {
        place(self.at(at), &MONTHS).map(|month| month + 1)
    }

    /// Whether the name of a month at a position means the month.
    pub(super) fn stands_as_month(&self, at: usize) -> bool {
        let (before, word) = (self.before(at), self.at(at));
        if self.is_name || self.year_beside(at).is_some() || LAST.has(before) {
            true
        } else if word == "sept" && self.told() == Some(Language::French) {
            false
        } else if IN.has(before) || SINCE.has(before) {
            true
        } else if DOUBTFUL_MONTHS.has(word) {
            match word {
                "julio" | "mayo" => BEFORE_MONTH_IN_SPANISH.has(before),
                "marca" | "maja" => BEFORE_MONTH_IN_POLISH.has(before),
                _ => false,
            }
        } else if DOUBTFUL_IN_ENGLISH.has(word) && self.language() == Language::English {
            BEFORE_MONTH.has(before) || self.ends_span(at)
        } else {
            true
        }
    }

    /// Whether it is the later of two months: "between June and August".
    fn ends_span(&self, at: usize) -> bool {
        let first = at.checked_sub(2).and_then(|first| self.month(first));
        self.before(at) == "and" && first.is_some()
    }

    /// The days of the month that are named beside the month at a position.
    pub(super) fn days_beside(&self, at: usize) -> impl Iterator<Item = u32> {
        let before = match self.before(at) {
            of if OF.has(of) => at.checked_sub(1).map_or("", |at| self.before(at)),
            before => before,
        };
        [before, self.after(at)].into_iter().filter_map(day)
    }

    /// The year that stands behind a date or before it: "3 april 2025", "3 de abril de 2025", "2025 april".
    pub(super) fn year_beside(&self, at: usize) -> Option<i32> {
        let behind = &self.words[(at + 1).min(self.words.len())..];
        let mut behind = behind
            .iter()
            .skip_while(|word| day(word).is_some() || OF.has(word));
        let behind = behind.next().and_then(|word| year(word));
        behind.or_else(|| year(self.before(at)))
    }
}

/// Whether a word that is about time in one language means something else in the language that is told.
pub(super) fn means_otherwise(word: &str, told: impl FnOnce() -> Option<Language>) -> bool {
    match word {
        // "Never" in Italian, which short texts do not tell from Portuguese.
        "mai" => matches!(told(), Some(Language::Italian | Language::Portuguese)),
        // "Brand" in Spanish, Portuguese and Italian.
        "marca" => !matches!(told(), None | Some(Language::Polish)),
        // A form of "to pass".
        "pasen" => told() == Some(Language::Spanish),
        // "My" in French.
        "mes" => told() == Some(Language::French),
        // "Will be" in French.
        "sera" => told() == Some(Language::French),
        // Land in English.
        "estate" => told() == Some(Language::English),
        // Praise.
        "prima" => told() == Some(Language::German),
        _ => false,
    }
}

/// A day of the month, with or without an ending.
fn day(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
    let suffix = &word[digits.len()..];
    let number = digits.parse().ok().filter(|day| (1..=31).contains(day));
    number.filter(|_| suffix.is_empty() || matches!(suffix, "st" | "nd" | "rd" | "th" | "er"))
}
