//! What a person is quoted where no model answers: at most three exchanges, and rather nothing than
//! something odd.
//!
//! A model can leave out what does not bear on the question; a person reads all of it. So whether
//! anything is quoted is decided by the best exchange alone, and by the whole question.

use super::calibration::Calibration;
use super::index::AudienceIndex;
use super::rank::{Query, Ranking, RecallSettings, Recalled, logit, raise_newer};
use crate::retrieval::speech::{asks_for_nothing, has_word_that_asks};

/// Exchanges that are quoted at most.
pub const MOST_QUOTED: usize = 3;
/// Of which they are chosen.
const LOOKED_AT: usize = 5;
/// How far the best counts as ahead at most, in log-odds.
const MOST_AHEAD: f64 = 6.0;
/// Words of a question that count at most.
const MOST_WORDS: usize = 8;

/// The log-odds that the best exchange answers; fitted on eight sets of talk and first conversations by five hands,
/// each judged by a fit on the others (`docs/recall.md`). Cosines and BM25 count in deviations: from the prior, and from
/// what is usual for the question.
const BIAS: f32 = -2.5;
const COSINE: f32 = 0.39;
const COVERAGE: f32 = 3.5;
const MISSING: f32 = -1.5;
/// One rare word in common, which is all that stands out, is mostly the name of what is asked about.
const BM25: f32 = -0.45;
const MINE: f32 = 2.0;
const SPEAKER: f32 = 3.05;
const TIME: f32 = 2.5;
const LACKING: f32 = -2.55;
/// For each unit of the logarithm of its age in days.
const AGE: f32 = -0.27;
/// In a young history most words were never said, which tells little.
const UNHEARD: f32 = -0.34;
const YOUNG: f32 = 20.0;
/// In an old one something is like any question, so more has to stand out.
const OLD: f32 = -1.1;
const IS_QUESTION: f32 = -1.55;
const WORDS: f32 = 0.67;
const STANDS_OUT: f32 = 0.51;
/// Set by hand: of what asks nothing, nearly nothing in those sets wants an answer.
const ASKS: f32 = 2.0;
/// From then on something is quoted.
const LEAST: f32 = -0.35;
/// What an exchange may fall behind the best, in log-odds, and still be quoted with it. With 6, evidence is
/// quoted for three more of 151 questions about team talk, and "The cat is called Tom" stands beside
/// "Maria is on call" in a first conversation.
const BEHIND: f64 = 4.0;
/// The same for a question that leans on what was said before: that is often best found itself, and far ahead of
/// what was not said yet.
const BEHIND_WHERE_IT_LEANS: f64 = 8.0;
/// What falls behind because it no longer holds.
const SUPERSEDED: f64 = 1.5;
/// How far behind the best, in log-odds, something is shown apart from it. Of what is quoted second or third in first
/// conversations, 7 of 28 answer from there on, and 10 of 20 nearer; in months of team talk as many on both sides.
const APART: f64 = 1.0;

/// What is quoted for a question, best first.
pub fn quote(
    index: &AudienceIndex,
    calibration: &Calibration,
    query: &Query<'_>,
    settings: &RecallSettings,
) -> Vec<Recalled> {
    let ranking = Ranking::new(index, calibration, query, settings);
    let places = quotable(&ranking, calibration, query);
    let mut quoted = ranking.raised_in_order(&places);
    put_best_first(&mut quoted);
    quoted
}

/// Puts the best first, and of what is as good the newest.
pub(super) fn put_best_first(quoted: &mut [Recalled]) {
    let rank = |one: &Recalled| {
        let penalty = one.superseded.map_or(0.0, |_| SUPERSEDED);
        logit(one.probability) - penalty
    };
    quoted.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then(b.at.cmp(&a.at)));
}

/// Parts what is quoted, best first: what answers as well as the best, or did so until it was replaced; and the rest.
pub fn apart(quoted: Vec<Recalled>) -> (Vec<Recalled>, Vec<Recalled>) {
    let best = quoted.first().map_or(0.0, |one| logit(one.probability));
    quoted
        .into_iter()
        .partition(|one| best - logit(one.probability) < APART)
}

/// Places in the ranking, best first.
pub(super) fn quotable(
    ranking: &Ranking<'_>,
    calibration: &Calibration,
    query: &Query<'_>,
) -> Vec<usize> {
    let leading: Vec<usize> = ranking.kept().into_iter().take(LOOKED_AT).collect();
    // A statement wants nothing, also one that ends with ", ok?", unless it is about the same in words of its own.
    let wants_something = ranking.act.asks && !ranking.act.states;
    let is_about_it = || {
        let mut leading = leading.iter();
        ranking.says_something(query.text) && leading.any(|&place| ranking.shares_a_word(place))
    };
    let is_quoted = !leading.is_empty()
        && !asks_for_nothing(query.text)
        && (wants_something || is_about_it())
        && confidence(ranking, calibration, &leading) >= LEAST;
    if is_quoted {
        best_of(ranking, calibration, leading)
    } else {
        Vec::new()
    }
}

