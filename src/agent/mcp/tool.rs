//! A tool of an MCP server as it is offered to a model. Names, descriptions and schemas are texts by others: their
//! length is limited, and the name shows the server.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::one_line;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ResourceContents, Tool,
};
use rmcp::service::ServiceError;
use serde_json::{Map, Value};

use super::connection::Connection;
use super::settings::McpSettings;
use crate::agent::findings;
use crate::agent::tools::parameters::Parameters;
use crate::agent::tools::tool_file::check_name;
use crate::agent::tools::{OutsideResponse, OutsideTool};
use crate::llm::ToolSpec;

/// Maximum number of tools of one server.
pub(super) const MOST_TOOLS: usize = 64;
/// Maximum characters of a description, and of one within a schema.
const DESCRIPTION: usize = 600;
const SCHEMA_DESCRIPTION: usize = 200;
/// Maximum bytes of a schema.
const SCHEMA: usize = 8 << 10;

/// A tool of a server.
#[derive(Debug)]
pub(super) struct McpTool {
    spec: ToolSpec,
    /// As the server calls it.
    name: String,
    parameters: Parameters,
    /// It may change something.
    pub(super) asks_first: bool,
    settings: Arc<McpSettings>,
    connection: Arc<Connection>,
}

/// The tools of a server that can be offered, and why others cannot.
pub(super) fn made(
    listed: Vec<Tool>,
    settings: &Arc<McpSettings>,
    connection: &Arc<Connection>,
) -> (Vec<Arc<McpTool>>, Vec<String>) {
    let (mut tools, mut left_out) = (Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
    if let Some(wanted) = &settings.tools {
        let is_there = |name: &&String| listed.iter().any(|tool| tool.name == **name);
        let missing = wanted.iter().filter(|name| !is_there(name));
        left_out.extend(missing.map(|name| format!("it has no tool {name:?}")));
    }
    let is_wanted = |tool: &Tool| {
        let wanted = settings.tools.as_ref();
        wanted.is_none_or(|wanted| wanted.iter().any(|name| *name == tool.name))
    };
    for tool in listed.into_iter().filter(is_wanted) {
        let shown: String = one_line(&tool.name).chars().take(80).collect();
        if tools.len() == MOST_TOOLS {
            left_out.push(format!(
                "it has more than {MOST_TOOLS} tools; name those that are wanted"
            ));
            break;
        }
        match McpTool::of(tool, settings, connection) {
            Ok(tool) if names.insert(tool.spec.name.clone()) => tools.push(Arc::new(tool)),
            Ok(tool) => left_out.push(format!("{shown:?}: there is another {}", tool.spec.name)),
            Err(why) => left_out.push(format!("{shown:?}: {why}")),
        }
    }
    (tools, left_out)
}

impl McpTool {
    fn of(
        tool: Tool,
        settings: &Arc<McpSettings>,
        connection: &Arc<Connection>,
    ) -> Result<Self, String> {
        let name = tool.name.into_owned();
        let fine = |c: char| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        };
        let called: String = name.chars().map(fine).collect();
        let called = format!("{}__{called}", settings.name);
        check_name(&called)?;
        let mut schema = Value::Object((*tool.input_schema).clone());
        shorten(&mut schema);
        if schema.to_string().len() > SCHEMA {
            return Err(format!("its schema has more than {} KB", SCHEMA >> 10));
        }
        let parameters = Parameters::of_others(schema)?;
        let says_it_reads = tool.annotations.and_then(|it| it.read_only_hint) == Some(true);
        let is_in = |names: &[String]| names.contains(&name);
        let description = tool.description.unwrap_or_default();
        Ok(Self {
            spec: ToolSpec {
                name: called,
                description: bounded(&description, DESCRIPTION),
                parameters: parameters.schema.clone(),
            },
            asks_first: is_in(&settings.confirm) || !(says_it_reads || is_in(&settings.no_confirm)),
            name,
            parameters,
            settings: Arc::clone(settings),
            connection: Arc::clone(connection),
        })
    }

    async fn ask(&self, arguments: &Map<String, Value>) -> Result<OutsideResponse, String> {
        let peer = self.connection.peer().ok_or_else(|| {
            let name = &self.settings.name;
            format!("the server {name} is not there now")
        })?;
        let params =
            CallToolRequestParams::new(self.name.clone()).with_arguments(arguments.clone());
        match peer.call_tool_once(params).await {
            Ok(CallToolResponse::Complete(result)) => told(&result, self.settings.max_bytes),
            Ok(CallToolResponse::InputRequired(_)) => {
                Err("it asks for more than its arguments, which is not given".to_owned())
            }
            Ok(_) => Err("it does not answer at once, and is not waited for".to_owned()),
            // The error text is the server's, not ours.
            Err(ServiceError::McpError(error)) => Ok(OutsideResponse {
                lines: vec![bounded(&error.message, DESCRIPTION)],
                error: Some("it answers with an error".to_owned()),
            }),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[async_trait]
impl OutsideTool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn is_volatile(&self) -> bool {
        self.settings.is_volatile
    }

    fn requires_approval(&self) -> bool {
        self.asks_first
    }

    fn checked(&self, arguments: &str) -> Result<Map<String, Value>, String> {
        self.parameters.checked(arguments)
    }

    async fn call(&self, arguments: &Map<String, Value>) -> OutsideResponse {
        let timeout = self.settings.timeout;
        let mut answered = match tokio::time::timeout(timeout, self.ask(arguments)).await {
            Ok(Ok(answered)) => answered,
            Ok(Err(why)) => OutsideResponse::failed(why),
            Err(_) => OutsideResponse::failed(format!("no answer within {} s", timeout.as_secs())),
        };
        let texts = answered.lines.iter_mut().chain(&mut answered.error);
        texts.for_each(|text| self.settings.secrets.remove_from(text));
        answered
    }
}

/// The content of a result, as lines.
fn told(result: &CallToolResult, most: usize) -> Result<OutsideResponse, String> {
    let mut lines = Vec::new();
    for block in &result.content {
        match block {
            ContentBlock::Text(text) => add(&mut lines, &text.text),
            ContentBlock::Resource(resource) => match &resource.resource {
                ResourceContents::TextResourceContents { text, .. } => add(&mut lines, text),
                _ => lines.push("(a file that is not shown)".to_owned()),
            },
            ContentBlock::ResourceLink(link) => lines.push(format!("{} {}", link.name, link.uri)),
            ContentBlock::Image(_) => lines.push("(a picture that is not shown)".to_owned()),
            ContentBlock::Audio(_) => lines.push("(a recording that is not played)".to_owned()),
            _ => lines.push("(something that is not read)".to_owned()),
        }
    }
    if lines.is_empty()
        && let Some(value) = &result.structured_content
    {
        lines = findings::json_lines(value);
    }
    if lines.iter().map(String::len).sum::<usize>() > most {
        return Err(format!(
            "the answer has more than {} KB; ask for less",
            most >> 10
        ));
    }
    let has_failed = result.is_error == Some(true);
    Ok(OutsideResponse {
        lines,
        error: has_failed.then(|| "it says that it failed".to_owned()),
    })
}

/// JSON, which many servers return as text, is shown by its fields.
fn add(lines: &mut Vec<String>, text: &str) {
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
        lines.extend(findings::json_lines(&value));
        return;
    }
    let all = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.extend(all.map(str::to_owned));
}

fn bounded(text: &str, most: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

/// Limits the length of every description within a schema.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if matches!(name.as_str(), "description" | "title") => {
                        *text = bounded(text, SCHEMA_DESCRIPTION);
                    }
                    other => shorten(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
