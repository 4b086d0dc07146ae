//! Tools that a team writes without Rust: a statement with parameters, in a TOML file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::graph::confine::{ConfinedCypher, Limits, Refusal, confine_with, read_back};
use crate::graph::schema::Survey;
use crate::llm::ToolSpec;

/// Names that are taken.
const BUILT_IN_NAMES: &[&str] = &[
    "search_memory",
    "save_note",
    "list_notes",
    "search_knowledge",
    "search_nodes",
    "text2cypher",
    "stay_silent",
    "respond",
];

const SHIPPED: &[(&str, &str)] = &[
    (
        "find_movie_by_title.toml",
        include_str!("../../../prompts/tools/find_movie_by_title.toml"),
    ),
    (
        "find_movies_by_actor.toml",
        include_str!("../../../prompts/tools/find_movies_by_actor.toml"),
    ),
];

/// Why a tool cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ToolFileError {
    #[error("{} cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the file {file} is not right: {detail}")]
    Wrong { file: String, detail: String },
}

/// One tool file, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    description: String,
    cypher: String,
    row_limit: u32,
    #[serde(default)]
    volatile: bool,
    #[serde(default = "no_parameters")]
    parameters: Value,
}

fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}

/// A tool that runs a statement.
#[derive(Debug)]
pub struct CypherTool {
    pub spec: ToolSpec,
    /// What it returns is true only now: an answer made from it is never recalled.
    pub is_volatile: bool,
    /// Rows at most.
    pub rows: u32,
    /// Ships with the program, and may have nothing to do with this graph.
    pub is_shipped: bool,
    pub file: String,
    cypher: String,
    parameters: Vec<String>,
    arguments: jsonschema::Validator,
}

impl CypherTool {
    /// The shipped tools and those in the `tools` of `folder`, whose files replace shipped ones of
    /// the same name.
    ///
    /// # Errors
    /// Names the file and what is wrong in it.
    pub fn load(folder: Option<&Path>) -> Result<Vec<Self>, ToolFileError> {
        let own = folder.map(read_folder).transpose()?.unwrap_or_default();
        let is_replaced = |file: &str| own.iter().any(|(name, _)| name == file);
        let mut tools = Vec::new();
        for (file, text) in SHIPPED.iter().filter(|(file, _)| !is_replaced(file)) {
            tools.push(Self::read(file, text, true)?);
        }
        for (file, text) in &own {
            tools.push(Self::read(file, text, false)?);
        }
        let mut names = BTreeSet::new();
        for tool in &tools {
            let name = &tool.spec.name;
            if !names.insert(name) || BUILT_IN_NAMES.contains(&name.as_str()) {
                let detail = format!("there is another tool of the name {name:?}");
                return Err(wrong(&tool.file, detail));
            }
        }
        Ok(tools)
    }

    fn read(file: &str, text: &str, is_shipped: bool) -> Result<Self, ToolFileError> {
        let Written {
            name,
            description,
            cypher,
            row_limit,
            volatile,
            mut parameters,
        } = toml::from_str(text).map_err(|error| wrong(file, error.to_string().trim()))?;
        check_name(&name).map_err(|detail| wrong(file, detail))?;
        if row_limit == 0 {
            return Err(wrong(file, "row_limit must be at least 1"));
        }
        let declared = declared(&parameters).map_err(|detail| wrong(file, detail))?;
        check_parameters(&cypher, &declared).map_err(|detail| wrong(file, detail))?;
        // What a model invents beside them is a mistake that it can be told.
        if let Some(schema) = parameters.as_object_mut() {
            let entry = schema.entry("additionalProperties");
            entry.or_insert(Value::Bool(false));
        }
        let arguments = jsonschema::validator_for(&parameters)
            .map_err(|error| wrong(file, format!("parameters are no JSON schema: {error}")))?;
        Ok(Self {
            spec: ToolSpec {
                name,
                description,
                parameters,
            },
            is_volatile: volatile,
            rows: row_limit,
            is_shipped,
            file: file.to_owned(),
            cypher,
            parameters: declared,
            arguments,
        })
    }

