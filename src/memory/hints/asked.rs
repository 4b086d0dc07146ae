//! The parts of a question beside its subject: whom it means, which time, and what kind of value the answer
//! must have. Also scores how well an exchange meets them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};
use muninn_platform::TimeZone;

use super::contents::has_digit;
use super::first_person::speaks_of_self;
use super::parts::parts_of;
use super::people::AudiencePeople;
use super::speaker::AskedSpeaker;
use super::values::{StatedValue, ValueKind, values};
use super::when::{self, Time};
use crate::memory::recall::index::{AudienceIndex, IndexedExchange};
use crate::retrieval::language::{self, Guess, WordList};
use crate::retrieval::text::{each_lowercase_word, lowercase_words};

/// Words that ask for a number, alone or after "how".
const HOW: WordList = WordList::of(
    "many much old long heavy big far tall high wide large often late viel viele alt lang schwer groß hoch weit",
);
const AMOUNT: WordList = WordList::of(
    "price cost costs value worth fee fees rate salary wage pay rent fare fine deposit balance score temperature capacity weight height length percentage amount number total limit age budget size weigh weighs hours combien wieviel wieviele preis kostet kosten prix coûte \
                      cuánto cuánta cuántos cuántas precio cuesta quanto quanta quanti quante quantos quantas prezzo costa preço custa \
                      hoeveel prijs kost ile cena kosztuje сколько цена стоит",
);
/// Those of them, and "much", that ask for money.
const PRICE: WordList = WordList::of(
    "price cost costs worth fee fees salary wage pay rent fare fine deposit budget preis kostet kosten prix coûte cuesta prezzo \
                      costa preço custa prijs kost cena kosztuje цена стоит",
);
const WHO: WordList = WordList::of(
    "who whom whose wer wem wen wessen qui quién quiénes quem chi kto kogo komu кто кого кому",
);
const WHERE: WordList = WordList::of("where wo wohin où dónde onde dove waar gdzie где");
const WHEN: WordList = WordList::of("when wann quand cuándo quando wanneer kiedy когда");

/// Log-odds, set by hand after fits on two worlds of team talk, each judged on the other and on first
/// conversations (`docs/recall-experiments.md`).
const MINE: f32 = 3.0;
const SPEAKER: f32 = 3.0;
/// Per standard deviation by which the BM25 of the neighbouring exchanges stands out.
const BESIDE: f32 = 0.3;
const WITHIN: f32 = 3.0;
const DATED: f32 = 1.5;
const LACKING: f32 = -1.0;
const ASKING: f32 = -1.4;
/// Per unit of the logarithm of an exchange's age in days.
const AGE: f32 = -0.4;
/// Age in days from which an exchange counts as no older.
const OLD: f32 = 90.0;

/// What an answer has to contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerType {
    Number,
    /// "How long": a number, or an end date.
    Duration,
    /// A number that is no date, no time of day, and no duration.
    Price,
    /// The age of somebody or something: years, months, or a birthday.
    Age,
    Time,
}

impl AnswerType {
    fn of(words: &[String]) -> Option<Self> {
        let pairs = words.windows(2);
        let behind_how = pairs
            .into_iter()
            .any(|pair| matches!(&*pair[0], "how" | "wie") && HOW.has(&pair[1]));
        let names_time = words.windows(2).any(|pair| {
            matches!(&*pair[0], "what" | "which") && matches!(&*pair[1], "time" | "day" | "date")
        });
        let is_price = words.iter().any(|word| PRICE.has(word));
        let is_duration = words.windows(2).any(|pair| {
            let of_how = matches!(&*pair[0], "how" | "wie")
                && matches!(&*pair[1], "long" | "lange" | "lang");
            of_how || (pair[0] == "until" && pair[1] == "when")
        });
        let is_age = words.windows(2).any(|pair| {
            matches!(
                (&*pair[0], &*pair[1]),
                ("how", "old") | ("wie", "alt") | ("quel", "âge") | ("hoe", "oud")
            )
        });
        if is_age {
            Some(Self::Age)
        } else if is_duration {
            Some(Self::Duration)
        } else if behind_how && is_price {
            Some(Self::Price)
        } else if behind_how {
            Some(Self::Number)
        } else if names_time || words.iter().any(|word| WHEN.has(word)) {
            Some(Self::Time)
        } else if is_price {
            Some(Self::Price)
        } else if words.iter().any(|word| AMOUNT.has(word)) {
            Some(Self::Number)
        } else {
            None
        }
    }

