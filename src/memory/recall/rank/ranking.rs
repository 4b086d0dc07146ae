//! Ranks the exchanges of an audience for a question, and decides what is recalled.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::duplicates::{Wordings, say_the_same};
use super::recalled::{
    HEADER_TOKENS, IndexQuery, RecallDecision, RecallMode, RecallSettings, Recalled,
};
use crate::graph::ResponseId;
use crate::memory::hints::asked::ParsedQuestion;
use crate::memory::hints::revision::{RevisionQuestion, Statement};
use crate::memory::hints::values::ValueKind;
use crate::memory::recall::calibration::Calibration;
use crate::memory::recall::features;
use crate::memory::recall::features::Scored;
use crate::memory::recall::history;
use crate::memory::recall::index::{AudienceIndex, IndexedExchange};
use crate::retrieval::LocalEmbedder;
use crate::retrieval::language::{LATIN, is_function_word, script};
use crate::retrieval::postings::WeightedWords;
use crate::retrieval::speech::{Act, QUESTION, Unframed, speech_act, strip_framing};
use crate::retrieval::text::lowercase_words;

/// Nothing is recalled unless the odds of some candidate are this many times those of the threshold: a question about
/// nothing in the history has many weak candidates and no good one. Measured in `docs/recall-experiments.md`.
const ODDS_OF_THE_BEST: f64 = 1.3;
/// Number of the best exchanges that raise what replaces them, and of those that were corrected and pass this on.
const RAISED_BY: usize = 16;
/// Number of corrections of a correction that are followed.
const MOST_CORRECTIONS: usize = 32;
/// Log-odds of the best candidate from which it surely helps, and up to which it surely does not.
const SURE: f64 = -4.5;
const UNSURE: f64 = -6.0;
/// The shares of the usual tokens that are filled in these cases: see `docs/recall-experiments.md`.
const WHERE_SURE: f64 = 0.85;
const WHERE_UNSURE: f64 = 1.5;
/// How much a deviation of the cosine adds to the log-odds in the unsure case. Measured: equal from 1 to 3.
const ALIKE_WHERE_UNSURE: f64 = 2.0;
/// The share of it for messages that are not questions.
const OF_STATEMENTS: f64 = 0.4;
/// Share of the question's words, or deviation of its cosine, from which a note bears on it.
const NOTE_COVERAGE: f32 = 0.3;
const NOTE_ALIKE: f32 = 2.5;
/// Maximum number of notes that are recalled although nothing else speaks for them.
const MOST_NOTES: usize = 4;

#[derive(Debug)]
pub(in crate::memory) struct Ranked {
    pub(in crate::memory) scored: Scored,
    score: f64,
    pub(in crate::memory) verdict: RecallDecision,
    is_pinned: bool,
}

impl Ranked {
    pub(in crate::memory) fn is_kept(&self) -> bool {
        self.verdict == RecallDecision::Recalled
    }

    pub(in crate::memory) fn recalled(&self, index: &AudienceIndex) -> Recalled {
        let entry = index.entry(self.scored.entry);
        Recalled {
            id: entry.id,
            session: entry.session.clone(),
            at: entry.at,
            author: entry.author.clone(),
            input: entry.input().to_owned(),
            output: entry.output().to_owned(),
            score: self.score,
            probability: self.scored.probability,
            features: self.scored.features.clone(),
            superseded: None,
            is_newer: false,
            is_message: entry.is_message,
            is_pinned: self.is_pinned,
            trust: entry.trust,
        }
    }
}

