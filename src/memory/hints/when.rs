//! Finds the time that a question means, from its words and the asker's clock, and the days that a text names.
//!
//! It knows nothing of exchanges or clocks: the caller passes today's date.

mod before_change;
mod feasts;
mod tense;
#[cfg(test)]
mod tests;
mod time_words;
mod vocabulary;

use chrono::{Datelike, Days, Months, NaiveDate, TimeDelta};

use self::before_change::is_before_change;
use self::feasts::feast;
use self::tense::{has_verb_of_past, is_of_past, is_of_present, tells_state_of_past};
use self::time_words::{TimeWords, means_otherwise};
pub(in crate::memory) use self::vocabulary::MONTHS;
use self::vocabulary::{
    ABOUT, BEFORE_HOUR, BEFORE_YESTERDAY, BEFORE_YESTERDAY_PHRASES, BEGINNING, BEGINNING_OF,
    DOUBTFUL_MONTHS, FROM, HOURS, LAST, MONTH, NEXT, OF, ON_AND_AFTER, OTHER_FIRST, PAST,
    RECURRING, REPLACEABLE, SINCE, THEN, THEN_OF_PAST, THIS, TIMES_OF_DAY, TODAY, TOMORROW,
    VAGUE_TIMES, WEEK, YEAR, YESTERDAY, place,
};
use crate::retrieval::language::{Language, is_function_word};
use crate::retrieval::text::lowercase_words;

/// Number of months up to which the next month of a name is nearer than the last one.
const NEARER_AHEAD: u32 = 6;

/// Whether a word shows that a question is about an earlier state.
fn is_then(words: &TimeWords<'_>, at: usize) -> bool {
    let (before, word, after) = (words.before(at), words.at(at), words.after(at));
    let written = words.written();
    if THEN_OF_PAST.has(word) {
        // "Until when" asks for an end.
        let is_asked = after == "when" || before == "when";
        written.iter().any(|word| PAST.has(word)) && !OTHER_FIRST.has(after) && !is_asked
    } else if word == "old" {
        let mut next = written[at..].iter().take(3);
        let is_replaceable = next.any(|word| REPLACEABLE.has(word));
        before != "how" && (is_replaceable || written.iter().any(|word| PAST.has(word)))
    } else {
        THEN.has(word) || is_before_change(words, at)
    }
}

/// A range of days with soft edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memory) struct Window {
    from: NaiveDate,
    /// The first day after it.
    to: NaiveDate,
}

impl Window {
    fn days(from: NaiveDate, days: i64) -> Option<Self> {
        let to = from.checked_add_signed(TimeDelta::days(days))?;
        Some(Self { from, to })
    }

    fn ending(to: NaiveDate, days: i64) -> Option<Self> {
        let from = to.checked_sub_signed(TimeDelta::days(days))?;
        Some(Self { from, to })
    }

    /// Whether it ended before a day.
    pub(in crate::memory) fn is_before(self, day: NaiveDate) -> bool {
        self.to <= day
    }

    /// How well a day fits: 1 inside, and less outside the farther away it is, relative to the length of the window.
    pub(in crate::memory) fn holds(self, day: NaiveDate) -> f32 {
        let away = if day < self.from {
            (self.from - day).num_days()
        } else {
            (day - self.to).num_days() + 1
        };
        let half = ((self.to - self.from).num_days() as f32 / 2.0).max(1.0);
        (-1.5 * away.max(0) as f32 / half).exp()
    }
}

/// The time that a question means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::memory) struct Time {
    /// When something was said.
    pub(in crate::memory) window: Option<Window>,
    /// The day that something is about.
    pub(in crate::memory) day: Option<NaiveDate>,
    /// The first day of the month that a plan is about: "what is due in June".
    pub(in crate::memory) month: Option<NaiveDate>,
    /// Whether it is about an earlier state.
    pub(in crate::memory) then: bool,
}

