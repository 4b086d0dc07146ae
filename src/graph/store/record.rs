//! Converts turns to rows and rows to turns.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use half::f16;
use half::slice::HalfFloatSliceExt as _;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::graph::engine::value;
use crate::graph::engine::{Engine, Params, Row};
use crate::graph::types::embedding::Embedding;
use crate::graph::types::response_id::ResponseId;
use crate::graph::types::source::Source;
use crate::graph::types::trace::Trace;
use crate::graph::{AttachedText, NewTurn, StoreError, Summary, Trust, Turn};

/// Maximum characters of the first question in a session's title.
const TITLE_LENGTH: usize = 60;

pub(crate) fn unexpected(what: impl Into<String>) -> StoreError {
    StoreError::Unexpected(what.into())
}

/// Converts a JSON object to parameters.
pub(crate) fn params(value: Value) -> Params {
    match value {
        Value::Object(params) => params,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Params::new()
        }
    }
}

/// The parameters of [`super::statements::APPEND`].
pub(crate) fn append_params(engine: &dyn Engine, session: &str, new: &NewTurn) -> Params {
    let turn = &new.turn;
    let audience = &new.audience;
    let (embedding, embedder) = match &turn.embedding {
        Some(Embedding { embedder, vector }) => {
            ((engine.dialect().embedding)(vector), json!(embedder))
        }
        None => (Value::Null, Value::Null),
    };
    let recalled: Vec<Value> = new
        .recalled
        .iter()
        .map(|(id, score)| json!({"id": id.to_string(), "score": value::float(*score)}))
        .collect();
    params(json!({
        "session": session,
        "title": title(turn.said()),
        "audience": audience.id.as_str(),
        "platform": audience.platform,
        "workspace": audience.workspace,
        "channelName": audience.name,
        "privateTo": audience.private_to,
        "recalls": new.recalled_audiences(),
        "id": turn.id.to_string(),
        "createdAt": turn.created_at.to_rfc3339(),
        "source": source_name(turn.source),
        "input": turn.input,
        "rephrasedQuestion": turn.rephrased_question,
        "output": turn.output,
        "cypher": turn.cypher,
        "eventId": turn.event,
        "author": turn.author,
        "authorName": turn.author_name,
        "volatile": turn.volatile,
        "model": turn.model,
        "promptTokens": turn.prompt_tokens,
        "completionTokens": turn.completion_tokens,
        "durationMs": turn.duration_ms,
        "cachedTokens": new.trace.cached(),
        "costMicros": new.trace.cost_micros(),
        "embedding": embedding,
        "embedder": embedder,
        "context": new.context,
        "recalled": recalled,
        "link": turn.link,
        "delivered": turn.delivered.as_ref().map(|delivered| json!(delivered).to_string()),
        "revisedAt": turn.revised_at.map(|at| at.to_rfc3339()),
        "replyTo": turn.reply_to,
        "trust": turn.trust.name(),
        "attached": (!turn.attached.is_empty())
            .then(|| json!(without_prior_messages(turn.attached.clone())).to_string()),
        "trace": (new.trace != Trace::default()).then(|| json!(new.trace).to_string()),
    }))
}

/// The first question, shortened to one line.
pub(crate) fn title(input: &str) -> String {
    let words: Vec<&str> = input.split_whitespace().take(TITLE_LENGTH).collect();
    words.join(" ").chars().take(TITLE_LENGTH).collect()
}

fn source_name(source: Source) -> &'static str {
    match source {
        Source::Model => "model",
        Source::Knowledge => "knowledge",
        Source::Retrieval => "retrieval",
        Source::Memory => "memory",
        Source::Message => "message",
        Source::Note => "note",
    }
}

/// The source of the answer in a row.
pub(crate) fn source(row: &Row) -> Source {
    match text(row, "source").as_deref() {
        Some("memory") => Source::Memory,
        Some("message") => Source::Message,
        Some("note") => Source::Note,
        Some("knowledge") => Source::Knowledge,
        Some("retrieval") => Source::Retrieval,
        Some(_) | None => Source::Model,
    }
}

