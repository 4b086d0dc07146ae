//! Finds the time that a question means, from its words and the asker's clock, and the days that a text names.
//!
//! It knows nothing of exchanges or clocks: the caller passes today's date.

mod feasts;

use chrono::{Datelike, Days, Months, NaiveDate, TimeDelta};

use self::feasts::feast;
use crate::retrieval::language::WordList;
use crate::retrieval::text::lowercase_words;

/// Weekdays from Monday on, in several languages.
const WEEKDAYS: [WordList; 7] = [
    WordList::of("monday mon montag lundi lunes lunedì maandag poniedziałek понедельник"),
    WordList::of("tuesday tue dienstag mardi martes martedì dinsdag wtorek вторник"),
    WordList::of(
        "wednesday wed mittwoch mercredi miércoles mercoledì woensdag środa środę среда среду",
    ),
    WordList::of("thursday thu donnerstag jeudi jueves giovedì donderdag czwartek четверг"),
    WordList::of("friday fri freitag vendredi viernes venerdì vrijdag piątek пятница пятницу"),
    WordList::of("saturday samstag samedi sábado sabato zaterdag sobota sobotę суббота субботу"),
    WordList::of("sunday sonntag dimanche domingo domenica zondag niedziela niedzielę воскресенье"),
];
/// Months from January on. The word before them distinguishes those that also have another meaning in English.
pub(super) const MONTHS: [WordList; 12] = [
    WordList::of(
        "january jan januar janvier enero janeiro gennaio januari styczeń stycznia styczniu январь января январе",
    ),
    WordList::of(
        "february feb februar février febrero fevereiro febbraio februari luty lutego lutym февраль февраля феврале",
    ),
    WordList::of("march mar märz mars marzo março maart marzec marca marcu март марта марте"),
    WordList::of("april apr avril abril aprile kwiecień kwietnia kwietniu апрель апреля апреле"),
    WordList::of("may mai mayo maio maggio mei maj maja maju май мая мае"),
    WordList::of("june jun juni juin junio junho giugno czerwiec czerwca czerwcu июнь июня июне"),
    WordList::of("july jul juli juillet julio julho luglio lipiec lipca lipcu июль июля июле"),
    WordList::of(
        "august aug août agosto augustus sierpień sierpnia sierpniu август августа августе",
    ),
    WordList::of(
        "september sep sept septembre septiembre setembro settembre wrzesień września wrześniu сентябрь сентября сентябре",
    ),
    WordList::of(
        "october oct oktober octobre octubre outubro ottobre październik października październiku октябрь октября октябре",
    ),
    WordList::of(
        "november nov novembre noviembre novembro listopad listopada listopadzie ноябрь ноября ноябре",
    ),
    WordList::of(
        "december dec dezember décembre diciembre dezembro dicembre grudzień grudnia grudniu декабрь декабря декабре",
    ),
];
const SINCE: WordList = WordList::of("since seit depuis desde sinds od");
/// Words before the name of a month.
const IN: WordList =
    WordList::of("in im en em w в since seit depuis desde of early late mid during");
const NEXT: WordList =
    WordList::of("next nächsten nächste nächster prochain prochaine próximo próxima volgende");
const LAST: WordList = WordList::of(
    "last letzte letzten letzter letztes dernière dernier pasada pasado passada passado scorsa scorso \
                    vorige zeszły zeszłym zeszłego прошлый прошлой прошлую прошлом",
);
const THIS: WordList = WordList::of(
    "this diese diesen dieser dieses cette esta este questa questo deze dit tym этой этом",
);
const WEEK: WordList =
    WordList::of("week woche semaine semana settimana tydzień tygodniu неделя неделе неделю");
const MONTH: WordList =
    WordList::of("month monat mois mes mês mese maand miesiąc miesiącu месяц месяце");
