//! Selects what a person is quoted when no model answers: at most three exchanges, and rather nothing than something odd.
//!
//! A model can ignore what does not bear on the question, but a person reads all of it. So the best exchange and the whole
//! question decide whether anything is quoted.

use serde::Serialize;

use super::calibration::Calibration;
use super::index::AudienceIndex;
use super::rank::{IndexQuery, Ranking, RecallSettings, Recalled, logit, raise_newer};
use crate::graph::ResponseId;
use crate::memory::hints::revision::only_takes_back;
use crate::retrieval::speech::{asks_whether, has_word_that_asks, needs_no_recall};
use crate::retrieval::text::lowercase_words;

/// Maximum number of quoted exchanges.
pub const MOST_QUOTED: usize = 3;
/// Number of exchanges from which they are chosen.
const LOOKED_AT: usize = 5;
/// Maximum lead of the best that counts, in log-odds.
const MOST_AHEAD: f64 = 6.0;
/// Maximum number of words of a question that count.
const MOST_WORDS: usize = 8;

/// Log-odds that the best exchange answers, and what each of its [grounds](Grounds) adds to them. Fitted by
/// `crates/retrieval/embedder/training/fit_quote.py` on eight sets of talk and first conversations by five hands, each
/// judged by a fit on the others (`docs/recall-experiments.md`).
const BIAS: f32 = -2.5;
const ALIKE: f32 = 0.39;
const COVERAGE: f32 = 3.5;
const MISSING: f32 = -1.5;
/// If one rare common word is all that stands out, it is mostly the name of what is asked about.
const BM25: f32 = -0.45;
/// Maximum of what stands out that counts. The largest in the sets of the fit was 11; a question of many words about the only
/// thing that was ever said has 40.
const MAX_BM25: f32 = 12.0;
const MINE: f32 = 2.0;
const SPEAKER: f32 = 3.05;
const TIME: f32 = 2.5;
const LACKING: f32 = -2.55;
const AGE: f32 = -0.27;
/// In a young history most words were never said, which shows little. An old one has something similar to any question, so more
/// has to stand out.
const MATURITY: f32 = -1.1;
const UNHEARD: f32 = -0.34;
const IS_QUESTION: f32 = -1.55;
const WORDS: f32 = 0.67;
const AHEAD: f32 = 0.51;
/// Set by hand: in those sets, hardly any message that asks nothing wants an answer.
const ASKS: f32 = 2.0;
/// Similarity, in deviations from the prior, below which being the asker's own counts nothing for an exchange without a word of
/// the question: everything that they said is theirs, and "How do I refund a customer?" is about none of it. In five sets of
/// talk, the least similar one of these that answered was at -0.18.
const MIN_ALIKE_OF_OWN: f32 = -0.25;
/// How similar the best exchange counts if it has no word of the question, in a script of which the embedder knows only
/// letters: any two texts in Japanese or Russian have a cosine of about 0.86, which is eight deviations from the prior.
const UNALIKE: f32 = -6.0;
/// Log-odds from which something is quoted.
const MIN_QUOTE_LOG_ODDS: f32 = -0.35;
/// Number of exchanges at which a history is half mature.
const YOUNG: f32 = 20.0;
/// How far an exchange may be behind the best, in log-odds, and still be quoted with it. With 6, evidence is quoted for three
/// more of 151 questions about team talk, and "The cat is called Tom" stands beside "Maria is on call" in a first conversation.
const BEHIND: f64 = 4.0;
/// The same for a question that depends on what was said before: the earlier message itself is often found best, and far ahead of
/// others.
const BEHIND_WHERE_IT_LEANS: f64 = 8.0;
/// Penalty in log-odds for what no longer holds.
const SUPERSEDED: f64 = 1.5;
/// Distance behind the best, in log-odds, from which an exchange is shown apart from it. Of the second and third quotes in first
/// conversations, 7 of 28 beyond it answer, and 10 of 20 within it; in months of team talk as many on both sides.
const APART: f64 = 1.0;

