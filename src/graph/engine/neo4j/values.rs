//! Converts Neo4j's values to JSON and back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime};
use neo4rs::{
    BoltBytes, BoltDuration, BoltFloat, BoltInteger, BoltList, BoltMap, BoltNode, BoltNull,
    BoltPath, BoltPoint2D, BoltPoint3D, BoltString, BoltType,
};
use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use crate::graph::StoreError;
use crate::graph::engine::value;
use crate::graph::engine::value::{
    BYTES, DATE, DATE_TIME, DURATION, DurationParts, FLOAT, LOCAL_DATE_TIME, LOCAL_TIME, MAP,
    POINT, TIME, float, map, relationship, split_zone, tag_of, tagged,
};

/// Fractions of a second only if there are any.
const CLOCK: &str = "%H:%M:%S%.f";
const LOCAL: &str = "%Y-%m-%dT%H:%M:%S%.f";

/// A non-empty list of floats only: a vector, read without the driver's copies.
pub(super) struct Floats(pub(super) Vec<f64>);

impl<'de> Deserialize<'de> for Floats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Floats;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of floats")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Floats, A::Error> {
                let mut floats = Vec::with_capacity(list.size_hint().unwrap_or_default());
                while let Some(Float(float)) = list.next_element()? {
                    floats.push(float);
                }
                // An empty list may be of any type, or bytes.
                if floats.is_empty() {
                    return Err(A::Error::invalid_length(0, &self));
                }
                Ok(Floats(floats))
            }
        }
        deserializer.deserialize_any(List)
    }
}

