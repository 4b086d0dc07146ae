//! Decides without a model which earlier statement a later one replaces: both are about the same subject, and they name
//! different values of the same kind.
//!
//! It turns numbers into log-odds. Recalled exchanges are marked in the light of the question ([`crate::memory::recall::rank`]); turns are
//! linked when they are kept, without any question.

mod changes;
mod slots;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;

use self::changes::SaidChanges;
use self::slots::{Slot, SlotReader};
use self::words::{are_of_one_day, word_role};
use super::first_person::text_speaks_of_self;
use super::values::{StatedValue, ValueKind, values};
use super::when::weekdays;
use crate::graph::ReplacementKind;
use crate::retrieval::text::{WordStemmer, each_word_with_language, lowercase_words};

/// Log-odds, set by hand after fits on two worlds of team talk and on first conversations, each judged by the others
/// (`docs/recall-experiments.md`).
const BIAS: f32 = -7.4;
const OVERLAP: f32 = 2.5;
const CONTAINED: f32 = 2.0;
const COSINE: f32 = 3.2;
const OTHER_VALUE: f32 = 0.8;
const NAMES_BOTH: f32 = 0.7;
const CHANGES: f32 = 0.6;
const IS_SCOPED: f32 = -0.5;
const SAME_AUTHOR: f32 = 0.9;
const SAME_TALK: f32 = 1.0;
const STATES_NOTHING: f32 = -1.4;
const WANTED: f32 = 2.6;
const REVOKES: f32 = 2.0;
const ANSWERS: f32 = 5.0;
const LINKED: f32 = 1.5;
/// Log-odds from which a kept turn is linked to what it replaces.
const LINKS_BY_VALUE: f32 = -2.5;
const LINKS_BY_WORD: f32 = -1.5;
/// Log-odds from which a recalled exchange is marked as replaced.
const MIN_REPLACED_LOG_ODDS: f32 = -0.6;

/// Minimum share of what the earlier one has of the question that a change without a new value has, too: all of it, but for
/// rounding.
const LEAST_ANSWERED: f32 = 0.999;
/// Maximum number of words that differ if the same is said of two things: "Anna's", "the staging database of".
const MOST_SWAPPED: usize = 2;

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
    /// It holds in some cases only.
    is_scoped: bool,
    states_nothing: bool,
    /// It holds on one day only.
    is_of_one_day: bool,
    /// What it says of a change or a value is denied or supposed.
    is_doubtful: bool,
    /// It speaks of its author: "my locker", "I parked".
    is_of_self: bool,
}

impl Statement {
    /// Parses an input and its answer. `states` is whether the input states anything; `rarity` returns the rarity of a stem,
    /// given the word as it was written.
    pub(in crate::memory) fn read(
        words: &WordStemmer,
        (said, answered): (&str, &str),
        states: bool,
        rarity: impl Fn(&str, &str) -> f32,
    ) -> Self {
        let mut statement = Self {
            states_nothing: !states,
            is_of_self: text_speaks_of_self(said),
            ..Self::default()
        };
        let mut said_changes = SaidChanges::of(answered);
        statement.add(words, said, &rarity);
        if states {
            said_changes = said_changes.and(SaidChanges::of(said));
        } else {
            statement.asked = statement.values.len();
        }
        statement.add(words, answered, &rarity);
        statement.changes = said_changes.changes;
        statement.revokes = said_changes.revokes;
        statement.withdraws = said_changes.withdraws;
        statement.is_doubtful = said_changes.are_doubtful();
        // "Is cancelled today" is of today, and "is raised to 40 euros today" is of today and later.
        let only_revokes = statement.revokes && statement.values.is_empty();
        let is_lasting = statement.changes && !only_revokes;
        statement.is_of_one_day = are_of_one_day(&lowercase_words(said), is_lasting);
        statement.total = statement.subject.values().sum();
        statement
    }