    /// Whether an exchange contains it, apart from the question's own numbers: "the word count of 2208".
    fn is_in(self, index: &AudienceIndex, number: usize, own: &[String]) -> bool {
        let contents = index.contents(number);
        let entry = index.entry(number);
        let has_digit = contents.has_digit
            && (own.is_empty() || has_other_number([entry.said(), entry.output()], own));
        match self {
            Self::Price if has_digit => contents.may_be_money,
            Self::Price => contents.has_number_word,
            Self::Age => contents.has_age,
            Self::Number => has_digit || contents.has_number_word,
            Self::Time => has_digit || contents.says_when,
            Self::Duration => has_digit || contents.has_number_word || contents.says_when,
        }
    }
}

/// Whether texts have a word with a digit that is not among these.
fn has_other_number(texts: [&str; 2], own: &[String]) -> bool {
    let mut has_other = false;
    for text in texts {
        each_lowercase_word(text, |word| {
            has_other |= has_digit(word) && !own.iter().any(|own| own == word);
        });
    }
    has_other
}

/// A parsed question.
#[derive(Clone, Debug, Default)]
pub(in crate::memory) struct ParsedQuestion {
    /// The asker refers to themselves.
    is_of_self: bool,
    /// The IDs of the asker's accounts, where the question refers to them.
    own: Vec<String>,
    /// The names of the people whom the question names.
    meant: HashSet<Arc<str>>,
    /// Whose words it asks for.
    speaker: AskedSpeaker,
    at: Option<DateTime<TimeZone>>,
    time: Time,
    wanted: Option<AnswerType>,
    /// The same for each of the question's parts.
    wanted_by_parts: Vec<Option<AnswerType>>,
    /// The question's own words that contain a digit.
    numbers: Vec<String>,
    /// The values that the question names.
    values: Vec<StatedValue>,
    is_of_yes_or_no: bool,
    asks_who: bool,
    asks_where: bool,
}

/// How well an exchange meets these parts of a question, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hints {
    /// The asker refers to themselves, and wrote the exchange.
    pub mine: f32,
    /// The question names the exchange's author. It is lower the more exchanges that author has: between two
    /// people, a name says nothing.
    pub speaker: f32,
    /// It was said in the time that the question means.
    pub within: f32,
    /// It names the day that the question means, or the month of a plan.
    pub dated: f32,
    /// The question asks for a number or a time, and the exchange has none.
    pub lacking: f32,
    /// The logarithm of its age in days, where newer exchanges count more; zero if it was said now.
    pub age: f32,
    /// The person meant said something next to it about the question's subject: how far that stands out.
    pub beside: f32,
    /// It is a question that was not answered.
    pub asking: f32,
}

/// The weight of a name whose owner wrote this share of the exchanges. A half says nothing in a talk of two,
/// where counting names cost 7 % of R@10; a tenth counts in a team's talk.
fn tells(share: f32) -> f32 {
    (1.0 - 3.0 * share).max(0.0)
}

impl Hints {
    /// The hints that point to any exchange of a person or time, whatever its subject.
    pub(in crate::memory) fn pointing(&self) -> f32 {
        MINE * self.mine
            + SPEAKER * self.speaker
            + WITHIN * self.within
            + DATED * self.dated
            + BESIDE * self.beside
    }

    /// What the hints add to the log-odds that the exchange helps.
    pub fn logit(&self) -> f32 {
        let Self {
            mine,
            speaker,
            within,
            dated,
            lacking,
            age,
            beside,
            asking,
        } = self;
        MINE * mine
            + SPEAKER * speaker
            + WITHIN * within
            + DATED * dated
            + LACKING * lacking
            + AGE * age
            + BESIDE * beside
            + ASKING * asking
    }
}

impl ParsedQuestion {
    /// Parses a question. Without a clock no time is known; without an asker nobody is "I".
    pub(in crate::memory) fn read(
        text: &str,
        asker: &[String],
        at: Option<DateTime<TimeZone>>,
        people: &AudiencePeople,
    ) -> Self {
        let words = lowercase_words(text);
        let told = Guess::told(words.iter().map(String::as_str));
        let is_of_self = speaks_of_self(&words, told);
        let meant = people.meant(&words, told);
        Self {
            is_of_self,
            own: if is_of_self {
                asker.to_vec()
            } else {
                Vec::new()
            },
            speaker: AskedSpeaker::of(&words, &meant),
            meant,
            at,
            time: at.map_or_else(Time::default, |at| Time::of(&words, at.date_naive())),
            wanted: AnswerType::of(&words),
            wanted_by_parts: parts_of(&words, told)
                .into_iter()
                .map(AnswerType::of)
                .collect(),
            numbers: words
                .iter()
                .filter(|word| has_digit(word))
                .cloned()
                .collect(),
            is_of_yes_or_no: words
                .first()
                .is_some_and(|word| language::begins_question(word)),
            asks_who: words.iter().any(|word| WHO.has(word)),
            asks_where: words.iter().any(|word| WHERE.has(word)),
            values: values(text),
        }
    }

