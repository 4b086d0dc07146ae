//! Formats a record's properties: dates as spans, names in words. Pure.

use muninn_platform::one_line;
use serde_json::Value;

use crate::knowledge::documents::{DOCUMENT, PASSAGE, SECTION};

/// Suffixes of property names for the beginning and the end of a span.
const SPANS: [(&str, &str); 2] = [("StartDate", "EndDate"), ("birthDate", "deathDate")];
/// Labels of document parts, which say nothing about the content.
const PARTS: [&str; 3] = [DOCUMENT, SECTION, PASSAGE];

/// Maximum facts below the text of a record, with dates.
const FACTS_BELOW: usize = 12;
/// Maximum characters of a fact.
const FACT: usize = 80;

/// Properties that are shown elsewhere, or that nobody reads.
const TOLD: &[&str] = &[
    "chunkId",
    "chunkSeqId",
    "embedding",
    "file_name",
    "heading",
    "id",
    "kind",
    "line_num",
    "link",
    "path",
    "source",
    "tags",
    "text",
    "title",
    "type",
];

/// A named date or span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dated {
    /// In words: "coverage".
    pub(super) name: String,
    pub(super) from: Option<String>,
    pub(super) until: Option<String>,
}

impl Dated {
    /// `1950-01-01 – 1952-12-31`
    pub(super) fn text(&self) -> String {
        self.with(str::to_owned)
    }

    /// `1950–1952`, where both are dates.
    fn years(&self) -> String {
        self.with(|date| {
            let year: String = date.chars().take_while(char::is_ascii_digit).collect();
            if year.is_empty() {
                date.to_owned()
            } else {
                year
            }
        })
    }

    fn with(&self, told: impl Fn(&str) -> String) -> String {
        match (&self.from, &self.until) {
            (Some(from), Some(until)) => {
                let (from, until) = (told(from), told(until));
                if from == until {
                    from
                } else {
                    format!("{from} – {until}")
                }
            }
            (Some(from), None) => format!("from {}", told(from)),
            (None, Some(until)) => format!("until {}", told(until)),
            (None, None) => String::new(),
        }
    }
}

/// Returns the dates of a record, spans merged, in the order of its properties.
pub(super) fn dates(properties: &[(String, Value)]) -> Vec<Dated> {
    let mut found: Vec<Dated> = Vec::new();
    for (name, value) in properties {
        let Some(text) = date(value) else { continue };
        let Some((stem, is_start)) = end_of_span(name) else {
            if name.to_lowercase().contains("date") {
                found.push(Dated {
                    name: in_words(name),
                    from: Some(text.clone()),
                    until: Some(text),
                });
            }
            continue;
        };
        let name = match in_words(stem) {
            empty if empty.is_empty() => "lived".to_owned(),
            words => words,
        };
        let place = found.iter().position(|it| it.name == name);
        let place = place.unwrap_or_else(|| {
            found.push(Dated {
                name,
                from: None,
                until: None,
            });
            found.len() - 1
        });
        let span = &mut found[place];
        if is_start {
            span.from = Some(text);
        } else {
            span.until = Some(text);
        }
    }
    found
}

/// Whether a property is formatted as a date.
pub(super) fn is_date(name: &str) -> bool {
    end_of_span(name).is_some() || name.to_lowercase().contains("date")
}

/// Whether it is a part of a document, of which nothing but its text says anything.
pub(super) fn is_part(label: &str) -> bool {
    PARTS.contains(&label)
}

/// Describes a step of a path by kind and years: `series, 1890–1904`; empty if neither is
/// informative.
pub(super) fn kind_and_years(label: &str, dates: Option<&Dated>) -> String {
    let kind = (!is_part(label)).then(|| label.to_owned());
    let years = dates.map(Dated::years).filter(|it| !it.is_empty());
    let years = years.map(|years| years.replace(" – ", "–"));
    let told: Vec<String> = kind.into_iter().chain(years).collect();
    told.join(", ")
}