const YEAR: WordList = WordList::of("year jahr an année año ano anno jaar rok roku год году");
const YESTERDAY: WordList =
    WordList::of("yesterday gestern hier ayer ontem ieri gisteren wczoraj вчера");
const TODAY: WordList =
    WordList::of("today tonight heute aujourd hoy hoje oggi vandaag dziś dzisiaj сегодня");
const TOMORROW: WordList = WordList::of("tomorrow demain mañana amanhã domani morgen jutro завтра");
const BEFORE_YESTERDAY: WordList =
    WordList::of("vorgestern anteayer anteontem eergisteren przedwczoraj позавчера");
/// Words that show that a question is about an earlier state.
const THEN: WordList = WordList::of(
    "before original originally initially earlier former formerly previous previously vorher ursprüngliche ursprünglichen \
                    ursprünglich zuerst früher avant antes originalmente prima eerst wcześniej раньше",
);

/// Words that show it only in the past tense: "what was the first date", but not "when is the first rehearsal".
const THEN_OF_PAST: WordList = WordList::of("first until till");
const PAST: WordList = WordList::of("was were did had used");
/// Words after "first" that are not about an earlier state: "first aid".
const OTHER_FIRST: WordList = WordList::of("aid floor name class grade time day half");
/// Things of which the old one was replaced: "the old price", but not "the old town".
const REPLACEABLE: WordList = WordList::of(
    "price fee rate rent cost salary number phone code password key date time deadline day address room place name plan \
    rule limit version value amount budget one schedule hours menu job boss",
);

/// Whether a word shows that a question is about an earlier state.
fn is_then(words: &[String], at: usize) -> bool {
    let word = &words[at];
    let after = words.get(at + 1).map_or("", String::as_str);
    let before = at.checked_sub(1).map_or("", |at| words[at].as_str());
    if THEN_OF_PAST.has(word) {
        // "Until when" asks for an end.
        let is_asked = after == "when" || before == "when";
        words.iter().any(|word| PAST.has(word)) && !OTHER_FIRST.has(after) && !is_asked
    } else if word == "old" {
        let is_replaceable = words[at..].iter().take(3).any(|word| REPLACEABLE.has(word));
        before != "how" && (is_replaceable || words.iter().any(|word| PAST.has(word)))
    } else {
        THEN.has(word)
    }
}

fn place(word: &str, lists: &[WordList]) -> Option<u32> {
    let place = lists.iter().position(|words| words.has(word))?;
    u32::try_from(place).ok()
}

