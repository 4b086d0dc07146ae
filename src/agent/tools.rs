//! The tools a model may call in a turn.

mod arguments;
mod cypher_tool;
pub(crate) mod files;
mod http_tool;
mod names;
pub mod notes;
mod of_turn;
mod outside;
pub(crate) mod parameters;
pub(crate) mod request;
mod result;
mod search_knowledge;
pub(crate) mod template;
pub(crate) mod text2cypher;
pub(crate) mod tool_file;
mod toolbox;

use std::sync::atomic::Ordering;
use std::time::Instant;

use muninn_platform::{Addressed, Body, TimeZone, count_with_noun};
use serde::Deserialize;
use serde_json::{Value, json};
use tracing::Instrument as _;

pub use self::cypher_tool::CypherTool;
pub use self::files::ToolFiles;
pub use self::http_tool::HttpTool;
pub use self::outside::{OutsideResponse, OutsideTool, ProposedCall, proposed};
pub use self::search_knowledge::Knowledge;
pub use self::tool_file::ToolFileError;
pub use self::toolbox::{OfferedTools, Toolbox, ToolboxError};

pub(super) use self::names::{LIST_NOTES, RESPOND, SAVE_NOTE, STAY_SILENT};
pub use self::names::{SEARCH_MEMORY, TEXT2CYPHER};
pub use self::of_turn::Tools;
pub use self::result::ToolResult;
use self::result::{heading, takes_text, wrong_call};
use self::search_knowledge::text_or_texts;
pub use self::search_knowledge::{SEARCH_KNOWLEDGE, SEARCH_NODES};
use super::findings;
use super::prompt::Memory;
use super::telemetry;
use crate::agent::prompts::{Finding, Quoted};
use crate::graph::confine::ConfinedCypher;
use crate::graph::trace::ToolUse;
use crate::llm::{ToolCall, ToolSpec, millis};
use crate::memory::Recalled;

/// The names of all possible tools: the built-in ones, and those from files.
pub fn tool_names(made: &ToolFiles) -> Vec<&str> {
    let built_in = [
        SEARCH_MEMORY,
        SAVE_NOTE,
        LIST_NOTES,
        SEARCH_KNOWLEDGE,
        SEARCH_NODES,
        TEXT2CYPHER,
    ];
    let made = made.names().map(|(_, name)| name);
    built_in.into_iter().chain(made).collect()
}

/// Whether a list contains a tool: by name, or with its whole MCP server as `SERVER__*`.
pub fn names_tool(list: &[String], tool: &str) -> bool {
    list.iter().any(|it| {
        let server = it.strip_suffix('*').filter(|it| it.ends_with("__"));
        it == tool || server.is_some_and(|server| tool.starts_with(server))
    })
}

/// A tool that looks questions up: its name, and that of the argument for the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup(pub &'static str, pub &'static str);

impl Lookup {
    /// The call for a question.
    pub fn call(self, question: &str) -> ToolCall {
        let Self(name, argument) = self;
        ToolCall {
            id: format!("{name} {question}"),
            name: name.to_owned(),
            arguments: json!({ argument: question }).to_string(),
        }
    }
}

/// Arguments of `search_memory`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchMemory {
    #[serde(deserialize_with = "text_or_texts")]
    query: String,
}

/// Arguments of `text2cypher`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextToCypher {
    question: String,
}

