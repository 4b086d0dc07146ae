//! Finds which heard messages belong together: an answer and its question, a correction and what it corrects, or a burst by
//! one author.
//!
//! A short message says little by itself: "yes, Thursday" needs the question before it. So it is also found by the words of
//! the message that it continues, is compared together with it, and is recalled with it. Each keeps its own author, time and
//! link.

use chrono::TimeDelta;

use super::index::AudienceIndex;
use super::talk_relation::TalkRelation;
use crate::graph::Turn;
use crate::memory::hints::revision::takes_back_the_last;
use crate::retrieval::language::WordList;
use crate::retrieval::speech::{asks_something, states_something};

/// A message by the same author within this time continues the previous one.
const BURST: TimeDelta = TimeDelta::minutes(3);
/// A message by another author within this time after a question answers it, unless it says what it answers. So does a
/// correction of a statement, and what takes it back, also by the same author.
const ANSWER_WINDOW: TimeDelta = TimeDelta::minutes(15);
/// A message with fewer content words is read together with the message that it continues.
const SELF_CONTAINED_WORDS: usize = 12;
/// How a correction of what somebody else has just said begins, with a comma or the like behind it.
const CORRECTIONS: WordList = WordList::of(
    "no nope nah actually correction sorry wrong nein doch quatsch falsch korrektur non pardon désolé faux corrección perdón \
     não desculpa correção scusa correzione nee jawel correctie nie przepraszam нет неправильно",
);
/// The same in a script without blanks, with nothing behind it.
const CORRECTIONS_AT_THE_BEGINNING: [&str; 8] = [
    "いえ",
    "いや",
    "違い",
    "違う",
    "不是",
    "不对",
    "아니요",
    "아뇨",
];
/// Maximum number of messages that one is read with.
const MOST_READ_WITH: usize = 5;

impl AudienceIndex {
    /// The exchange that a message continues: the one that it answers, or else the previous one in its session.
    pub(in crate::memory) fn goes_on_with(&self, message: &Turn) -> Option<usize> {
        let answered = message.reply_to.as_ref();
        let answered = answered.and_then(|event| self.of_event(event));
        if message.is_note() {
            // It corrects that exchange.
            return answered;
        }
        if !message.is_message() {
            return self.just_before(message);
        }
        // Being in a thread says less than a question asked there just before.
        let is_root = |number: usize| self.before(number).next().is_none();
        match answered {
            Some(number) if !is_root(number) => answered,
            Some(_) | None => self.just_before(message).or(answered),
        }
    }

    /// The previous exchange in a message's session, if the message continues it.
    fn just_before(&self, message: &Turn) -> Option<usize> {
        let before = self.last_of(&message.session)?;
        let entry = self.entry(before);
        let since = message.created_at.signed_duration_since(entry.at);
        let is_soon = |within| since >= TimeDelta::zero() && since <= within;
        let is_burst = entry.is_message && is_soon(BURST) && *entry.author == *message.author_name;
        let answers = || asks_something(entry.said()) && states_something(&message.input);
        let is_by_another = is_soon(ANSWER_WINDOW) && *entry.author != *message.author_name;
        if is_soon(ANSWER_WINDOW) && takes_back_the_last(message.said()) {
            // A question of one's own is not what answered it.
            return states_something(entry.said()).then_some(before);
        }
        // What else was told to the bot stands alone.
        let goes_on = message.is_message()
            && (is_burst || (is_by_another && (corrects(&message.input) || answers())));
        goes_on.then_some(before)
    }

    /// Whether a message says little by itself.
    pub(in crate::memory) fn says_little(&self, text: &str) -> bool {
        let mut words = 0;
        self.postings().words().each(text, |_| words += 1);
        words < SELF_CONTAINED_WORDS
    }

    /// The messages that give a short message its context, nearest first. The walk back ends at the first message that can
    /// be understood by itself.
    pub(in crate::memory) fn read_with(&self, place: TalkRelation) -> impl Iterator<Item = usize> {
        let step = |place: TalkRelation| {
            let known = place.is_short.then_some(place.goes_on_with)?;
            super::index::someone(known)
        };
        std::iter::successors(step(place), move |&at| step(self.place(at))).take(MOST_READ_WITH)
    }

    /// The same for an exchange in the index.
    pub(in crate::memory) fn context(&self, number: usize) -> impl Iterator<Item = usize> {
        self.read_with(self.place(number))
    }

    /// The exchanges that are recalled together with one, best first: those that it is read with.
    pub(in crate::memory) fn recalled_with(&self, number: usize) -> impl Iterator<Item = usize> {
        self.context(number).take(1)
    }

    /// Whether two messages are of one talk: one continues the other, or both continue the same one.
    pub(in crate::memory) fn are_of_one_talk(&self, one: usize, other: usize) -> bool {
        let roots = |number| {
            let step = |&at: &usize| super::index::someone(self.place(at).goes_on_with);
            std::iter::successors(Some(number), step).take(16)
        };
        let other: Vec<usize> = roots(other).collect();
        roots(one).any(|at| other.contains(&at))
    }
}