pub(in crate::memory) struct Ranking<'a> {
    index: &'a AudienceIndex,
    /// Best first.
    pub(in crate::memory) ranked: Vec<Ranked>,
    /// The words searched for.
    pub(in crate::memory) words: WeightedWords,
    asked: ParsedQuestion,
    /// Rarity of the rarest word that was never said.
    pub(in crate::memory) unheard: f32,
    /// Places in `ranked` of exchanges that are recalled or in the window; others may be duplicates of these.
    stand: Vec<usize>,
    tokens: usize,
    /// The kind of speech act of the query.
    pub(in crate::memory) act: Act,
    /// How much it depends on what was said before it: 0 to 1.
    dependence: f32,
    /// The built-in embedder knows only single letters of its script, so that all texts in it are similar.
    pub(in crate::memory) is_in_letters_only: bool,
    /// It has a word like "that" or "there", which refers to what was said before it.
    points_back: bool,
    /// Tokens that are filled with the best candidates.
    usual: usize,
    kept: usize,
}

/// Scores an exchange that replaces another at least as high, because the question only had more words of the older
/// one. `replaced` gives the exchange that replaces each.
pub(in crate::memory) fn raise_newer<T>(
    all: &mut [T],
    replaced: &[Option<usize>],
    worth: impl Fn(&mut T) -> &mut f64,
) {
    for (earlier, later) in replaced.iter().enumerate() {
        if let Some(later) = *later {
            let least = *worth(&mut all[earlier]);
            let of_later = worth(&mut all[later]);
            *of_later = of_later.max(least);
        }
    }
}

impl<'a> Ranking<'a> {
    pub(in crate::memory) fn new(
        index: &'a AudienceIndex,
        calibration: &Calibration,
        query: &IndexQuery<'_>,
        settings: &RecallSettings,
    ) -> Self {
        let dependence = match query.earlier {
            [] => 0.0,
            [..] => history::dependence(index, query.text),
        };
        let leant_on = history::leant_on(index, query.earlier, dependence);
        let Unframed { text, is_announced } = strip_framing(query.text);
        let asked = ParsedQuestion::read(text, query.asker, query.at, index.people());
        let words = history::words(index, &asked.subject_of(text), &leant_on);
        let vector = history::vector(query.vector, &leant_on, index.dimension());
        let found = features::score(index, calibration, &asked, vector.as_ref(), &words);
        let mut ranked: Vec<Ranked> = found
            .scored
            .into_iter()
            .map(|scored| Ranked {
                score: score(&scored, settings.mode),
                scored,
                verdict: RecallDecision::BelowThreshold,
                is_pinned: false,
            })
            .collect();
        ranked.sort_unstable_by(best_first);
        let mut ranking = Self {
            index,
            ranked,
            words,
            asked,
            unheard: found.unheard,
            stand: Vec::new(),
            tokens: 0,
            act: if is_announced {
                QUESTION
            } else {
                speech_act(text)
            },
            dependence,
            is_in_letters_only: index.embedder() == Some(LocalEmbedder::NAME)
                && script(query.text) != LATIN,
            points_back: history::points_back(query.text),
            usual: 0,
            kept: 0,
        };
        ranking.raise_what_replaces();
        ranking.mark_window(query.exclude);
        ranking.mark_corrected();
        ranking.pin_notes();
        ranking.choose(settings);
        ranking
    }

    pub(in crate::memory) fn exchanges(&self) -> usize {
        self.index.len()
    }

    /// Share of the question, by rarity, of its rarest word that an exchange lacks.
    pub(in crate::memory) fn missing(&self, entry: usize) -> f32 {
        self.index.postings().missing(&self.words, entry)
    }

    /// Whether the exchange at a place is found only because of what was said before the question, and not by the
    /// question itself.
    pub(in crate::memory) fn is_beside_the_question(&self, place: usize) -> bool {
        let has_words_of_its_own = self.dependence < 1.0 && !self.points_back;
        self.leans_on_what_was_said() && has_words_of_its_own && !self.shares_a_word(place)
    }

    /// Whether the exchange at a place has a word of the question itself, and not only of what was said before it.
    pub(in crate::memory) fn shares_a_word(&self, place: usize) -> bool {
        let own = self.words.iter().filter(|word| word.weight >= 1.0);
        let entry = self.ranked[place].scored.entry;
        self.index.postings().has_any(own, entry)
    }

