//! Converts values of a record to properties that both stores support.

use chrono::{DateTime, NaiveDate};
use serde_json::{Value, json};

use super::property::{As, Property};
use crate::graph::value::{DATE, DATE_TIME, tagged};

/// Returns the property's value, if the record has it: a list if the record has one, or may have
/// one.
///
/// # Errors
/// Fails with the value that cannot be converted.
pub(super) fn of(property: &Property, record: &Value) -> Result<Option<Value>, String> {
    let found = property.at.all(record);
    let mut is_list = property.at.is_many() || property.split.is_some();
    let mut items: Vec<Value> = Vec::new();
    for value in found {
        match value {
            Value::Array(inner) => {
                is_list = true;
                items.extend(inner.iter().filter(|value| !value.is_null()).cloned());
            }
            Value::String(text) if property.split.is_some() => {
                let separator = property.split.as_deref().unwrap_or_default();
                let parts = text.split(separator).map(str::trim);
                items.extend(parts.filter(|part| !part.is_empty()).map(Value::from));
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => items.push(value.clone()),
        }
    }
    // An empty field of a table has no value.
    items.retain(|item| item.as_str().is_none_or(|text| !text.trim().is_empty()));
    let items = items
        .into_iter()
        .map(|item| kept(item, property.kind))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|problem| format!("{} at {}: {problem}", property.name, property.at.as_str()))?;
    Ok(match (is_list, items.len()) {
        (_, 0) => None,
        (false, 1) => items.into_iter().next(),
        (_, _) => Some(Value::Array(alike(items))),
    })
}

fn kept(value: Value, kind: As) -> Result<Value, String> {
    let text = match &value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    };
    let no = |what: &str| format!("{text:?} is no {what}");
    Ok(match kind {
        As::Given => match value {
            // Neither store supports maps or nested lists.
            Value::Array(_) | Value::Object(_) => Value::String(value.to_string()),
            Value::Number(number) if number.is_u64() && !number.is_i64() => {
                Value::String(number.to_string())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
        },
        As::Text => Value::String(text),
        As::Integer => json!(text.parse::<i64>().map_err(|_| no("whole number"))?),
        As::Float => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => json!(number),
            Ok(_) | Err(_) => return Err(no("number")),
        },
        As::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Value::Bool(true),
            "false" | "no" | "0" => Value::Bool(false),
            _other => return Err(no("truth value")),
        },
        As::Date => {
            let day = text.get(..10).unwrap_or(&text);
            let day: NaiveDate = day.parse().map_err(|_| no("date such as 2026-01-02"))?;
            tagged(DATE, day.to_string())
        }
        As::DateTime => {
            let at = DateTime::parse_from_rfc3339(&text);
            let at = at.map_err(|_| no("time such as 2026-01-02T03:04:05Z"))?;
            tagged(DATE_TIME, at.to_rfc3339())
        }
    })
}

/// Converts to one type: a store's list is homogeneous.
fn alike(items: Vec<Value>) -> Vec<Value> {
    let kind = |value: &Value| match value {
        Value::String(_) => 0,
        Value::Bool(_) => 1,
        Value::Number(number) if number.is_i64() => 2,
        Value::Number(_) => 3,
        Value::Null | Value::Array(_) | Value::Object(_) => 4,
    };
    let is_mixed = items
        .windows(2)
        .any(|pair| kind(&pair[0]) != kind(&pair[1]));
    if !is_mixed {
        return items;
    }
    let as_text = |item: Value| match item {
        Value::String(text) => Value::String(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Value::String(item.to_string())
        }
    };
    items.into_iter().map(as_text).collect()
}