    /// Adds the subject and the values of a text.
    fn add(&mut self, words: &WordStemmer, text: &str, rarity: impl Fn(&str, &str) -> f32) {
        self.values.extend(values(text));
        self.weekdays.extend(weekdays(&lowercase_words(text)));
        let mut slots = SlotReader::new(&mut self.slots);
        each_word_with_language(text, |guess, word| {
            let role = word_role(word);
            self.is_scoped |= role.is_scoped;
            let is_stop_word = guess.is_stop_word(word);
            let says_nothing = role.changes || role.withdraws || role.is_scoped || is_stop_word;
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

    /// Adds the subject of the statement that it continues.
    pub(in crate::memory) fn about(mut self, context: &Self) -> Self {
        for (stem, rarity) in &context.subject {
            self.subject.entry(stem.clone()).or_insert(*rarity);
        }
        self.total = self.subject.values().sum();
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
    /// The asker refers to themselves.
    pub(in crate::memory) is_of_self: bool,
}

/// A later and an earlier statement.
#[derive(Debug)]
pub(in crate::memory) struct Pair<'a> {
    pub(in crate::memory) later: &'a Statement,
    pub(in crate::memory) earlier: &'a Statement,
    /// The cosine of their vectors; `None` if one has no vector.
    pub(in crate::memory) cosine: Option<f32>,
    pub(in crate::memory) same_author: bool,
    /// They are of one talk: one continues the other, or both continue the same message.
    pub(in crate::memory) same_talk: bool,
    /// The later one was linked to the earlier when it was kept.
    pub(in crate::memory) is_linked: bool,
}

impl Pair<'_> {
    /// Whether, in the light of a question, the later one holds instead of the earlier.
    pub(in crate::memory) fn replaces(&self, question: &RevisionQuestion<'_>) -> bool {
        if self.later.is_doubtful {
            return false;
        }
        let wanted = self
            .new_values()
            .any(|kind| question.wanted.contains(&kind));
        // Without common words they share a subject only if they are of one talk, if they were linked, or if the later one
        // says that a value changed. It must then be about what is asked for.
        let is_about_it = self.same_talk || self.is_linked || self.says_that_a_value_changed();
        let is_elsewhere = self.shared() == 0.0
            && (!is_about_it || self.later.answers(question) < self.earlier.answers(question));
        let is_of_someone_else =
            self.are_of_two_people() || (question.is_of_self && self.is_by_another_of_self());
        let is_of_something_else =
            self.is_of_another(question) || self.changes_something_else(question);
        if is_elsewhere || is_of_someone_else || is_of_something_else || !self.differs() {
            return false;
        }
        let logit = self.logit()
            + LINKED * part(self.is_linked)
            + WANTED * part(wanted)
            + REVOKES * part(question.is_of_yes_or_no && self.later.revokes)
            + ANSWERS * self.later.answers(question);
        logit >= MIN_REPLACED_LOG_ODDS
    }

    /// Whether the later one replaces the earlier, independent of a question, and how. The text must say so.
    pub(in crate::memory) fn links(&self) -> Option<ReplacementKind> {
        let logit = self.logit();
        let is_of_someone_else = self.are_of_two_people() || self.names_another();
        let is_limited = self.later.is_scoped || self.later.is_of_one_day;
        if is_limited || self.later.states_nothing || is_of_someone_else {
            None
        } else if self.later.changes
            && self.new_values().next().is_some()
            && logit >= LINKS_BY_VALUE
        {
            Some(ReplacementKind::Value)
        } else if self.later.revokes && logit >= LINKS_BY_WORD {
            Some(ReplacementKind::Word)
        } else {
            None
        }
    }

    /// Whether each of them speaks of its author, and these are two people: my locker is not yours. What one person did
    /// may be changed by another who says nothing of themselves: "I set the demo to 3 pm", "the demo is at 4 pm now".
    fn are_of_two_people(&self) -> bool {
        self.is_by_another_of_self() && self.later.is_of_self
    }

    /// Whether the earlier one speaks of its author, who did not say the later one.
    fn is_by_another_of_self(&self) -> bool {
        self.earlier.is_of_self && !self.same_author
    }

    /// Log-odds that they share a subject and differ in its value.
    fn logit(&self) -> f32 {
        let (later, earlier) = (self.later, self.earlier);
        let shared = self.shared();
        let overlap = shared / (later.total * earlier.total).sqrt().max(1.0);
        let contained = shared / later.total.min(earlier.total).max(1.0);
        let differs = self.new_values().next().is_some();
        BIAS + OVERLAP * overlap
            + CONTAINED * contained
            // Without vectors, the similarity of words is used instead.
            + COSINE * self.cosine.unwrap_or(overlap)
            + OTHER_VALUE * part(differs)
            + NAMES_BOTH * part(differs && self.names_old())
            + CHANGES * part(later.changes)
            + IS_SCOPED * part(later.is_scoped)
            + SAME_AUTHOR * part(self.same_author)
            + SAME_TALK * part(self.same_talk)
            + STATES_NOTHING * part(later.states_nothing)
    }

    /// Whether they say the same of two things: "the staging database runs on port 5544", and "the production database".
    /// The later one may use another name for the same thing if the question has that name alone. If it says that
    /// something changed, it may also use other words, unless they stand where the earlier has what is asked for.
    fn is_of_another(&self, question: &RevisionQuestion<'_>) -> bool {
        let is_asked =
            |stem: &&String| question.words.iter().any(|(stems, _)| stems.contains(stem));
        let Some((of_earlier, of_later)) = self.swapped() else {
            return false;
        };
        let asked: Vec<&String> = of_earlier.into_iter().filter(is_asked).collect();
        if self.later.changes || self.later.revokes || self.is_linked {
            self.are_in_one_place(&asked, &of_later)
        } else {
            !asked.is_empty() || !of_later.iter().any(is_asked)
        }
    }

    /// Whether the later one names something else where the earlier has a name: "in Paris", instead of "in Berlin".
    fn names_another(&self) -> bool {
        self.swapped()
            .is_some_and(|(of_earlier, of_later)| self.are_in_one_place(&of_earlier, &of_later))
    }

    /// Whether one of the later one's words stands where the earlier has one of these.
    fn are_in_one_place(&self, of_earlier: &[&String], of_later: &[&String]) -> bool {
        let (later, earlier) = (self.later, self.earlier);
        let stands_for = |stem: &str| {
            of_later
                .iter()
                .any(|other| earlier.has_in_place_of(stem, later, other))
        };
        of_earlier.iter().any(|stem| stands_for(stem))
    }

    /// The stems that only the earlier, and only the later one has, if both have a few.
    fn swapped(&self) -> Option<(Vec<&String>, Vec<&String>)> {
        let of_earlier = self.earlier.without(self.later);
        let of_later = self.later.without(self.earlier);
        let is_few = |stems: &[&String]| (1..=MOST_SWAPPED).contains(&stems.len());
        (is_few(&of_earlier) && is_few(&of_later)).then_some((of_earlier, of_later))
    }

    /// Whether the later one changes something else of the same subject: it has no new value, and says less of what is
    /// asked for. "The build server is back online" leaves its memory as it was.
    fn changes_something_else(&self, question: &RevisionQuestion<'_>) -> bool {
        let (later, earlier) = (self.later, self.earlier);
        let withdraws_it = later.withdraws && later.without(earlier).is_empty();
        // A name is no value: "Kofi is the new owner".
        let answers_so = question.asks_who || (question.is_of_yes_or_no && later.revokes);
        !self.has_new_time()
            && self.new_values().next().is_none()
            && !withdraws_it
            && !answers_so
            && later.answers(question) < LEAST_ANSWERED * earlier.answers(question)
    }

    /// Whether the later one names another weekday, or a number that may be another time: "at 10", and "at 9:30".
    fn has_new_time(&self) -> bool {
        let (later, earlier) = (self.later, self.earlier);
        let is_new = |day: &u32| !earlier.weekdays.contains(day);
        let has_new_day = !earlier.weekdays.is_empty() && later.weekdays.iter().any(is_new);
        let is_time =
            |value: &StatedValue| matches!(value.kind, ValueKind::TimeOfDay | ValueKind::Date);
        let may_be_time =
            |value: &StatedValue| value.kind == ValueKind::Amount && value.unit.is_none();
        let has_new_number = later.values[later.asked..].iter().any(may_be_time);
        has_new_day || (has_new_number && earlier.values.iter().any(is_time))
    }

    /// Whether the later one names a value of the earlier.
    fn names_old(&self) -> bool {
        let (later, earlier) = (&self.later.values, &self.earlier.values);
        let is_old = |value: &StatedValue| earlier.iter().any(|old| old.is(value));
        later.iter().any(is_old)
    }

    /// Whether the later one has another value and says so, by a word or by naming the old value.
    fn says_that_a_value_changed(&self) -> bool {
        self.new_values().next().is_some() && (self.later.changes || self.names_old())
    }

    /// Whether the later one says anything that the earlier does not; otherwise it only repeats it.
    fn differs(&self) -> bool {
        let Statement {
            changes, revokes, ..
        } = *self.later;
        changes || revokes || self.new_values().next().is_some()
    }

    /// Total rarity of their common subject.
    fn shared(&self) -> f32 {
        let has = |(stem, _): &(&String, &f32)| self.earlier.subject.contains_key(*stem);
        let shared = self.later.subject.iter().filter(has);
        shared.map(|(_, rarity)| rarity).sum()
    }

    /// The kinds of values that are new in the later one, while the earlier has other values of these kinds.
    fn new_values(&self) -> impl Iterator<Item = ValueKind> {
        let (later, earlier) = (self.later, &self.earlier.values);
        // In a talk, what somebody asks may be agreed to: "could we make it 9?"
        let asked = if self.same_talk { 0 } else { later.asked };
        let stated = later.values[asked..].iter();
        stated
            .filter(|value| !earlier.iter().any(|old| old.is(value)))
            .filter(|value| earlier.iter().any(|old| old.is_like(value)))
            .map(|value| value.kind)
    }
}

fn part(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}