/// Of the leading exchanges those that are quoted: what no longer holds only where nothing better
/// does.
fn best_of(
    ranking: &Ranking<'_>,
    calibration: &Calibration,
    mut leading: Vec<usize>,
) -> Vec<usize> {
    let best = leading[0];
    let is_company = |&place: &usize| place == best || !ranking.is_beside_the_question(place);
    leading.retain(is_company);
    // A question that nobody answered tells nothing.
    let asks = |place: usize| ranking.ranked[place].scored.features.hints.asking > 0.0;
    if leading.iter().any(|&place| !asks(place)) {
        leading.retain(|&place| !asks(place));
    }
    leading.sort_by_key(|&place| ranking.age_of(place));
    let since = ranking.superseded(&leading);
    let newer: Vec<usize> = since.iter().flatten().map(|&by| leading[by]).collect();
    let by_odds = odds_of(ranking, leading, since);
    let behind = if ranking.leans_on_what_was_said() {
        BEHIND_WHERE_IT_LEANS
    } else {
        BEHIND
    };
    let Some(&(best, odds_of_best)) = by_odds.first() else {
        return Vec::new();
    };
    let has_words = |place: usize| ranking.ranked[place].scored.features.coverage > 0.0;
    // No word of the question, and less alike than most: on team talk none of 21 such answered. What is a little alike
    // may be what was said next, as "paid 250 of it" after what somebody owes.
    let is_odd = |place: usize, odds: f64| {
        odds <= odds_of_best - APART
            && has_words(best)
            && !has_words(place)
            && !newer.contains(&place)
            && alike(ranking, calibration, place) < 0.0
    };
    by_odds
        .into_iter()
        .take(MOST_QUOTED)
        .take_while(|(_, odds)| *odds >= odds_of_best - behind)
        .filter(|&(place, odds)| !is_odd(place, odds))
        .map(|(place, _)| place)
        .collect()
}

/// The places of leading exchanges, oldest first, with their log-odds, best first: what replaces another answers at
/// least as well, even where the other has more words of the question.
fn odds_of(
    ranking: &Ranking<'_>,
    leading: Vec<usize>,
    since: Vec<Option<usize>>,
) -> Vec<(usize, f64)> {
    let mut all: Vec<f64> = leading.iter().map(|&place| odds(ranking, place)).collect();
    raise_newer(&mut all, &since, |odds| odds);
    let penalty = |since: Option<usize>| since.map_or(0.0, |_| SUPERSEDED);
    let of_place = leading.into_iter().zip(all).zip(since);
    let mut by_odds: Vec<(usize, f64)> = of_place
        .map(|((place, odds), since)| (place, odds - penalty(since)))
        .collect();
    by_odds.sort_by(|a, b| b.1.total_cmp(&a.1));
    by_odds
}

/// How alike the question and the exchange at a place are, in deviations from the prior.
fn alike(ranking: &Ranking<'_>, calibration: &Calibration, place: usize) -> f32 {
    let features = &ranking.ranked[place].scored.features;
    match features.cosine {
        Some(cosine) => calibration.prior.cosine.z(cosine),
        // Without vectors, what has all of the words is taken for as alike as such exchanges are.
        None => 3.5 * features.coverage,
    }
}

fn odds(ranking: &Ranking<'_>, place: usize) -> f64 {
    logit(ranking.ranked[place].scored.probability)
}

/// The log-odds that the leading exchanges answer the question, by the best of them.
fn confidence(ranking: &Ranking<'_>, calibration: &Calibration, leading: &[usize]) -> f32 {
    let part = |holds: bool| if holds { 1.0 } else { 0.0 };
    let exchanges = ranking.exchanges() as f32;
    let age = exchanges / (exchanges + YOUNG);
    let ahead = leading.get(MOST_QUOTED).map_or(MOST_AHEAD, |&place| {
        (odds(ranking, leading[0]) - odds(ranking, place)).min(MOST_AHEAD)
    });
    // The weight was fitted with this.
    let is_question = has_word_that_asks(ranking.input(leading[0]));
    let words = ranking.words.len().min(MOST_WORDS) as f32;
    BIAS + answers(ranking, calibration, leading[0])
        + UNHEARD * ranking.unheard * age
        + ASKS * part(ranking.act.asks)
        + age * (OLD + IS_QUESTION * part(is_question) + WORDS * words + STANDS_OUT * ahead as f32)
}

/// What the exchange at a place adds to the log-odds.
fn answers(ranking: &Ranking<'_>, calibration: &Calibration, place: usize) -> f32 {
    let scored = &ranking.ranked[place].scored;
    let features = &scored.features;
    let hints = &features.hints;
    COSINE * alike(ranking, calibration, place)
        + COVERAGE * features.coverage
        + MISSING * ranking.missing(scored.entry)
        + BM25 * features.z_bm25
        + MINE * hints.mine
        + SPEAKER * hints.speaker
        + TIME * hints.within.max(hints.dated)
        + LACKING * hints.lacking
        + AGE * hints.age
}