    /// Whether the statement can be read at all, whatever there is in the graph.
    ///
    /// # Errors
    /// When it is none that may run.
    pub fn check_statement(&self) -> Result<(), Refusal> {
        read_back(&self.cypher).map(drop)
    }

    /// The statement, confined to the knowledge there is. It asks for one row more than the limit,
    /// to see whether there are more.
    ///
    /// # Errors
    /// When it does not fit the schema, or is none that may run.
    pub fn confined(&self, survey: &Survey) -> Result<ConfinedCypher, Refusal> {
        let parameters: Vec<&str> = self.parameters.iter().map(String::as_str).collect();
        let limits = Limits::of_rows(self.rows.saturating_add(1)).with_nodes(&survey.nodes);
        confine_with(&self.cypher, &survey.schema, &limits, &parameters)
    }

    /// What the model's arguments bind; a parameter it left out is null.
    ///
    /// # Errors
    /// What is wrong with them, for the model.
    pub fn bound(&self, arguments: &str) -> Result<Map<String, Value>, String> {
        let given: Value = match arguments.trim() {
            "" => json!({}),
            text => serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?,
        };
        let problems: Vec<String> = self
            .arguments
            .iter_errors(&given)
            .map(|error| error.to_string())
            .collect();
        if !problems.is_empty() {
            return Err(problems.join("; "));
        }
        let value = |name: &String| {
            let value = given.get(name).cloned().unwrap_or(Value::Null);
            (name.clone(), value)
        };
        Ok(self.parameters.iter().map(value).collect())
    }
}

/// Every `.toml` in the folder's `tools`, in the order of their names.
fn read_folder(folder: &Path) -> Result<Vec<(String, String)>, ToolFileError> {
    let folder = folder.join("tools");
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| ToolFileError::Unreadable { path, source }
    };
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(unreadable(&folder))? {
        let path = entry.map_err(unreadable(&folder))?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            files.push((name.into_owned(), text));
        }
    }
    files.sort();
    Ok(files)
}

fn check_name(name: &str) -> Result<(), &'static str> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_fine) {
        return Ok(());
    }
    // https://platform.openai.com/docs/api-reference/chat/create
    Err("name must be 1 to 64 letters, digits, underscores or hyphens, or services refuse it")
}

/// Names of the parameters that the schema declares.
fn declared(parameters: &Value) -> Result<Vec<String>, &'static str> {
    if parameters["type"] != "object" {
        return Err("parameters must be a JSON schema of type \"object\"");
    }
    match &parameters["properties"] {
        Value::Null => Ok(Vec::new()),
        Value::Object(properties) => Ok(properties.keys().cloned().collect()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err("parameters.properties must be a table")
        }
    }
}

/// Every parameter is declared and used.
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

/// Names after a `$` that stands in no text and no quoted name.
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

fn wrong(file: &str, detail: impl Into<String>) -> ToolFileError {
    ToolFileError::Wrong {
        file: file.to_owned(),
        detail: detail.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(text: &str) -> Result<CypherTool, ToolFileError> {
        CypherTool::read("mine.toml", text, false)
    }

    const HEAD: &str = "name = \"count\"\ndescription = \"Counts.\"\nrow_limit = 5\n";

    #[test]
    fn the_shipped_ones_are_right() {
        let tools = CypherTool::load(None).unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.spec.name.as_str()).collect();
        assert_eq!(names, ["find_movie_by_title", "find_movies_by_actor"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let takes_n = "[parameters]\ntype = \"object\"\nproperties.n.type = \"integer\"\n";
        let table = [
            ("name = 1".to_owned(), "name"),
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

    #[test]
    fn two_tools_of_one_name_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let tools = folder.path().join("tools");
        std::fs::create_dir(&tools).unwrap();
        let text = format!("{HEAD}cypher = \"RETURN 1\"").replace("count", "text2cypher");
        std::fs::write(tools.join("mine.toml"), text).unwrap();
        let said = CypherTool::load(Some(folder.path())).unwrap_err();
        assert!(said.to_string().contains("text2cypher"), "{said}");
    }
}
