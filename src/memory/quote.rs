//! What a person is quoted where no model answers: at most three exchanges, and rather nothing than
//! something odd.
//!
//! A model can leave out what does not bear on the question; a person reads all of it. So whether
//! anything is quoted is decided by the best exchange alone, and by the whole question.

use super::calibration::Calibration;
use super::index::AudienceIndex;
use super::rank::{Query, Ranking, RecallSettings, Recalled};
use super::text::{asks, is_small_talk};

/// Exchanges that are quoted at most.
pub const MOST_QUOTED: usize = 3;

/// The log-odds that the best exchange answers; fitted on two worlds of team talk, each judged on the
/// other and on first conversations (`docs/recall.md`). Cosines count in deviations from the prior.
const BIAS: f32 = -1.55;
const COSINE: f32 = 0.38;
const COVERAGE: f32 = 0.8;
const MISSING: f32 = -2.8;
/// In a young history most words were never said, which tells little.
const UNHEARD: f32 = -0.29;
const YOUNG: f32 = 20.0;
const ASKS: f32 = 2.3;
const MINE: f32 = 0.75;
const SPEAKER: f32 = 1.0;
const TIME: f32 = 2.7;
const LACKING: f32 = -1.0;
/// From then on something is quoted.
const LEAST: f32 = 0.4;
/// What an exchange may fall behind the best, in log-odds, and still be quoted with it.
const BEHIND: f64 = 3.0;

/// What is quoted for a question, oldest first.
pub fn quote(
    index: &AudienceIndex,
    calibration: &Calibration,
    query: &Query<'_>,
    settings: &RecallSettings,
) -> Vec<Recalled> {
    let ranking = Ranking::new(index, calibration, query, settings);
    let quoted = quotable(&ranking, calibration, query);
    let mut quoted: Vec<Recalled> = quoted
        .into_iter()
        .map(|place| ranking.ranked[place].recalled(index))
        .collect();
    quoted.sort_by_key(|one| one.at);
    quoted
}

/// Places in the ranking, best first.
pub(super) fn quotable(
    ranking: &Ranking<'_>,
    calibration: &Calibration,
    query: &Query<'_>,
) -> Vec<usize> {
    let kept = ranking.ranked.iter().enumerate();
    let mut kept = kept.filter(|(_, one)| one.is_kept()).peekable();
    let Some(&(best, _)) = kept.peek() else {
        return Vec::new();
    };
    if is_small_talk(query.text) || confidence(ranking, calibration, query, best) < LEAST {
        return Vec::new();
    }
    let odds = |place: usize| {
        let probability = ranking.ranked[place].scored.probability;
        (probability / (1.0 - probability)).ln()
    };
    let least = odds(best) - BEHIND;
    kept.map(|(place, _)| place)
        .take(MOST_QUOTED)
        .take_while(|&place| odds(place) >= least)
        .collect()
}

/// The log-odds that the exchange at a place, the best, answers the question.
fn confidence(
    ranking: &Ranking<'_>,
    calibration: &Calibration,
    query: &Query<'_>,
    best: usize,
) -> f32 {
    let scored = &ranking.ranked[best].scored;
    let features = &scored.features;
    let hints = &features.hints;
    // Without vectors, what has all of the words is taken for as alike as such exchanges are.
    let alike = match features.cosine {
        Some(cosine) => calibration.prior.cosine.z(cosine),
        None => 3.5 * features.coverage,
    };
    let exchanges = ranking.exchanges() as f32;
    let unheard = ranking.unheard * exchanges / (exchanges + YOUNG);
    let part = |holds: bool| if holds { 1.0 } else { 0.0 };
    BIAS + COSINE * alike
        + COVERAGE * features.coverage
        + MISSING * ranking.missing(scored.entry)
        + UNHEARD * unheard
        + ASKS * part(asks(query.text))
        + MINE * hints.mine
        + SPEAKER * hints.speaker
        + TIME * hints.within.max(hints.dated)
        + LACKING * hints.lacking
}
