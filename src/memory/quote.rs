//! What a person is quoted where no model answers: at most three exchanges, and rather nothing than
//! something odd.
//!
//! A model can leave out what does not bear on the question; a person reads all of it. So whether
//! anything is quoted is decided by the best exchange alone, and by the whole question.

use serde::Serialize;

use super::calibration::Calibration;
use super::index::AudienceIndex;
use super::rank::{Query, Ranking, RecallSettings, Recalled, logit, raise_newer};
use crate::graph::ResponseId;
use crate::retrieval::speech::{asks_for_nothing, has_word_that_asks};

/// Exchanges that are quoted at most.
pub const MOST_QUOTED: usize = 3;
/// Of which they are chosen.
const LOOKED_AT: usize = 5;
/// How far the best counts as ahead at most, in log-odds.
const MOST_AHEAD: f64 = 6.0;
/// Words of a question that count at most.
const MOST_WORDS: usize = 8;

/// The log-odds that the best exchange answers, and what each of its [grounds](Grounds) adds. Fitted by
/// `embedder/training/fit_quote.py` on eight sets of talk and first conversations by five hands, each judged by a fit on the others
/// (`docs/recall.md`).
const BIAS: f32 = -2.5;
const ALIKE: f32 = 0.39;
const COVERAGE: f32 = 3.5;
const MISSING: f32 = -1.5;
/// One rare word in common, which is all that stands out, is mostly the name of what is asked about.
const BM25: f32 = -0.45;
const MINE: f32 = 2.0;
const SPEAKER: f32 = 3.05;
const TIME: f32 = 2.5;
const LACKING: f32 = -2.55;
const AGE: f32 = -0.27;
/// In a young history most words were never said, which tells little; in an old one something is like any question, so more
/// has to stand out.
const MATURITY: f32 = -1.1;
const UNHEARD: f32 = -0.34;
const IS_QUESTION: f32 = -1.55;
const WORDS: f32 = 0.67;
const AHEAD: f32 = 0.51;
/// Set by hand: of what asks nothing, nearly nothing in those sets wants an answer.
const ASKS: f32 = 2.0;
/// From then on something is quoted.
const LEAST: f32 = -0.35;
/// Exchanges of which a history is half grown.
const YOUNG: f32 = 20.0;
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
        && Grounds::of(ranking, calibration, &leading).log_odds() >= LEAST;
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

/// What speaks for and against that the best exchange answers a question, as numbers. Those of the history as a whole count
/// by its maturity.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Grounds {
    /// Its cosine, in deviations from the prior.
    pub alike: f32,
    /// The part of the question's words, by their rarity, that it has.
    pub coverage: f32,
    /// How much of the question, by rarity, the rarest word is that it lacks.
    pub missing: f32,
    /// Its BM25, in deviations from what is usual for the question.
    pub bm25: f32,
    pub mine: f32,
    pub speaker: f32,
    pub time: f32,
    pub lacking: f32,
    /// The logarithm of its age in days.
    pub age: f32,
    /// How far the history is grown: 0 to 1.
    pub maturity: f32,
    /// The rarity of the rarest word of the question that was never said, by maturity.
    pub unheard: f32,
    /// Whether it looks like a question itself, by maturity.
    pub is_question: f32,
    /// Words of the question, by maturity.
    pub words: f32,
    /// How far it is ahead of the fourth, in log-odds, by maturity.
    pub ahead: f32,
    /// Whether anything is asked.
    pub asks: f32,
}

impl Grounds {
    fn of(ranking: &Ranking<'_>, calibration: &Calibration, leading: &[usize]) -> Self {
        let part = |holds: bool| if holds { 1.0 } else { 0.0 };
        let best = leading[0];
        let scored = &ranking.ranked[best].scored;
        let (features, hints) = (&scored.features, &scored.features.hints);
        let exchanges = ranking.exchanges() as f32;
        let maturity = exchanges / (exchanges + YOUNG);
        let ahead = leading.get(MOST_QUOTED).map_or(MOST_AHEAD, |&fourth| {
            (odds(ranking, best) - odds(ranking, fourth)).min(MOST_AHEAD)
        });
        Self {
            alike: alike(ranking, calibration, best),
            coverage: features.coverage,
            missing: ranking.missing(scored.entry),
            bm25: features.z_bm25,
            mine: hints.mine,
            speaker: hints.speaker,
            time: hints.within.max(hints.dated),
            lacking: hints.lacking,
            age: hints.age,
            maturity,
            unheard: maturity * ranking.unheard,
            // The weight was fitted with this loose sign.
            is_question: maturity * part(has_word_that_asks(ranking.input(best))),
            words: maturity * ranking.words.len().min(MOST_WORDS) as f32,
            ahead: maturity * ahead as f32,
            asks: part(ranking.act.asks),
        }
    }

    /// The log-odds that it answers.
    fn log_odds(&self) -> f32 {
        let Self {
            alike,
            coverage,
            missing,
            bm25,
            mine,
            speaker,
            time,
            lacking,
            age,
            maturity,
            unheard,
            is_question,
            words,
            ahead,
            asks,
        } = self;
        BIAS + ALIKE * alike
            + COVERAGE * coverage
            + MISSING * missing
            + BM25 * bm25
            + MINE * mine
            + SPEAKER * speaker
            + TIME * time
            + LACKING * lacking
            + AGE * age
            + MATURITY * maturity
            + UNHEARD * unheard
            + IS_QUESTION * is_question
            + WORDS * words
            + AHEAD * ahead
            + ASKS * asks
    }
}

/// What would be quoted whatever its odds, at most three, and the grounds of the best: what the weights are fitted on. None
/// where nothing may be quoted.
pub fn grounds(
    index: &AudienceIndex,
    calibration: &Calibration,
    query: &Query<'_>,
    settings: &RecallSettings,
) -> Option<(Vec<ResponseId>, Grounds)> {
    let ranking = Ranking::new(index, calibration, query, settings);
    let leading: Vec<usize> = ranking.kept().into_iter().take(LOOKED_AT).collect();
    if leading.is_empty() || asks_for_nothing(query.text) {
        return None;
    }
    let grounds = Grounds::of(&ranking, calibration, &leading);
    let first = leading.iter().take(MOST_QUOTED);
    Some((first.map(|&place| ranking.id(place)).collect(), grounds))
}