/// A float; integers are rejected.
struct Float(f64);

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Float;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a float")
            }

            fn visit_f64<E>(self, number: f64) -> Result<Float, E> {
                Ok(Float(number))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

/// Converts a value from the server.
pub(super) fn from_bolt(value: BoltType) -> Value {
    match value {
        BoltType::Null(_) => Value::Null,
        BoltType::Boolean(boolean) => Value::Bool(boolean.value),
        BoltType::Integer(integer) => Value::from(integer.value),
        BoltType::Float(number) => float(number.value),
        BoltType::String(string) => Value::String(string.value),
        BoltType::List(list) => list.value.into_iter().map(from_bolt).collect(),
        BoltType::Map(entries) => map(from_bolt_map(entries)),
        BoltType::Bytes(bytes) => tagged(BYTES, STANDARD.encode(&bytes.value)),
        BoltType::Point2D(at) => point(at.sr_id.value, &[at.x.value, at.y.value]),
        BoltType::Point3D(at) => point(at.sr_id.value, &[at.x.value, at.y.value, at.z.value]),
        BoltType::Duration(duration) => from_duration(duration),
        BoltType::Date(_)
        | BoltType::Time(_)
        | BoltType::LocalTime(_)
        | BoltType::DateTime(_)
        | BoltType::LocalDateTime(_)
        | BoltType::DateTimeZoneId(_) => from_temporal(value).unwrap_or(Value::Null),
        BoltType::Node(node) => from_node(node),
        BoltType::Relation(one) => relationship(&one.typ.value, from_bolt_map(one.properties)),
        BoltType::UnboundedRelation(one) => {
            relationship(&one.typ.value, from_bolt_map(one.properties))
        }
        BoltType::Path(path) => from_path(&path),
    }
}

fn from_node(node: BoltNode) -> Value {
    let labels = node.labels.value.into_iter().map(from_bolt).collect();
    value::node(labels, from_bolt_map(node.properties))
}

/// The server sends each node once, and the path as indices into two lists: of a relationship (from
/// 1, negative against its direction) and of the node that it leads to.
fn from_path(path: &BoltPath) -> Value {
    let (nodes, ties) = (path.nodes(), path.rels());
    let place = |index: i64| usize::try_from(index).unwrap_or(usize::MAX);
    let indices: Vec<i64> = path.indices().iter().map(|index| index.value).collect();
    let (steps, _) = indices.as_chunks::<2>();
    let mut way: Vec<Value> = nodes.first().cloned().map(from_node).into_iter().collect();
    let mut walked = Vec::new();
    for [tie, node] in steps {
        if let Some(one) = ties.get(place(tie.abs() - 1)) {
            walked.push(relationship(
                &one.typ.value,
                from_bolt_map(one.properties.clone()),
            ));
        }
        way.extend(nodes.get(place(*node)).cloned().map(from_node));
    }
    value::path(way, walked)
}

fn from_bolt_map(entries: BoltMap) -> Map<String, Value> {
    entries
        .value
        .into_iter()
        .map(|(key, value)| (key.value, from_bolt(value)))
        .collect()
}

fn point(srid: i64, coordinates: &[f64]) -> Value {
    let coordinates: Vec<Value> = coordinates.iter().map(|x| float(*x)).collect();
    tagged(POINT, json!({"srid": srid, "at": coordinates}))
}

/// The driver exposes a duration's parts only through its deserializer.
fn from_duration(duration: BoltDuration) -> Value {
    let mut holder = BoltMap::new();
    holder.put(BoltString::new("d"), BoltType::Duration(duration));
    match holder.get::<(i64, i64, i64, i64)>("d") {
        Ok((months, days, seconds, nanoseconds)) => DurationParts {
            months,
            days,
            seconds,
            nanoseconds,
        }
        .to_json(),
        Err(_) => Value::Null,
    }
}

fn from_temporal(value: BoltType) -> Option<Value> {
    Some(match value {
        BoltType::Time(time) => {
            let (clock, offset): (NaiveTime, FixedOffset) = time.into();
            tagged(TIME, format!("{}{offset}", clock.format(CLOCK)))
        }
        BoltType::LocalTime(time) => {
            let clock: NaiveTime = time.into();
            tagged(LOCAL_TIME, clock.format(CLOCK).to_string())
        }
        BoltType::DateTimeZoneId(zoned) => {
            let zone = zoned.tz_id().to_owned();
            let at = DateTime::<FixedOffset>::try_from(&zoned).ok()?;
            tagged(DATE_TIME, format!("{}[{zone}]", at.to_rfc3339()))
        }
        BoltType::DateTime(_) => {
            let at: DateTime<FixedOffset> = value.try_into().ok()?;
            tagged(DATE_TIME, at.to_rfc3339())
        }
        BoltType::LocalDateTime(_) => {
            let at: NaiveDateTime = value.try_into().ok()?;
            tagged(LOCAL_DATE_TIME, at.format(LOCAL).to_string())
        }
        BoltType::Date(_) => {
            let day: NaiveDate = value.try_into().ok()?;
            tagged(DATE, day.to_string())
        }
        _other => return None,
    })
}

/// Converts a value for the server.
pub(super) fn bolt(value: &Value) -> Result<BoltType, StoreError> {
    Ok(match value {
        Value::Null => BoltType::Null(BoltNull),
        Value::Bool(boolean) => BoltType::from(*boolean),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => BoltType::Integer(BoltInteger::new(integer)),
            None => BoltType::Float(BoltFloat::new(
                number.as_f64().ok_or_else(|| unusable(value))?,
            )),
        },
        Value::String(string) => BoltType::from(string.as_str()),
        Value::Array(items) => {
            let mut list = BoltList::with_capacity(items.len());
            for item in items {
                list.push(bolt(item)?);
            }
            BoltType::List(list)
        }
        Value::Object(object) => match tag_of(object) {
            Some((MAP, Value::Object(inner))) => bolt_map(inner)?,
            Some((tag, inner)) => bolt_tagged(tag, inner).ok_or_else(|| unusable(value))?,
            None => bolt_map(object)?,
        },
    })
}

