//! Graph values as JSON.
//!
//! Null, booleans, integers, floats, strings, lists and maps are themselves (`1` is an integer,
//! `1.0` a float). Types that JSON lacks are objects with one key that begins with `$`; a map that
//! happens to look like one is wrapped in `$map`.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

pub(crate) const BYTES: &str = "$bytes";
pub(crate) const DATE: &str = "$date";
pub(crate) const TIME: &str = "$time";
pub(crate) const LOCAL_TIME: &str = "$localtime";
pub(crate) const DATE_TIME: &str = "$datetime";
pub(crate) const LOCAL_DATE_TIME: &str = "$localdatetime";
pub(crate) const DURATION: &str = "$duration";
pub(crate) const POINT: &str = "$point";
pub(crate) const FLOAT: &str = "$float";
pub(crate) const MAP: &str = "$map";
/// `{"labels", "properties"}`
pub(crate) const NODE: &str = "$node";
/// `{"type", "properties"}`
pub(crate) const RELATIONSHIP: &str = "$relationship";
/// Nodes and relationships alternating.
pub(crate) const PATH: &str = "$path";

/// A value of a type that JSON lacks.
pub(crate) fn tagged(tag: &str, value: impl Into<Value>) -> Value {
    let mut object = Map::new();
    object.insert(tag.to_owned(), value.into());
    Value::Object(object)
}

/// The tag and its value; `None` if the object is a plain map.
pub(crate) fn tag_of(object: &Map<String, Value>) -> Option<(&str, &Value)> {
    if object.len() != 1 {
        return None;
    }
    let (key, value) = object.iter().next()?;
    key.starts_with('$').then_some((key.as_str(), value))
}

/// A map, wrapped if it could be taken for a tagged value.
pub(crate) fn map(object: Map<String, Value>) -> Value {
    if tag_of(&object).is_some() {
        tagged(MAP, object)
    } else {
        Value::Object(object)
    }
}

/// A float; JSON lacks NaN and infinities.
pub(crate) fn float(value: f64) -> Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None => tagged(FLOAT, value.to_string()),
    }
}

/// A duration in the parts that Cypher keeps apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DurationParts {
    pub(crate) months: i64,
    pub(crate) days: i64,
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: i64,
}

impl DurationParts {
    pub(crate) fn to_json(self) -> Value {
        tagged(
            DURATION,
            json!([self.months, self.days, self.seconds, self.nanoseconds]),
        )
    }

    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let parts: Vec<i64> = value
            .as_array()?
            .iter()
            .map(Value::as_i64)
            .collect::<Option<_>>()?;
        let [months, days, seconds, nanoseconds] = parts.as_slice() else {
            return None;
        };
        Some(Self {
            months: *months,
            days: *days,
            seconds: *seconds,
            nanoseconds: *nanoseconds,
        })
    }
}

/// Parses an instant.
pub(crate) fn instant(value: &Value) -> Option<DateTime<Utc>> {
    let text = match value {
        Value::String(text) => text,
        Value::Object(object) => match tag_of(object)? {
            (DATE_TIME, Value::String(text)) => text,
            (_, _) => return None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    let (text, _zone) = split_zone(text);
    Some(DateTime::parse_from_rfc3339(text).ok()?.to_utc())
}

/// Splits `2026-01-02T03:04:05+01:00[Europe/Oslo]` into the instant and the name of the zone.
pub(crate) fn split_zone(text: &str) -> (&str, Option<&str>) {
    match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((instant, zone)) => (instant, Some(zone)),
        None => (text, None),
    }
}

pub(crate) fn node(labels: Vec<Value>, properties: Map<String, Value>) -> Value {
    let mut inner = Map::new();
    inner.insert("labels".to_owned(), Value::Array(labels));
    inner.insert("properties".to_owned(), Value::Object(properties));
    tagged(NODE, inner)
}

pub(crate) fn relationship(kind: &str, properties: Map<String, Value>) -> Value {
    let mut inner = Map::new();
    inner.insert("type".to_owned(), Value::from(kind));
    inner.insert("properties".to_owned(), Value::Object(properties));
    tagged(RELATIONSHIP, inner)
}

/// A path, from its nodes and the relationships between them.
pub(crate) fn path(nodes: Vec<Value>, relationships: Vec<Value>) -> Value {
    let mut relationships = relationships.into_iter();
    let mut steps = Vec::new();
    for node in nodes {
        steps.push(node);
        steps.extend(relationships.next());
    }
    tagged(PATH, steps)
}

/// The form for people and models: tags are replaced by their text.
pub(crate) fn plain(value: Value) -> Value {
    match value {
        Value::Object(object) => match tag_of(&object) {
            Some((MAP, Value::Object(inner))) => Value::Object(
                inner
                    .iter()
                    .map(|(key, value)| (key.clone(), plain(value.clone())))
                    .collect(),
            ),
            Some((_, inner)) => inner.clone(),
            None => Value::Object(object.into_iter().map(|(k, v)| (k, plain(v))).collect()),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(plain).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// Values that every engine returns unchanged.
#[cfg(test)]
pub(crate) fn in_every_engine() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(1),
        json!(1.0),
        json!("a\u{0}\"'\\☃"),
        json!([1, [2.5, "x"], null]),
        json!({"a": {"b": 1}}),
        json!({"$map": {"$date": "no date"}}),
        json!({"$date": "2026-01-02"}),
        json!({"$time": "10:00:00.500+01:00"}),
        json!({"$localtime": "10:00:00"}),
        json!({"$datetime": "2026-01-02T03:04:05.123456789+01:00"}),
        json!({"$localdatetime": "2026-01-02T03:04:05.250"}),
        json!({"$duration": [1, -2, 3, 4]}),
        json!({"$float": "NaN"}),
        json!({"$point": {"srid": 4326, "at": [1.0, 2.0]}}),
    ]
}
