//! Converts the embedded engine's values to JSON and back.

use chrono::{DateTime, Datelike as _, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime};
use kglite::api::time_of_day::parse_time;
use kglite::api::zoned_datetime::{format_zoned_in, zone_by_name};
use kglite::api::{NodeValue, PropMap, Value as Native};
use serde_json::{Map, Value, json};

use crate::graph::StoreError;
use crate::graph::engine::value;
use crate::graph::engine::value::{
    DATE, DATE_TIME, DURATION, DurationParts, FLOAT, LOCAL_DATE_TIME, LOCAL_TIME, MAP, POINT, TIME,
    float, map, relationship, split_zone, tag_of, tagged,
};

const LOCAL: &str = "%Y-%m-%dT%H:%M:%S%.f";

/// The spatial reference system of the engine's only kind of point.
const WGS_84: i64 = 4326;

/// Marks an `id` that the engine generated, to be removed by [`super::Embedded`].
pub(super) const MADE_UP: &str = "$made_up";

pub(super) fn from_native(value: &Native) -> Value {
    match value {
        Native::Null | Native::NodeRef(_) => Value::Null,
        Native::UniqueId(id) => tagged(MADE_UP, *id),
        Native::Boolean(boolean) => Value::Bool(*boolean),
        Native::Int64(integer) => Value::from(*integer),
        Native::Float64(number) => float(*number),
        Native::String(string) => Value::String(string.clone()),
        Native::List(items) => items.iter().map(from_native).collect(),
        Native::Map(entries) => map(from_map(entries)),
        Native::Node(node) => from_node(node),
        Native::Relationship(one) => relationship(&one.rel_type, from_map(&one.properties)),
        Native::Path(path) => value::path(
            path.nodes.iter().map(from_node).collect(),
            path.rels
                .iter()
                .map(|one| relationship(&one.rel_type, from_map(&one.properties)))
                .collect(),
        ),
        Native::Point { lat, lon } => tagged(
            POINT,
            json!({"srid": WGS_84, "at": [float(*lon), float(*lat)]}),
        ),
        Native::Duration {
            months,
            days,
            seconds,
            nanos,
        } => DurationParts {
            months: i64::from(*months),
            days: i64::from(*days),
            seconds: *seconds,
            nanoseconds: i64::from(*nanos),
        }
        .to_json(),
        Native::DateTime(day) => tagged(DATE, day.to_string()),
        Native::Timestamp(at) => tagged(LOCAL_DATE_TIME, at.format(LOCAL).to_string()),
        Native::LocalTime(nanos) => tagged(LOCAL_TIME, clock(*nanos)),
        Native::Time { nanos, offset_secs } => {
            let offset = FixedOffset::east_opt(*offset_secs).map(|offset| offset.to_string());
            let offset = offset.unwrap_or_else(|| "Z".to_owned());
            tagged(TIME, format!("{}{offset}", clock(*nanos)))
        }
        Native::ZonedDateTime {
            utc,
            offset_secs,
            zone,
        } => zoned(
            *utc,
            *offset_secs,
            zone.map(kglite::api::time_zone::ZoneId::name),
        ),
    }
}

/// A node without its own type shows its label as `type`.
fn from_node(node: &NodeValue) -> Value {
    let mut properties = from_map(&node.properties);
    let label = node.labels.first().map(String::as_str);
    if label.is_some() && properties.get("type").and_then(Value::as_str) == label {
        properties.remove("type");
    }
    let labels = node.labels.iter().cloned().map(Value::String).collect();
    value::node(labels, properties)
}

fn zoned(utc: NaiveDateTime, offset_secs: i32, zone: Option<&str>) -> Value {
    let text = chrono::FixedOffset::east_opt(offset_secs).map_or_else(
        || format_zoned_in(utc, 0, None),
        |offset| utc.and_utc().with_timezone(&offset).to_rfc3339(),
    );
    match zone {
        Some(zone) => tagged(DATE_TIME, format!("{text}[{zone}]")),
        None => tagged(DATE_TIME, text),
    }
}

