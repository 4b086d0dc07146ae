//! Calibrates recall for any embedder, from the installation's own history and without labels.
//!
//! The questions in the history are asked again. The distribution of their scores maps the shipped
//! weights to this embedder, and what would have been recalled shows the effect of each threshold.

use std::collections::{HashMap, HashSet, VecDeque};

use muninn_platform::AudienceId;

use super::curve::{Curve, THRESHOLDS};
use crate::graph::{GraphStore, ResponseId, StoreError, Turn};
use crate::llm::{Embedder, ModelError};
use crate::memory::recall::calibration::{Calibration, CalibrationError, Prior, Spread};
use crate::memory::recall::history;
use crate::memory::recall::index::AudienceIndex;
use crate::memory::recall::rank::{IndexQuery, RecallMode, RecallSettings, recall};
use crate::retrieval::vectors::Quantised;

/// Minimum number of exchanges: fewer say too little about an embedder.
pub const LEAST_EXCHANGES: usize = 30;
/// Maximum number of questions asked again, spread evenly over the history: each has to be
/// embedded.
const MOST_QUESTIONS: usize = 500;
/// Number of turns read at once.
const PAGE: usize = 1_000;
/// Cosines with a smaller deviation distinguish nothing.
const LEAST_DEVIATION: f32 = 1e-3;

/// What a prompt has beside recall, so that the curve shows what would really be recalled.
#[derive(Clone, Copy, Debug)]
pub struct PromptContext {
    /// Turns of the session in the window, which the model sees anyway.
    pub window: usize,
    /// Maximum tokens of recalled exchanges.
    pub tokens: usize,
    /// Maximum number of recalled exchanges.
    pub limit: usize,
}

/// A calibration and its effects.
#[derive(Clone, Debug)]
pub struct Calibrated {
    pub calibration: Calibration,
    /// Number of exchanges.
    pub exchanges: usize,
    pub curve: Curve,
}

/// Why there is no calibration.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    #[error(
        "the history has {exchanges} exchanges that can be recalled; calibrating needs at least {LEAST_EXCHANGES}"
    )]
    TooLittle { exchanges: usize },
    #[error(
        "the history has {exchanges} exchanges, but none to compare with a vector of {embedder}; run `muninn reembed` first"
    )]
    NoVectors { exchanges: usize, embedder: String },
    #[error(
        "{embedder} finds all exchanges of the history equally alike, so it cannot be calibrated"
    )]
    AllAlike { embedder: String },
    #[error("the history cannot be embedded")]
    Embedder(#[from] ModelError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
}

/// The questions of an audience, by their turn.
type AudienceQuestions = HashMap<ResponseId, (String, Option<Vec<f32>>)>;

/// Measures the embedder on the history, and maps the shipped calibration to it.
///
/// # Errors
/// Fails when there is too little history, when it has no vectors of this embedder, or when the
/// embedder or the graph fails.
pub async fn calibrate(
    store: &GraphStore,
    embedder: &Embedder,
    beside: PromptContext,
) -> Result<Calibrated, CalibrateError> {
    let name = embedder.resolve_name().await?;
    let of = (name, embedder.dimension().unwrap_or_default());
    let shipped = Calibration::shipped()?;
    let (audiences, turns) = audiences(store).await?;
    let mut survey = CalibrationSurvey {
        stride: turns.div_ceil(MOST_QUESTIONS).max(1),
        ..CalibrationSurvey::default()
    };
    for audience in &audiences {
        survey.look(store, audience, embedder, of).await?;
    }
    let calibration = survey.calibration(&shipped, name)?;
    let settings = RecallSettings {
        mode: RecallMode::Probability,
        threshold: THRESHOLDS[0],
        // So that the effect of the threshold alone is measured.
        usual: usize::MAX,
        sure: 1.0,
        tokens: beside.tokens,
        limit: beside.limit,
    };
    let mut replay = Replay {
        calibration: &calibration,
        settings: &settings,
        window: beside.window,
        curve: Curve::default(),
    };
    for (audience, asked) in audiences.iter().zip(&survey.asked) {
        replay.play(store, audience, asked, of).await?;
    }
    let curve = replay.curve;
    Ok(Calibrated {
        calibration,
        exchanges: survey.exchanges,
        curve,
    })
}

/// The audiences that have talked, and the total number of turns.
async fn audiences(store: &GraphStore) -> Result<(Vec<AudienceId>, usize), StoreError> {
    let sessions = store.sessions().await?;
    let turns = sessions.iter().map(|session| session.turns).sum();
    let names: HashSet<String> = sessions.into_iter().map(|one| one.audience).collect();
    let mut names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    Ok((names.into_iter().map(AudienceId::new).collect(), turns))
}

/// Reads an audience's turns page by page.
struct Pages<'a> {
    store: &'a GraphStore,
    audience: &'a AudienceId,
    seen: Option<i64>,
}

impl<'a> Pages<'a> {
    fn new(store: &'a GraphStore, audience: &'a AudienceId) -> Self {
        Self {
            store,
            audience,
            seen: Some(0),
        }
    }

    /// Returns `None` after the last page.
    async fn next(&mut self) -> Result<Option<Vec<Turn>>, StoreError> {
        let Some(seen) = self.seen else {
            return Ok(None);
        };
        let news = self.store.turns_since(self.audience, seen, PAGE).await?;
        self.seen = news.more.then_some(news.through);
        Ok(Some(news.turns))
    }
}

/// The distribution of the scores of the history's questions.
#[derive(Default)]
struct CalibrationSurvey {
    /// One in this many exchanges is used as a question.
    stride: usize,
    exchanges: usize,
    /// One entry per audience.
    asked: Vec<AudienceQuestions>,
    cosine: Mean,
    bm25: Mean,
}

