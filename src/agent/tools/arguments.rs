//! Fits a call's arguments to the tool's schema: small models write numbers as text, text as numbers, and fields that
//! it does not allow. Pure.

use serde_json::{Map, Value, json};

/// Fits arguments to the JSON schema of the tool where the meaning is clear. Anything else is left as it is, for the
/// tool to refuse.
///
/// # Errors
/// Fails when they are not a JSON object.
pub(super) fn fitted(schema: &Value, arguments: &str) -> Result<Value, String> {
    let mut given = match arguments.trim() {
        "" | "null" => json!({}),
        text => serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?,
    };
    // JSON within JSON.
    if let Value::String(text) = &given
        && let Ok(inner) = serde_json::from_str(text)
    {
        given = inner;
    }
    let Some(properties) = schema["properties"].as_object() else {
        return Ok(given);
    };
    let mut given = match given {
        Value::Object(object) => object,
        // The only argument, without its name.
        single => match properties.keys().next() {
            Some(only) if properties.len() == 1 => Map::from_iter([(only.clone(), single)]),
            Some(_) | None => return Err(format!("{single} is no JSON object")),
        },
    };
    let mut fitted = Map::new();
    for (name, property) in properties {
        match given.remove(name) {
            // Some models write null for a field that they leave out.
            Some(Value::Null) if !takes_null(schema, property) => {}
            Some(value) => drop(fitted.insert(name.clone(), typed(value, &property["type"]))),
            None => {}
        }
    }
    if let Some((name, value)) = under_another_name(schema, &fitted, &mut given) {
        fitted.insert(name, value);
    }
    if !is_closed(schema) {
        fitted.extend(given);
    }
    Ok(Value::Object(fitted))
}

/// Whether a schema allows no other fields than those it declares by name.
fn is_closed(schema: &Value) -> bool {
    schema["additionalProperties"] == false && schema["patternProperties"].is_null()
}

/// Whether a property of a schema may be null.
fn takes_null(schema: &Value, property: &Value) -> bool {
    let Value::Object(property) = property else {
        return *property != false;
    };
    let mut property = property.clone();
    // What it may refer to.
    for definitions in ["$defs", "definitions"] {
        if let Some(all) = schema.get(definitions) {
            property.insert(definitions.to_owned(), all.clone());
        }
    }
    jsonschema::validator_for(&Value::Object(property)).is_ok_and(|it| it.is_valid(&Value::Null))
}

/// Takes the one missing required text, if exactly one undeclared text was given.
fn under_another_name(
    schema: &Value,
    fitted: &Map<String, Value>,
    left: &mut Map<String, Value>,
) -> Option<(String, Value)> {
    let required = schema["required"].as_array()?.iter();
    let required = required.filter_map(Value::as_str);
    let mut missing = required.filter(|name| {
        !fitted.contains_key(*name) && schema["properties"][*name]["type"] == "string"
    });
    let (missing, None) = (missing.next()?, missing.next()) else {
        return None;
    };
    let mut texts = left.iter().filter(|(_, value)| value.is_string());
    let (Some((given, _)), None) = (texts.next(), texts.next()) else {
        return None;
    };
    let given = given.clone();
    Some((missing.to_owned(), left.remove(&given)?))
}