/// A time of day from its nanoseconds, in the format of the other engine.
fn clock(nanos: u64) -> String {
    let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let time = u32::try_from(seconds).ok().zip(u32::try_from(rest).ok());
    time.and_then(|(seconds, rest)| NaiveTime::from_num_seconds_from_midnight_opt(seconds, rest))
        .map_or_else(String::new, |time| time.format("%H:%M:%S%.f").to_string())
}

fn from_map(entries: &PropMap) -> Map<String, Value> {
    entries
        .iter()
        .map(|(key, value)| (key.to_owned(), from_native(value)))
        .collect()
}

pub(super) fn native(value: &Value) -> Result<Native, StoreError> {
    Ok(match value {
        Value::Null => Native::Null,
        Value::Bool(boolean) => Native::Boolean(*boolean),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Native::Int64(integer),
            None => Native::Float64(number.as_f64().ok_or_else(|| unusable(value))?),
        },
        Value::String(string) => Native::String(string.clone()),
        Value::Array(items) => Native::List(items.iter().map(native).collect::<Result<_, _>>()?),
        Value::Object(object) => match tag_of(object) {
            Some((MAP, Value::Object(inner))) => native_map(inner)?,
            Some((tag, inner)) => native_tagged(tag, inner).ok_or_else(|| unusable(value))?,
            None => native_map(object)?,
        },
    })
}

fn unusable(value: &Value) -> StoreError {
    StoreError::Unexpected(format!("{value} is no value that the embedded graph keeps"))
}

fn native_map(object: &Map<String, Value>) -> Result<Native, StoreError> {
    let entries = object
        .iter()
        .map(|(key, value)| Ok((key.as_str(), native(value)?)))
        .collect::<Result<Vec<_>, StoreError>>()?;
    Ok(Native::Map(entries.into_iter().collect()))
}

fn native_tagged(tag: &str, inner: &Value) -> Option<Native> {
    match (tag, inner) {
        (DATE, Value::String(text)) => {
            let day: NaiveDate = text.parse().ok()?;
            (day.year().abs() < 10_000).then_some(Native::DateTime(day))
        }
        (TIME, Value::String(text)) => {
            let (nanos, offset) = parse_time(text).ok()?;
            Some(Native::Time {
                nanos,
                offset_secs: offset?,
            })
        }
        (LOCAL_TIME, Value::String(text)) => match parse_time(text).ok()? {
            (nanos, None) => Some(Native::LocalTime(nanos)),
            (_, Some(_)) => None,
        },
        (DATE_TIME, Value::String(text)) => {
            let (at, zone) = split_zone(text);
            let at = DateTime::parse_from_rfc3339(at).ok()?;
            Some(Native::ZonedDateTime {
                utc: at.naive_utc(),
                offset_secs: at.offset().local_minus_utc(),
                // Without its time zone database the engine keeps only the offset.
                zone: zone.and_then(|name| zone_by_name(name).ok()),
            })
        }
        (LOCAL_DATE_TIME, Value::String(text)) => Some(Native::Timestamp(
            NaiveDateTime::parse_from_str(text, LOCAL).ok()?,
        )),
        (DURATION, _) => {
            let parts = DurationParts::from_json(inner)?;
            Some(Native::Duration {
                months: parts.months.try_into().ok()?,
                days: parts.days.try_into().ok()?,
                seconds: parts.seconds,
                nanos: parts.nanoseconds.try_into().ok()?,
            })
        }
        (FLOAT, Value::String(text)) => Some(Native::Float64(text.parse().ok()?)),
        (POINT, _) if inner.get("srid")?.as_i64()? == WGS_84 => {
            match inner.get("at")?.as_array()?.as_slice() {
                [lon, lat] => Some(Native::Point {
                    lat: lat.as_f64()?,
                    lon: lon.as_f64()?,
                }),
                _ => None,
            }
        }
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::engine::value::in_every_engine;

    #[test]
    fn values_come_back_as_they_went() {
        for value in in_every_engine() {
            assert_eq!(from_native(&native(&value).unwrap()), value);
        }
    }

    #[test]
    fn what_the_engine_cannot_keep_is_refused() {
        for value in [
            json!({"$bytes": "AAEC"}),
            json!({"$point": {"srid": 7203, "at": [1.0, 2.0]}}),
            json!({"$date": "yesterday"}),
        ] {
            assert!(native(&value).is_err(), "{value}");
        }
    }
}