impl Time {
    /// The time meant by lower-case words that are said today.
    pub(in crate::memory) fn of(words: &[String], today: NaiveDate) -> Self {
        let words = TimeWords::of(words);
        let is_since = words.written().iter().any(|word| SINCE.has(word));
        let mut time = TimeReader::new(&words, today, is_since).time();
        time.then = words.positions().any(|at| is_then(&words, at));
        time
    }
}

/// The first day of the time that the words name: "Monday", "last week", "2026-04-13". `None` if they name no past
/// day.
pub fn beginning(text: &str, today: NaiveDate) -> Option<NaiveDate> {
    let words = lowercase_words(text);
    let iso = text.split_whitespace().find_map(|word| word.parse().ok());
    let named = || {
        let words = TimeWords::of_name(&words);
        // A bare day also means "since that day".
        let time = TimeReader::new(&words, today, true).time();
        time.window.map(|window| window.from)
    };
    iso.or_else(named).filter(|day| *day <= today)
}

/// Reads the time that words name on a day.
struct TimeReader<'a> {
    words: &'a TimeWords<'a>,
    today: NaiveDate,
    /// The time goes on until today.
    is_since: bool,
    /// A date without a year is the last one that has come. Otherwise it is the nearest.
    is_of_past: bool,
    /// A weekday, or a month that is nearer ahead, is the next one.
    is_of_plan: bool,
}

impl<'a> TimeReader<'a> {
    fn new(words: &'a TimeWords<'a>, today: NaiveDate, is_since: bool) -> Self {
        let (written, language) = (words.written(), words.language());
        Self {
            words,
            today,
            is_since,
            is_of_past: is_since || is_of_past(written, language),
            is_of_plan: !is_since && is_of_present(written, language),
        }
    }

    fn time(&self) -> Time {
        let mut positions = self.words.positions();
        let day = positions.find_map(|at| self.day_at(at));
        let of_plan = || self.words.positions().find_map(|at| self.month_of_plan(at));
        let mut time = Time {
            day,
            month: if day.is_none() { of_plan() } else { None },
            ..Time::default()
        };
        if day.is_none_or(|day| day <= self.today) {
            let of_day = day.and_then(|day| Window::days(day, 1));
            let stretch = || self.words.positions().find_map(|at| self.stretch_at(at));
            let window = of_day.or_else(stretch);
            time.window = match self.today.succ_opt() {
                Some(to) if self.is_since => window.map(|window| Window { to, ..window }),
                Some(_) | None => window,
            };
        }
        time
    }

    /// The day that is named at a position.
    fn day_at(&self, at: usize) -> Option<NaiveDate> {
        let named = || self.feast(at).or_else(|| self.weekday(at));
        let relative = self.relative_day(at).or_else(named);
        relative.or_else(|| self.day_and_month(at))
    }

    /// "Yesterday", "last night".
    fn relative_day(&self, at: usize) -> Option<NaiveDate> {
        let words = self.words;
        let (before, word, after) = (words.before(at), words.at(at), words.after(at));
        let written = words.written();
        let begins = |phrase: &&[&str]| {
            let mut rest = written[at..].iter();
            phrase
                .iter()
                .all(|word| rest.next().is_some_and(|it| it == word))
        };
        if BEFORE_YESTERDAY.has(word)
            || BEFORE_YESTERDAY_PHRASES.iter().any(begins)
            || (word == "day" && after == "before" && written.iter().any(|it| it == "yesterday"))
        {
            self.today.checked_sub_days(Days::new(2))
        } else if TOMORROW.has(word) && !matches!(before, "guten" | "good") {
            // "Morgen" after a greeting is the morning, not the next day.
            self.today.succ_opt()
        } else if YESTERDAY.has(word) || (LAST.has(before) && word == "night") {
            self.today.pred_opt()
        } else if TODAY.has(word) || (word == "morning" && before == "this") {
            Some(self.today)
        } else {
            None
        }
    }

    fn feast(&self, at: usize) -> Option<NaiveDate> {
        let words = self.words;
        let (before, word, after) = (words.before(at), words.at(at), words.after(at));
        let dates = self
            .years(at)
            .filter_map(|year| feast(before, word, after, year));
        day_before(words.written(), at, self.meant(dates)?)
    }

