//! `muninn recall-eval`: questions with known evidence against a history, through the very code
//! that serves a turn.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use chrono::NaiveDateTime;
use muninn_platform::TimeZone;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::graph::{Embedding, ResponseId, Source, Turn};
use crate::memory::recall::recaller::REACH;
use crate::memory::{
    AudienceIndex, Calibration, Earlier, Grounds, IndexQuery, RecallDecision, RecallMode,
    RecallSettings, Recalled, embedded_text, grounds, recall, replaced,
};
use crate::memory::{candidates, quote};
use crate::retrieval::LocalEmbedder;

/// What `recall-eval` is told.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct EvalArgs {
    /// Lines of {id, scope, seq, at, author, input, responder, output, thread?, kind?, `reply_to`?}; a scope is an
    /// audience, a thread a session of it, and without threads the scope is one session. Of the kind `note` is what somebody had kept in mind, of the kind `said` what
    /// people said to one another.
    #[arg(long)]
    pub exchanges: PathBuf,
    /// Lines of {id, scope, question, thread?, at?, asker?}; one with a time is asked of what was said
    /// before it.
    #[arg(long)]
    pub queries: PathBuf,
    /// Gets a line a query: {"id", "results": all that was ranked, "recalled": what a model would be
    /// given, both [[exchange id, probability], …] and best first, "quoted": what a person would be
    /// shown without one, "superseded": what of it is marked as no longer current}.
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
    /// The conversation in the scope; `None` if there is only one.
    #[serde(default)]
    pub thread: Option<String>,
    pub seq: i64,
    /// In UTC.
    pub at: NaiveDateTime,
    pub author: String,
    pub input: String,
    pub output: String,
    /// `said` means that people said it to one another.
    #[serde(default)]
    pub kind: Option<String>,
    /// The exchange that it answers.
    #[serde(default)]
    pub reply_to: Option<String>,
}

impl Exchange {
    fn session(&self) -> &str {
        self.thread.as_deref().unwrap_or(&self.scope)
    }
}

/// A line of the queries.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct EvaluationQuery {
    pub id: String,
    pub scope: String,
    pub question: String,
    /// The conversation in which it is asked. The question may depend on what was said there before.
    #[serde(default)]
    pub thread: Option<String>,
    /// In UTC. `None` means after everything that was said.
    #[serde(default)]
    pub at: Option<NaiveDateTime>,
    #[serde(default)]
    pub asker: Option<String>,
}

/// A line of the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct QuestionResult {
    pub id: String,
    /// Exchanges with their probabilities, best first, whatever the probability.
    pub results: Vec<(String, f64)>,
    /// What a model would be given with the default settings, best first.
    pub recalled: Vec<(String, f64)>,
    /// What a person would be quoted without a model.
    pub quoted: Vec<String>,
    /// Those of them that are marked as no longer current.
    pub superseded: Vec<String>,
    /// What a person would be quoted whatever its odds, and the grounds of the best: data for fitting the quotes.
    pub grounds: Option<(Vec<String>, Grounds)>,
}

/// Reads the history and the questions, recalls for each question, and writes the results.
///
/// # Errors
/// Fails when a file cannot be read or written, or a line is malformed.
pub fn run(args: &EvalArgs) -> anyhow::Result<()> {
    let exchanges: Vec<Exchange> = read_lines(&args.exchanges)?;
    let questions: Vec<EvaluationQuery> = read_lines(&args.queries)?;
    let embedder = LocalEmbedder::shipped()?;
    let calibration = Calibration::shipped()?;
    let answered = evaluate(&exchanges, &questions, &embedder, &calibration, args.limit)?;
    write_lines(&args.out, &answered)
}

/// Recalls for every question as a turn would, and ranks at most `limit` exchanges whatever the probability.
///
/// # Errors
/// Fails when a question's scope has no exchanges.
pub fn evaluate(
    exchanges: &[Exchange],
    questions: &[EvaluationQuery],
    embedder: &LocalEmbedder,
    calibration: &Calibration,
    limit: usize,
) -> anyhow::Result<Vec<QuestionResult>> {
    let scopes = turns(exchanges, embedder);
    let mut answered = Vec::new();
    for (scope, turns) in &scopes {
        let mut asked: Vec<(usize, &EvaluationQuery)> = questions
            .iter()
            .enumerate()
            .filter(|(_, question)| question.scope == *scope)
            .collect();
        asked.sort_by_key(|(_, question)| question.at.unwrap_or(NaiveDateTime::MAX));
        let mut history = IndexedHistory::new([], embedder);
        let mut said = turns.iter().peekable();
        for (number, question) in asked {
            let is_before = |turn: &&Turn| {
                question
                    .at
                    .is_none_or(|at| turn.created_at.naive_utc() < at)
            };
            while let Some(turn) = said.next_if(is_before) {
                history.push(turn, calibration);
            }
            let known = &turns[..history.index.len()];
            let asking = HistorySnapshot {
                history: &history,
                known,
                embedder,
                calibration,
                limit,
            };
            answered.push((number, asking.ask(question)));
        }
    }
    let unknown = questions
        .iter()
        .find(|question| !scopes.contains_key(question.scope.as_str()));
    if let Some(question) = unknown {
        bail!("query {} is about an unknown scope", question.id);
    }
    answered.sort_unstable_by_key(|(number, _)| *number);
    Ok(answered.into_iter().map(|(_, answered)| answered).collect())
}