/// Parses `logicalDate_coverageStartDate` into `coverage` and whether it is the beginning.
fn end_of_span(name: &str) -> Option<(&str, bool)> {
    SPANS.iter().find_map(|(start, end)| {
        let starts = name.strip_suffix(start).map(|stem| (stem, true));
        starts.or_else(|| name.strip_suffix(end).map(|stem| (stem, false)))
    })
}

/// Returns a date, or several in one text.
fn date(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            texts?.join(", ")
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Converts a property name to words: `logicalDate_coverageEndDate` is `coverage end date`,
/// `heading_creators` is `creators`.
pub(super) fn in_words(name: &str) -> String {
    let plain = |name| {
        ["logicalDate_", "heading_"]
            .iter()
            .fold(name, |name: &str, prefix| {
                name.strip_prefix(prefix).unwrap_or(name)
            })
    };
    let mut words = String::new();
    for character in plain(name).chars() {
        if character == '_' {
            words.push(' ');
        } else if character.is_uppercase() {
            words.push(' ');
            words.extend(character.to_lowercase());
        } else {
            words.push(character);
        }
    }
    words.trim().to_owned()
}

/// Whether people can open it; a path belongs to the machine that ingested it.
pub fn is_address(link: &str) -> bool {
    link.starts_with("https://") || link.starts_with("http://")
}

/// Whether it is a path on a machine, which is useless to readers and should not be disclosed.
pub fn is_path(text: &str) -> bool {
    let text = text.trim();
    let has_drive = text.get(1..3).is_some_and(|it| it == ":\\" || it == ":/");
    text.starts_with("file:")
        || text.starts_with("\\\\")
        || has_drive
        || (text.starts_with('/') && text.len() > 1 && !text.contains(char::is_whitespace))
}

/// Returns a record's text, and on a line below it the dates and short properties that it lacks:
/// numbers and dates of tables are no part of the text that is searched.
pub(super) fn with_facts(text: String, properties: &[(String, Value)]) -> String {
    let dates = dates(properties).into_iter();
    let dates = dates.map(|dated| (dated.name.clone(), dated.text()));
    let is_there = |name: &str, value: &str| {
        has_words(&text, value) || has_field(&text, value, |own| is_same_name(own, name))
    };
    let missing = dates
        .chain(short(properties))
        .filter(|(name, value)| !is_there(name, value))
        .take(FACTS_BELOW);
    let missing: Vec<String> = missing
        .map(|(name, value)| one_line(&format!("{name}: {value}")))
        .collect();
    match missing[..] {
        [] => text,
        [..] => format!("{}\n{}", text.trim_end(), missing.join("; ")),
    }
}

/// Whether a text has a value with words in it, and not only as a part of other words. A number says
/// something only with its name.
fn has_words(text: &str, value: &str) -> bool {
    let is_worded = value.chars().any(char::is_alphabetic);
    is_worded
        && text.match_indices(value).any(|(at, _)| {
            let is_apart = |beside: Option<char>| !beside.is_some_and(char::is_alphanumeric);
            let after = text[at + value.len()..].chars().next();
            is_apart(text[..at].chars().next_back()) && is_apart(after)
        })
}

/// Whether a text has a field with this value whose name, in lower case, is meant: the rows of a table have
/// "Order: 1042; Status: open".
pub(super) fn has_field(text: &str, value: &str, is_meant: impl Fn(&str) -> bool) -> bool {
    let fields = text.split(['\n', ';']);
    let mut named = fields.filter_map(|field| field.split_once(": "));
    named.any(|(name, own)| own.trim() == value && is_meant(&name.to_lowercase()))
}

/// Whether two names are the same but for the signs between their words: `price_eur` and "price eur".
fn is_same_name(one: &str, other: &str) -> bool {
    let letters = |name: &str| -> String { name.chars().filter(|c| c.is_alphanumeric()).collect() };
    letters(one) == letters(other)
}

/// Returns short properties other than dates, formatted for people.
pub(super) fn short(properties: &[(String, Value)]) -> Vec<(String, String)> {
    let is_told = |name: &String| TOLD.contains(&name.as_str()) || is_date(name);
    let mut short = Vec::new();
    for (name, value) in properties.iter().filter(|(name, _)| !is_told(name)) {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(items) => {
                let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                texts.map(|texts| texts.join(", ")).unwrap_or_default()
            }
            Value::Null | Value::Object(_) => String::new(),
        };
        if !text.trim().is_empty() && text.chars().count() <= FACT && !is_path(&text) {
            short.push((in_words(name), text));
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn dates_of(properties: &Value) -> Vec<(String, String, String)> {
        let properties = properties.as_object().unwrap().clone();
        let properties: Vec<(String, Value)> = properties.into_iter().collect();
        let told = |dated: Dated| {
            let years = kind_and_years("Section", Some(&dated));
            (dated.name.clone(), dated.text(), years)
        };
        dates(&properties).into_iter().map(told).collect()
    }

    #[test]
    fn two_ends_are_one_span() {
        for (properties, expected) in [
            (
                json!({"logicalDate_coverageEndDate": "1952-12-31", "logicalDate_coverageStartDate": "1950-01-01"}),
                ("coverage", "1950-01-01 – 1952-12-31", "1950–1952"),
            ),
            (
                json!({"logicalDate_inclusiveStartDate": "1950-01-01"}),
                ("inclusive", "from 1950-01-01", "from 1950"),
            ),
            (
                json!({"logicalDate_birthDate": "1840-02-03", "logicalDate_deathDate": "1910-01-01"}),
                ("lived", "1840-02-03 – 1910-01-01", "1840–1910"),
            ),
            (
                json!({"logicalDate_deathDate": 1910}),
                ("lived", "until 1910", "until 1910"),
            ),
            (
                json!({"dueDate": "2026-04-01"}),
                ("due date", "2026-04-01", "2026"),
            ),
            (
                json!({"logicalDate_productionDates": ["1870-02-01", "1871-02-01"]}),
                ("production dates", "1870-02-01, 1871-02-01", "1870"),
            ),
        ] {
            let (name, text, years) = expected;
            let expected = (name.to_owned(), text.to_owned(), years.to_owned());
            assert_eq!(dates_of(&properties), [expected], "{properties}");
        }
        assert!(dates_of(&json!({"title": "x", "coverageStartDate": null})).is_empty());
    }

    #[test]
    fn a_step_tells_what_it_is_and_when() {
        let dated = Dated {
            name: "coverage".to_owned(),
            from: Some("1890-01-01".to_owned()),
            until: Some("1890-12-31".to_owned()),
        };
        assert_eq!(kind_and_years("series", Some(&dated)), "series, 1890");
        assert_eq!(kind_and_years("series", None), "series");
        assert_eq!(kind_and_years(SECTION, None), "");
    }

    #[test]
    fn facts_that_a_text_lacks_stand_below_it() {
        let properties = [
            ("title", json!("Fish soup")),
            ("dish", json!("Fish soup")),
            ("kitchen", json!("Fish")),
            ("cook", json!("Ada")),
            ("price_eur", json!("8.50")),
            ("kcal", json!(320)),
            ("available_from", json!("2026-12-01")),
            ("bestBeforeDate", json!("2027-01-01")),
            ("scan", json!("/srv/menu.tif")),
        ];
        let properties = properties.map(|(name, value)| (name.to_owned(), value));
        let with = |text: &str| with_facts(text.to_owned(), &properties);
        let numbers = "price eur: 8.50; kcal: 320; available from: 2026-12-01";
        assert_eq!(
            with("Fish soup\n320 guests, by Adam\n"),
            format!(
                "Fish soup\n320 guests, by Adam\nbest before date: 2027-01-01; cook: Ada; {numbers}"
            )
        );
        assert!(!with("Fish soup by Ada").contains("cook"));
        assert!(!with("Fish soup\n\nkcal: 320; Price_EUR: 8.50").contains(numbers));
        assert!(with("Fish soup\n\nkcal: 32").contains("kcal: 320"));
        assert_eq!(with_facts("Soup.".to_owned(), &[]), "Soup.");
    }
}
