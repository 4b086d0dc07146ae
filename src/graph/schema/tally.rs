//! Collects properties and the form of their values, from a sample.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Property;
use super::limits::SHORT_TEXT_CHARS;
use super::overview::Values;
use crate::graph::ingest::HIDDEN_PROPERTIES;
use crate::graph::query::VECTOR;

/// Up to so many different values are an enumeration, if they repeat.
const MAX_ENUMERATION_VALUES: usize = 12;

/// Number of examples for a property with many values.
const EXAMPLES: usize = 3;

/// The type of vectors, which are not data.
const VECTOR_KIND: &str = "VECTOR";

/// The properties of one label or type.
#[derive(Debug, Default)]
pub(super) struct PropertyTally(BTreeMap<String, Counted>);

#[derive(Debug, Default)]
struct Counted {
    times: u64,
    kinds: BTreeMap<String, u64>,
    /// By JSON text, which is ordered.
    values: BTreeMap<String, u64>,
    /// One of them is too long to be shown, or has no short form.
    has_more: bool,
}

/// Returns the type of a property's value from the result of `valueType()`, in the terms of
/// [`Property::kind`]. For a list, `value` is the length.
pub(super) fn value_kind(value_type: &str, value: &Value) -> String {
    let bare = value_type.trim_end_matches(" NOT NULL");
    let kind = match bare {
        "ZONED DATETIME" => "DATE_TIME",
        "LOCAL DATETIME" => "LOCAL_DATE_TIME",
        "ZONED TIME" => "TIME",
        "LOCAL TIME" => "LOCAL_TIME",
        list if list.starts_with("LIST") => {
            let is_long = value.as_u64() >= Some(VECTOR as u64);
            let is_numeric = list.starts_with("LIST<FLOAT") || list.starts_with("LIST<INTEGER");
            if is_long && is_numeric {
                VECTOR_KIND
            } else {
                "LIST"
            }
        }
        other => other,
    };
    kind.to_owned()
}

impl PropertyTally {
    /// Adds the properties of one node or relationship: name, type and short value.
    pub(super) fn add(&mut self, properties: Vec<(String, String, Value)>) {
        for (name, kind, value) in properties {
            let counted = self.0.entry(name).or_default();
            counted.times += 1;
            let has_values = matches!(kind.as_str(), "STRING" | "INTEGER" | "FLOAT" | "BOOLEAN");
            let is_long = value
                .as_str()
                .is_some_and(|text| text.chars().count() > SHORT_TEXT_CHARS);
            if has_values && !is_long && !value.is_null() {
                *counted.values.entry(value.to_string()).or_default() += 1;
            } else {
                counted.has_more = true;
            }
            *counted.kinds.entry(kind).or_default() += 1;
        }
    }

    /// Returns the properties, commonest first, with the form of their values.
    pub(super) fn finish(self) -> (Vec<Property>, BTreeMap<String, Values>) {
        let mut all: Vec<(String, Counted)> = self.0.into_iter().collect();
        all.retain(|(name, counted)| {
            !counted.is_vector(name) && !HIDDEN_PROPERTIES.contains(&name.as_str())
        });
        all.sort_by(|(a, first), (b, second)| (second.times, a).cmp(&(first.times, b)));
        let values = all
            .iter()
            .filter_map(|(name, counted)| Some((name.clone(), counted.look()?)))
            .collect();
        let properties = all.into_iter().map(|(name, counted)| Property {
            kind: counted.kind(),
            name,
        });
        (properties.collect(), values)
    }
}

impl Counted {
    /// The embedded store keeps a vector as text.
    fn is_vector(&self, name: &str) -> bool {
        self.kinds.contains_key(VECTOR_KIND) || (name == "embedding" && self.values.is_empty())
    }

    /// Returns the commonest type; for whole and other numbers, the one that holds both.
    fn kind(&self) -> String {
        let is_number = |kind: &str| kind == "INTEGER" || kind == "FLOAT";
        if self.kinds.len() > 1 && self.kinds.keys().all(|kind| is_number(kind)) {
            return "FLOAT".to_owned();
        }
        let most = self.kinds.iter().rev().max_by_key(|(_, times)| **times);
        most.map_or_else(String::new, |(kind, _)| kind.clone())
    }

    fn look(&self) -> Option<Values> {
        let mut ranked: Vec<(&String, u64)> = self
            .values
            .iter()
            .map(|(text, times)| (text, *times))
            .collect();
        ranked.sort_by(|(a, first), (b, second)| (second, a).cmp(&(first, b)));
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let repeats = self.times >= 2 * self.values.len() as u64;
        if ranked.is_empty() {
            None
        } else if ranked.len() <= MAX_ENUMERATION_VALUES && repeats && !self.has_more {
            let few = ranked
                .into_iter()
                .map(|(text, times)| (parsed(text), times));
            Some(Values::Few(few.collect()))
        } else {
            let some = ranked.into_iter().take(EXAMPLES);
            Some(Values::Many(some.map(|(text, _)| parsed(text)).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tally(values: &[(&str, Value)]) -> (Vec<Property>, BTreeMap<String, Values>) {
        let mut tally = PropertyTally::default();
        for (kind, value) in values {
            tally.add(vec![("p".to_owned(), (*kind).to_owned(), value.clone())]);
        }
        tally.finish()
    }

    #[test]
    fn types_are_named_as_in_the_schema() {
        for (said, value, kind) in [
            ("STRING NOT NULL", json!("x"), "STRING"),
            ("ZONED DATETIME NOT NULL", json!(null), "DATE_TIME"),
            ("LIST<STRING NOT NULL> NOT NULL", json!(900), "LIST"),
            ("LIST<FLOAT NOT NULL> NOT NULL", json!(3), "LIST"),
            ("LIST<FLOAT NOT NULL> NOT NULL", json!(64), "VECTOR"),
            ("POINT NOT NULL", json!(null), "POINT"),
        ] {
            assert_eq!(value_kind(said, &value), kind, "{said}");
        }
    }

    #[test]
    fn few_values_that_repeat_are_counted_and_many_give_examples() {
        let rated: Vec<_> = [5, 3, 5, 3, 5, 1].map(|n| ("INTEGER", json!(n))).to_vec();
        let (properties, values) = tally(&rated);
        assert_eq!(properties[0].kind, "INTEGER");
        let counted = vec![(json!(5), 3), (json!(3), 2), (json!(1), 1)];
        assert_eq!(values["p"], Values::Few(counted));

        let names: Vec<_> = (0..40)
            .map(|n| ("STRING", json!(format!("n{n:02}"))))
            .collect();
        let some = vec![json!("n00"), json!("n01"), json!("n02")];
        assert_eq!(tally(&names).1["p"], Values::Many(some));
    }

    #[test]
    fn mixed_types_and_vectors() {
        let (properties, _) = tally(&[("INTEGER", json!(1)), ("FLOAT", json!(1.5))]);
        assert_eq!(properties[0].kind, "FLOAT");
        let mixed = [
            ("STRING", json!("a")),
            ("DATE", json!(null)),
            ("DATE", json!(null)),
        ];
        assert_eq!(tally(&mixed).0[0].kind, "DATE");
        assert!(tally(&[("VECTOR", json!(256))]).0.is_empty());
        let long = "x".repeat(SHORT_TEXT_CHARS + 1);
        assert_eq!(tally(&[("STRING", json!(long))]).1.len(), 0);
    }
}