/// Parses a turn.
pub(crate) fn turn(value: &Value) -> Result<Turn, StoreError> {
    let row = value
        .as_object()
        .ok_or_else(|| unexpected("a turn that is no map"))?;
    let id = response_id(required(row, "id")?)?;
    let created_at = row
        .get("createdAt")
        .and_then(value::instant)
        .ok_or_else(|| unexpected(format!("response {id} has no createdAt")))?;
    Ok(Turn {
        id,
        session: text(row, "session").unwrap_or_default(),
        position: integer(row, "position"),
        created_at,
        source: source(row),
        input: text(row, "input").unwrap_or_default(),
        rephrased_question: text(row, "rephrasedQuestion"),
        output: text(row, "output").unwrap_or_default(),
        cypher: text(row, "cypher"),
        event: text(row, "eventId").unwrap_or_default(),
        author: text(row, "author").unwrap_or_default(),
        author_name: text(row, "authorName").unwrap_or_default(),
        volatile: row.get("volatile").and_then(Value::as_bool) == Some(true),
        embedding: embedding(row),
        model: text(row, "model"),
        prompt_tokens: count(row, "promptTokens"),
        completion_tokens: count(row, "completionTokens"),
        duration_ms: count(row, "durationMs"),
        link: text(row, "link"),
        delivered: written(row, "delivered"),
        revised_at: row.get("revisedAt").and_then(value::instant),
        attached: without_prior_messages(written(row, "attached").unwrap_or_default()),
        reply_to: text(row, "replyTo"),
        trust: text(row, "trust")
            .and_then(|name| Trust::parse(&name))
            .unwrap_or_else(|| Trust::of_old(source(row))),
    })
}

/// The trace of an answer; empty if nothing readable was kept.
pub(crate) fn trace(row: &Row) -> Trace {
    written(row, "trace").unwrap_or_default()
}

/// Removes the text of messages from before the bot joined. Version 0.1 kept it, and its journal may still have it.
fn without_prior_messages(mut attached: Vec<AttachedText>) -> Vec<AttachedText> {
    for entry in attached.iter_mut().filter(|it| it.is_prior_messages()) {
        entry.text.clear();
    }
    attached
}

/// Parses a property that contains JSON.
fn written<T: serde::de::DeserializeOwned>(row: &Row, column: &str) -> Option<T> {
    serde_json::from_str(row.get(column)?.as_str()?).ok()
}

/// Parses the turns of a list.
pub(crate) fn turns(row: &Row, column: &str) -> Result<Vec<Turn>, StoreError> {
    each_turn(list(row, column))
}

/// Parses turns, without those that were [deleted](is_deleted) meanwhile.
pub(crate) fn each_turn<'a>(
    values: impl IntoIterator<Item = &'a Value>,
) -> Result<Vec<Turn>, StoreError> {
    let there = values.into_iter().filter(|value| !is_deleted(value));
    there.map(turn).collect()
}

/// Whether a turn was deleted while its row was read: Neo4j reads what is committed at each moment, and then returns a
/// node without properties.
pub(crate) fn is_deleted(turn: &Value) -> bool {
    let row = turn.as_object();
    row.is_some_and(|row| row.get("id").is_none_or(Value::is_null))
}

pub(crate) fn list<'a>(row: &'a Row, column: &str) -> &'a [Value] {
    row.get(column)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

pub(crate) fn summary(row: &Row) -> Result<Option<Summary>, StoreError> {
    let (Some(text), Some(through)) = (text(row, "summary"), text(row, "summarizedThrough")) else {
        return Ok(None);
    };
    // A summary of an earlier version may cover anything.
    let trust = self::text(row, "summaryTrust").and_then(|name| Trust::parse(&name));
    Ok(Some(Summary {
        text,
        through: response_id(&through)?,
        trust: trust.unwrap_or(Trust::File),
    }))
}

pub(crate) fn response_id(text: &str) -> Result<ResponseId, StoreError> {
    Uuid::parse_str(text)
        .map(ResponseId)
        .map_err(|_| unexpected(format!("response id {text:?}")))
}

fn required<'a>(row: &'a Row, column: &str) -> Result<&'a str, StoreError> {
    row.get(column)
        .and_then(Value::as_str)
        .ok_or_else(|| unexpected(format!("a response without {column}")))
}

pub(crate) fn text(row: &Row, column: &str) -> Option<String> {
    row.get(column).and_then(Value::as_str).map(str::to_owned)
}

pub(crate) fn integer(row: &Row, column: &str) -> i64 {
    row.get(column).and_then(Value::as_i64).unwrap_or_default()
}