/// A history as it was when a question was asked.
struct HistorySnapshot<'a> {
    history: &'a IndexedHistory,
    known: &'a [Turn],
    embedder: &'a LocalEmbedder,
    calibration: &'a Calibration,
    limit: usize,
}

impl HistorySnapshot<'_> {
    fn ask(&self, question: &EvaluationQuery) -> QuestionResult {
        let earlier = self.earlier(question);
        let earlier: Vec<Earlier<'_>> = earlier
            .iter()
            .map(|(text, vector)| Earlier {
                text,
                vector: vector.as_deref(),
            })
            .collect();
        let vector = self.embedder.embed(&question.question);
        let query = IndexQuery {
            text: &question.question,
            vector: vector.as_deref(),
            earlier: &earlier,
            exclude: &[],
            asker: question.asker.as_slice(),
            at: question
                .at
                .map(|at| at.and_utc().with_timezone(&TimeZone::UTC)),
        };
        let everything = RecallSettings {
            mode: RecallMode::Probability,
            threshold: 0.0,
            usual: usize::MAX,
            sure: 0.0,
            tokens: usize::MAX,
            limit: self.limit,
        };
        let settings = RecallSettings::by(self.calibration);
        let (index, calibration) = (&self.history.index, self.calibration);
        let ranked = candidates(index, calibration, &query, &everything, usize::MAX);
        let results = ranked
            .iter()
            .filter(|one| {
                matches!(
                    one.verdict,
                    RecallDecision::Recalled | RecallDecision::SmallTalk
                )
            })
            .map(|one| self.scored(&one.exchange));
        let mut recalled = recall(index, calibration, &query, &settings);
        recalled.sort_by(|a, b| b.score.total_cmp(&a.score));
        let quoted = quote(index, calibration, &query, &settings);
        let grounds = grounds(index, calibration, &query, &settings);
        let superseded = recalled.iter().filter(|one| one.superseded.is_some());
        let name = |one: &Recalled| self.history.name(one.id).to_owned();
        QuestionResult {
            id: question.id.clone(),
            results: results.collect(),
            recalled: recalled.iter().map(|one| self.scored(one)).collect(),
            quoted: quoted.iter().map(name).collect(),
            superseded: superseded.map(name).collect(),
            grounds: grounds.map(|(first, grounds)| {
                let first = first.iter().map(|&id| self.history.name(id).to_owned());
                (first.collect(), grounds)
            }),
        }
    }

    fn scored(&self, one: &Recalled) -> (String, f64) {
        (self.history.name(one.id).to_owned(), one.probability)
    }

    /// What was said before in its conversation, with vectors, as a turn has it.
    fn earlier(&self, question: &EvaluationQuery) -> Vec<(String, Option<Vec<f32>>)> {
        let Some(thread) = &question.thread else {
            return Vec::new();
        };
        let said = self.known.iter().filter(|turn| turn.session == *thread);
        let said: Vec<&Turn> = said.collect();
        let from = said.len().saturating_sub(REACH);
        let earlier = said[from..].iter().map(|turn| {
            let text = turn.input.clone();
            let vector = self.embedder.embed(&text);
            (text, vector)
        });
        earlier.collect()
    }
}

/// The index of a scope, and the names of its exchanges by their IDs in the index.
#[derive(Debug)]
pub struct IndexedHistory {
    pub index: AudienceIndex,
    names: HashMap<ResponseId, String>,
}

impl IndexedHistory {
    /// Indexes turns made by [`turns`], in order.
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

    /// Adds a turn like a live one: with links to what it replaces.
    fn push(&mut self, turn: &Turn, calibration: &Calibration) {
        let replaced = replaced(&self.index, calibration, turn);
        self.names.insert(turn.id, turn.event.clone());
        self.index.push(turn);
        for (earlier, _) in replaced {
            self.index.link(turn.id, earlier);
        }
    }

    /// The exchange's ID in its file; empty if the ID is not of this history.
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
    let Exchange {
        author,
        input,
        output,
        ..
    } = exchange;
    Turn {
        id: ResponseId(Uuid::from_u128(position as u128)),
        position,
        created_at: exchange.at.and_utc(),
        source: if exchange.kind.as_deref() == Some("said") && output.is_empty() {
            Source::Message
        } else if exchange.kind.as_deref() == Some("note") {
            Source::Note
        } else if output.starts_with("I remember nothing about that")
            || output == "I will remember that."
        {
            Source::Memory
        } else {
            Source::Model
        },
        event: exchange.id.clone(),
        reply_to: exchange.reply_to.clone(),
        embedding: vector.map(|vector| Embedding {
            embedder: embedder.name().to_owned(),
            vector,
        }),
        ..Turn::of(exchange.session(), author, input, output)
    }
}

/// Reads JSON lines; blank ones are skipped.
///
/// # Errors
/// Fails when the file cannot be read or is empty, or when a line is malformed; the error names the line.
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