    fn weekday(&self, at: usize) -> Option<NaiveDate> {
        let weekday = self.words.weekday(at)?;
        let passed = (self.today.weekday().num_days_from_monday() + 7 - weekday) % 7;
        if self.words.is_next(at) || self.is_coming(at) {
            let ahead = Days::new(7 - u64::from(passed));
            return self.today.checked_add_days(ahead);
        }
        let passed = if passed == 0 { 7 } else { passed };
        self.today.checked_sub_days(Days::new(u64::from(passed)))
    }

    /// Whether the weekday or month at a position is the next one, as the question is about a plan: "who has the rota on
    /// Monday", but not "last Monday" or "the minutes from Monday".
    fn is_coming(&self, at: usize) -> bool {
        let is_named_as_past = self.words.is_last(at) || FROM.has(self.words.before(at));
        self.is_of_plan && !is_named_as_past
    }

    /// `16 june`, `june 16th 2025`, `16. Juni`.
    fn day_and_month(&self, at: usize) -> Option<NaiveDate> {
        let month = self.words.month(at)?;
        let day = self.words.days_beside(at).next()?;
        let years = self.years(at);
        self.meant(years.filter_map(|year| NaiveDate::from_ymd_opt(year, month, day)))
    }

    /// The years that a date may be in: the one that is said beside it, or those around today.
    fn years(&self, at: usize) -> impl Iterator<Item = i32> {
        let said = self.said_year(at);
        let this = self.today.year();
        let (first, last) = said.map_or((this - 1, this + 1), |said| (said, said));
        first..=last
    }

    /// The year that is said of a month or a date: "november 2025", "november last year".
    fn said_year(&self, at: usize) -> Option<i32> {
        let is_of_last = || self.words.is_of_last_year(at);
        let beside = self.words.year_beside(at);
        beside.or_else(|| is_of_last().then(|| self.today.year() - 1))
    }

    /// The date that is meant of the same one in several years.
    fn meant(&self, dates: impl Iterator<Item = NaiveDate>) -> Option<NaiveDate> {
        let today = self.today;
        dates.min_by_key(|date| {
            let is_ahead = self.is_of_past && *date > today;
            (is_ahead, (*date - today).num_days().abs())
        })
    }

    /// A week, a month or a year that is named at a position.
    fn stretch_at(&self, at: usize) -> Option<Window> {
        let words = self.words;
        let (before, word, after) = (words.before(at), words.at(at), words.after(at));
        let monday = self.today.week(chrono::Weekday::Mon).first_day();
        let first = self.today.with_day(1)?;
        let (last, this) = (words.is_last(at), THIS.has(before) || THIS.has(after));
        if WEEK.has(word) && last {
            Window::ending(monday, 7)
        } else if WEEK.has(word) && this {
            Window::days(monday, 7)
        } else if MONTH.has(word) && last {
            month_from(first.checked_sub_months(Months::new(1))?)
        } else if MONTH.has(word) && this {
            month_from(first)
        } else if YEAR.has(word) && last {
            let from = NaiveDate::from_ymd_opt(self.today.year() - 1, 1, 1)?;
            Window::days(from, 365)
        } else if after == "ago" {
            ago(before, word, self.today)
        } else if let Some(year) = self.words.past_year(at, self.today.year()) {
            Window::days(NaiveDate::from_ymd_opt(year, 1, 1)?, 365)
        } else {
            self.month(at)
        }
    }

    /// The first day of a month that is named in a question about a plan: this month, or one that is to come.
    fn month_of_plan(&self, at: usize) -> Option<NaiveDate> {
        let words = self.words;
        let this = self.today.with_day(1)?;
        let is_next = words.is_next(at);
        if MONTH.has(words.at(at)) {
            let is_this = self.is_of_plan && THIS.has(words.before(at));
            return match is_next {
                true => this.checked_add_months(Months::new(1)),
                false => is_this.then_some(this),
            };
        }
        let month = words.month(at)?;
        if !(is_next || (self.is_coming(at) && words.stands_as_month(at))) {
            return None;
        }
        let is_of_next_year = month < this.month() || (is_next && month == this.month());
        let year = self
            .said_year(at)
            .unwrap_or_else(|| this.year() + i32::from(is_of_next_year));
        NaiveDate::from_ymd_opt(year, month, 1).filter(|first| *first >= this)
    }

