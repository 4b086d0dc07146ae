//! Tools without Rust code that run a statement: a TOML file with Cypher and parameters.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::parameters::Parameters;
use super::tool_file::{ToolFileError, check_name, no_parameters, wrong};
use crate::extract::settings::parsed;
use crate::graph::confine::{ConfinedCypher, Refusal, StatementLimits, confine_with, round_trip};
use crate::graph::schema::Survey;
use crate::llm::ToolSpec;

/// One tool file, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CypherToolFile {
    name: String,
    description: String,
    cypher: String,
    row_limit: u32,
    #[serde(default)]
    volatile: bool,
    #[serde(default = "no_parameters")]
    parameters: Value,
}

/// A tool that runs a statement.
#[derive(Debug)]
pub struct CypherTool {
    pub spec: ToolSpec,
    /// Its results are true only now, so that an answer made from them is never recalled.
    pub is_volatile: bool,
    /// Maximum number of rows.
    pub rows: u32,
    /// It is built in, and may not apply to this graph.
    pub is_shipped: bool,
    pub file: String,
    cypher: String,
    parameters: Parameters,
}

impl CypherTool {
    pub(super) fn read(file: &str, text: &str, is_shipped: bool) -> Result<Self, ToolFileError> {
        let CypherToolFile {
            name,
            description,
            cypher,
            row_limit,
            volatile,
            parameters,
        } = parsed(text).map_err(|detail| wrong(file, detail))?;
        check_name(&name).map_err(|detail| wrong(file, detail))?;
        if row_limit == 0 {
            return Err(wrong(file, "row_limit must be at least 1"));
        }
        let parameters = Parameters::read(parameters).map_err(|detail| wrong(file, detail))?;
        check_parameters(&cypher, &parameters.names).map_err(|detail| wrong(file, detail))?;
        Ok(Self {
            spec: ToolSpec {
                name,
                description,
                parameters: parameters.schema.clone(),
            },
            is_volatile: volatile,
            rows: row_limit,
            is_shipped,
            file: file.to_owned(),
            cypher,
            parameters,
        })
    }

    /// Checks that the statement can be parsed, whatever the graph contains.
    ///
    /// # Errors
    /// Fails when it may not run.
    pub fn check_statement(&self) -> Result<(), Refusal> {
        round_trip(&self.cypher).map(drop)
    }

    /// Confines the statement to the present knowledge. It requests one row more than the limit, to
    /// see whether there are more.
    ///
    /// # Errors
    /// Fails when it does not fit the schema, or may not run.
    pub fn confined(&self, survey: &Survey) -> Result<ConfinedCypher, Refusal> {
        let parameters: Vec<&str> = self.parameters.names.iter().map(String::as_str).collect();
        let limits =
            StatementLimits::of_rows(self.rows.saturating_add(1)).with_nodes(&survey.nodes);
        confine_with(&self.cypher, &survey.schema, &limits, &parameters)
    }

    /// Converts the model's arguments to parameters; missing ones are null.
    ///
    /// # Errors
    /// Describes for the model what is wrong with them.
    pub fn bound(&self, arguments: &str) -> Result<Map<String, Value>, String> {
        let given = self.parameters.checked(arguments)?;
        let value = |name: &String| {
            let value = given.get(name).cloned().unwrap_or(Value::Null);
            (name.clone(), value)
        };
        Ok(self.parameters.names.iter().map(value).collect())
    }
}

/// Checks that every parameter is declared and used.
fn check_parameters(cypher: &str, declared: &[String]) -> Result<(), String> {
    let used = used(cypher);
    if let Some(unknown) = used.iter().find(|name| !declared.contains(name)) {
        return Err(format!(
            "the statement uses ${unknown}, which parameters.properties does not declare"
        ));
    }
    match declared.iter().find(|name| !used.contains(*name)) {
        Some(idle) => Err(format!(
            "parameters.properties declares {idle:?}, but the statement does not use ${idle}"
        )),
        None => Ok(()),
    }
}

/// Names after a `$` outside of texts and quoted names.
fn used(cypher: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut quote = None;
    let mut rest = cypher.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                rest.next();
            }
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '$') => {
                let mut name = String::new();
                while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                names.insert(name);
            }
            (None, _) => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(text: &str) -> Result<CypherTool, ToolFileError> {
        CypherTool::read("mine.toml", text, false)
    }

    const HEAD: &str = "name = \"count\"\ndescription = \"Counts.\"\nrow_limit = 5\n";

    #[test]
    fn what_is_wrong_is_named() {
        let takes_n = "[parameters]\ntype = \"object\"\nproperties.n.type = \"integer\"\n";
        let table = [
            ("name = 1".to_owned(), "line 1: invalid type"),
            (
                format!("{HEAD}cypher = \"RETURN 1\"\nrows = 2"),
                "unknown field",
            ),
            (
                format!("{HEAD}cypher = \"MATCH (n:A) WHERE n.x = $y RETURN n\""),
                "uses $y",
            ),
            (
                format!("{HEAD}cypher = \"RETURN '$n'\"\n{takes_n}"),
                "does not use $n",
            ),
            (
                format!("{HEAD}cypher = \"RETURN 1\"\n[parameters]\ntype = \"string\""),
                "object",
            ),
            (
                format!(
                    "{HEAD}cypher = \"RETURN $n\"\n{}",
                    takes_n.replace("integer", "int")
                ),
                "no JSON schema",
            ),
        ];
        for (text, expected) in table {
            let said = tool(&text).unwrap_err().to_string();
            assert!(
                said.contains("mine.toml") && said.contains(expected),
                "{said}"
            );
        }
    }

    #[test]
    fn arguments_are_held_to_the_schema() {
        let text = format!(
            "{HEAD}cypher = \"MATCH (n:A) WHERE n.x = $n AND n.y = $m RETURN n\"\n[parameters]\n\
             type = \"object\"\nrequired = [\"n\"]\nproperties.n.type = \"integer\"\n\
             properties.m.type = \"string\"\n"
        );
        let tool = tool(&text).unwrap();
        let bound = tool.bound(r#"{"n": 3}"#).unwrap();
        assert_eq!(Value::Object(bound), json!({"n": 3, "m": null}));
        for (wrong, expected) in [
            ("{", "JSON"),
            ("{}", "required"),
            (r#"{"n": "three"}"#, "integer"),
            (r#"{"n": 3, "k": 1}"#, "k"),
        ] {
            let said = tool.bound(wrong).unwrap_err();
            assert!(said.contains(expected), "{wrong}: {said}");
        }
    }
}