/// Whether a message begins by correcting the one before it: "no, it is on Friday", but not "no party on Friday".
fn corrects(text: &str) -> bool {
    let text = text.trim_start();
    let end = text.find(|letter: char| !letter.is_alphabetic());
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    let stands_alone = rest.starts_with([',', '.', ':', ';', '!', '-', '–', '—', '…'])
        || rest.starts_with(" -")
        || rest.starts_with(" –");
    (stands_alone && CORRECTIONS.has(&word.to_lowercase()))
        || CORRECTIONS_AT_THE_BEGINNING
            .iter()
            .any(|begin| text.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;

    /// An index of one session: minute, author, text, and the number of the answered message.
    fn index(said: &[(i64, &str, &str, Option<usize>)]) -> AudienceIndex {
        let mut index = AudienceIndex::new(None, 0);
        for (position, (minute, author, text, answers)) in (1..).zip(said) {
            index.push(&Turn {
                position,
                event: format!("e{}", position - 1),
                created_at: DateTime::<Utc>::UNIX_EPOCH + TimeDelta::minutes(*minute),
                reply_to: answers.map(|number| format!("e{number}")),
                ..Turn::message("s", author, text)
            });
        }
        index
    }

    fn contexts(index: &AudienceIndex) -> Vec<Vec<usize>> {
        let all = 0..index.len();
        all.map(|number| index.context(number).collect()).collect()
    }

    #[test]
    fn an_answer_goes_on_with_its_question_and_a_burst_with_its_beginning() {
        let index = index(&[
            (0, "Ada", "Can the boiler man come this week?", None),
            (9, "Tom", "yes, Thursday", None),
            (10, "Tom", "after lunch", None),
            (11, "Ada", "perfect", None),
            (12, "Bob", "soup today?", None),
            (60, "Tom", "what?", None),
        ]);
        let expected: [&[usize]; 6] = [&[], &[0], &[1, 0], &[], &[], &[]];
        assert_eq!(contexts(&index), expected);
        assert!(index.are_of_one_talk(0, 2) && !index.are_of_one_talk(0, 3));
    }

    #[test]
    fn a_correction_goes_on_with_what_another_person_has_just_said() {
        let index = index(&[
            (0, "Tom", "The offsite dinner is on 5 September", None),
            (1, "Ada", "no, it is on 12 September", None),
            (2, "Bob", "Nein, am 19. September", None),
            (30, "Tom", "The soup is hot", None),
            (31, "Ada", "no soup on Friday", None),
            (32, "Kei", "いえ、19時です", None),
            (60, "Tom", "no, it is at eight", None),
        ]);
        let expected: [&[usize]; 7] = [&[], &[0], &[1, 0], &[], &[], &[4], &[]];
        assert_eq!(contexts(&index), expected);
    }

    #[test]
    fn what_takes_something_back_goes_on_with_what_was_said_just_before() {
        let index = index(&[
            (0, "Tom", "The office is moving to Leeds", None),
            (9, "Tom", "Scrap that", None),
            (30, "Tom", "Das Treffen ist am Freitag", None),
            (40, "Ada", "Doch nicht", None),
            (
                60,
                "Tom",
                "Scrap that, the supplier did not raise the price",
                None,
            ),
            (90, "Tom", "When is the summer party?", None),
            (91, "Tom", "Scrap that", None),
        ]);
        let expected: [&[usize]; 7] = [&[], &[0], &[], &[2], &[], &[], &[]];
        assert_eq!(contexts(&index), expected);
        assert!(index.are_of_one_talk(0, 1) && !index.are_of_one_talk(3, 4));
    }

    #[test]
    fn what_is_told_to_the_bot_goes_on_with_what_it_takes_back() {
        let mut index = AudienceIndex::new(None, 0);
        for (position, text) in [
            (1, "The office is moving to Leeds"),
            (2, "Scrap that"),
            (3, "When is the party?"),
            (4, "Scrap that"),
            (5, "The party is on Friday"),
        ] {
            index.push(&Turn {
                position,
                created_at: DateTime::<Utc>::UNIX_EPOCH + TimeDelta::minutes(position),
                ..Turn::of("s", "Ada", text, "Noted.")
            });
        }
        let expected: [&[usize]; 5] = [&[], &[0], &[], &[], &[]];
        assert_eq!(contexts(&index), expected);
    }

    #[test]
    fn what_the_platform_says_is_believed_except_that_it_is_the_thread() {
        let index = index(&[
            (0, "Ada", "Boiler man?", None),
            (1, "Tom", "soup today?", None),
            (30, "Bob", "he comes on Thursday", Some(0)),
            (31, "Ada", "at what time?", Some(2)),
            (90, "Bob", "ten", Some(3)),
            (95, "Tom", "and who lets him in?", Some(0)),
            (97, "Ada", "me", Some(0)),
            (98, "Tom", "unheard", Some(77)),
        ]);
        let expected: [&[usize]; 8] = [&[], &[], &[0], &[2, 0], &[3, 2, 0], &[0], &[5, 0], &[]];
        assert_eq!(contexts(&index), expected);
    }

    #[test]
    fn what_says_enough_stands_alone() {
        let long = "The boiler man brings a pump, two valves, a ladder, grease, spare fuses, thermostats and plenty of patience";
        let index = index(&[
            (0, "Ada", "What does he bring?", None),
            (1, "Tom", long, Some(0)),
            (2, "Bob", "and a dog", Some(1)),
        ]);
        let expected: [&[usize]; 3] = [&[], &[], &[1]];
        assert_eq!(contexts(&index), expected);
    }
}