impl Tools<'_> {
    /// The tools offered to the model.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = vec![search_memory()];
        specs.extend(self.store.iter().flat_map(|_| notes::specs()));
        specs.extend(self.knowledge.iter().flat_map(Knowledge::specs));
        if let Some(offer) = &self.offer {
            let made = offer.ready.iter();
            specs.extend(made.map(|(index, _)| self.toolbox.tools.cypher[*index].spec.clone()));
            specs.push(text2cypher_spec(&offer.knowledge));
        }
        specs.extend(self.outside.iter().map(|tool| tool.spec().clone()));
        specs.retain(|spec| self.allows(&spec.name));
        specs.extend(self.may_stay_silent().then(stay_silent));
        specs.extend(self.is_strict.then(respond));
        specs
    }

    fn allows(&self, tool: &str) -> bool {
        self.allowed.is_none_or(|allowed| names_tool(allowed, tool))
    }

    /// The tool that looks a question up if the model calls none, with its argument's name; `None` if nothing can be
    /// looked up here.
    pub fn lookup(&self) -> Option<Lookup> {
        let offered: Vec<String> = self.specs().into_iter().map(|spec| spec.name).collect();
        let tools = [
            Lookup(SEARCH_KNOWLEDGE, "query"),
            Lookup(TEXT2CYPHER, "question"),
            Lookup(SEARCH_NODES, "query"),
        ];
        tools
            .into_iter()
            .find(|Lookup(tool, _)| offered.iter().any(|it| it == tool))
    }

    /// The tool that searches for every question of a model that calls none.
    pub fn search(&self) -> Option<Lookup> {
        self.knowledge.as_ref()?;
        let tools = [
            Lookup(SEARCH_KNOWLEDGE, "query"),
            Lookup(SEARCH_NODES, "query"),
        ];
        tools.into_iter().find(|Lookup(tool, _)| self.allows(tool))
    }

    /// Whether the message may be for somebody else: the rules only found that it is probably for the bot.
    pub fn may_stay_silent(&self) -> bool {
        self.message.addressed == Addressed::InConversation
            && matches!(self.message.body, Body::Text(_))
    }

    /// Calls a tool. Errors are returned to the model, which can correct them.
    pub async fn call(&self, call: &ToolCall) -> ToolResult {
        let began = Instant::now();
        let mut specs = self.specs().into_iter();
        let spec = specs.find(|spec| spec.name == call.name);
        let span = telemetry::tool(spec.as_ref().map(|spec| spec.name.as_str()));
        telemetry::content(&span, "gen_ai.tool.call.arguments", || {
            call.arguments.clone()
        });
        let mut result = self.dispatch(call, spec).instrument(span.clone()).await;
        if result.used.error.is_some() {
            telemetry::failed(&span, "tool_error");
        }
        let asks = result.used.is_proposed || (call.name == SAVE_NOTE && !result.is_wrong_call);
        if asks && self.has_proposed.swap(true, Ordering::Relaxed) {
            result = wrong_call(
                &call.name,
                "one thing can be asked about at a time; this comes after the other one",
            );
        }
        result.used.name.clone_from(&call.name);
        // A proposal has its arguments as they are shown and kept.
        if result.used.arguments.is_empty() {
            result.used.arguments.clone_from(&call.arguments);
        }
        result.used.ms = millis(began.elapsed());
        metrics::counter!("muninn_tool_calls_total", "outcome" => if result.used.error.is_some() { "failed" } else { "done" })
            .increment(1);
        result
    }

    /// `spec` is that of the named tool, if it exists.
    async fn dispatch(&self, call: &ToolCall, spec: Option<ToolSpec>) -> ToolResult {
        let name = call.name.as_str();
        let arguments = match spec {
            Some(spec) => match arguments::fitted(&spec.parameters, &call.arguments) {
                Ok(fitted) => fitted.to_string(),
                Err(why) => return wrong_call(name, &why),
            },
            None => call.arguments.clone(),
        };
        let arguments = arguments.as_str();
        if !self.allows(name) {
            return self.no_such_tool(name);
        }
        if let Some(knowledge) = &self.knowledge
            && let Some(among) = knowledge.among(name)
        {
            let channel = self.message.channel();
            return knowledge.call(channel, (name, among), arguments).await;
        }
        let made = self.offer.as_deref().and_then(|offer| {
            let named = |(index, _): &&(usize, ConfinedCypher)| {
                self.toolbox.tools.cypher[*index].spec.name == name
            };
            offer.ready.iter().find(named)
        });
        if let Some(tool) = self.outside.iter().find(|tool| tool.spec().name == name) {
            return outside::call(&**tool, arguments).await;
        }
        match (name, &self.offer) {
            (SEARCH_MEMORY, _) => match serde_json::from_str(arguments) {
                Ok(SearchMemory { query }) => self.search_memory(&query).await,
                Err(error) => wrong_call(name, &error.to_string()),
            },
            (SAVE_NOTE, _) => notes::save_note(arguments),
            (LIST_NOTES, _) => match self.store {
                Some(store) => self.list_notes(store).await,
                None => self.no_such_tool(name),
            },
            (TEXT2CYPHER, Some(offer)) => match serde_json::from_str(arguments) {
                Ok(TextToCypher { question }) => {
                    text2cypher::text2cypher(self, offer, &question).await
                }
                Err(error) => wrong_call(name, &error.to_string()),
            },
            _ => match made {
                Some((index, cypher)) => {
                    self.run(&self.toolbox.tools.cypher[*index], cypher, arguments)
                        .await
                }
                None => self.no_such_tool(name),
            },
        }
    }

    fn no_such_tool(&self, name: &str) -> ToolResult {
        let names: Vec<String> = self.specs().into_iter().map(|spec| spec.name).collect();
        let why = format!("there is no such tool; there are {}", names.join(", "));
        wrong_call(name, &why)
    }

    /// The time zone of the person who is answered.
    pub(super) fn time_zone(&self) -> TimeZone {
        self.recaller.time_zone_of(self.message)
    }

    /// The memories on a question that the model does not see already.
    pub async fn recall(&self, query: &str) -> Vec<Recalled> {
        let sought = self.recaller.embed_query(query).await;
        let message = self.message;
        let sought = self.recaller.with_message_context(sought, message);
        self.recaller
            .recall(&message.recalled_audiences(), &sought, &[], &self.shown)
    }

    async fn search_memory(&self, query: &str) -> ToolResult {
        let found = self.recall(query).await;
        let zone = self.time_zone();
        let count = match found.len() {
            0 => "nothing more found".to_owned(),
            found => count_with_noun(found, "earlier exchange"),
        };
        ToolResult {
            finding: Finding {
                heading: format!("{SEARCH_MEMORY}({query:?}): {count}"),
                lines: found
                    .iter()
                    .flat_map(|memory| as_lines(&Memory::of(memory, zone).quoted))
                    .collect(),
            },
            used: ToolUse {
                found: Some(found.len()),
                ..ToolUse::default()
            },
            recalled: found,
            ..ToolResult::default()
        }
    }

    async fn run(&self, tool: &CypherTool, cypher: &ConfinedCypher, arguments: &str) -> ToolResult {
        let name = &tool.spec.name;
        let bound = match tool.bound(arguments) {
            Ok(bound) => bound,
            Err(why) => return wrong_call(name, &why),
        };
        let heading = heading(name, &Value::Object(bound.clone()));
        let mut result = ToolResult {
            is_volatile: tool.is_volatile,
            ..ToolResult::default()
        };
        result.used.cypher = Some(cypher.as_str().to_owned());
        let ran = self
            .toolbox
            .store
            .query(cypher, bound, text2cypher::query_limits(tool.rows));
        match ran.await {
            Ok(rows) => {
                result.finding = findings::of_rows(&heading, &rows, cypher.id_columns());
                result.used.found = Some(rows.rows.len());
                result.nodes = rows.nodes;
            }
            Err(error) => {
                result.finding = findings::without(&heading, &format!("failed: {error}"));
                result.used.error = Some(error.to_string());
            }
        }
        result
    }
}