/// A range of days with soft edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
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
    pub(super) fn is_before(self, day: NaiveDate) -> bool {
        self.to <= day
    }

    /// How well a day fits: 1 inside, and less outside the farther away it is, relative to the length of the window.
    pub(super) fn holds(self, day: NaiveDate) -> f32 {
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
pub(super) struct Time {
    /// When something was said.
    pub(super) window: Option<Window>,
    /// The day that something is about.
    pub(super) day: Option<NaiveDate>,
    /// Whether it is about an earlier state.
    pub(super) then: bool,
}

impl Time {
    /// The time meant by lower-case words that are said today.
    pub(super) fn of(words: &[String], today: NaiveDate) -> Self {
        let mut time = Self {
            then: (0..words.len()).any(|at| is_then(words, at)),
            ..Self::default()
        };
        let (single, is_future) = single_day(words, today);
        time.day = single;
        if !is_future {
            let is_since = words.iter().any(|word| SINCE.has(word));
            let of_day = single.and_then(|day| match today.succ_opt() {
                Some(to) if is_since => Some(Window { from: day, to }),
                Some(_) | None => Window::days(day, 1),
            });
            time.window = of_day.or_else(|| stretch(words, today));
        }
        time
    }
}

/// The first day of the time that the words name: "Monday", "last week", "2026-04-13". `None` if they name no past
/// day.
pub fn beginning(text: &str, today: NaiveDate) -> Option<NaiveDate> {
    let words = lowercase_words(text);
    let iso = text.split_whitespace().find_map(|word| word.parse().ok());
    // A bare day also means "since that day".
    let named = || Time::of(&words, today).window.map(|window| window.from);
    iso.or_else(named).filter(|day| *day <= today)
}

/// A single day that is named, and whether it is in the future.
fn single_day(words: &[String], today: NaiveDate) -> (Option<NaiveDate>, bool) {
    let back = |days| today.checked_sub_days(Days::new(days));
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |at| words[at].as_str());
        let after = words.get(at + 1).map_or("", String::as_str);
        if BEFORE_YESTERDAY.has(word)
            || (word == "day" && after == "before" && words.iter().any(|it| it == "yesterday"))
        {
            return (back(2), false);
        }
        // "Morgen" after a greeting is the morning, not the next day.
        if TOMORROW.has(word) && !matches!(before, "guten" | "good") {
            return (today.checked_add_days(Days::new(1)), true);
        }
        if YESTERDAY.has(word) || (LAST.has(before) && word == "night") {
            return (back(1), false);
        }
        if TODAY.has(word) || (word == "morning" && before == "this") {
            return (Some(today), false);
        }
        if let Some(feast) = feast(before, word, after, today) {
            return day_before(words, at, feast)
                .map_or((None, false), |day| (Some(day), day > today));
        }
        if let Some(weekday) = place(word, &WEEKDAYS) {
            let passed = (today.weekday().num_days_from_monday() + 7 - weekday) % 7;
            if NEXT.has(before) {
                return (
                    today.checked_add_days(Days::new(7 - u64::from(passed))),
                    true,
                );
            }
            let passed = if passed == 0 { 7 } else { passed };
            return (back(u64::from(passed)), false);
        }
        if let Some(day) = day_and_month(words, at, today) {
            return (Some(day), day > today);
        }
    }
    (None, false)
}

/// The day itself, or the previous one if the words ask for it: "the day before …".
fn day_before(words: &[String], at: usize, day: NaiveDate) -> Option<NaiveDate> {
    let said = &words[at.saturating_sub(4)..at];
    let is_before = said
        .windows(2)
        .any(|pair| pair[0] == "day" && pair[1] == "before");
    if is_before { day.pred_opt() } else { Some(day) }
}

/// `16 june`, `june 16th`, `16. Juni`: in the year in which it is nearest.
fn day_and_month(words: &[String], at: usize, today: NaiveDate) -> Option<NaiveDate> {
    let month = place(&words[at], &MONTHS)? + 1;
    let day = numbers_beside(words, at).next()?;
    let years = [today.year() - 1, today.year(), today.year() + 1];
    let dates = years
        .into_iter()
        .filter_map(|year| NaiveDate::from_ymd_opt(year, month, day));
    dates.min_by_key(|date| (*date - today).num_days().abs())
}

/// The days of the month that are named beside the month at a position.
fn numbers_beside(words: &[String], at: usize) -> impl Iterator<Item = u32> {
    let before = at.checked_sub(1).map(|at| &words[at]);
    let before = match before {
        Some(of) if matches!(&**of, "of" | "de") => at.checked_sub(2).map(|at| &words[at]),
        before => before,
    };
    let beside = [before, words.get(at + 1)];
    beside.into_iter().flatten().filter_map(|word| {
        let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
        let suffix = &word[digits.len()..];
        let number = digits.parse().ok().filter(|day| (1..=31).contains(day));
        number.filter(|_| suffix.is_empty() || matches!(suffix, "st" | "nd" | "rd" | "th" | "er"))
    })
}

