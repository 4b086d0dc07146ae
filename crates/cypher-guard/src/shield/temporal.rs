//! Dates and times: comparisons that never hold, and durations that the engines count differently.

use std::collections::BTreeMap;

use super::super::problem::{CheckResult, Problem};
use super::super::tree::{Expr, FunctionCall, Name, Operator, Strength};
use super::Shield;
use super::scope::{Holds, Scope};
use crate::schema::Property;

/// A type of values whose comparison with any other type gives null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Temporal {
    Date,
    DateTime,
    LocalDateTime,
    Time,
    LocalTime,
}

impl Temporal {
    const ALL: [Self; 5] = [
        Self::Date,
        Self::DateTime,
        Self::LocalDateTime,
        Self::Time,
        Self::LocalTime,
    ];

    /// Its name in a schema.
    const fn kind(self) -> &'static str {
        match self {
            Self::Date => "DATE",
            Self::DateTime => "DATE_TIME",
            Self::LocalDateTime => "LOCAL_DATE_TIME",
            Self::Time => "TIME",
            Self::LocalTime => "LOCAL_TIME",
        }
    }

    /// The function that makes one.
    const fn function(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::DateTime => "datetime",
            Self::LocalDateTime => "localdatetime",
            Self::Time => "time",
            Self::LocalTime => "localtime",
        }
    }

    /// What a model should write instead of this text.
    fn proposal(self, text: Option<&str>) -> String {
        let text = text.filter(|text| text.get(..10).is_some_and(is_date));
        let text = match self {
            Self::Date => text.and_then(|text| text.get(..10)),
            Self::DateTime | Self::LocalDateTime => text,
            Self::Time | Self::LocalTime => None,
        };
        let text = text.filter(|text| !text.contains(['\'', '\\']));
        let value = text.map_or_else(|| "…".to_owned(), |text| format!("'{text}'"));
        format!("write {}({value})", self.function())
    }
}

impl Shield<'_> {
    /// Refuses to compare a property that is a date or time with a text or another type, which gives null on Neo4j, so that nothing
    /// would be found. Where the meaning is certain, the other side is made the same type.
    pub(super) fn compare_times(
        &self,
        first: &mut Expr,
        rest: &mut [(Operator, Expr)],
        scope: &Scope,
    ) -> CheckResult<()> {
        let mut left = first;
        for (operator, right) in rest {
            if compares(*operator) {
                let (is_left_from, is_right_from) = from_midnight(*operator);
                self.fit(left, right, is_left_from, scope)?;
                self.fit(right, left, is_right_from, scope)?;
            }
            left = right;
        }
        Ok(())
    }

    fn fit(
        &self,
        property: &Expr,
        value: &mut Expr,
        is_from_midnight: bool,
        scope: &Scope,
    ) -> CheckResult<()> {
        let Expr::Property(base, name) = property else {
            return Ok(());
        };
        let kind = match scope.holds(base) {
            Holds::Node(Some(labels)) => kind_of(self.words.nodes(), &labels, name),
            Holds::Relationship(Some(types)) => kind_of(self.words.relationships(), &types, name),
            Holds::Node(None)
            | Holds::Nodes(_)
            | Holds::Relationship(None)
            | Holds::Path
            | Holds::Ids
            | Holds::Anything => None,
        };
        match (kind, value) {
            (None, _) => Ok(()),
            (Some(kind), Expr::List(items)) => {
                let mut items = items.iter_mut();
                items.try_for_each(|item| fit_kind(kind, name, item, is_from_midnight))
            }
            (Some(kind), value) => fit_kind(kind, name, value, is_from_midnight),
        }
    }
}

const fn compares(operator: Operator) -> bool {
    match operator {
        Operator::Equal
        | Operator::Unequal
        | Operator::Less
        | Operator::LessOrEqual
        | Operator::Greater
        | Operator::GreaterOrEqual
        | Operator::In => true,
        Operator::Or
        | Operator::Xor
        | Operator::And
        | Operator::Matches
        | Operator::StartsWith
        | Operator::EndsWith
        | Operator::Contains
        | Operator::Plus
        | Operator::Minus
        | Operator::Concatenate
        | Operator::Times
        | Operator::Divide
        | Operator::Modulo
        | Operator::Power => false,
    }
}

/// Whether the start of a day is meant where the day is compared with a time: on the right, and on the left.
fn from_midnight(operator: Operator) -> (bool, bool) {
    let is_right = matches!(operator, Operator::GreaterOrEqual | Operator::Less);
    let is_left = matches!(operator, Operator::LessOrEqual | Operator::Greater);
    (is_right, is_left)
}

