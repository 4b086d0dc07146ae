//! The fallback for questions without a specific tool: a model writes Cypher, the confiner makes it safe, and errors are
//! returned to the model.

use std::time::Duration;

use serde_json::Map;

use super::of_turn::Tools;
use super::result::ToolResult;
use super::toolbox::{OfferedTools, Toolbox};
use crate::agent::findings;
use crate::agent::model_session::ModelRequest;
use crate::agent::prompts::{PromptError, TextToCypher, lines};
use crate::graph::confine::{ConfinedCypher, StatementLimits, confine};
use crate::graph::query::{QueryError, QueryLimits, QueryResult};
use crate::graph::trace::ModelStep;
use crate::llm::{ChatMessage, ModelError, structured};

/// Maximum rows of a generated statement's result.
const ROWS: u32 = 50;
/// Maximum bytes of a result.
const BYTES: usize = 64 * 1024;
/// Time limit of a statement.
const TIME: Duration = Duration::from_secs(10);
/// How often a statement may be repaired.
const REPAIRS: u32 = 2;
/// Maximum tokens of the schema in the prompt.
const SCHEMA_TOKENS: u32 = 3_000;

/// Why a question was not translated to Cypher.
enum Failed {
    Model(ModelError),
    Prompt(PromptError),
    /// The graph is away.
    Graph(QueryError),
    /// The model's last statement, and its problem.
    Beyond {
        cypher: String,
        problem: String,
    },
}

/// How it ended.
enum Outcome {
    Found(Box<ConfinedCypher>, QueryResult),
    /// The model says that the graph cannot contain the answer.
    None(String),
}

/// Limits for a statement that a model or a person wrote.
pub(crate) fn query_limits(rows: u32) -> QueryLimits {
    QueryLimits {
        rows: rows as usize,
        bytes: BYTES,
        time: TIME,
    }
}

/// Answers a question with a generated statement.
pub(super) async fn text2cypher(
    tools: &Tools<'_>,
    offer: &OfferedTools,
    question: &str,
) -> ToolResult {
    let heading = format!("text2cypher({question:?})");
    let mut result = ToolResult::default();
    let repairs = &mut result.used.repairs;
    match write_and_run(tools, offer, question, repairs).await {
        Ok(Outcome::Found(cypher, rows)) => {
            result.finding = findings::of_rows(&heading, &rows, cypher.id_columns());
            result.used.found = Some(rows.rows.len());
            result.used.cypher = Some(cypher.as_str().to_owned());
            result.nodes = rows.nodes;
            // A count is true today only, and "next quarter" changes its meaning soon.
            result.is_volatile = cypher.is_volatile();
        }
        Ok(Outcome::None(why)) => {
            result.finding = findings::without(&heading, &format!("not in the graph: {why}"));
            result.used.found = Some(0);
        }
        Err(failed) => {
            let (why, cypher) = match failed {
                Failed::Model(error) => (error.to_string(), None),
                Failed::Prompt(error) => (error.to_string(), None),
                Failed::Graph(error) => (error.to_string(), None),
                Failed::Beyond { cypher, problem } => (problem, Some(cypher)),
            };
            result.finding = findings::without(&heading, &format!("failed: {why}"));
            result.used.error = Some(why);
            result.used.cypher = cypher;
        }
    }
    result
}

async fn write_and_run(
    tools: &Tools<'_>,
    offer: &OfferedTools,
    question: &str,
    repairs: &mut u32,
) -> Result<Outcome, Failed> {
    let prompt = prompt(tools, offer, question)
        .await
        .map_err(Failed::Prompt)?;
    let mut messages = vec![ChatMessage::User(prompt)];
    loop {
        let ask = ModelRequest {
            messages: messages.clone(),
            ..ModelRequest::default()
        };
        let models = tools.models;
        let asked = models.ask(ModelStep::Cypher, ask, &mut |_| {}).await;
        let text = asked.map_err(Failed::Model)?.text;
        let cypher = structured::code_in(&text).to_owned();
        if let Some(why) = declined(&cypher) {
            return Ok(Outcome::None(why.to_owned()));
        }
        let problem = match run(tools.toolbox, offer, &cypher).await {
            Ok((confined, rows)) => return Ok(Outcome::Found(Box::new(confined), rows)),
            Err(StatementFailure::Repairable(problem)) => problem,
            Err(StatementFailure::Graph(error)) => return Err(Failed::Graph(error)),
        };
        let is_same = |message: &ChatMessage| matches!(message, ChatMessage::Assistant { text: before, .. } if *before == text);
        // A model that repeats the same statement will not improve it.
        if *repairs == REPAIRS || messages.iter().any(is_same) {
            return Err(Failed::Beyond { cypher, problem });
        }
        *repairs += 1;
        messages.push(ChatMessage::Assistant {
            text,
            tool_calls: Vec::new(),
        });
        messages.push(ChatMessage::User(format!(
            "That statement was refused: {problem}\nWrite it again without that mistake."
        )));
    }
}

/// Why a statement returned no rows.
enum StatementFailure {
    /// Described for the model.
    Repairable(String),
    Graph(QueryError),
}

async fn run(
    toolbox: &Toolbox,
    offer: &OfferedTools,
    cypher: &str,
) -> Result<(ConfinedCypher, QueryResult), StatementFailure> {
    // One row more than is kept shows whether there are more.
    let survey = &offer.survey;
    let limits = StatementLimits::of_rows(ROWS + 1).with_nodes(&survey.nodes);
    let confined = confine(cypher, &survey.schema, &limits)
        .map_err(|refusal| StatementFailure::Repairable(refusal.to_string()))?;
    let ran = toolbox
        .store
        .query(&confined, Map::new(), query_limits(ROWS));
    match ran.await {
        Ok(rows) => Ok((confined, rows)),
        Err(
            error @ (QueryError::Repairable { .. }
            | QueryError::TimedOut { .. }
            | QueryError::TooBig),
        ) => Err(StatementFailure::Repairable(error.to_string())),
        Err(error @ QueryError::Store(_)) => Err(StatementFailure::Graph(error)),
    }
}