    /// Whether the search includes what was said before the question.
    pub(in crate::memory) fn leans_on_what_was_said(&self) -> bool {
        self.dependence > 0.0
    }

    /// Whether a text can be understood without what was said before it.
    pub(in crate::memory) fn says_something(&self, text: &str) -> bool {
        history::dependence(self.index, text) < 1.0
    }

    /// Scores what replaces an exchange in the light of the question at least as high as that.
    fn raise_what_replaces(&mut self) {
        if self.asked.asks_for_then() {
            return;
        }
        let mut raised = false;
        for place in 0..self.ranked.len().min(RAISED_BY) {
            let id = self.entry(place).id;
            let Some(later) = self.index.replaced_by(id) else {
                continue;
            };
            let of_later = |at: &usize| self.entry(*at).id == later;
            let is_raised = |at: &usize| {
                self.index.corrected_at(id).is_some() || self.superseded(&[place, *at])[0].is_some()
            };
            let later = (place + 1..self.ranked.len()).find(of_later);
            if let Some(at) = later.filter(is_raised) {
                self.ranked[at].score = self.ranked[place].score;
                self.ranked[at].scored.probability = self.ranked[place].scored.probability;
                raised = true;
            }
        }
        if raised {
            self.ranked.sort_by(best_first);
        }
    }

    /// Places of what is recalled, best first.
    pub(in crate::memory) fn kept(&self) -> Vec<usize> {
        let places = 0..self.ranked.len();
        places
            .filter(|&place| self.ranked[place].is_kept())
            .collect()
    }

    /// The exchanges at some places, oldest first; those that no longer hold are marked.
    pub(in crate::memory) fn in_order(&self, places: &[usize]) -> Vec<Recalled> {
        self.marked(places).0
    }

    /// The same, with an exchange that replaces another scored at least as high.
    pub(in crate::memory) fn raised_in_order(&self, places: &[usize]) -> Vec<Recalled> {
        let (mut marked, replaced) = self.marked(places);
        raise_newer(&mut marked, &replaced, |one| &mut one.probability);
        marked
    }

    /// The exchanges at some places, oldest first, each with the one among them that replaces it.
    fn marked(&self, places: &[usize]) -> (Vec<Recalled>, Vec<Option<usize>>) {
        let mut places = places.to_vec();
        places.sort_by_key(|&place| self.age_of(place));
        let replaced = self.superseded(&places);
        let marked = places.iter().zip(&replaced).enumerate();
        let marked = marked
            .map(|(number, (&place, by))| Recalled {
                superseded: self
                    .index
                    .corrected_at(self.entry(place).id)
                    .or(by.map(|by| self.entry(places[by]).at)),
                is_newer: replaced.contains(&Some(number)),
                ..self.ranked[place].recalled(self.index)
            })
            .collect();
        (marked, replaced)
    }