fn count(row: &Row, column: &str) -> u32 {
    u32::try_from(integer(row, column)).unwrap_or_default()
}

/// A turn's vector, from its map or from a row.
pub(crate) fn embedding(row: &Map<String, Value>) -> Option<Embedding> {
    Some(Embedding {
        embedder: text(row, "embedder")?,
        vector: vector(row.get("embedding")?)?,
    })
}

/// Parses a vector in either engine's representation.
pub(crate) fn vector(value: &Value) -> Option<Vec<f32>> {
    match value {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it was an f32 before it was stored"
        )]
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_f64().map(|item| item as f32))
            .collect(),
        Value::String(text) => unpacked(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// A vector as a list of floats, readable by other tools.
pub(crate) fn listed(vector: &[f32]) -> Value {
    vector.iter().map(|x| value::float(f64::from(*x))).collect()
}

/// A vector as base64 of half-precision floats, 2.7 bytes per dimension: a list property costs 12 KB of memory on the
/// embedded engine. Halves are used rather than scaled bytes: the cosine of two 256-dimensional unit vectors is off by
/// less than 0.0002 (by up to 0.01 with int8), so nothing is ranked differently from Neo4j, for 684 characters instead of
/// 348.
pub(crate) fn packed(vector: &[f32]) -> Value {
    let mut halves = vec![f16::ZERO; vector.len()];
    halves.convert_from_f32_slice(vector);
    let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    Value::String(STANDARD_NO_PAD.encode(bytes))
}

fn unpacked(text: &str) -> Option<Vec<f32>> {
    let bytes = STANDARD_NO_PAD.decode(text).ok()?;
    let (pairs, rest) = bytes.as_chunks::<2>();
    rest.is_empty().then(|| {
        pairs
            .iter()
            .map(|pair| f16::from_le_bytes(*pair).to_f32())
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit vector that differs by seed.
    fn unit(seed: u32) -> Vec<f32> {
        let raw: Vec<f32> = (0..256_u32)
            .map(|i| ((i * 37 + seed * 101) % 97) as f32 / 97.0 - 0.5)
            .collect();
        let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
        raw.iter().map(|x| x / length).collect()
    }

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn packing_hardly_moves_a_cosine() {
        for seed in 0..50 {
            let (a, b) = (unit(seed), unit(seed + 1));
            let (packed_a, packed_b) = (vector(&packed(&a)), vector(&packed(&b)));
            let moved = cosine(&packed_a.unwrap(), &packed_b.unwrap()) - cosine(&a, &b);
            assert!(moved.abs() < 2e-4, "{moved}");
        }
        assert_eq!(packed(&unit(1)).as_str().unwrap().len(), 683);
    }

    #[test]
    fn a_turn_that_is_deleted_while_it_is_read_is_left_out() {
        let whole = json!({"id": Uuid::nil().to_string(), "createdAt": "2026-11-27T10:00:00Z"});
        let nothing = json!({"id": null, "createdAt": null, "input": null});
        let row = params(json!({"window": [nothing, whole]}));
        assert_eq!(turns(&row, "window").unwrap().len(), 1);
        let damaged = params(json!({"window": [{"id": "x"}]}));
        assert!(turns(&damaged, "window").is_err());
    }

    #[test]
    fn what_was_said_before_is_neither_read_nor_written() {
        let attached = json!([
            {"name": "a.txt", "text": "A lease."},
            {"name": AttachedText::PRIOR_MESSAGES, "text": "[2026-11-01 10:00] Xaver: I am ill."},
        ]);
        let row = json!({
            "id": Uuid::nil().to_string(), "createdAt": "2026-11-27T10:00:00Z",
            "attached": attached.to_string(),
        });
        let read = turn(&row).unwrap();
        assert!(read.was_given_prior_messages());
        assert_eq!(read.files().count(), 1);
        assert!(read.attached.iter().all(|it| !it.text.contains("Xaver")));
        // A journal of version 0.1.
        let kept = without_prior_messages(serde_json::from_value(attached).unwrap());
        assert_eq!(kept, read.attached);
    }

    #[test]
    fn titles_are_one_short_line() {
        assert_eq!(title("  a\n b\tc "), "a b c");
        assert_eq!(title(&"ä".repeat(100)).chars().count(), TITLE_LENGTH);
        assert_eq!(title(""), "");
    }
}
