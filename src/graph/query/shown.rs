//! Converts values of a result to the form that people and models read.

use serde_json::{Map, Value};

use crate::graph::engine::value::{
    BYTES, DURATION, DurationParts, MAP, NODE, PATH, POINT, RELATIONSHIP, tag_of,
};
use crate::graph::ingest::HIDDEN_PROPERTIES;
use crate::graph::types::graph_node::GraphNode;

/// A list of this many numbers is a vector, not data.
pub(crate) const VECTOR: usize = 64;

/// This many bytes of text under the name of an embedding are a packed vector.
const PACKED: usize = 128;

/// Removes from a node what the engine added to it.
pub(crate) type Strip<'a> = &'a (dyn Fn(&mut GraphNode) + Sync);

/// A tagged value (see [`crate::graph::engine::value`]) in the form in which it is shown.
pub(crate) fn shown(value: Value, strip: Strip<'_>) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| shown(item, strip)).collect(),
        Value::Object(object) => match tag_of(&object) {
            Some((tag, _)) => {
                let tag = tag.to_owned();
                let inner = object.into_iter().next().map(|(_, inner)| inner);
                untagged(&tag, inner.unwrap_or_default(), strip)
            }
            None => entries(object, strip),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

fn untagged(tag: &str, inner: Value, strip: Strip<'_>) -> Value {
    match (tag, inner) {
        (MAP, Value::Object(inner)) => entries(inner, strip),
        (NODE, Value::Object(inner)) => {
            let mut node = GraphNode::from_row(&inner);
            strip(&mut node);
            let properties = entries(node.properties, strip);
            Value::Object(Map::from_iter([
                ("labels".to_owned(), node.labels.into()),
                ("properties".to_owned(), properties),
            ]))
        }
        (RELATIONSHIP, Value::Object(inner)) => inner
            .into_iter()
            .map(|(key, value)| (key, shown(value, strip)))
            .collect(),
        (PATH, inner) => shown(inner, strip),
        (BYTES, _) => Value::String("(bytes)".to_owned()),
        (DURATION, inner) => {
            DurationParts::from_json(&inner).map_or(inner, |parts| Value::String(duration(parts)))
        }
        (POINT, inner) => Value::String(point(&inner)),
        // Times are text already; a generated ID is a number.
        (_, inner) => inner,
    }
}

fn entries(object: Map<String, Value>, strip: Strip<'_>) -> Value {
    let shown = object
        .into_iter()
        .map(|(key, value)| (key, shown(value, strip)));
    Value::Object(without_vectors(shown.collect()))
}

/// Properties without vectors and without the bot's own.
pub(crate) fn without_vectors(mut properties: Map<String, Value>) -> Map<String, Value> {
    properties
        .retain(|key, value| !is_vector(key, value) && !HIDDEN_PROPERTIES.contains(&key.as_str()));
    properties
}

fn is_vector(key: &str, value: &Value) -> bool {
    match value {
        Value::Array(items) => items.len() >= VECTOR && items.iter().all(Value::is_number),
        Value::String(text) => key == "embedding" && text.len() >= PACKED,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// `P1Y2M3DT4H5M6.7S`, in Cypher's format.
fn duration(parts: DurationParts) -> String {
    let DurationParts {
        months,
        days,
        seconds,
        nanoseconds,
    } = parts;
    let part = |number: i64, unit: &str| match number {
        0 => String::new(),
        number => format!("{number}{unit}"),
    };
    let date = [
        part(months / 12, "Y"),
        part(months % 12, "M"),
        part(days, "D"),
    ]
    .concat();
    let rest = (seconds % 60) as f64 + nanoseconds as f64 / 1e9;
    let clock = [
        part(seconds / 3_600, "H"),
        part(seconds % 3_600 / 60, "M"),
        if rest == 0.0 {
            String::new()
        } else {
            format!("{rest}S")
        },
    ]
    .concat();
    match (date.as_str(), clock.as_str()) {
        ("", "") => "PT0S".to_owned(),
        (date, "") => format!("P{date}"),
        (date, clock) => format!("P{date}T{clock}"),
    }
}

fn point(inner: &Value) -> String {
    let at: Vec<String> = inner
        .get("at")
        .and_then(Value::as_array)
        .map(|at| at.iter().map(Value::to_string).collect())
        .unwrap_or_default();
    let srid = inner
        .get("srid")
        .and_then(Value::as_i64)
        .unwrap_or_default();
    format!("point({}; srid {srid})", at.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(value: Value) -> Value {
        shown(value, &|node| {
            node.properties.remove("virtual");
        })
    }

    #[test]
    fn nodes_and_relationships_are_maps_without_vectors() {
        let long: Vec<f64> = vec![0.5; VECTOR];
        let node = json!({"$node": {"labels": ["Raven"], "properties": {
            "name": "Huginn", "virtual": 1, "born": {"$date": "2026-01-02"}, "v": long,
            "embedding": "A".repeat(PACKED), "tags": ["a"], "ratings": [1, 2],
        }}});
        let expected = json!({"labels": ["Raven"], "properties": {
            "name": "Huginn", "born": "2026-01-02", "tags": ["a"], "ratings": [1, 2],
        }});
        assert_eq!(plain(node.clone()), expected);
        assert_eq!(
            plain(json!([{"$map": {"n": node}}])),
            json!([{"n": expected}])
        );
        let relationship = json!({"$relationship": {"type": "SEES", "properties": {"at": 1}}});
        let path = json!({"$path": [node, relationship, node]});
        let sees = json!({"type": "SEES", "properties": {"at": 1}});
        assert_eq!(plain(path), json!([expected, sees, expected]));
        // A column of many numbers is an answer.
        assert_eq!(plain(json!(long)), json!(long));
    }

    #[test]
    fn what_json_has_no_word_for_is_text() {
        for (value, text) in [
            (
                json!({"$datetime": "2026-01-02T03:04:05Z"}),
                json!("2026-01-02T03:04:05Z"),
            ),
            (
                json!({"$duration": [14, -3, 3_661, 500_000_000]}),
                json!("P1Y2M-3DT1H1M1.5S"),
            ),
            (json!({"$duration": [0, 1, 0, 0]}), json!("P1D")),
            (json!({"$duration": [0, 0, 60, 0]}), json!("PT1M")),
            (json!({"$duration": [0, 0, 0, 0]}), json!("PT0S")),
            (json!({"$duration": "odd"}), json!("odd")),
            (
                json!({"$point": {"srid": 4326, "at": [1.0, 2.5]}}),
                json!("point(1.0, 2.5; srid 4326)"),
            ),
            (json!({"$bytes": "AAEC"}), json!("(bytes)")),
            (json!({"$float": "NaN"}), json!("NaN")),
            (json!({"$map": {"$date": "x"}}), json!({"$date": "x"})),
        ] {
            assert_eq!(plain(value), text);
        }
    }
}