/// The quotes for a question, best first.
pub fn quote(
    index: &AudienceIndex,
    calibration: &Calibration,
    query: &IndexQuery<'_>,
    settings: &RecallSettings,
) -> Vec<Recalled> {
    let ranking = Ranking::new(index, calibration, query, settings);
    let places = quotable(&ranking, calibration, query);
    let mut quoted = ranking.raised_in_order(&places);
    // It tells what no longer holds, and is not shown itself.
    quoted.retain(|one| !only_takes_back(&one.input));
    put_best_first(&mut quoted);
    quoted
}

/// Puts the best first; of equally good ones the newest.
pub(in crate::memory) fn put_best_first(quoted: &mut [Recalled]) {
    let rank = |one: &Recalled| {
        let penalty = one.superseded.map_or(0.0, |_| SUPERSEDED);
        logit(one.probability) - penalty
    };
    quoted.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then(b.at.cmp(&a.at)));
}

/// Divides quotes, best first, into those that answer as well as the best, or did so until they were replaced, and the rest.
pub fn split_quotes(quoted: Vec<Recalled>) -> (Vec<Recalled>, Vec<Recalled>) {
    let best = quoted.first().map_or(0.0, |one| logit(one.probability));
    quoted
        .into_iter()
        .partition(|one| best - logit(one.probability) < APART)
}

/// Places in the ranking, best first.
pub(in crate::memory) fn quotable(
    ranking: &Ranking<'_>,
    calibration: &Calibration,
    query: &IndexQuery<'_>,
) -> Vec<usize> {
    let words = lowercase_words(query.text);
    let leading = ranking.kept().into_iter();
    let may_repeat = asks_whether(query.text);
    let leading =
        leading.filter(|&place| may_repeat || !ranking.repeats_the_question(place, &words));
    let leading: Vec<usize> = leading.take(LOOKED_AT).collect();
    // A statement asks for nothing, even if it ends with ", ok?", unless it is about the same subject in words of its own.
    let wants_something = ranking.act.asks && !ranking.act.states;
    let is_about_it = || {
        let mut leading = leading.iter();
        ranking.says_something(query.text) && leading.any(|&place| ranking.shares_a_word(place))
    };
    // "Scrap that" answers nothing, although it is read with what it takes back.
    let answers: Vec<usize> = leading
        .iter()
        .copied()
        .filter(|&place| !only_takes_back(ranking.said(place)))
        .collect();
    let is_quoted = !answers.is_empty()
        && !needs_no_recall(query.text)
        && (wants_something || is_about_it())
        && Grounds::of(ranking, calibration, &answers).log_odds() >= MIN_QUOTE_LOG_ODDS;
    if is_quoted {
        best_of(ranking, calibration, leading)
    } else {
        Vec::new()
    }
}