    /// The kinds of values that the answer has to contain.
    pub(in crate::memory) fn wanted(&self) -> &'static [ValueKind] {
        match self.wanted {
            Some(AnswerType::Number) => &[ValueKind::Amount, ValueKind::TimeOfDay],
            Some(AnswerType::Price | AnswerType::Age) => &[ValueKind::Amount],
            Some(AnswerType::Duration) => {
                &[ValueKind::Amount, ValueKind::Date, ValueKind::TimeOfDay]
            }
            Some(AnswerType::Time) => &[ValueKind::Date, ValueKind::TimeOfDay],
            None => &[],
        }
    }

    /// Whether the asker refers to themselves.
    pub(in crate::memory) fn is_of_self(&self) -> bool {
        self.is_of_self
    }

    /// Whether it is a yes-or-no question.
    pub(in crate::memory) fn is_of_yes_or_no(&self) -> bool {
        self.is_of_yes_or_no
    }

    /// Whether it asks for a person.
    pub(in crate::memory) fn asks_who(&self) -> bool {
        self.asks_who
    }

    /// Whether it asks for a place.
    pub(in crate::memory) fn asks_where(&self) -> bool {
        self.asks_where
    }

    /// The values that it names.
    pub(in crate::memory) fn values(&self) -> &[StatedValue] {
        &self.values
    }

    /// The asker's day, if their clock is known.
    pub(in crate::memory) fn day(&self) -> Option<NaiveDate> {
        self.at.map(|at| at.date_naive())
    }

    /// Whether it asks how things were earlier.
    pub(in crate::memory) fn asks_for_then(&self) -> bool {
        self.time.then
    }

    /// Whether something said at that time is later than the time that the question means, so that it does
    /// not replace what is asked for. A question about how things were is about what was replaced.
    pub(in crate::memory) fn is_past(&self, said: DateTime<Utc>) -> bool {
        self.time.then
            || self
                .time
                .window
                .is_some_and(|window| window.is_before(self.day_of(said)))
    }

    /// Whether a text that was said at that time names the day that the question means, or today if it means none.
    pub(in crate::memory) fn means_day_named(&self, text: &str, said: DateTime<Utc>) -> bool {
        let day = self.time.day.or_else(|| self.day());
        day.is_some_and(|day| when::names_day(&lowercase_words(text), self.day_of(said), day))
    }

    /// How well an exchange meets the question.
    pub(in crate::memory) fn hints(&self, index: &AudienceIndex, number: usize) -> Hints {
        let entry = index.entry(number);
        let part = |holds: bool| if holds { 1.0 } else { 0.0 };
        let dated = part(self.names_meant_time(entry));
        let within = self
            .time
            .window
            .map_or(0.0, |window| window.holds(self.day_of(entry.at)));
        let lacks = |wanted: AnswerType| !wanted.is_in(index, number, &self.numbers);
        // What answers one part needs nothing that only another part asks for.
        let lacking = self.wanted.is_some_and(lacks)
            && self
                .wanted_by_parts
                .iter()
                .all(|wanted| wanted.is_some_and(lacks));
        Hints {
            mine: part(self.own.iter().any(|it| **it == *entry.account)),
            speaker: self.speaker(index, &entry.author),
            within: match self.time.month {
                // "What is due in June?", asked in June: what it names counts as much as when it was said.
                Some(_) if self.time.window.is_some() => within.max(dated),
                Some(_) | None => within,
            },
            dated,
            lacking: part(lacking),
            age: self.age(entry.at),
            beside: 0.0,
            asking: part(entry.asks),
        }
    }

    /// Whether an exchange names the day that the question means, or the month of a plan.
    fn names_meant_time(&self, entry: &IndexedExchange) -> bool {
        let Time { day, month, .. } = self.time;
        if day.is_none() && month.is_none() {
            return false;
        }
        let said = self.day_of(entry.at);
        let names = |text: &str| {
            let words = lowercase_words(text);
            day.is_some_and(|day| when::names_day(&words, said, day))
                || month.is_some_and(|month| when::names_month(&words, said, month))
        };
        names(entry.said()) || names(entry.output())
    }

    /// How far an author tells that an exchange is meant. Who asks for somebody's words means that person for certain.
    fn speaker(&self, index: &AudienceIndex, author: &Arc<str>) -> f32 {
        match (self.meant.contains(author), self.speaker.is_named) {
            (true, true) => 1.0,
            (true, false) => tells(index.share_of(author)),
            (false, true | false) => 0.0,
        }
    }

    /// The words of the question that are about what was said.
    pub(in crate::memory) fn subject_of<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.speaker.subject_of(text)
    }

    /// The asker's local day at a moment.
    fn day_of(&self, moment: DateTime<Utc>) -> NaiveDate {
        let zone = self.at.map_or(TimeZone::UTC, |at| at.timezone());
        moment.with_timezone(&zone).date_naive()
    }

    fn age(&self, said: DateTime<Utc>) -> f32 {
        match self.at {
            Some(at) if !self.time.then => {
                let days = (at.to_utc() - said).num_minutes().max(0) as f32 / (24.0 * 60.0);
                days.min(OLD).ln_1p()
            }
            Some(_) | None => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Turn;

    #[test]
    fn here_is_not_yesterday() {
        let now: DateTime<Utc> = "2026-05-20T12:00:00Z".parse().unwrap();
        let people = AudiencePeople::default();
        for (question, is_past) in [
            ("Wie lautet hier der Türcode?", false),
            ("Qu'est-ce qui était le code hier ?", true),
        ] {
            let at = Some(now.with_timezone(&TimeZone::UTC));
            let asked = ParsedQuestion::read(question, &[], at, &people);
            assert_eq!(asked.is_past(now), is_past, "{question}");
        }
    }

    #[test]
    fn what_answers_one_part_of_a_question_lacks_nothing_that_only_another_asks_for() {
        let mut index = AudienceIndex::new(None, 0);
        index.push(&Turn {
            position: 1,
            ..Turn::message("s", "Ada", "Ana runs the bakery.")
        });
        for (question, lacking) in [
            ("Who runs the bakery and when does it open?", 0.0),
            ("Wer leitet die Bäckerei und wann öffnet sie?", 0.0),
            ("When does the bakery open?", 1.0),
            ("When does the bakery open and when does it close?", 1.0),
            ("Who opens the bakery, and when?", 1.0),
        ] {
            let asked = ParsedQuestion::read(question, &[], None, index.people());
            let hints = asked.hints(&index, 0);
            assert!((hints.lacking - lacking).abs() < 1e-6, "{question}");
        }
    }

    #[test]
    fn a_plan_is_in_the_month_that_is_named_and_what_happened_was_said_in_it() {
        let moment = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let said = [
            ("2026-05-04T09:00:00Z", "The report is due on 16 June."),
            ("2026-06-03T09:00:00Z", "We take the blue boxes."),
        ];
        let mut index = AudienceIndex::new(None, 0);
        for (position, (at, text)) in (1..).zip(said) {
            index.push(&Turn {
                position,
                created_at: moment(at),
                ..Turn::message("s", "Ada", text)
            });
        }
        for (asked_at, question, is_named_first) in [
            ("2026-05-20T12:00:00Z", "What is due in June?", true),
            ("2026-06-10T12:00:00Z", "What is due in June?", true),
            ("2026-06-10T12:00:00Z", "What is due this month?", true),
            ("2026-05-20T12:00:00Z", "What is due next month?", true),
            ("2026-06-10T12:00:00Z", "Was ist im Juni fällig?", true),
            ("2026-06-10T12:00:00Z", "What did we decide in June?", false),
            ("2026-07-10T12:00:00Z", "What did we decide in June?", false),
            (
                "2026-07-10T12:00:00Z",
                "Was haben wir im Juni beschlossen?",
                false,
            ),
        ] {
            let at = Some(moment(asked_at).with_timezone(&TimeZone::UTC));
            let asked = ParsedQuestion::read(question, &[], at, index.people());
            let [named, said_then] = [0, 1].map(|number| asked.hints(&index, number).pointing());
            assert_eq!(named > said_then, is_named_first, "{question} {asked_at}");
        }
    }

    #[test]
    fn days_are_those_of_the_asker() {
        let moment = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        // In Auckland it is ten in the morning of the 21st of May.
        let now = moment("2026-05-20T22:00:00Z");
        for (said, in_utc, in_auckland) in [
            ("2026-05-19T13:00:00Z", true, true),
            ("2026-05-19T11:00:00Z", true, false),
            ("2026-05-20T11:00:00Z", false, true),
        ] {
            for (zone, yesterday) in [
                (TimeZone::UTC, in_utc),
                (TimeZone::Pacific__Auckland, in_auckland),
            ] {
                let now = now.with_timezone(&zone);
                let people = AudiencePeople::default();
                let asked = ParsedQuestion::read("what broke yesterday?", &[], Some(now), &people);
                let part = asked.time.window.unwrap().holds(asked.day_of(moment(said)));
                assert_eq!(part > 0.99, yesterday, "{said} in {zone}");
            }
        }
    }
}
