//! Decides without a model which earlier statement a later one replaces: both are about the same subject, and they name
//! different values of the same kind.
//!
//! It turns numbers into log-odds. Recalled exchanges are marked in the light of the question ([`crate::memory::recall::rank`]); turns are
//! linked when they are kept, without any question.

mod changes;
mod pair;
mod slots;
mod taking_back;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;

use chrono::NaiveDate;

use self::changes::{SaidChanges, clauses};
pub(in crate::memory) use self::pair::Pair;
use self::slots::{Slot, SlotReader};
use self::taking_back::{LEAST_NAMED, Withdrawal, withdrawal};
pub(in crate::memory) use self::taking_back::{only_takes_back, takes_back_the_last};
use self::words::{are_of_one_day, word_role};
use super::first_person::text_speaks_of_self;
use super::values::{StatedValue, ValueKind, values};
use super::when::{first_day, names_any_time, tells_of_past, weekdays};
use crate::retrieval::text::{WordStemmer, each_word_with_language, lowercase_words};

/// The content of an exchange, as far as it matters for replacing.
#[derive(Clone, Debug, Default)]
pub(in crate::memory) struct Statement {
    /// Its subject: stems with their rarity.
    subject: HashMap<String, f32>,
    total: f32,
    /// Where the words of its subject stand.
    slots: HashMap<String, Slot>,
    values: Vec<StatedValue>,
    /// How many of them, the first, it only asks for.
    asked: usize,
    /// The weekdays that it names, from Monday on.
    weekdays: Vec<u32>,
    /// It says that something has changed.
    changes: bool,
    /// It withdraws something.
    revokes: bool,
    /// It withdraws all that it is about.
    withdraws: bool,
    /// What it takes back by a phrase: "scrap that".
    withdrawal: Option<Withdrawal>,
    /// It holds in some cases only.
    is_scoped: bool,
    states_nothing: bool,
    /// It holds on one day only.
    is_of_one_day: bool,
    /// What it says of a change or a value is denied or supposed.
    is_doubtful: bool,
    /// It speaks of its author: "my locker", "I parked".
    is_of_self: bool,
    /// It tells how something was before: "last year the fair was on 3 May".
    is_of_past: bool,
    /// The first day on which it holds, if it names one: "from January".
    first_day: Option<NaiveDate>,
    /// It names a time, certain or not.
    names_time: bool,
}

impl Statement {
    /// Parses an input and its answer of a day. `states` is whether the input states anything; `rarity` returns the rarity of a
    /// stem, given the word as it was written.
    pub(in crate::memory) fn read(
        words: &WordStemmer,
        (said, answered): (&str, &str),
        states: bool,
        day: NaiveDate,
        rarity: impl Fn(&str, &str) -> f32,
    ) -> Self {
        // "Vergiss, was ich gesagt habe" is no question, though one of its clauses would be.
        let may_withdraw = states || !said.contains(['?', '？']);
        let withdrawal = if may_withdraw { withdrawal(said) } else { None };
        let states = states || withdrawal.is_some();
        let (withdrawal, phrase) = withdrawal.unzip();
        let mut statement = Self {
            states_nothing: !states,
            is_of_self: text_speaks_of_self(said),
            ..Self::default()
        };
        let mut said_changes = SaidChanges::of(answered);
        statement.add(words, said, &phrase.unwrap_or_default(), &rarity);
        if states {
            said_changes = said_changes.and(statement.changes_of(said, withdrawal));
        } else {
            statement.asked = statement.values.len();
        }
        // "I will ignore what you said of the boxes" names no more of what is taken back.
        if statement.withdrawal.is_none() {
            statement.add(words, answered, &[], &rarity);
        }
        statement.changes = said_changes.changes;
        statement.revokes = said_changes.revokes;
        statement.withdraws = said_changes.withdraws;
        statement.is_doubtful = said_changes.are_doubtful();
        statement.read_times(said, day);
        statement.total = statement.subject.values().sum();
        statement
    }

    /// When it holds, once what it says of changes is known.
    fn read_times(&mut self, said: &str, day: NaiveDate) {
        // "Is cancelled today" is of today, and "is raised to 40 euros today" is of today and later.
        let only_revokes = self.revokes && self.values.is_empty();
        let is_lasting = self.changes && !only_revokes;
        let words_said = lowercase_words(said);
        self.is_of_one_day = are_of_one_day(&words_said, is_lasting);
        self.first_day = first_day(&words_said, day);
        // Without a value and a word of change it replaces nothing, and a change is of now.
        let may_be_of_past = !self.changes && !self.revokes && !self.values.is_empty();
        self.is_of_past = may_be_of_past && is_of_past(said, day);
    }

    /// What the input says of changes, by its words and by a phrase that takes back something.
    fn changes_of(&mut self, said: &str, withdrawal: Option<Withdrawal>) -> SaidChanges {
        let changes = SaidChanges::of(said);
        match withdrawal {
            None => changes,
            Some(Withdrawal::ForAnother) if !changes.are_doubtful() => changes.with_change(),
            Some(withdrawal) => {
                self.withdrawal = Some(withdrawal);
                changes.with_withdrawal()
            }
        }
    }

