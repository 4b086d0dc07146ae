//! What a tool takes: a JSON schema, which the model is shown and its arguments are held to.

use serde_json::{Map, Value, json};

/// Problems of a call that a model is told; it can do better by the first ones.
const MOST_PROBLEMS: usize = 5;
/// Bytes of one problem: it may quote a whole argument.
const LONGEST_PROBLEM: usize = 300;

/// What a tool takes.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) schema: Value,
    /// What `properties` declares.
    pub(crate) names: Vec<String>,
    validator: jsonschema::Validator,
}

impl Parameters {
    /// Reads a schema. What it does not declare is refused, unless it says otherwise: what a model invents beside it is a
    /// mistake that it can be told.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(mut schema: Value) -> Result<Self, String> {
        if let Some(schema) = schema.as_object_mut() {
            let entry = schema.entry("additionalProperties");
            entry.or_insert(Value::Bool(false));
        }
        Self::of_others(schema)
    }

    /// A schema that somebody else wrote, as it is.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn of_others(schema: Value) -> Result<Self, String> {
        let names = declared(&schema)?;
        let validator = jsonschema::validator_for(&schema)
            .map_err(|error| format!("parameters are no JSON schema: {error}"))?;
        Ok(Self {
            schema,
            names,
            validator,
        })
    }

    /// The arguments of a call, as JSON, where they are what the schema wants.
    ///
    /// # Errors
    /// What is wrong with them, for the model.
    pub(crate) fn checked(&self, arguments: &str) -> Result<Map<String, Value>, String> {
        let given: Value = match arguments.trim() {
            "" => json!({}),
            text => serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?,
        };
        let problems = self.validator.iter_errors(&given).take(MOST_PROBLEMS);
        let problems: Vec<String> = problems
            .map(|problem| {
                let mut problem = problem.to_string();
                problem.truncate(problem.floor_char_boundary(LONGEST_PROBLEM));
                problem
            })
            .collect();
        match given {
            Value::Object(given) if problems.is_empty() => Ok(given),
            _ if problems.is_empty() => Err("the arguments are no JSON object".to_owned()),
            _ => Err(problems.join("; ")),
        }
    }
}

/// Names of the parameters that a schema declares.
fn declared(schema: &Value) -> Result<Vec<String>, &'static str> {
    if schema["type"] != "object" {
        return Err("parameters must be a JSON schema of type \"object\"");
    }
    match &schema["properties"] {
        Value::Null => Ok(Vec::new()),
        Value::Object(properties) => Ok(properties.keys().cloned().collect()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err("parameters.properties must be a table")
        }
    }
}