    /// For each exchange at some places, oldest first: the first one among them that replaces it in the light of the
    /// question and was not taken back, or that corrects what replaced it.
    pub(in crate::memory) fn superseded(&self, places: &[usize]) -> Vec<Option<usize>> {
        let entries: Vec<usize> = places
            .iter()
            .map(|&place| self.ranked[place].scored.entry)
            .collect();
        let statements: Vec<Statement> = entries
            .iter()
            .map(|&entry| self.index.statement(entry))
            .collect();
        let words: Vec<(Vec<String>, f32)> = self
            .words
            .iter()
            .map(|word| (word.stems(), self.index.postings().rarity_of(word)))
            .collect();
        let question = RevisionQuestion {
            words: &words,
            wanted: self.asked.wanted(),
            is_of_yes_or_no: self.asked.is_of_yes_or_no(),
            asks_who: self.asked.asks_who(),
            asks_where: self.asked.asks_where(),
            values: self.asked.values(),
            day: self.asked.day(),
            is_of_self: self.asked.is_of_self(),
        };
        let replaces = |(later, says): (usize, &Statement),
                        (earlier, said): (usize, &Statement)| {
            let pair = self.index.pair((later, says), (earlier, said));
            let entry = self.index.entry(later);
            let holds_then =
                !says.is_exception_to(said) || self.asked.means_day_named(entry.said(), entry.at);
            !self.asked.is_past(entry.at) && holds_then && pair.replaces(&question)
        };
        let corrected = self.corrected();
        let through_corrected = |earlier: usize| {
            let (entry, said) = (entries[earlier], &statements[earlier]);
            let is_later = |later: usize| self.index.entry(later).at > self.index.entry(entry).at;
            corrected
                .iter()
                .filter(|(later, says)| is_later(*later) && replaces((*later, says), (entry, said)))
                .filter_map(|(later, _)| self.correction_of(*later))
                .find_map(|id| entries.iter().position(|&at| self.index.entry(at).id == id))
                .filter(|&by| by > earlier)
        };
        let one = |place: usize| (entries[place], &statements[place]);
        let is_taken_back = |earlier: usize| {
            (earlier + 1..entries.len()).any(|later| {
                self.index.pair(one(later), one(earlier)).takes_back()
                    && replaces(one(later), one(earlier))
            })
        };
        (0..entries.len())
            .map(|earlier| {
                (earlier + 1..entries.len())
                    .find(|&later| replaces(one(later), one(earlier)) && !is_taken_back(later))
                    .or_else(|| through_corrected(earlier))
            })
            .collect()
    }

    /// The best exchanges that are left out because somebody corrected them. What they replaced does not hold again: their
    /// corrections replace it.
    fn corrected(&self) -> Vec<(usize, Statement)> {
        let is_corrected = |one: &&Ranked| one.verdict == RecallDecision::Corrected;
        let entries = self.ranked.iter().filter(is_corrected).take(RAISED_BY);
        entries
            .map(|one| (one.scored.entry, self.index.statement(one.scored.entry)))
            .collect()
    }

    /// The valid correction of an exchange that somebody corrected.
    fn correction_of(&self, corrected: usize) -> Option<ResponseId> {
        let by = |id: &ResponseId| self.index.replaced_by(*id);
        std::iter::successors(by(&self.index.entry(corrected).id), by)
            .take(MOST_CORRECTIONS)
            .find(|&id| self.index.corrected_at(id).is_none())
    }

    /// Orders places by time: a turn that was read later may be older.
    pub(in crate::memory) fn age_of(&self, place: usize) -> (DateTime<Utc>, usize) {
        (self.entry(place).at, self.ranked[place].scored.entry)
    }

    pub(in crate::memory) fn id(&self, place: usize) -> ResponseId {
        self.entry(place).id
    }