    /// A month that has begun.
    fn month(&self, at: usize) -> Option<Window> {
        let month = self.words.month(at)?;
        if self.words.is_next(at) || !self.words.stands_as_month(at) {
            return None;
        }
        let (this_month, said) = (self.today.month(), self.said_year(at));
        let ahead = (month + 12 - this_month) % 12;
        if said.is_none() && (1..=NEARER_AHEAD).contains(&ahead) && self.is_coming(at) {
            return None;
        }
        // In November, "last November" is the one of the year before.
        let is_of_now = month == this_month && self.words.is_last(at);
        let latest = self.today.year() - i32::from(month > this_month || is_of_now);
        let year = said.unwrap_or(latest);
        let from = NaiveDate::from_ymd_opt(year, month, 1)?;
        month_from(from).filter(|_| from <= self.today)
    }
}

/// The day itself, or the previous one if the words ask for it: "the day before …".
fn day_before(words: &[String], at: usize, day: NaiveDate) -> Option<NaiveDate> {
    let said = &words[at.saturating_sub(4)..at];
    let is_before = said
        .windows(2)
        .any(|pair| pair[0] == "day" && pair[1] == "before");
    if is_before { day.pred_opt() } else { Some(day) }
}

fn month_from(first: NaiveDate) -> Option<Window> {
    let to = first.checked_add_months(Months::new(1))?;
    Some(Window { from: first, to })
}

/// "Two weeks ago", as precise as such words are.
fn ago(count: &str, unit: &str, today: NaiveDate) -> Option<Window> {
    let count = match count {
        "a" | "an" | "one" => 1,
        "two" => 2,
        "three" | "few" => 3,
        "four" => 4,
        digits => digits
            .parse()
            .ok()
            .filter(|count| (1..=1_000).contains(count))?,
    };
    let unit = match unit.trim_end_matches('s') {
        "day" => 1,
        "week" => 7,
        "month" => 30,
        "year" => 365,
        _ => return None,
    };
    let middle = today.checked_sub_signed(TimeDelta::days(count * unit))?;
    let from = middle.checked_sub_signed(TimeDelta::days(unit / 2))?;
    Window::days(from, unit)
}

/// Whether words that were said on one day name another, by its date or relative to that day.
pub(in crate::memory) fn names_day(words: &[String], said: NaiveDate, day: NaiveDate) -> bool {
    let ahead = (day - said).num_days();
    let words = TimeWords::of(words);
    words.positions().any(|at| {
        let word = words.at(at);
        let is_month = || words.month(at) == Some(day.month());
        let is_weekday = || words.weekday(at) == Some(day.weekday().num_days_from_monday());
        (is_month() && words.days_beside(at).any(|number| number == day.day()))
            || (TOMORROW.has(word) && ahead == 1)
            || (TODAY.has(word) && ahead == 0)
            || ((0..7).contains(&ahead) && is_weekday())
            || is_iso(&words.written()[at..], day)
    })
}

/// Whether words that were said on one day name a month, given by its first day: "on 16 June", "in June". Without a year it is
/// the next one.
pub(in crate::memory) fn names_month(words: &[String], said: NaiveDate, first: NaiveDate) -> bool {
    let words = TimeWords::of(words);
    let months = |day: NaiveDate| i64::from(day.year()) * 12 + i64::from(day.month());
    let is_next = || (0..12).contains(&(months(first) - months(said)));
    words.positions().any(|at| {
        let is_sure = || words.stands_as_month(at) || words.days_beside(at).next().is_some();
        let is_of_year = || match words.year_beside(at) {
            Some(year) => year == first.year(),
            None => is_next() && !is_of_past(words.written(), words.language()),
        };
        let is_named = words.month(at) == Some(first.month());
        (is_named && is_sure() && is_of_year()) || is_iso_month(&words.written()[at..], first)
    })
}