/// The leading exchanges to quote. What no longer holds is quoted only if nothing better is found.
fn best_of(
    ranking: &Ranking<'_>,
    calibration: &Calibration,
    mut leading: Vec<usize>,
) -> Vec<usize> {
    let best = leading[0];
    let is_fitting = |&place: &usize| place == best || !ranking.is_beside_the_question(place);
    leading.retain(is_fitting);
    // An unanswered question answers nothing.
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
    // It has no word of the question and is less similar than most: in team talk none of 21 such exchanges answered. What is a
    // little similar may be what was said next, like "paid 250 of it" after what somebody owes.
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

/// The places of leading exchanges, oldest first, with their log-odds, best first. What replaces another exchange answers at
/// least as well, even if the other has more words of the question.
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

/// How similar the question and the exchange at a place are, in deviations from the prior.
fn alike(ranking: &Ranking<'_>, calibration: &Calibration, place: usize) -> f32 {
    let features = &ranking.ranked[place].scored.features;
    match features.cosine {
        Some(cosine) => calibration.prior.cosine.z(cosine),
        // Without vectors, an exchange with all of the words counts as similar as such exchanges usually are.
        None => 3.5 * features.coverage,
    }
}

fn odds(ranking: &Ranking<'_>, place: usize) -> f64 {
    logit(ranking.ranked[place].scored.probability)
}

/// What speaks for and against the best exchange as an answer, as numbers. Those about the history as a whole are weighted by its
/// maturity.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Grounds {
    /// Its cosine, in deviations from the prior.
    pub alike: f32,
    /// Share of the question's words, weighted by rarity, that it contains.
    pub coverage: f32,
    /// Share of the question, by rarity, of the rarest word that it lacks.
    pub missing: f32,
    /// Its BM25, in deviations from what is usual for the question.
    pub bm25: f32,
    pub mine: f32,
    pub speaker: f32,
    pub time: f32,
    pub lacking: f32,
    /// The logarithm of its age in days.
    pub age: f32,
    /// Maturity of the history: 0 to 1.
    pub maturity: f32,
    /// Rarity of the question's rarest word that was never said, times maturity.
    pub unheard: f32,
    /// Whether it looks like a question itself, times maturity.
    pub is_question: f32,
    /// Number of words of the question, times maturity.
    pub words: f32,
    /// Its lead over the fourth, in log-odds, times maturity.
    pub ahead: f32,
    /// Whether the message asks anything.
    pub asks: f32,
}

impl Grounds {
    fn of(ranking: &Ranking<'_>, calibration: &Calibration, leading: &[usize]) -> Self {
        let part = |holds: bool| if holds { 1.0 } else { 0.0 };
        let best = leading[0];
        let scored = &ranking.ranked[best].scored;
        let (features, hints) = (&scored.features, &scored.features.hints);
        let shares_nothing = features.coverage <= 0.0 && !ranking.words.is_empty();
        let alike = match shares_nothing && ranking.is_in_letters_only {
            true => UNALIKE,
            false => alike(ranking, calibration, best),
        };
        let time = hints.within.max(hints.dated);
        let is_about_else = shares_nothing && time <= 0.0 && alike < MIN_ALIKE_OF_OWN;
        let exchanges = ranking.exchanges() as f32;
        let maturity = exchanges / (exchanges + YOUNG);
        let ahead = leading.get(MOST_QUOTED).map_or(MOST_AHEAD, |&fourth| {
            (odds(ranking, best) - odds(ranking, fourth)).min(MOST_AHEAD)
        });
        Self {
            alike,
            coverage: features.coverage,
            missing: ranking.missing(scored.entry),
            bm25: features.z_bm25.min(MAX_BM25),
            mine: if is_about_else { 0.0 } else { hints.mine },
            speaker: hints.speaker,
            time,
            lacking: hints.lacking,
            age: hints.age,
            maturity,
            unheard: maturity * ranking.unheard,
            // The weight was fitted with this loose criterion.
            is_question: maturity * part(has_word_that_asks(ranking.said(best))),
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

/// The exchanges that would be quoted whatever their odds, at most three, and the grounds of the best. The weights are fitted on
/// these. `None` if nothing may be quoted.
pub fn grounds(
    index: &AudienceIndex,
    calibration: &Calibration,
    query: &IndexQuery<'_>,
    settings: &RecallSettings,
) -> Option<(Vec<ResponseId>, Grounds)> {
    let ranking = Ranking::new(index, calibration, query, settings);
    let leading: Vec<usize> = ranking.kept().into_iter().take(LOOKED_AT).collect();
    if leading.is_empty() || needs_no_recall(query.text) {
        return None;
    }
    let grounds = Grounds::of(&ranking, calibration, &leading);
    let first = leading.iter().take(MOST_QUOTED);
    Some((first.map(|&place| ranking.id(place)).collect(), grounds))
}