fn typed(value: Value, kind: &Value) -> Value {
    match (kind.as_str(), &value) {
        (Some("string"), Value::Number(_) | Value::Bool(_)) => Value::String(value.to_string()),
        (Some("integer"), Value::String(text)) => {
            let number = text.trim().parse::<i64>().ok();
            number.map_or(value, Value::from)
        }
        // Some models write 3 as 3.0.
        (Some("integer"), Value::Number(number)) => match number.as_f64() {
            Some(float) if !number.is_i64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                Value::from(float as i64)
            }
            Some(_) | None => value,
        },
        (Some("number"), Value::String(text)) => {
            let number = text.trim().parse::<f64>().ok();
            number.map_or(value, Value::from)
        }
        (Some("boolean"), Value::String(text)) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" | "1" => Value::Bool(true),
            "false" | "no" | "0" => Value::Bool(false),
            _ => value,
        },
        (Some("boolean"), Value::Number(number)) if number.as_u64() == Some(1) => true.into(),
        (Some("boolean"), Value::Number(number)) if number.as_u64() == Some(0) => false.into(),
        (Some("array"), Value::String(text)) => match serde_json::from_str(text) {
            Ok(list @ Value::Array(_)) => list,
            Ok(_) | Err(_) => Value::Array(vec![value]),
        },
        (Some("array"), Value::Number(_)) => Value::Array(vec![value]),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant_is_taken() {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string"}, "limit": {"type": "integer"},
                "share": {"type": "number"}, "all": {"type": "boolean"}, "tags": {"type": "array"},
            },
            "required": ["query"], "additionalProperties": false,
        });
        for (arguments, expected) in [
            (r#"{"query": "a"}"#, json!({"query": "a"})),
            (r#"{"query": 4711}"#, json!({"query": "4711"})),
            (
                r#"{"query": "a", "limit": "3"}"#,
                json!({"query": "a", "limit": 3}),
            ),
            (
                r#"{"query": "a", "limit": 3.0}"#,
                json!({"query": "a", "limit": 3}),
            ),
            (
                r#"{"query": "a", "limit": "many"}"#,
                json!({"query": "a", "limit": "many"}),
            ),
            (
                r#"{"query": "a", "share": "0.5"}"#,
                json!({"query": "a", "share": 0.5}),
            ),
            (
                r#"{"query": "a", "all": "True"}"#,
                json!({"query": "a", "all": true}),
            ),
            (
                r#"{"query": "a", "tags": "x"}"#,
                json!({"query": "a", "tags": ["x"]}),
            ),
            (
                r#"{"query": "a", "tags": "[\"x\", \"y\"]"}"#,
                json!({"query": "a", "tags": ["x", "y"]}),
            ),
            (
                r#"{"query": "a", "limit": null, "why": 1}"#,
                json!({"query": "a"}),
            ),
            (
                r#"{"q": "a", "limit": 1}"#,
                json!({"query": "a", "limit": 1}),
            ),
            (r#""{\"query\": \"a\"}""#, json!({"query": "a"})),
            ("", json!({})),
        ] {
            assert_eq!(fitted(&schema, arguments), Ok(expected), "{arguments}");
        }
        assert!(fitted(&schema, "{").is_err() && fitted(&schema, "[1]").is_err());
        let one = json!({"properties": {"question": {"type": "string"}}});
        assert_eq!(fitted(&one, "\"who?\""), Ok(json!({"question": "who?"})));
    }

    #[test]
    fn what_the_schema_allows_is_left_as_it_is() {
        let schema = |more: Value| {
            let mut schema = json!({
                "type": "object",
                "properties": {
                    "who": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "when": {"$ref": "#/$defs/Day"}, "any": true, "limit": {"type": "integer"},
                },
                "required": ["who"],
                "$defs": {"Day": {"type": ["string", "null"]}},
            });
            let more = more.as_object().unwrap().clone();
            schema.as_object_mut().unwrap().extend(more);
            schema
        };
        let (open, closed) = (json!({}), json!({"additionalProperties": false}));
        let prefixed = json!({
            "additionalProperties": false, "patternProperties": {"^x-": {"type": "string"}},
        });
        for (more, arguments, expected) in [
            (&open, r#"{"who": null}"#, json!({"who": null})),
            (&closed, r#"{"who": null}"#, json!({"who": null})),
            (
                &open,
                r#"{"who": "a", "when": null, "any": null, "limit": null}"#,
                json!({"who": "a", "when": null, "any": null}),
            ),
            (
                &open,
                r#"{"who": "a", "city": "Oslo", "limit": "3"}"#,
                json!({"who": "a", "city": "Oslo", "limit": 3}),
            ),
            (
                &closed,
                r#"{"who": "a", "city": "Oslo"}"#,
                json!({"who": "a"}),
            ),
            (
                &prefixed,
                r#"{"who": "a", "x-city": "Oslo"}"#,
                json!({"who": "a", "x-city": "Oslo"}),
            ),
        ] {
            let schema = schema(more.clone());
            assert_eq!(
                fitted(&schema, arguments),
                Ok(expected),
                "{more} {arguments}"
            );
        }
        // A field that is taken for another one is not sent twice.
        let text = json!({"properties": {"query": {"type": "string"}}, "required": ["query"]});
        let renamed = fitted(&text, r#"{"q": "a", "n": 1}"#);
        assert_eq!(renamed, Ok(json!({"query": "a", "n": 1})));
    }
}