fn unusable(value: &Value) -> StoreError {
    StoreError::Unexpected(format!("{value} is no value that Neo4j keeps"))
}

fn bolt_map(object: &Map<String, Value>) -> Result<BoltType, StoreError> {
    let mut entries = BoltMap::with_capacity(object.len());
    for (key, value) in object {
        entries.put(BoltString::new(key), bolt(value)?);
    }
    Ok(BoltType::Map(entries))
}

fn bolt_tagged(tag: &str, inner: &Value) -> Option<BoltType> {
    match (tag, inner) {
        (BYTES, Value::String(text)) => Some(BoltType::Bytes(BoltBytes::new(
            STANDARD.decode(text).ok()?.into(),
        ))),
        (DATE, Value::String(text)) => Some(text.parse::<NaiveDate>().ok()?.into()),
        (TIME, Value::String(text)) => {
            let split = text.rfind(['+', '-', 'Z'])?;
            let (clock, offset) = text.split_at(split);
            let offset = if offset == "Z" { "+00:00" } else { offset };
            let clock = NaiveTime::parse_from_str(clock, CLOCK).ok()?;
            Some((clock, offset.parse::<FixedOffset>().ok()?).into())
        }
        (LOCAL_TIME, Value::String(text)) => {
            Some(NaiveTime::parse_from_str(text, CLOCK).ok()?.into())
        }
        (DATE_TIME, Value::String(text)) => match split_zone(text) {
            (at, None) => Some(DateTime::parse_from_rfc3339(at).ok()?.into()),
            (at, Some(zone)) => {
                let local = DateTime::parse_from_rfc3339(at).ok()?.naive_local();
                Some((local, zone).into())
            }
        },
        (LOCAL_DATE_TIME, Value::String(text)) => {
            Some(NaiveDateTime::parse_from_str(text, LOCAL).ok()?.into())
        }
        (DURATION, _) => {
            let parts = DurationParts::from_json(inner)?;
            Some(BoltType::Duration(BoltDuration::new(
                parts.months.into(),
                parts.days.into(),
                parts.seconds.into(),
                parts.nanoseconds.into(),
            )))
        }
        (FLOAT, Value::String(text)) => Some(BoltType::from(text.parse::<f64>().ok()?)),
        (POINT, _) => bolt_point(inner),
        (_, _) => None,
    }
}

fn bolt_point(inner: &Value) -> Option<BoltType> {
    let sr_id = BoltInteger::new(inner.get("srid")?.as_i64()?);
    let at: Vec<BoltFloat> = inner
        .get("at")?
        .as_array()?
        .iter()
        .map(|x| x.as_f64().map(BoltFloat::new))
        .collect::<Option<_>>()?;
    match <[BoltFloat; 2]>::try_from(at) {
        Ok([x, y]) => Some(BoltType::Point2D(BoltPoint2D { sr_id, x, y })),
        Err(at) => {
            let [x, y, z] = <[BoltFloat; 3]>::try_from(at).ok()?;
            Some(BoltType::Point3D(BoltPoint3D { sr_id, x, y, z }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::engine::value::in_every_engine;

    #[test]
    fn values_come_back_as_they_went() {
        let own = [
            json!({"$bytes": "AAEC"}),
            json!({"$datetime": "2026-07-02T03:04:05+02:00[Europe/Oslo]"}),
            json!({"$float": "-inf"}),
            json!({"$point": {"srid": 9157, "at": [1.0, 2.0, 3.0]}}),
        ];
        for value in in_every_engine().into_iter().chain(own) {
            assert_eq!(from_bolt(bolt(&value).unwrap()), value);
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for value in [
            json!({"$date": "yesterday"}),
            json!({"$nonsense": 1}),
            json!(u64::MAX),
        ] {
            // A number beyond i64 becomes a float like in every JSON reader; the others are errors.
            assert!(bolt(&value).is_err() || value.is_u64(), "{value}");
        }
    }
}