/// Weeks, months and years that are named.
fn stretch(words: &[String], today: NaiveDate) -> Option<Window> {
    let monday = today.week(chrono::Weekday::Mon).first_day();
    let first = today.with_day(1)?;
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |at| words[at].as_str());
        let after = words.get(at + 1).map_or("", String::as_str);
        let (last, this) = (
            LAST.has(before) || LAST.has(after),
            THIS.has(before) || THIS.has(after),
        );
        if WEEK.has(word) && last {
            return Window::ending(monday, 7);
        } else if WEEK.has(word) && this {
            return Window::days(monday, 7);
        } else if MONTH.has(word) && last {
            return month_from(first.checked_sub_months(Months::new(1))?);
        } else if MONTH.has(word) && this {
            return month_from(first);
        } else if YEAR.has(word) && last {
            let from = NaiveDate::from_ymd_opt(today.year() - 1, 1, 1)?;
            return Window::days(from, 365);
        } else if after == "ago" {
            return ago(before, word, today);
        }
        if let Some(month) = place(word, &MONTHS)
            && (IN.has(before) || !matches!(&**word, "may" | "march" | "mar" | "mars"))
        {
            let year = if month + 1 > today.month() {
                today.year() - 1
            } else {
                today.year()
            };
            let from = NaiveDate::from_ymd_opt(year, month + 1, 1)?;
            return if SINCE.has(before) {
                Some(Window {
                    from,
                    to: today.succ_opt()?,
                })
            } else {
                month_from(from)
            };
        }
    }
    None
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
pub(super) fn names_day(words: &[String], said: NaiveDate, day: NaiveDate) -> bool {
    let ahead = (day - said).num_days();
    words.iter().enumerate().any(|(place_of, word)| {
        let is_month = || place(word, &MONTHS) == Some(day.month0());
        let is_weekday = || place(word, &WEEKDAYS) == Some(day.weekday().num_days_from_monday());
        (is_month() && numbers_beside(words, place_of).any(|number| number == day.day()))
            || (TOMORROW.has(word) && ahead == 1)
            || (TODAY.has(word) && ahead == 0)
            || ((0..7).contains(&ahead) && is_weekday())
            || is_iso(&words[place_of..], day)
    })
}

/// `2026-06-16`, as three words.
fn is_iso(words: &[String], day: NaiveDate) -> bool {
    let [year, month, of_month, ..] = words else {
        return false;
    };
    let number = |word: &String| word.parse::<i64>().ok();
    year.len() == 4
        && number(year) == Some(i64::from(day.year()))
        && number(month) == Some(i64::from(day.month()))
        && number(of_month) == Some(i64::from(day.day()))
}

/// The month that a word names, from 1.
pub(super) fn month_of(word: &str) -> Option<u32> {
    place(word, &MONTHS).map(|month| month + 1)
}