    /// Adds the subject and the values of a text. The words of the phrase are not what it is about.
    fn add(
        &mut self,
        words: &WordStemmer,
        text: &str,
        phrase: &[String],
        rarity: impl Fn(&str, &str) -> f32,
    ) {
        self.values.extend(values(text));
        let lowercase = lowercase_words(text);
        self.weekdays.extend(weekdays(&lowercase));
        self.names_time |= names_any_time(&lowercase);
        let mut slots = SlotReader::new(&mut self.slots);
        each_word_with_language(text, |guess, word| {
            let role = word_role(word);
            self.is_scoped |= role.is_scoped;
            let is_stop_word = guess.is_stop_word(word);
            let is_of_phrase = phrase.iter().any(|it| it == word);
            let says_nothing =
                role.changes || role.withdraws || role.is_scoped || is_stop_word || is_of_phrase;
            let is_value = role.is_of_value || word.bytes().any(|byte| byte.is_ascii_digit());
            let is_subject = !says_nothing && !is_value;
            let stem = is_subject.then(|| words.stem(guess.language(), word));
            slots.read(word, stem.as_deref(), is_stop_word);
            if let Some(stem) = stem {
                let rarity = rarity(&stem, word);
                self.subject.insert(stem.into_owned(), rarity);
            }
        });
    }

    /// Whether it may replace anything, independent of a question: see [`Pair::links`].
    pub(in crate::memory) fn says_that_something_changed(&self) -> bool {
        (self.changes || self.revokes) && !self.is_scoped && !self.is_of_one_day
    }

    /// Whether it holds on one day only, and the earlier one on others, too. It then replaces that one only for who asks
    /// for its day.
    pub(in crate::memory) fn is_exception_to(&self, earlier: &Self) -> bool {
        let has_date = |value: &StatedValue| value.kind == ValueKind::Date;
        self.is_of_one_day && !earlier.is_of_one_day && !earlier.values.iter().any(has_date)
    }

    /// Adds the subject of the statement that it continues, unless it names what it takes back.
    pub(in crate::memory) fn about(mut self, context: &Self) -> Self {
        let names_it = match self.withdrawal {
            Some(Withdrawal::OfNamed | Withdrawal::OfOwnWords) => true,
            Some(Withdrawal::ForAnother) => self.subject.len() >= LEAST_NAMED,
            Some(Withdrawal::OfLast) | None => false,
        };
        if names_it {
            return self;
        }
        for (stem, rarity) in &context.subject {
            self.subject.entry(stem.clone()).or_insert(*rarity);
        }
        self.total = self.subject.values().sum();
        if self.withdrawal == Some(Withdrawal::OfLast) {
            // It takes back these values, and not those that they replaced.
            self.values.extend(context.values.iter().cloned());
        }
        self
    }

    /// The stems of its subject that are not in the other's.
    fn without(&self, other: &Self) -> Vec<&String> {
        let own = self.subject.keys();
        own.filter(|stem| !other.subject.contains_key(*stem))
            .collect()
    }

    /// Whether one of its words stands where another stands in the other.
    fn has_in_place_of(&self, stem: &str, other: &Self, of_other: &str) -> bool {
        let slots = self.slots.get(stem).zip(other.slots.get(of_other));
        slots.is_some_and(|(one, other)| one.is(other))
    }

    /// The values that it states, and does not only ask for.
    fn stated(&self) -> &[StatedValue] {
        &self.values[self.asked..]
    }

    /// The numbered thing that it is about: "ward 3 has 24 beds".
    fn numbered_thing(&self) -> Option<&StatedValue> {
        self.values.iter().find(|value| value.leads())
    }

    /// The share of a question's words, by rarity, that are in its subject.
    fn answers(&self, question: &RevisionQuestion<'_>) -> f32 {
        let words = || question.words.iter();
        let total: f32 = words().map(|(_, rarity)| rarity).sum();
        let has = |(stems, _): &&(Vec<String>, f32)| {
            stems.iter().any(|stem| self.subject.contains_key(stem))
        };
        let has: f32 = words().filter(has).map(|(_, rarity)| rarity).sum();
        if total > 0.0 { has / total } else { 0.0 }
    }
}

/// The question in whose light statements are compared.
#[derive(Debug)]
pub(in crate::memory) struct RevisionQuestion<'a> {
    /// For each word, the stems by which it is found, and its rarity.
    pub(in crate::memory) words: &'a [(Vec<String>, f32)],
    /// Kinds of values that it asks for.
    pub(in crate::memory) wanted: &'a [ValueKind],
    /// It is a yes-or-no question.
    pub(in crate::memory) is_of_yes_or_no: bool,
    /// It asks for a person.
    pub(in crate::memory) asks_who: bool,
    /// It asks for a place.
    pub(in crate::memory) asks_where: bool,
    /// The values that it names itself: "ward 3".
    pub(in crate::memory) values: &'a [StatedValue],
    /// The day on which it is asked, if that is known.
    pub(in crate::memory) day: Option<NaiveDate>,
    /// The asker refers to themselves.
    pub(in crate::memory) is_of_self: bool,
}

/// Whether a text of a day tells how something was before: in all clauses that name a value, or in all clauses if none does.
fn is_of_past(text: &str, day: NaiveDate) -> bool {
    let clauses = clauses(text);
    let is_past = |clause: &&str| tells_of_past(&lowercase_words(clause), day);
    let (past, others): (Vec<&str>, Vec<&str>) = clauses.into_iter().partition(is_past);
    let names_value = |clauses: &[&str]| clauses.iter().any(|clause| !values(clause).is_empty());
    // Most texts have no such clause, and reading values takes longer.
    !past.is_empty() && !names_value(&others) && (others.is_empty() || names_value(&past))
}
