//! A calibration for any embedder, out of the installation's own history and without labels.
//!
//! What the history itself says was asked is asked again: where its scores lie tells how to read
//! the shipped weights, and what would have been recalled tells what a threshold means here.

use std::collections::{HashMap, HashSet, VecDeque};

use muninn_platform::AudienceId;

use super::calibration::{Calibration, CalibrationError, Prior, Spread};
use super::curve::{Curve, THRESHOLDS};
use super::history;
use super::index::AudienceIndex;
use super::rank::{Query, RecallMode, RecallSettings, recall};
use crate::graph::{GraphStore, ResponseId, StoreError, Turn};
use crate::llm::{Embedder, ModelError};
use crate::retrieval::vectors::Quantised;

/// Exchanges below which a history says too little of an embedder.
pub const LEAST_EXCHANGES: usize = 30;
/// Questions asked again at most, spread evenly over the history: each has to be embedded.
const MOST_QUESTIONS: usize = 500;
/// Turns read at once.
const PAGE: usize = 1_000;
/// Cosines closer together than this tell nothing apart.
const LEAST_DEVIATION: f32 = 1e-3;

/// What a turn has beside recall, so that the curve tells what would really be recalled.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// Turns of the session that the model sees anyway.
    pub window: usize,
    /// Tokens of recalled exchanges at most.
    pub tokens: usize,
    /// Exchanges recalled at most.
    pub limit: usize,
}

/// A calibration, and what it comes to.
#[derive(Clone, Debug)]
pub struct Calibrated {
    pub calibration: Calibration,
    /// Exchanges there are.
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

/// What was asked in an audience, by the turn that asked it.
type Asked = HashMap<ResponseId, (String, Option<Vec<f32>>)>;

/// Measures the embedder on the history, and moves the shipped calibration to it.
///
/// # Errors
/// When there is too little history or it has no vectors of this embedder, and when the embedder
/// or the graph fail.
pub async fn calibrate(
    store: &GraphStore,
    embedder: &Embedder,
    beside: Beside,
) -> Result<Calibrated, CalibrateError> {
    let name = embedder.identified().await?;
    let of = (name, embedder.dimension().unwrap_or_default());
    let shipped = Calibration::shipped()?;
    let (audiences, turns) = audiences(store).await?;
    let mut survey = Survey {
        stride: turns.div_ceil(MOST_QUESTIONS).max(1),
        ..Survey::default()
    };
    for audience in &audiences {
        survey.look(store, audience, embedder, of).await?;
    }
    let calibration = survey.calibration(&shipped, name)?;
    let settings = RecallSettings {
        mode: RecallMode::Probability,
        threshold: THRESHOLDS[0],
        // What a threshold comes to by itself.
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

/// Those that have talked, and how many turns there are in all.
async fn audiences(store: &GraphStore) -> Result<(Vec<AudienceId>, usize), StoreError> {
    let sessions = store.sessions().await?;
    let turns = sessions.iter().map(|session| session.turns).sum();
    let names: HashSet<String> = sessions.into_iter().map(|one| one.audience).collect();
    let mut names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    Ok((names.into_iter().map(AudienceId::new).collect(), turns))
}

/// Reads an audience's turns in portions.
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

    /// None after the last.
    async fn next(&mut self) -> Result<Option<Vec<Turn>>, StoreError> {
        let Some(seen) = self.seen else {
            return Ok(None);
        };
        let news = self.store.turns_since(self.audience, seen, PAGE).await?;
        self.seen = news.more.then_some(news.through);
        Ok(Some(news.turns))
    }
}

/// Where the scores of the history's questions lie.
#[derive(Default)]
struct Survey {
    /// Of so many exchanges, one is a question.
    stride: usize,
    exchanges: usize,
    /// An entry an audience.
    asked: Vec<Asked>,
    cosine: Mean,
    bm25: Mean,
}

/// The mean of spreads, each counting as often as it has scores: what is said in a large audience
/// is asked of all of it.
#[derive(Default)]
struct Mean {
    scores: f64,
    mean: f64,
    deviation: f64,
}

impl Mean {
    fn add(&mut self, scores: &[f32]) {
        let count = scores.iter().filter(|score| !score.is_nan()).count();
        // One score has no spread.
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

impl Survey {
    /// Asks an audience's questions of all of its exchanges but their own.
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
        let mut asked = Asked::new();
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
        // A history in which no words are shared says nothing of what is usual.
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

/// Asks each question again when it was asked: of what had been said until then, without what was
/// in the window. So no exchange answers itself, nor speaks for those next to it.
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
        asked: &Asked,
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
        let query = Query {
            text,
            vector,
            exclude: shown,
            ..Query::default()
        };
        let recalled = recall(index, self.calibration, &query, self.settings);
        let probabilities: Vec<f64> = recalled.iter().map(|one| one.probability).collect();
        self.curve.add(&probabilities);
    }
}