async fn prompt(
    tools: &Tools<'_>,
    offer: &OfferedTools,
    question: &str,
) -> Result<String, PromptError> {
    let toolbox = tools.toolbox;
    let examples = toolbox.examples(offer, question, tools.recaller).await;
    tools.prompts.render(&TextToCypher {
        schema: &offer.survey.text(SCHEMA_TOKENS),
        gaps: toolbox.store.unsupported_features(),
        terminology: &toolbox.terminology,
        examples: &examples,
        rows: ROWS,
        question: &lines(question),
    })
}

/// The reason, if the model says that the schema cannot contain the answer.
fn declined(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("NONE")?;
    let is_word = rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (!is_word).then(|| rest.trim_start_matches([':', '.', '-', ' ', '\n']))
}

#[cfg(test)]
mod tests {
    use super::declined;
    use crate::graph::confine::{StatementLimits, confine};
    use crate::graph::schema::Schema;

    #[test]
    fn a_count_is_told_from_what_lasts() {
        let text = r#"{"nodes": {
                "Raven": [["name", "STRING"], ["age", "INTEGER"], ["count", "INTEGER"], ["sum(", "INTEGER"]],
                "Pact": [["name", "STRING"], ["until", "DATE"], ["at", "DATE_TIME"], ["date", "INTEGER"], ["date()", "INTEGER"]]
            }, "relationships": {"KNOWS": []}, "patterns": []}"#;
        let schema: Schema = serde_json::from_str(text).unwrap();
        let limits = StatementLimits::of_rows(50);
        for (cypher, expected) in [
            ("MATCH (n:Raven) RETURN count(n) AS n", true),
            (
                "MATCH (n:Raven) RETURN n.name, COUNT { (n)--(:Raven) } AS n",
                true,
            ),
            ("MATCH (n:Raven) RETURN avg (n.age)", true),
            ("MATCH (n:Raven {name: 'count('}) RETURN n.name", false),
            ("MATCH (n:Raven) RETURN n.count, n.`sum(`", false),
            ("MATCH (n:Raven) RETURN collect(n.name)", false),
            ("MATCH (n:Raven) RETURN size(n.name)", false),
            ("MATCH (n:Pact) WHERE n.until > date() RETURN n.name", true),
            (
                "MATCH (n:Pact) WHERE n.at > datetime( ) RETURN n.name",
                true,
            ),
            (
                "MATCH (n:Pact) WHERE n.until > date.realtime() RETURN n.name",
                true,
            ),
            (
                "MATCH (n:Pact) WHERE n.until > date('2026-01-01') RETURN n.name",
                false,
            ),
            ("MATCH (n:Pact) WHERE n.date = 1 RETURN n.`date()`", false),
            ("MATCH (n:Raven) RETURN count(*) AS n", true),
            ("MATCH (n:Raven) RETURN size(collect(n)) AS n", true),
            (
                "MATCH (n:Raven) WITH collect(n) AS ns RETURN size(ns) AS n",
                true,
            ),
            (
                "MATCH (n:Raven) WITH collect(n) AS ns WITH [x IN ns WHERE x.age > 1] AS old \
                 RETURN size(old) AS n",
                true,
            ),
            (
                "MATCH (n:Raven) WITH collect(n.name) AS ns RETURN size(head(ns)) AS n",
                false,
            ),
            ("MATCH (n:Raven) RETURN size([(n)--(m) | m]) AS n", true),
            ("MATCH (n:Raven) RETURN [(n)--(m) | m] AS ms", false),
            (
                "MATCH (n:Raven) RETURN size(COLLECT { MATCH (n)--(m) RETURN m }) AS n",
                true,
            ),
            (
                "MATCH (n:Raven) WHERE size((n)--()) > 1 RETURN n.name",
                true,
            ),
            (
                "MATCH (n:Raven) RETURN [(n)--(m:Raven) WHERE COUNT { (m)--() } > 1 | m] AS ms",
                true,
            ),
            (
                "MATCH (n:Raven) RETURN percentileCont(n.age, 0.5) AS n",
                true,
            ),
            (
                "MATCH (n:Pact) WHERE n.at > datetime({timezone: 'Europe/Berlin'}) RETURN n.name",
                true,
            ),
            (
                "MATCH (n:Pact) WHERE n.until > date({year: 2026, month: 1}) RETURN n.name",
                false,
            ),
            (
                "MATCH (n:Pact) WHERE n.until > date.truncate('year') RETURN n.name",
                true,
            ),
            (
                "MATCH (n:Pact) WHERE n.until > date.truncate('year', n.date) RETURN n.name",
                false,
            ),
            (
                "MATCH (n:Raven) RETURN n.name ORDER BY rand() LIMIT 1",
                true,
            ),
            ("RETURN randomUUID() AS id", true),
        ] {
            let confined = confine(cypher, &schema, &limits).unwrap();
            assert_eq!(confined.is_volatile(), expected, "{cypher}");
        }
    }

    #[test]
    fn a_model_can_decline() {
        assert_eq!(declined("NONE: no ages."), Some("no ages."));
        assert_eq!(declined("NONE"), Some(""));
        assert_eq!(declined("NONEXISTENT"), None);
        assert_eq!(declined("MATCH (n) RETURN n"), None);
    }
}
