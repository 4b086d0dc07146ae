//! Decides whether a later statement replaces an earlier one.

use chrono::NaiveDate;

use super::taking_back::{LEAST_NAMED, Withdrawal};
use super::{RevisionQuestion, Statement};
use crate::graph::ReplacementKind;
use crate::memory::hints::values::{StatedValue, ValueKind};

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
        // says that a value changed, and the earlier is about what is asked for or has that value. The later one must then
        // be about what is asked for, too.
        let has_that_value = self.names_old() || self.earlier.answers(question) > 0.0;
        let is_about_it = self.same_talk
            || self.is_linked
            || (self.says_that_a_value_changed() && has_that_value);
        let is_elsewhere = self.shared() == 0.0
            && (!is_about_it || self.later.answers(question) < self.earlier.answers(question));
        let is_of_someone_else =
            self.are_of_two_people() || (question.is_of_self && self.is_by_another_of_self());
        let is_of_something_else = self.is_of_another(question)
            || self.is_of_other_number(question)
            || self.takes_back_something_else()
            || self.changes_something_else(question);
        let holds_at_another_time = self.tells_of_past() || self.holds_later(question);
        if is_elsewhere
            || is_of_someone_else
            || is_of_something_else
            || holds_at_another_time
            || !self.differs()
        {
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
        let is_of_someone_else =
            self.are_of_two_people() || self.names_another() || self.are_of_two_numbers();
        let is_limited = self.later.is_scoped || self.later.is_of_one_day;
        let is_of_something_else = is_of_someone_else || self.takes_back_something_else();
        if is_limited || self.later.states_nothing || is_of_something_else {
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

    /// Whether the later one takes back the earlier if it replaces it, and says nothing else instead. What the earlier one has
    /// replaced then holds again.
    pub(in crate::memory) fn takes_back(&self) -> bool {
        self.later.withdrawal.is_some()
    }

    /// Whether the later one takes back something by a phrase, and the earlier one is not sure to be that: it has to be about all
    /// that the later names.
    fn takes_back_something_else(&self) -> bool {
        let (later, earlier) = (self.later, self.earlier);
        let is_named = later.subject.len() >= LEAST_NAMED;
        let is_meant = match later.withdrawal {
            None => return false,
            Some(Withdrawal::OfLast) => !later.subject.is_empty(),
            Some(Withdrawal::OfNamed) => is_named,
            Some(Withdrawal::OfOwnWords) => is_named && self.same_author,
            // "Scrap that, the supplier did not raise the price": the price is what it was.
            Some(Withdrawal::ForAnother) => is_named && earlier.changes,
        };
        let has_its_values = later.stated().is_empty() || self.names_old();
        !(is_meant && has_its_values && later.without(earlier).is_empty())
    }

    /// Whether the later one tells only how something was before, and does not correct that.
    fn tells_of_past(&self) -> bool {
        self.later.is_of_past && !self.earlier.is_of_past && !self.names_old()
    }

    /// Whether the later one does not hold yet when it is asked.
    fn holds_later(&self, question: &RevisionQuestion<'_>) -> bool {
        let is_ahead = |first: NaiveDate| question.day.is_some_and(|day| day < first);
        // Of two plans the newer one counts.
        self.later.first_day.is_some_and(is_ahead) && !self.earlier.first_day.is_some_and(is_ahead)
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

    /// Whether the later one is about another of several numbered things than the earlier or the question: "ward 5 has 30 beds".
    /// If it says as much of what is asked for, its number may be the answer: "which bus goes to the clinic?"
    fn is_of_other_number(&self, question: &RevisionQuestion<'_>) -> bool {
        let Some(own) = self.later.numbered_thing() else {
            return false;
        };
        let is_own = |value: &StatedValue| value.is(own);
        if question
            .values
            .iter()
            .any(|asked| asked.is_other_label(own))
        {
            return !question.values.iter().any(is_own);
        }
        if self.earlier.values.iter().any(is_own) {
            return false;
        }
        let mut others = self.earlier.values.iter();
        let Some(other) = others.find(|value| value.is_other_label(own)) else {
            return false;
        };
        let is_asked = question.values.iter().any(|it| it.has_number_of(other));
        let answers_as_well = self.later.answers(question)
            >= LEAST_ANSWERED * self.earlier.answers(question)
            && (question.wanted.is_empty() || !other.leads());
        is_asked || !answers_as_well
    }

    /// Whether each of them is about another of several numbered things, whatever is asked.
    fn are_of_two_numbers(&self) -> bool {
        let things = self
            .later
            .numbered_thing()
            .zip(self.earlier.numbered_thing());
        things.is_some_and(|(later, earlier)| later.is_other_label(earlier))
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
        if self.has_news_of_another_kind(question) {
            return true;
        }
        let withdraws_it = later.withdraws && later.without(earlier).is_empty();
        // A name is no value: "Kofi is the new owner".
        let answers_so = question.asks_who || (question.is_of_yes_or_no && later.revokes);
        !self.has_new_time()
            && self.new_values().next().is_none()
            && !withdraws_it
            && !answers_so
            && later.answers(question) < LEAST_ANSWERED * earlier.answers(question)
    }

    /// Whether the later one has nothing of the kind that is asked for, so that it changes another property of the same thing:
    /// "the seminar is moved to 11 March" leaves its hall as it was, and "it is in hall C now" its day.
    fn has_news_of_another_kind(&self, question: &RevisionQuestion<'_>) -> bool {
        let (later, earlier) = (self.later, self.earlier);
        let is_wanted = |value: &StatedValue| match value.kind {
            // "São Paulo 27" may be how many there are in São Paulo.
            ValueKind::Label => question.wanted.contains(&ValueKind::Amount),
            kind @ (ValueKind::Amount
            | ValueKind::Date
            | ValueKind::TimeOfDay
            | ValueKind::Code) => question.wanted.contains(&kind),
        };
        let wants_time = question.wanted.contains(&ValueKind::Date);
        if later.revokes {
            false
        } else if earlier.values.iter().any(is_wanted) {
            let names_time = wants_time && (later.names_time || self.has_new_time());
            !later.stated().iter().any(is_wanted) && !names_time
        } else if question.asks_who || question.asks_where {
            let may_be_place = |value: &StatedValue| match value.kind {
                ValueKind::Label | ValueKind::Code => true,
                ValueKind::Amount => value.unit.is_none(),
                ValueKind::Date | ValueKind::TimeOfDay => false,
            };
            let names_place = question.asks_where && later.stated().iter().any(may_be_place);
            later.without(earlier).is_empty() && !names_place
        } else {
            false
        }
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
        let has_new_number = later.stated().iter().any(may_be_time);
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