fn search_memory() -> ToolSpec {
    ToolSpec {
        name: SEARCH_MEMORY.to_owned(),
        description: "Searches what was said in earlier conversations here. Use it when the \
                      question is about something said before that you were not given; put \
                      names and the subject in the query."
            .to_owned(),
        parameters: takes_text(
            "query",
            "What to look for, in words that may have been used.",
        ),
    }
}

fn respond() -> ToolSpec {
    ToolSpec {
        name: RESPOND.to_owned(),
        description: "Answers without looking anything up. Call it only where this conversation, or what was \
                      recalled from earlier ones, already holds the whole answer, or for small talk: then remind \
                      people of what you can be asked about here."
            .to_owned(),
        parameters: takes_text("answer", "What people are told."),
    }
}

/// The text of a call of [`respond`], also where the model gave its argument another name or none.
pub(super) fn response(arguments: &str) -> Option<String> {
    let given = arguments::fitted(&respond().parameters, arguments).ok()?;
    given["answer"].as_str().map(str::to_owned)
}

fn stay_silent() -> ToolSpec {
    ToolSpec {
        name: STAY_SILENT.to_owned(),
        description:
            "Says nothing at all. Call it, and nothing else, when the last message is plainly \
                      said by one person to another and nobody waits for you."
                .to_owned(),
        parameters: json!({"type": "object", "properties": {}, "additionalProperties": false}),
    }
}

fn text2cypher_spec(knowledge: &str) -> ToolSpec {
    ToolSpec {
        name: TEXT2CYPHER.to_owned(),
        description: format!(
            "Answers a question from the team's knowledge graph, where no other tool was made for \
             it: counts, comparisons, connections over several steps. The graph holds {knowledge}."
        ),
        parameters: takes_text(
            "question",
            "One question that can be understood alone, with all names in it.",
        ),
    }
}

fn as_lines(memory: &Quoted) -> Vec<String> {
    let to_others = if memory.is_said {
        " said to others"
    } else {
        ""
    };
    let replaced = match memory.replaced.as_str() {
        "" => String::new(),
        since => format!("; no longer current since {since}"),
    };
    let mut lines = vec![format!(
        "[{}, {}{to_others}{replaced}]",
        memory.date, memory.author
    )];
    lines.extend(memory.input.iter().cloned());
    if !memory.output.is_empty() {
        lines.push("Answered then:".to_owned());
        lines.extend(memory.output.iter().cloned());
    }
    lines
}
