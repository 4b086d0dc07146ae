//! What recall finds, and where it stays silent, in a history of our own: `tests/data/`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use muninn::memory::recall_eval::{Exchange, IndexedHistory, read_lines, turns};
use muninn::memory::{
    Calibration, Earlier, IndexQuery, RecallSettings, Recalled, embedded_text, quote, recall,
};
use muninn::retrieval::LocalEmbedder;
use serde::Deserialize;

#[derive(Deserialize)]
struct RecallQuestion {
    id: String,
    question: String,
    evidence: Vec<String>,
    /// The exchange that it continues.
    after: Option<String>,
}

struct Bench {
    embedder: LocalEmbedder,
    calibration: Calibration,
    exchanges: Vec<Exchange>,
    history: IndexedHistory,
    questions: Vec<RecallQuestion>,
}

/// Counts of questions, and of recalled exchanges.
#[derive(Debug, Default)]
struct Rates {
    questions: usize,
    found: usize,
    /// Number of questions where a person would have been quoted something.
    quoted: usize,
    tokens: usize,
}

impl Bench {
    fn load() -> Self {
        let data = Path::new("tests/data");
        let embedder = LocalEmbedder::shipped().unwrap();
        let exchanges: Vec<Exchange> = read_lines(&data.join("recall_exchanges.jsonl")).unwrap();
        let history = IndexedHistory::new(&turns(&exchanges, &embedder)["team"], &embedder);
        Self {
            questions: read_lines(&data.join("recall_queries.jsonl")).unwrap(),
            calibration: Calibration::shipped().unwrap(),
            embedder,
            exchanges,
            history,
        }
    }

    /// Returns the rates of questions whose ids begin with `kind`, with or without the turn before
    /// them.
    fn rates(&self, kind: &str, with_history: bool) -> Rates {
        let mut rates = Rates::default();
        for question in self.questions.iter().filter(|q| q.id.starts_with(kind)) {
            let (names, tokens, quoted) = self.recalled(question, with_history);
            rates.questions += 1;
            rates.tokens += tokens;
            rates.quoted += usize::from(quoted);
            let found = question.evidence.iter().any(|one| names.contains(one));
            rates.found += usize::from(found);
        }
        rates
    }

    /// Returns the names of what a model would be given, its tokens, and whether a person would be
    /// quoted something.
    fn recalled(
        &self,
        question: &RecallQuestion,
        with_history: bool,
    ) -> (Vec<String>, usize, bool) {
        let before = question.after.as_ref().filter(|_| with_history);
        let before = before.and_then(|id| self.exchanges.iter().find(|one| one.id == *id));
        let text = before.map(|one| embedded_text(&one.input, &one.output));
        let before = text.as_ref().map(|text| self.embedder.embed(text));
        let earlier: Vec<Earlier<'_>> = text
            .iter()
            .zip(&before)
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
            ..IndexQuery::default()
        };
        let settings = RecallSettings::by(&self.calibration);
        let (index, calibration) = (&self.history.index, &self.calibration);
        let recalled = recall(index, calibration, &query, &settings);
        let name = |one: &Recalled| self.history.name(one.id).to_owned();
        let bytes = recalled
            .iter()
            .map(|one| one.input.len() + one.output.len());
        (
            recalled.iter().map(name).collect(),
            bytes.sum::<usize>() / 4,
            !quote(index, calibration, &query, &settings).is_empty(),
        )
    }
}

/// Returns a rate in per cent.
fn percent(part: usize, whole: usize) -> usize {
    part * 100 / whole
}

#[test]
fn what_was_said_is_found_and_what_was_not_is_met_with_silence() {
    let bench = Bench::load();
    let known = bench.rates("q", true);
    let unknown = bench.rates("n", true);
    assert!(percent(known.found, known.questions) >= 95, "{known:?}");
    assert!(known.tokens <= 500 * known.questions, "{known:?}");
    assert!(percent(known.quoted, known.questions) >= 80, "{known:?}");
    let disturbed = percent(unknown.quoted, unknown.questions);
    assert!(disturbed <= 15, "{unknown:?}");
}

#[test]
fn a_question_that_leans_on_the_turn_before_is_understood() {
    let bench = Bench::load();
    let alone = bench.rates("f", false);
    let following = bench.rates("f", true);
    assert!(following.found > alone.found, "{alone:?} {following:?}");
    assert!(
        percent(following.found, following.questions) >= 90,
        "{following:?}"
    );
}