/// Whether a statement is about today or tomorrow alone: "the standup is at 11 today". Not what holds from that day on, and
/// not what was done that day: "we moved it today".
pub(in crate::memory) fn is_of_today_or_tomorrow(words: &[String]) -> bool {
    let words = TimeWords::of(words);
    let (written, language) = (words.written(), words.language());
    let begins = |at: usize| {
        let before = words.before(at);
        let first = at.checked_sub(2).map_or("", |at| &*written[at]);
        BEGINNING.has(before) || (OF.has(before) && BEGINNING_OF.has(first))
    };
    let is_day = |at: usize| TODAY.has(words.at(at)) || TOMORROW.has(words.at(at));
    words.positions().any(|at| is_day(at) && !begins(at))
        && !is_of_past(written, language)
        && !has_verb_of_past(written, language)
}

/// Whether words that were said on a day tell how something was before: "we used to have 50", "in 2020 it cost 40".
pub(in crate::memory) fn tells_of_past(words: &[String], said: NaiveDate) -> bool {
    let words = TimeWords::of(words);
    let (written, language) = (words.written(), words.language());
    let names_past_year = |at: usize| {
        let is_of_last_year = YEAR.has(words.at(at)) && words.is_last(at);
        is_of_last_year || words.past_year(at, said.year()).is_some()
    };
    tells_state_of_past(written, language)
        || (words.positions().any(names_past_year) && !is_of_present(written, language))
}

/// The first day from which something holds by words that were said on a day: "from January", "ab Montag", "next year".
pub(in crate::memory) fn first_day(words: &[String], said: NaiveDate) -> Option<NaiveDate> {
    let words = TimeWords::of(words);
    let next_month = |month: u32| {
        let years = [said.year(), said.year() + 1].into_iter();
        let mut firsts = years.filter_map(|year| NaiveDate::from_ymd_opt(year, month, 1));
        // "From January", said in January, holds already.
        firsts.find(|first| (first.year(), first.month()) >= (said.year(), said.month()))
    };
    let begins = |at: usize| {
        let before = words.before(at);
        let before_that = at.checked_sub(2).map_or("", |at| &*words.written()[at]);
        ON_AND_AFTER.has(before) || (OF.has(before) && BEGINNING_OF.has(before_that))
    };
    words.positions().find_map(|at| {
        if YEAR.has(words.at(at)) && words.is_next(at) {
            return NaiveDate::from_ymd_opt(said.year() + 1, 1, 1);
        }
        let number = words.days_beside(at).next();
        let is_begun = begins(at) || (number.is_some() && at.checked_sub(1).is_some_and(begins));
        if !is_begun {
            return None;
        }
        if TOMORROW.has(words.at(at)) {
            return said.succ_opt();
        }
        if let Some(weekday) = words.weekday(at) {
            let ahead = (weekday + 7 - said.weekday().num_days_from_monday()) % 7;
            return said.checked_add_days(Days::new(u64::from(ahead)));
        }
        next_month(words.month(at)?)?.with_day(number.unwrap_or(1))
    })
}

/// The days of the week that lower-case words name, from Monday on: "Friday", but not "Fridays".
pub(in crate::memory) fn weekdays(words: &[String]) -> Vec<u32> {
    let words = TimeWords::of(words);
    let weekdays = words.positions().filter_map(|at| words.weekday(at));
    weekdays.collect()
}

/// The months that lower-case words name, from January on.
fn months(words: &[String]) -> Vec<u32> {
    let words = TimeWords::of(words);
    let months = words.positions().filter_map(|at| words.month(at));
    months.collect()
}

