//! The arguments of texts: names, numbers, dates, lists, and other texts.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, TimeZone};
use fluent_bundle::{FluentArgs, FluentValue};

use crate::catalogue::{self, Proof};
use crate::language::Language;
use crate::numerals::{counted, with_own_point};

/// An argument of a text. Each language formats it in its own way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Used unchanged: a name, a command, what somebody wrote.
    Said(String),
    Number(u64),
    /// Its digits, with a decimal point.
    Decimal(String),
    Date(NaiveDate),
    /// To the minute.
    Moment(NaiveDateTime),
    /// With the weekday, and without the year.
    Day(NaiveDateTime),
    List(Vec<Self>),
    Text(Text),
}

impl Value {
    /// A number with this many decimals.
    pub fn decimal(number: f64, digits: usize) -> Self {
        Self::Decimal(format!("{number:.digits$}"))
    }

    /// The date of a moment.
    pub fn date<Z: TimeZone>(at: &DateTime<Z>) -> Self {
        Self::Date(at.naive_local().date())
    }

    pub fn moment<Z: TimeZone>(at: &DateTime<Z>) -> Self {
        Self::Moment(at.naive_local())
    }

    /// A recent moment, with its weekday.
    pub fn day<Z: TimeZone>(at: &DateTime<Z>) -> Self {
        Self::Day(at.naive_local())
    }

    /// `A, B and C`
    pub fn list<V: Into<Self>>(all: impl IntoIterator<Item = V>) -> Self {
        Self::List(all.into_iter().map(Into::into).collect())
    }

    /// The value in one language.
    pub fn in_language(&self, language: Language) -> String {
        match self {
            Self::Said(said) => said.clone(),
            Self::Number(number) => counted(language, *number),
            Self::Decimal(digits) => with_own_point(language, digits),
            Self::Date(date) => render(language, "date", &parts(*date)),
            Self::Moment(at) => {
                let mut arguments = parts(at.date());
                arguments.push(("time", at.format("%H:%M").to_string().into()));
                render(language, "date-and-time", &arguments)
            }
            Self::Day(at) => {
                let arguments = [
                    ("weekday", at.weekday().number_from_monday().into()),
                    ("day", at.day().into()),
                    ("month", at.month().into()),
                    ("time", at.format("%H:%M").to_string().into()),
                ];
                render(language, "day-and-time", &arguments)
            }
            Self::List(all) => list(language, all),
            Self::Text(text) => text.in_language(language),
        }
    }

    fn for_fluent(&self, language: Language) -> FluentValue<'static> {
        match self {
            // A number also selects plural forms.
            #[expect(clippy::cast_precision_loss, reason = "nothing is counted beyond 2^53")]
            Self::Number(number) => (*number as f64).into(),
            Self::Said(_)
            | Self::Decimal(_)
            | Self::Date(_)
            | Self::Moment(_)
            | Self::Day(_)
            | Self::List(_)
            | Self::Text(_) => self.in_language(language).into(),
        }
    }
}

fn render(language: Language, key: &str, arguments: &[(&'static str, Value)]) -> String {
    catalogue::render(language, key, &|language| fluent_args(language, arguments))
}

pub(crate) fn fluent_args(
    language: Language,
    arguments: &[(&'static str, Value)],
) -> FluentArgs<'static> {
    let formatted = arguments
        .iter()
        .map(|(name, value)| (*name, value.for_fluent(language)));
    formatted.collect()
}

fn parts(date: NaiveDate) -> Vec<(&'static str, Value)> {
    // Not as numbers: a year has no thousands separator.
    [("year", "%Y"), ("month", "%m"), ("day", "%d")]
        .map(|(name, format)| (name, date.format(format).to_string().into()))
        .into()
}

fn list(language: Language, all: &[Value]) -> String {
    let mut said = all.iter().map(|it| it.in_language(language));
    let last = said.next_back().unwrap_or_default();
    let two = |key, first: String, next: String| {
        render(
            language,
            key,
            &[("first", first.into()), ("next", next.into())],
        )
    };
    match said.reduce(|first, next| two("list-goes-on", first, next)) {
        Some(first) => two("list-ends", first, last),
        None => last,
    }
}

impl From<&str> for Value {
    fn from(said: &str) -> Self {
        Self::Said(said.to_owned())
    }
}

impl From<String> for Value {
    fn from(said: String) -> Self {
        Self::Said(said)
    }
}

impl From<&String> for Value {
    fn from(said: &String) -> Self {
        Self::Said(said.clone())
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<&Text> for Value {
    fn from(text: &Text) -> Self {
        Self::Text(text.clone())
    }
}

impl From<NaiveDate> for Value {
    fn from(date: NaiveDate) -> Self {
        Self::Date(date)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

/// A text of the catalogue, in no language yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text {
    pub(super) key: &'static str,
    arguments: Vec<(&'static str, Value)>,
}

impl Text {
    /// Called by [`text!`], with the proof that the text exists.
    #[doc(hidden)]
    pub fn new(_: Proof, key: &'static str, arguments: Vec<(&'static str, Value)>) -> Self {
        Self { key, arguments }
    }

    /// The text in one language.
    pub fn in_language(&self, language: Language) -> String {
        render(language, self.key, &self.arguments)
    }
}

/// In English, for logs.
impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.in_language(Language::English))
    }
}
