//! The parameters of a tool: a JSON schema that is shown to the model, and against which its arguments are checked.

use serde_json::{Map, Value, json};

/// Maximum number of a call's problems that are reported to the model; it can improve with the first ones.
const MOST_PROBLEMS: usize = 5;
/// Maximum bytes of one problem: it may quote a whole argument.
const LONGEST_PROBLEM: usize = 300;

/// The parameters of a tool.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) schema: Value,
    /// The names in `properties`.
    pub(crate) names: Vec<String>,
    validator: jsonschema::Validator,
}

impl Parameters {
    /// Parses a schema. Undeclared fields are refused, unless the schema says otherwise, so that the model learns of
    /// fields that it invented.
    ///
    /// # Errors
    /// Describes what is wrong with it.
    pub(crate) fn read(mut schema: Value) -> Result<Self, String> {
        if let Some(schema) = schema.as_object_mut() {
            let entry = schema.entry("additionalProperties");
            entry.or_insert(Value::Bool(false));
        }
        Self::of_others(schema)
    }

    /// Parses a schema by others without changing it.
    ///
    /// # Errors
    /// Describes what is wrong with it.
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

    /// Parses the arguments of a call and checks them against the schema.
    ///
    /// # Errors
    /// Describes for the model what is wrong with them.
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
