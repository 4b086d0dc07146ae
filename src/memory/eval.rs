//! `muninn recall-eval`: questions with known evidence against a history, through the very code
//! that serves a turn.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use chrono::NaiveDateTime;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{AudienceIndex, Calibration, Query, RecallMode, RecallSettings, embedded_text, recall};
use crate::graph::{Embedding, ResponseId, Source, Turn};
use crate::llm::local::LocalEmbedder;

/// What `recall-eval` is told.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct EvalArgs {
    /// Lines of {id, scope, seq, at, author, input, responder, output}; a scope is an audience
    /// and its one session.
    #[arg(long)]
    pub exchanges: PathBuf,
    /// Lines of {id, scope, question}.
    #[arg(long)]
    pub queries: PathBuf,
    /// Gets a line a query: {"id", "results": [[exchange id, probability], …]}.
    #[arg(long)]
    pub out: PathBuf,
    /// At most so many results a query.
    #[arg(long, default_value_t = 50)]
    pub limit: usize,
}

/// A line of the exchanges.
#[derive(Clone, Debug, Deserialize)]
pub struct Exchange {
    pub id: String,
    pub scope: String,
    pub seq: i64,
    /// Taken as UTC.
    pub at: NaiveDateTime,
    pub author: String,
    pub input: String,
    pub output: String,
}

/// A line of the queries.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    pub id: String,
    pub scope: String,
    pub question: String,
}

/// A line of the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answered {
    pub id: String,
    /// Exchange and probability, best first.
    pub results: Vec<(String, f64)>,
}

/// Reads the history and the questions, recalls, and writes what was recalled.
///
/// # Errors
/// When a file cannot be read or written, or a line is not what is expected.
pub fn run(args: &EvalArgs) -> anyhow::Result<()> {
    let exchanges: Vec<Exchange> = read_lines(&args.exchanges)?;
    let questions: Vec<Question> = read_lines(&args.queries)?;
    let embedder = LocalEmbedder::shipped()?;
    let calibration = Calibration::shipped()?;
    let answered = evaluate(&exchanges, &questions, &embedder, &calibration, args.limit)?;
    write_lines(&args.out, &answered)
}

/// Recalls for every question, whatever the probability, at most `limit` exchanges.
///
/// # Errors
/// When a question's scope has no exchanges.
pub fn evaluate(
    exchanges: &[Exchange],
    questions: &[Question],
    embedder: &LocalEmbedder,
    calibration: &Calibration,
    limit: usize,
) -> anyhow::Result<Vec<Answered>> {
    let scopes: HashMap<&str, History> = turns(exchanges, embedder)
        .into_iter()
        .map(|(scope, turns)| (scope, History::new(&turns, embedder)))
        .collect();
    let settings = RecallSettings {
        mode: RecallMode::Probability,
        threshold: 0.0,
        tokens: usize::MAX,
        limit,
    };
    questions
        .iter()
        .map(|question| {
            let history = scopes.get(question.scope.as_str());
            let history = history
                .with_context(|| format!("query {} is about an unknown scope", question.id))?;
            let vector = embedder.embed(&question.question);
            let query = Query {
                text: &question.question,
                vector: vector.as_deref(),
                earlier: &[],
                exclude: &[],
            };
            let mut recalled = recall(&history.index, calibration, &query, &settings);
            recalled.sort_by(|a, b| b.score.total_cmp(&a.score));
            let results = recalled
                .iter()
                .map(|one| (history.name(one.id).to_owned(), one.probability));
            Ok(Answered {
                id: question.id.clone(),
                results: results.collect(),
            })
        })
        .collect()
}

/// A scope's index, and its exchanges' ids by the ids the index knows them by.
#[derive(Debug)]
pub struct History {
    pub index: AudienceIndex,
    names: HashMap<ResponseId, String>,
}

impl History {
    /// An index of turns made by [`turns`], in their order.
    pub fn new<'a>(turns: impl IntoIterator<Item = &'a Turn>, embedder: &LocalEmbedder) -> Self {
        let of = (embedder.name(), embedder.dimension());
        let mut history = Self {
            index: AudienceIndex::new(Some(of), 0),
            names: HashMap::new(),
        };
        for turn in turns {
            history.names.insert(turn.id, turn.event.clone());
            history.index.push(turn);
        }
        history
    }

    /// The exchange's id in the file it came from; empty for an id that is not of this history.
    pub fn name(&self, id: ResponseId) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }
}

/// The turns of each scope, in order.
pub fn turns<'a>(
    exchanges: &'a [Exchange],
    embedder: &LocalEmbedder,
) -> HashMap<&'a str, Vec<Turn>> {
    let mut in_order: Vec<&Exchange> = exchanges.iter().collect();
    in_order.sort_by_key(|exchange| exchange.seq);
    let mut scopes: HashMap<&str, Vec<Turn>> = HashMap::new();
    for exchange in in_order {
        let turns = scopes.entry(&exchange.scope).or_default();
        turns.push(turn(exchange, turns.len() as i64 + 1, embedder));
    }
    scopes
}

fn turn(exchange: &Exchange, position: i64, embedder: &LocalEmbedder) -> Turn {
    let vector = embedder.embed(&embedded_text(&exchange.input, &exchange.output));
    Turn {
        id: ResponseId(Uuid::from_u128(position as u128)),
        session: exchange.scope.clone(),
        position,
        created_at: exchange.at.and_utc(),
        source: Source::Model,
        input: exchange.input.clone(),
        rephrased_question: None,
        output: exchange.output.clone(),
        cypher: None,
        event: exchange.id.clone(),
        author: exchange.author.clone(),
        author_name: exchange.author.clone(),
        volatile: false,
        embedding: vector.map(|vector| Embedding {
            embedder: embedder.name().to_owned(),
            vector,
        }),
        model: None,
        prompt_tokens: 0,
        completion_tokens: 0,
        duration_ms: 0,
        link: None,
        delivered: None,
        revised_at: None,
        attached: Vec::new(),
    }
}

/// Reads JSON lines; blank ones are skipped.
///
/// # Errors
/// When the file cannot be read, is empty, or a line is not what is expected; says which.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut read = Vec::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let place = || format!("{}, line {}", path.display(), number + 1);
        let line = line.with_context(place)?;
        if !line.trim().is_empty() {
            read.push(serde_json::from_str(&line).with_context(place)?);
        }
    }
    ensure!(!read.is_empty(), "{} is empty", path.display());
    Ok(read)
}

fn write_lines<T: Serialize>(path: &Path, lines: &[T]) -> anyhow::Result<()> {
    let place = || format!("cannot write {}", path.display());
    let mut file = BufWriter::new(File::create(path).with_context(place)?);
    for line in lines {
        serde_json::to_writer(&mut file, line).with_context(place)?;
        file.write_all(b"\n").with_context(place)?;
    }
    file.flush().with_context(place)
}