/// The mean of several distributions, weighted by their number of scores: a question of a large
/// audience is compared with all of its exchanges.
#[derive(Default)]
struct Mean {
    scores: f64,
    mean: f64,
    deviation: f64,
}

impl Mean {
    fn add(&mut self, scores: &[f32]) {
        let count = scores.iter().filter(|score| !score.is_nan()).count();
        // A single score has no deviation.
        if count < 2 {
            return;
        }
        let none = Spread {
            mean: 0.0,
            deviation: 0.0,
        };
        let own = none.shrunk(scores, 0.0);
        self.scores += count as f64;
        self.mean += count as f64 * f64::from(own.mean);
        self.deviation += count as f64 * f64::from(own.deviation);
    }

    fn spread(&self) -> Option<Spread> {
        (self.scores > 0.0).then(|| Spread {
            mean: (self.mean / self.scores) as f32,
            deviation: (self.deviation / self.scores) as f32,
        })
    }
}

impl CalibrationSurvey {
    /// Compares an audience's questions with all of its exchanges except their own.
    async fn look(
        &mut self,
        store: &GraphStore,
        audience: &AudienceId,
        embedder: &Embedder,
        of: (&str, usize),
    ) -> Result<(), CalibrateError> {
        let mut index = AudienceIndex::new(Some(of), 0);
        let mut questions = Vec::new();
        let mut pages = Pages::new(store, audience);
        while let Some(turns) = pages.next().await? {
            for turn in turns {
                let entry = index.len();
                index.push(&turn);
                if index.len() == entry {
                    continue;
                }
                if self.exchanges.is_multiple_of(self.stride) {
                    questions.push((entry, turn.id, turn.input));
                }
                self.exchanges += 1;
            }
        }
        let texts: Vec<String> = questions.iter().map(|(_, _, text)| text.clone()).collect();
        let vectors = embedder.embed(&texts).await?;
        let mut asked = AudienceQuestions::new();
        for ((entry, id, text), vector) in questions.into_iter().zip(vectors) {
            self.measure(&index, entry, &text, vector.as_deref());
            asked.insert(id, (text, vector));
        }
        self.asked.push(asked);
        Ok(())
    }

    fn measure(&mut self, index: &AudienceIndex, own: usize, text: &str, vector: Option<&[f32]>) {
        let ours = vector.filter(|vector| vector.len() == index.dimension());
        if let Some(vector) = ours.and_then(Quantised::new) {
            let mut cosines = index.cosines(&vector);
            cosines[own] = f32::NAN;
            self.cosine.add(&cosines);
        }
        let words = history::words(index, text, &[]);
        let mut bm25 = index.postings().score(&words).bm25;
        bm25[own] = f32::NAN;
        self.bm25.add(&bm25);
    }

    fn calibration(&self, from: &Calibration, name: &str) -> Result<Calibration, CalibrateError> {
        let exchanges = self.exchanges;
        if exchanges < LEAST_EXCHANGES {
            return Err(CalibrateError::TooLittle { exchanges });
        }
        let embedder = || name.to_owned();
        let Some(cosine) = self.cosine.spread() else {
            return Err(CalibrateError::NoVectors {
                exchanges,
                embedder: embedder(),
            });
        };
        if cosine.deviation < LEAST_DEVIATION {
            return Err(CalibrateError::AllAlike {
                embedder: embedder(),
            });
        }
        let moved = from.moved_to(name, cosine);
        // A history without shared words does not show what is usual.
        let bm25 = self.bm25.spread().filter(|bm25| bm25.deviation > 0.0);
        let calibration = Calibration {
            prior: Prior {
                cosine,
                bm25: bm25.unwrap_or(from.prior.bm25),
            },
            ..moved
        };
        calibration.check()?;
        Ok(calibration)
    }
}

/// Asks each question again as at its time, of what had been said until then, without the window.
/// So no exchange answers itself or supports its neighbours.
struct Replay<'a> {
    calibration: &'a Calibration,
    settings: &'a RecallSettings,
    window: usize,
    curve: Curve,
}

impl Replay<'_> {
    async fn play(
        &mut self,
        store: &GraphStore,
        audience: &AudienceId,
        asked: &AudienceQuestions,
        of: (&str, usize),
    ) -> Result<(), StoreError> {
        let mut index = AudienceIndex::new(Some(of), 0);
        let mut windows: HashMap<String, VecDeque<ResponseId>> = HashMap::new();
        let mut pages = Pages::new(store, audience);
        while let Some(turns) = pages.next().await? {
            for turn in turns {
                let window = windows.entry(turn.session.clone()).or_default();
                if let Some((text, vector)) = asked.get(&turn.id) {
                    self.ask(&index, text, vector.as_deref(), window.make_contiguous());
                }
                window.push_back(turn.id);
                if window.len() > self.window {
                    window.pop_front();
                }
                index.push(&turn);
            }
        }
        Ok(())
    }

    fn ask(
        &mut self,
        index: &AudienceIndex,
        text: &str,
        vector: Option<&[f32]>,
        shown: &[ResponseId],
    ) {
        // Nothing could be recalled then.
        if index.len() <= shown.len() {
            return;
        }
        let query = IndexQuery {
            text,
            vector,
            exclude: shown,
            ..IndexQuery::default()
        };
        let recalled = recall(index, self.calibration, &query, self.settings);
        let probabilities: Vec<f64> = recalled.iter().map(|one| one.probability).collect();
        self.curve.add(&probabilities);
    }
}