/// The type of a property, if it is temporal and the same with all owners that have the property.
fn kind_of(
    known: &BTreeMap<String, Vec<Property>>,
    owners: &[String],
    property: &Name,
) -> Option<Temporal> {
    let properties = owners.iter().filter_map(|owner| known.get(owner)).flatten();
    let mut kinds = properties
        .filter(|known| known.name == property.text)
        .map(|known| known.kind.as_str());
    let first = kinds.next()?;
    let mut temporal = Temporal::ALL.into_iter();
    let kind = temporal.find(|temporal| temporal.kind() == first)?;
    kinds.all(|kind| kind == first).then_some(kind)
}

fn fit_kind(
    kind: Temporal,
    name: &Name,
    value: &mut Expr,
    is_from_midnight: bool,
) -> CheckResult<()> {
    let (other, text) = match &*value {
        Expr::Text(text) => (None, Some(text.as_str())),
        computed => match made(computed) {
            Some((other, text)) => (Some(other), text),
            None => return Ok(()),
        },
    };
    if other == Some(kind) {
        return Ok(());
    }
    let is_meant = |text: &&str| match (kind, other) {
        (Temporal::Date, None) => is_date(text),
        (Temporal::DateTime, None) => is_instant(text) || is_from_midnight && is_date(text),
        (Temporal::LocalDateTime, None)
        | (Temporal::DateTime | Temporal::LocalDateTime, Some(Temporal::Date)) => {
            is_from_midnight && is_date(text)
        }
        (_, _) => false,
    };
    if let Some(text) = text.filter(is_meant) {
        let text = Expr::Text(text.to_owned());
        *value = Expr::Call(Box::new(FunctionCall {
            function: Name {
                text: kind.function().to_owned(),
                at: name.at,
            },
            distinct: false,
            arguments: vec![text],
        }));
        return Ok(());
    }
    let message = format!("{} is a {}", name.text, kind.kind());
    Err(Problem::at(name.at, message).advice(kind.proposal(text)))
}

/// The type that an expression certainly has, and the text that it is made from. What is added to it changes nothing about its type.
fn made(value: &Expr) -> Option<(Temporal, Option<&str>)> {
    match value {
        Expr::Call(call) => {
            let function = call.function.text.split('.').next()?;
            let mut all = Temporal::ALL.into_iter();
            let kind = all.find(|kind| function.eq_ignore_ascii_case(kind.function()))?;
            let text = match call.arguments.as_slice() {
                [Expr::Text(text)] => Some(text.as_str()),
                _ => None,
            };
            Some((kind, text))
        }
        Expr::Chain(Strength::Sum, first, _) => made(first).map(|(kind, _)| (kind, None)),
        _ => None,
    }
}

/// `2026-01-31`
fn is_date(text: &str) -> bool {
    let between = |part: &str, least: u32, most: u32| {
        part.len() == 2 && part.parse().is_ok_and(|it| (least..=most).contains(&it))
    };
    let is_number = |part: &str| part.bytes().all(|digit| digit.is_ascii_digit());
    match text.split('-').collect::<Vec<_>>().as_slice() {
        [year, month, day] => {
            year.len() == 4
                && [year, month, day].iter().all(|part| is_number(part))
                && between(month, 1, 12)
                && between(day, 1, 31)
        }
        _ => false,
    }
}

/// `2026-01-31T09:00:00Z`
fn is_instant(text: &str) -> bool {
    let (Some(day), Some(time)) = (text.get(..10), text.get(10..)) else {
        return false;
    };
    let is_part = |c: char| c.is_ascii_digit() || ":.+-Z".contains(c);
    let clock = time.strip_prefix('T');
    is_date(day)
        && clock.is_some_and(|clock| {
            let has_zone = clock.ends_with('Z') || clock.contains(['+', '-']);
            has_zone
                && clock.starts_with(|c: char| c.is_ascii_digit())
                && clock.chars().all(is_part)
        })
}

/// Counts whole months where months are asked for: the embedded engine puts all of `duration.between` into days. On Neo4j both
/// have the same months.
pub(super) fn count_months(base: &mut Expr, property: &Name) {
    const OF_MONTHS: [&str; 3] = ["years", "quarters", "months"];
    let mut names = OF_MONTHS.iter();
    if let Expr::Call(call) = base
        && call.is("duration.between")
        && names.any(|name| property.text.eq_ignore_ascii_case(name))
    {
        "duration.inMonths".clone_into(&mut call.function.text);
    }
}