/// Whether the time that a question names is a subject of what was said, and need not be the time at which it was said: the
/// question asks about it, or the text names the same weekday or month.
pub fn names_time_as_subject(question: &str, said: &str) -> bool {
    let (question, said) = (lowercase_words(question), lowercase_words(said));
    let is_named_again = |of: fn(&[String]) -> Vec<u32>| {
        let named = of(&said);
        of(&question).iter().any(|one| named.contains(one))
    };
    let language = TimeWords::of(&question).language();
    let is_about = |word: &str| match word {
        "over" => language == Language::Dutch,
        "o" => language == Language::Polish,
        _ => ABOUT.has(word),
    };
    let is_asked_about =
        |at: usize| is_about(&question[at]) && begins_with_time(&question[at + 1..]);
    is_named_again(weekdays) || is_named_again(months) || (0..question.len()).any(is_asked_about)
}

/// "December", "next week", "the weekend".
fn begins_with_time(words: &[String]) -> bool {
    let precedes =
        |word: &str| is_function_word(word) || [LAST, NEXT, THIS].iter().any(|it| it.has(word));
    let length = match words.first() {
        Some(first) if precedes(first) => 2,
        Some(_) | None => 1,
    };
    let first = &words[..length.min(words.len())];
    names_any_time(first) || first.iter().any(|word| place(word, &MONTHS).is_some())
}

/// `2026-06-16`, as three words.
fn is_iso(words: &[String], day: NaiveDate) -> bool {
    let of_month = words.get(2).and_then(|word| word.parse::<u32>().ok());
    of_month == Some(day.day()) && is_iso_month(words, day)
}

/// The same with any day of the month.
fn is_iso_month(words: &[String], day: NaiveDate) -> bool {
    let [year, month, of_month, ..] = words else {
        return false;
    };
    let number = |word: &String| word.parse::<i64>().ok();
    year.len() == 4
        && number(year) == Some(i64::from(day.year()))
        && number(month) == Some(i64::from(day.month()))
        && number(of_month).is_some_and(|day| (1..=31).contains(&day))
}

/// The month, from 1, that a word of a text names. The language is what the text tells.
pub(in crate::memory) fn month_of(
    word: &str,
    told: impl FnOnce() -> Option<Language>,
) -> Option<u32> {
    let month = place(word, &MONTHS).map(|month| month + 1);
    month.filter(|_| !means_otherwise(word, told))
}

/// Whether lower-case words name a time.
fn names_time(words: &[String]) -> bool {
    let words = TimeWords::of(words);
    words.positions().any(|at| {
        let word = words.at(at);
        // An answer may be no more than a month.
        let is_sure = !DOUBTFUL_MONTHS.has(word) || words.stands_as_month(at);
        (words.month(at).is_some() && is_sure)
            || words.weekday(at).is_some()
            || TOMORROW.has(word)
            || TODAY.has(word)
            || YESTERDAY.has(word)
            || matches!(word, "noon" | "midnight")
    })
}

/// Whether lower-case words name a time, or a week, month or season that is no certain day.
pub(in crate::memory) fn names_any_time(words: &[String]) -> bool {
    let times = TimeWords::of(words);
    let is_vague = |at: usize| {
        let word = times.at(at);
        WEEK.has(word) || MONTH.has(word) || YEAR.has(word) || VAGUE_TIMES.has(word)
    };
    names_time(words) || times.positions().any(is_vague)
}

/// Whether lower-case words may answer "when?", if only roughly: "at nine", "on weekdays", "after lunch", "next year". "This
/// year" hardly does: many texts say it beside what they are about.
pub(in crate::memory) fn says_when(words: &[String]) -> bool {
    let times = TimeWords::of(words);
    // "O due" is Italian, and "do one" English.
    let is_polish = |word: &str| matches!(word, "o" | "do");
    let is_hour = |pair: &[String]| {
        let may_be = !is_polish(&pair[0]) || pair[1].ends_with("ej");
        may_be && BEFORE_HOUR.has(&pair[0]) && HOURS.has(&pair[1])
    };
    let is_rough = |at: usize| {
        let word = times.at(at);
        let is_span = WEEK.has(word) || MONTH.has(word) || YEAR.has(word);
        VAGUE_TIMES.has(word)
            || RECURRING.has(word)
            || TIMES_OF_DAY.has(word)
            || (is_span && (times.is_next(at) || times.is_last(at)))
    };
    names_time(words) || words.windows(2).any(is_hour) || times.positions().any(is_rough)
}
