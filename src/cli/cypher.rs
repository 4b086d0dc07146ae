//! `muninn cypher check`: shows generated Cypher as it would run.

use std::io::{BufRead as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use muninn::graph::confine::{ConfinedCypher, Refusal, StatementLimits, confine};
use muninn::graph::schema::Schema;
use serde_json::{Value, json};

use super::admin;
use super::args::cypher::CheckArgs;
use super::context::Context;
use super::data_owner::refuse_root;
use super::exit::Exit;
use super::graph_schema::GraphSchema;

/// Prints the confined statement, or why it is refused.
pub(super) async fn check(at: &Context, args: &CheckArgs) -> anyhow::Result<Exit> {
    let (schema, nodes) = match &args.schema {
        Some(file) => (schema(file)?, None),
        None => {
            let known = known(at).await?;
            (known.schema, Some(known.nodes))
        }
    };
    let limits = StatementLimits {
        rows: args.rows,
        nodes: nodes.as_ref(),
    };
    if args.query == "-" {
        return check_lines(&schema, &limits);
    }
    let checked = confine(&args.query, &schema, &limits);
    if args.json {
        let exit = Exit::of(checked.is_ok());
        at.out.say_json(&answer(checked)).await?;
        return Ok(exit);
    }
    let mut out = std::io::stdout().lock();
    match checked {
        Ok(confined) => {
            writeln!(out, "{}", confined.as_str())?;
            Ok(Exit::SUCCESS)
        }
        Err(refusal) => {
            writeln!(out, "{refusal}")?;
            Ok(Exit::FAILURE)
        }
    }
}

/// Returns the schema of the graph, from the process that has it open if there is one. Statements
/// are read and checked here, so that a program may ask line by line.
async fn known(at: &Context) -> anyhow::Result<GraphSchema> {
    match admin::connect(&at.config).await? {
        Some(connection) => connection.known().await,
        None => {
            refuse_root(&at.config)?;
            of_graph(at).await
        }
    }
}

/// Returns the schema of the graph, where it is open.
pub(super) async fn of_graph(at: &Context) -> anyhow::Result<GraphSchema> {
    let survey = super::schema::live(at).await?;
    Ok(GraphSchema {
        schema: survey.schema.clone(),
        nodes: survey.nodes.clone(),
    })
}

fn schema(file: &Path) -> anyhow::Result<Schema> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    serde_json::from_str(&text).with_context(|| format!("{name} is no schema"))
}

/// Answers each line. A refusal is an answer; it fails only if a line could not be parsed as a
/// statement.
fn check_lines(schema: &Schema, limits: &StatementLimits<'_>) -> anyhow::Result<Exit> {
    let mut out = std::io::stdout().lock();
    let mut unread: u64 = 0;
    for (number, line) in (1..).zip(std::io::stdin().lock().split(b'\n')) {
        let line = line.with_context(|| format!("cannot read line {number}"))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = match statement(&line) {
            Ok(query) => answer(confine(&query, schema, limits)),
            Err(error) => {
                unread += 1;
                json!({"ok": false, "error": format!("line {number}: {error}")})
            }
        };
        writeln!(out, "{answer}")?;
    }
    Ok(if unread == 0 {
        Exit::SUCCESS
    } else {
        Exit::FAILURE
    })
}

/// A statement with line breaks is written as a JSON string.
fn statement(line: &[u8]) -> Result<String, String> {
    let line = std::str::from_utf8(line).map_err(|error| {
        format!(
            "is not UTF-8 from its byte {} on; write it as UTF-8",
            error.valid_up_to() + 1
        )
    })?;
    let line = line.trim_end_matches('\r');
    if !line.starts_with('"') {
        return Ok(line.to_owned());
    }
    serde_json::from_str(line)
        .map_err(|error| format!("begins with a double quote and is no JSON string: {error}"))
}

fn answer(checked: Result<ConfinedCypher, Refusal>) -> Value {
    match checked {
        Ok(confined) => json!({"ok": true, "cypher": confined.as_str()}),
        Err(refusal) => json!({"ok": false, "error": refusal.to_string()}),
    }
}