    /// What was said in the exchange at a place.
    pub(in crate::memory) fn said(&self, place: usize) -> &'a str {
        self.entry(place).said()
    }

    /// Whether the exchange at a place is nothing but words of the question, like a search that somebody typed. It may still
    /// tell who said it and when, or confirm what is asked.
    pub(in crate::memory) fn repeats_the_question(&self, place: usize, words: &[String]) -> bool {
        let entry = self.entry(place);
        let said = lowercase_words(entry.said());
        // "Price of the summer ticket" was kept, as it may have stated something, but it may as well have been a search.
        let Act { asks, states } = speech_act(entry.said());
        let may_be_search = asks && states;
        let is_of_question =
            |word: &String| words.contains(word) && (may_be_search || !is_function_word(word));
        let asks_what_it_may_tell = self.asked.is_of_yes_or_no()
            || self.asked.asks_who()
            || self.asked.wanted().contains(&ValueKind::Date);
        let has_more = entry.is_note
            || !entry.output().is_empty()
            || entry.said().len() < entry.input().trim_end().len();
        !asks_what_it_may_tell && !has_more && !said.is_empty() && said.iter().all(is_of_question)
    }

    fn entry(&self, place: usize) -> &'a IndexedExchange {
        self.index.entry(self.ranked[place].scored.entry)
    }

    fn mark_window(&mut self, exclude: &[ResponseId]) {
        for place in 0..self.ranked.len() {
            if exclude.contains(&self.entry(place).id) {
                self.ranked[place].verdict = RecallDecision::InWindow;
                self.stand.push(place);
            }
        }
    }

    /// Excludes what somebody corrected, unless the question is about how things were.
    fn mark_corrected(&mut self) {
        if self.asked.asks_for_then() {
            return;
        }
        for place in 0..self.ranked.len() {
            let is_corrected = self.index.corrected_at(self.entry(place).id).is_some();
            if is_corrected && self.ranked[place].verdict != RecallDecision::InWindow {
                self.ranked[place].verdict = RecallDecision::Corrected;
            }
        }
    }

    /// Recalls a few notes that bear on the question, whatever their age and odds.
    fn pin_notes(&mut self) {
        let bears = |one: &Ranked| {
            let features = &one.scored.features;
            features.coverage >= NOTE_COVERAGE || features.z_cosine >= NOTE_ALIKE
        };
        let pinned = (0..self.ranked.len())
            .filter(|&place| self.entry(place).is_note)
            .filter(|&place| self.ranked[place].verdict == RecallDecision::BelowThreshold)
            .filter(|&place| bears(&self.ranked[place]))
            .take(MOST_NOTES);
        for place in pinned.collect::<Vec<_>>() {
            self.ranked[place].is_pinned = true;
        }
    }

    fn choose(&mut self, settings: &RecallSettings) {
        let stands_out = self.something_stands_out(settings);
        self.usual = self.usual(settings);
        let mut wordings = Wordings::new();
        for place in self.filling_order() {
            let one = &self.ranked[place];
            let is_decided = matches!(
                one.verdict,
                RecallDecision::InWindow | RecallDecision::Corrected
            );
            if is_decided || (one.score < settings.threshold && !one.is_pinned) {
                continue;
            }
            self.ranked[place].verdict = if !self.ranked[place].scored.features.speak_for_it() {
                RecallDecision::BelowThreshold
            } else if stands_out || one.is_pinned {
                self.decide(place, settings, &mut wordings)
            } else {
                RecallDecision::NothingStandsOut
            };
        }
    }

    /// Whether any candidate stands out. One in the window counts too: then the talk is about something known.
    fn something_stands_out(&self, settings: &RecallSettings) -> bool {
        let least = match settings.mode {
            RecallMode::Probability => least_best(settings.threshold),
            RecallMode::Cosine => settings.threshold,
        };
        self.ranked.first().is_some_and(|best| best.score >= least)
    }

    /// The places in the order in which they get room. If nothing is sure to help, no word of the question leads to
    /// what does, and similarity says more than one of its less important words.
    fn filling_order(&self) -> Vec<usize> {
        let odds = |one: &Ranked| logit(one.scored.probability);
        let unsure = unsure(self.ranked.iter().map(odds));
        let worth = |place: &usize| {
            let one = &self.ranked[*place];
            odds(one) + unsure * ALIKE_WHERE_UNSURE * f64::from(one.scored.features.z_cosine)
        };
        let mut order: Vec<(usize, f64)> = (0..self.ranked.len())
            .map(|place| (place, worth(&place)))
            .collect();
        let is_pinned = |place: usize| self.ranked[place].is_pinned;
        order.sort_by(|a, b| {
            let first = is_pinned(b.0).cmp(&is_pinned(a.0));
            first.then(b.1.total_cmp(&a.1))
        });
        self.with_companions(order.into_iter().map(|(place, _)| place))
    }

    /// The same places, each short message followed by the message that it continues.
    fn with_companions(&self, order: impl Iterator<Item = usize>) -> Vec<usize> {
        let places: HashMap<usize, usize> = self
            .ranked
            .iter()
            .enumerate()
            .map(|(place, one)| (one.scored.entry, place))
            .collect();
        let mut taken = vec![false; self.ranked.len()];
        let mut together = Vec::with_capacity(self.ranked.len());
        let mut take = |place: usize| {
            if !std::mem::replace(&mut taken[place], true) {
                together.push(place);
            }
        };
        for place in order {
            take(place);
            let companions = self.index.recalled_with(self.ranked[place].scored.entry);
            companions
                .filter_map(|entry| places.get(&entry))
                .for_each(|&place| take(place));
        }
        together
    }

    /// Tokens to fill. The surer a good match is, the fewer of the others are worth their tokens. Hints about the
    /// person do not count here, because all exchanges of that person have them.
    fn usual(&self, settings: &RecallSettings) -> usize {
        let unsure = unsure(self.ranked.iter().map(|one| {
            let pointing = f64::from(one.scored.features.hints.pointing());
            logit(one.scored.probability) - pointing
        }));
        let part = WHERE_SURE + unsure * (WHERE_UNSURE - WHERE_SURE);
        let asked = if self.act.asks { 1.0 } else { OF_STATEMENTS };
        (settings.usual as f64 * part * asked) as usize
    }

    fn decide(
        &mut self,
        place: usize,
        settings: &RecallSettings,
        wordings: &mut Wordings,
    ) -> RecallDecision {
        if self.kept >= settings.limit {
            return RecallDecision::OverLimit;
        }
        let same = |&at: &usize| {
            let (a, b) = (
                self.ranked[at].scored.entry,
                self.ranked[place].scored.entry,
            );
            say_the_same(self.index, wordings, a, b)
        };
        if let Some(at) = self.stand.iter().position(same) {
            return self.fold(place, at);
        }
        let tokens = self.entry(place).tokens() + HEADER_TOKENS;
        let one = &self.ranked[place];
        let fits = settings.has_room(self.usual, self.tokens, tokens, one.score)
            || (one.is_pinned && self.tokens + tokens <= settings.tokens);
        if !fits {
            return RecallDecision::OverBudget;
        }
        self.tokens += tokens;
        self.kept += 1;
        self.stand.push(place);
        RecallDecision::Recalled
    }

    /// Of two that say the same, keeps the newer one with the better score.
    fn fold(&mut self, place: usize, at: usize) -> RecallDecision {
        let standing = self.stand[at];
        let in_window = self.ranked[standing].verdict == RecallDecision::InWindow;
        if in_window || self.entry(standing).position > self.entry(place).position {
            return RecallDecision::Duplicate {
                of: self.entry(standing).id,
            };
        }
        self.ranked[place].score = self.ranked[standing].score;
        self.ranked[place].scored.probability = self.ranked[standing].scored.probability;
        self.ranked[standing].verdict = RecallDecision::Duplicate {
            of: self.entry(place).id,
        };
        self.stand[at] = place;
        RecallDecision::Recalled
    }
}

/// How unlikely it is that anything helps, by the best log-odds: 0 to 1.
fn unsure(odds: impl Iterator<Item = f64>) -> f64 {
    let best = odds.fold(f64::NEG_INFINITY, f64::max);
    ((SURE - best) / (SURE - UNSURE)).clamp(0.0, 1.0)
}

pub(in crate::memory) fn logit(probability: f64) -> f64 {
    (probability / (1.0 - probability)).ln()
}

/// The probability that some candidate must have for anything to be recalled.
pub(in crate::memory) fn least_best(threshold: f64) -> f64 {
    ODDS_OF_THE_BEST * threshold / (1.0 + (ODDS_OF_THE_BEST - 1.0) * threshold)
}

/// Best first; of equals the newer first.
fn best_first(a: &Ranked, b: &Ranked) -> std::cmp::Ordering {
    let newer = b.scored.entry.cmp(&a.scored.entry);
    b.score.total_cmp(&a.score).then(newer)
}

/// The value that is compared with the threshold; a missing cosine is below every threshold.
fn score(scored: &Scored, mode: RecallMode) -> f64 {
    match mode {
        RecallMode::Probability => scored.probability,
        RecallMode::Cosine => scored.features.cosine.map_or(-2.0, f64::from),
    }
}