/// Whether a word is about time.
pub(super) fn is_of_time(word: &str) -> bool {
    place(word, &WEEKDAYS).is_some()
        || (place(word, &MONTHS).is_some() && !matches!(word, "may" | "march" | "mar" | "mars"))
        || TOMORROW.has(word)
        || TODAY.has(word)
        || YESTERDAY.has(word)
        || matches!(word, "noon" | "midnight")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Wednesday.
    fn now() -> NaiveDate {
        date("2026-05-20")
    }

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn what_was_so_then_is_told_from_what_is_first_or_old_now() {
        for (text, then) in [
            ("what was the very first date of the premiere?", true),
            ("what had he wanted at first?", true),
            ("what is the old door code?", true),
            ("what's the old phone number?", true),
            ("how much was it before?", true),
            ("and what was the original deadline?", true),
            ("who was on call until friday?", true),
            ("how old is Bobo?", false),
            ("how old was Bobo?", false),
            ("when is the first aid course?", false),
            ("when was the first aid course?", false),
            ("until when is the pool closed?", false),
            ("until when was the pool closed?", false),
            ("when does the old town office open?", false),
        ] {
            assert_eq!(Time::of(&lowercase_words(text), now()).then, then, "{text}");
        }
    }

    #[test]
    fn words_name_the_day_with_which_a_time_begins() {
        for (text, day) in [
            ("yesterday", Some("2026-05-19")),
            ("since monday", Some("2026-05-18")),
            ("last week", Some("2026-05-11")),
            ("april", Some("2026-04-01")),
            ("13 april", Some("2026-04-13")),
            ("2026-04-13", Some("2026-04-13")),
            ("today", Some("2026-05-20")),
            ("tomorrow", None),
            ("2027-01-01", None),
            ("the beginning of time", None),
        ] {
            assert_eq!(beginning(text, now()), day.map(date), "{text}");
        }
    }

    #[test]
    fn time_words_are_read_by_the_clock() {
        for (text, from, to) in [
            ("what broke yesterday?", "2026-05-19", "2026-05-20"),
            ("was ist gestern passiert", "2026-05-19", "2026-05-20"),
            ("who was commander last tuesday", "2026-05-19", "2026-05-20"),
            ("what went live on friday?", "2026-05-15", "2026-05-16"),
            (
                "was the lift repaired last week?",
                "2026-05-11",
                "2026-05-18",
            ),
            ("the bill in february", "2026-02-01", "2026-03-01"),
            ("the bill in december", "2025-12-01", "2026-01-01"),
            ("what did we say in may", "2026-05-01", "2026-06-01"),
            ("what changed since april", "2026-04-01", "2026-05-21"),
            ("what was decided two weeks ago", "2026-05-03", "2026-05-10"),
            ("and the day before yesterday", "2026-05-18", "2026-05-19"),
            (
                "what did they decide last night",
                "2026-05-19",
                "2026-05-20",
            ),
            ("what came on april 3rd", "2026-04-03", "2026-04-04"),
            (
                "what broke the day before good friday",
                "2026-04-02",
                "2026-04-03",
            ),
            ("was ist an ostern passiert", "2026-04-05", "2026-04-06"),
            (
                "what changed since easter monday",
                "2026-04-06",
                "2026-05-21",
            ),
            ("who worked at christmas", "2025-12-25", "2025-12-26"),
            ("was ist seit dienstag neu", "2026-05-19", "2026-05-21"),
        ] {
            let (from, to) = (date(from), date(to));
            let window = Time::of(&lowercase_words(text), now()).window;
            assert_eq!(window, Some(Window { from, to }), "{text}");
        }
        for text in [
            "may i deploy?",
            "do we march on?",
            "what do i have tomorrow",
            "who is it",
        ] {
            assert_eq!(
                Time::of(&lowercase_words(text), now()).window,
                None,
                "{text}"
            );
        }
    }

    #[test]
    fn a_window_has_soft_edges() {
        let window = Time::of(&lowercase_words("what came last week"), now())
            .window
            .unwrap();
        let holds = |at: &str| window.holds(at.parse().unwrap());
        assert!((holds("2026-05-11") - 1.0).abs() < 1e-6);
        assert!((holds("2026-05-17") - 1.0).abs() < 1e-6);
        assert!(holds("2026-05-18") > 0.5 && holds("2026-05-10") > 0.5);
        assert!(holds("2026-03-01") < 0.01);
    }

    #[test]
    fn a_day_is_named_by_date_or_by_nearness() {
        let day = Time::of(&lowercase_words("what do i have tomorrow"), now())
            .day
            .unwrap();
        assert_eq!(day, date("2026-05-21"));
        for (text, said, named) in [
            ("linear algebra 21 may, oral", "2026-03-01", true),
            ("on May 21st", "2026-03-01", true),
            ("the 21st of may", "2026-03-01", true),
            ("due 2026-05-21", "2026-03-01", true),
            ("see you on thursday", "2026-05-18", true),
            ("see you on thursday", "2026-05-03", false),
            ("tomorrow at nine", "2026-05-20", true),
            ("21 people may come", "2026-05-20", false),
        ] {
            assert_eq!(
                names_day(&lowercase_words(text), said.parse().unwrap(), day),
                named,
                "{text}"
            );
        }
    }
}
