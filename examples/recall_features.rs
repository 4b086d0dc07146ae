//! Writes the features of recall, for `crates/retrieval/embedder/training/fit_recall.py`. Each question is asked
//! against its whole history, and against random pieces of it, so that the fit also holds with
//! little history or without a hit.
//!
//! `recall_features EXCHANGES QUERIES OUT [CALIBRATION]`

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context;
use muninn::graph::Turn;
use muninn::memory::recall_eval::{EvaluationQuery, Exchange, IndexedHistory, read_lines, turns};
use muninn::memory::{Calibration, Features, IndexQuery, RecallMode, RecallSettings, candidates};
use muninn::retrieval::LocalEmbedder;

/// Number of random pieces of the history per question.
const PIECES: usize = 3;
const SMALLEST_PIECE: usize = 5;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [exchanges, queries, out, rest @ ..] = arguments.as_slice() else {
        anyhow::bail!("recall_features EXCHANGES QUERIES OUT [CALIBRATION]");
    };
    let calibration = match rest {
        [file, ..] => Calibration::from_json(&std::fs::read_to_string(file)?)?,
        [] => Calibration::shipped()?,
    };
    let exchanges: Vec<Exchange> = read_lines(exchanges)?;
    let questions: Vec<EvaluationQuery> = read_lines(queries)?;
    let embedder = LocalEmbedder::shipped()?;
    let scopes = turns(&exchanges, &embedder);
    let mut out = BufWriter::new(File::create(out)?);
    let mut random = Random(1);
    for question in &questions {
        let all = scopes
            .get(question.scope.as_str())
            .context("unknown scope")?;
        let vector = embedder.embed(&question.question);
        let mut ask = |kind, turns: &[Turn]| {
            let history = IndexedHistory::new(turns, &embedder);
            let rows = features(&history, question, vector.as_deref(), &calibration);
            let line = serde_json::json!({"id": question.id, "kind": kind, "rows": rows});
            writeln!(out, "{line}")
        };
        ask("whole", all)?;
        for _ in 0..PIECES {
            ask("piece", random.piece(all))?;
        }
    }
    out.flush()?;
    Ok(())
}

fn features<'a>(
    history: &'a IndexedHistory,
    question: &EvaluationQuery,
    vector: Option<&[f32]>,
    calibration: &Calibration,
) -> Vec<(&'a str, [f32; 10])> {
    let query = IndexQuery {
        text: &question.question,
        vector,
        ..IndexQuery::default()
    };
    // Nothing is kept, so nothing is folded.
    let nothing = RecallSettings {
        mode: RecallMode::Probability,
        threshold: 0.0,
        usual: 0,
        sure: 1.0,
        tokens: 0,
        limit: 0,
    };
    candidates(&history.index, calibration, &query, &nothing, usize::MAX)
        .iter()
        .map(|one| {
            let name = history.name(one.exchange.id);
            (name, row(&one.exchange.features))
        })
        .collect()
}

/// Returns the features in the order of `fit_recall.py`.
fn row(features: &Features) -> [f32; 10] {
    [
        features.cosine.unwrap_or(0.0),
        features.z_cosine,
        features.ln_bm25,
        features.z_bm25,
        features.near_z_cosine,
        features.near_z_bm25,
        features.around_z_cosine,
        features.around_z_bm25,
        features.coverage,
        features.peer_similarity,
    ]
}

/// xorshift64*: the same pieces on every run.
struct Random(u64);

impl Random {
    /// Returns a number from 0 to 1.
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a run of exchanges of log-uniform length.
    fn piece<'a, T>(&mut self, all: &'a [T]) -> &'a [T] {
        let (least, most) = (SMALLEST_PIECE.min(all.len()) as f64, all.len() as f64);
        let length = (least.ln() + self.unit() * (most.ln() - least.ln())).exp() as usize;
        let length = length.clamp(1, all.len());
        let start = (self.unit() * (all.len() - length + 1) as f64) as usize;
        &all[start..start + length]
    }
}
