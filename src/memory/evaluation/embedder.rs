//! Checks without labels whether an embedder works: texts that share rare words must be nearer to one another than to others, the
//! same text must have the same vector, and different texts must have different vectors.
//!
//! Vectors are compared as the embedder made them. The vectors of an index are moved towards those of the messages that they
//! continue, so neighbours look alike there with any embedder.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::embedded_text::text_of;
use super::figures::Share;
use super::history::draw;
use super::interval::{Interval, mean};
use super::replay::part_below;
use crate::graph::{ResponseId, Turn};
use crate::memory::recall::history::words;
use crate::memory::recall::index::AudienceIndex;

/// Maximum number of exchanges examined in total.
pub(super) const MAX_EXCHANGES: usize = 200;
/// Minimum number of those that must be usable.
const MIN_USABLE_EXCHANGES: usize = 25;
/// Minimum number of other exchanges: with fewer, nearness shows nothing.
const LEAST_OTHERS: usize = 10;
/// Exchanges closer together than this may belong to one conversation and are not compared: a service that returns the vectors of
/// a request in the wrong order gives neighbours the vectors of neighbours.
const APART: usize = 20;
/// Minimum share of an exchange's words that a similar exchange has.
const ALIKE_BY_WORDS: f32 = 0.25;
/// An embedder that orders texts by meaning is above this; a half is chance.
const CHANCE: f64 = 0.65;
/// Cosines with a smaller deviation distinguish nothing.
const LEAST_DEVIATION: f64 = 1e-3;
/// Minimum cosine of two vectors of the same text.
const SAME: f64 = 0.9;

/// The results for an embedder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EmbedderCheck {
    pub name: String,
    /// Exchanges with a vector of this embedder, among those examined.
    pub has_vector: Share,
    /// Texts for which it returned a vector now, among those sent.
    pub answers: Share,
    /// Standard deviation of the cosines between vectors.
    pub spread: Option<f64>,
    /// Median cosine of two vectors of the same text, requested in different orders.
    pub repeatable: Option<f64>,
    /// Median cosine of the kept vector and the one made now.
    pub kept: Option<f64>,
    /// Share of other exchanges that are less similar to an exchange than the one that is most similar by its words: for the kept
    /// vectors, and for those made now.
    pub sense_kept: Option<Interval>,
    pub sense_now: Option<Interval>,
}

/// A problem with an embedder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EmbedderProblem {
    /// It returns hardly any vectors.
    Silent(Share),
    /// All vectors are equal.
    AllAlike,
    /// The same text gets a different vector the next time.
    NotRepeatable(f64),
    /// The vectors kept under its name come from another embedder.
    OtherThanKept(f64),
    /// Nearness is no better than chance.
    NoSense(Interval),
}

impl fmt::Display for EmbedderProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(share) => write!(
                f,
                "it gives no vector for {} of {} texts, so only their words are found; look at what the embedding service says",
                share.whole - share.part,
                share.whole
            ),
            Self::AllAlike => f.write_str(
                "it gives every text the same vector, so only words are found; check EMBEDDING_MODEL and the service, or leave EMBEDDING_MODEL empty for the built-in embedder",
            ),
            Self::NotRepeatable(cosine) => write!(
                f,
                "it gives the same text another vector each time (cosine {cosine:.2}), as a service does that mixes up the texts of a request; check the service"
            ),
            Self::OtherThanKept(cosine) => write!(
                f,
                "the vectors that are kept under its name are not those that it makes now (cosine {cosine:.2}): another model has taken its place, or an earlier one was broken; give the model another name, and run `muninn reembed`"
            ),
            Self::NoSense(interval) => write!(
                f,
                "its vectors say no more than chance about what is alike: exchanges with rare words in common are nearer than {:.0} % of the others, where 50 % is chance; check EMBEDDING_MODEL and the service",
                interval.mean * 100.0
            ),
        }
    }
}

impl EmbedderCheck {
    /// Its problems, the most obvious first.
    pub fn problems(&self) -> Vec<EmbedderProblem> {
        let mut problems = Vec::new();
        let answers = self.answers.value();
        if self.answers.whole >= MIN_USABLE_EXCHANGES as u64
            && answers.is_some_and(|part| part < 0.5)
        {
            problems.push(EmbedderProblem::Silent(self.answers));
        }
        if self.spread.is_some_and(|spread| spread < LEAST_DEVIATION) {
            problems.push(EmbedderProblem::AllAlike);
            return problems;
        }
        if let Some(cosine) = self.repeatable.filter(|it| *it < SAME) {
            problems.push(EmbedderProblem::NotRepeatable(cosine));
        } else if let Some(cosine) = self.kept.filter(|it| *it < SAME) {
            problems.push(EmbedderProblem::OtherThanKept(cosine));
        }
        let mut sense = [self.sense_now, self.sense_kept].into_iter().flatten();
        if let Some(none) = sense.find(|it| it.of >= MIN_USABLE_EXCHANGES && it.high < CHANCE) {
            problems.push(EmbedderProblem::NoSense(none));
        }
        problems
    }
}

/// Collects results from one audience after the other.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    has_vector: Share,
    answers: Share,
    /// Vectors made now, or the kept ones.
    vectors: Vec<Vec<f32>>,
    repeatable: Vec<f64>,
    kept: Vec<f64>,
    sense_kept: Vec<f64>,
    sense_now: Vec<f64>,
}

/// Vectors of exchanges that were made now: in order, and once more in another order.
#[derive(Debug, Default)]
pub(super) struct RepeatedVectors {
    pub(super) first: HashMap<ResponseId, Option<Vec<f32>>>,
    pub(super) again: HashMap<ResponseId, Option<Vec<f32>>>,
}

/// A sample of an audience's exchanges, the same one each time.
pub(super) fn sample(turns: &[Turn], most: usize) -> Vec<&Turn> {
    let mut sample: Vec<&Turn> = turns.iter().filter(|it| it.can_be_recalled()).collect();
    sample.sort_by_key(|it| draw(it.id));
    sample.truncate(most);
    sample
}

/// An audience's exchanges, with vectors as the embedder made them.
pub(super) struct Exchanges<'a> {
    index: &'a AudienceIndex,
    /// The number of each exchange in the index.
    entries: HashMap<ResponseId, usize>,
    /// By number in the index, like the next field.
    texts: Vec<String>,
    vectors: Vec<Option<&'a [f32]>>,
}

impl<'a> Exchanges<'a> {
    /// With the kept vectors, or with those `made` instead.
    pub(super) fn new(
        index: &'a AudienceIndex,
        turns: &'a [Turn],
        made: Option<&'a HashMap<ResponseId, Vec<f32>>>,
    ) -> Self {
        let turns: HashMap<ResponseId, &Turn> = turns.iter().map(|it| (it.id, it)).collect();
        let mut all = Self {
            index,
            entries: HashMap::new(),
            texts: Vec::new(),
            vectors: Vec::new(),
        };
        for entry in 0..index.len() {
            let id = index.entry(entry).id;
            let turn = turns.get(&id).copied();
            let vector = match made {
                Some(made) => made.get(&id).map(Vec::as_slice),
                None => turn.and_then(|turn| all.kept(turn)),
            };
            all.entries.insert(id, entry);
            all.texts.push(turn.map(text_of).unwrap_or_default());
            all.vectors.push(vector);
        }
        all
    }

    /// The kept vector of a turn, if it is from this embedder.
    fn kept<'t>(&self, turn: &'t Turn) -> Option<&'t [f32]> {
        let kept = turn.embedding.as_ref();
        let own = kept.filter(|it| self.index.embedder() == Some(&*it.embedder));
        own.map(|it| it.vector.as_slice())
    }

    /// The exchanges to compare with: far away, and with another text, so that their vectors may differ.
    fn others(&self, own: usize) -> impl Iterator<Item = usize> {
        (0..self.index.len())
            .filter(move |it| it.abs_diff(own) > APART && self.texts[*it] != self.texts[own])
    }

    /// The exchange that is most similar by its words, if any is similar enough.
    fn alike(&self, turn: &Turn, own: usize) -> Option<usize> {
        let words = words(self.index, &turn.input, &[]);
        let found = self.index.postings().score(&words);
        let best = self
            .others(own)
            .max_by(|a, b| found.bm25[*a].total_cmp(&found.bm25[*b]))?;
        (found.coverage[best] >= ALIKE_BY_WORDS).then_some(best)
    }

    /// The share of other exchanges that are less similar to a vector than a given one.
    fn sense(&self, vector: &[f32], own: usize, alike: usize) -> Option<f64> {
        let cosine_of = |entry: usize| {
            let other = self.vectors[entry].filter(|it| it.len() == vector.len())?;
            Some(cosine(vector, other) as f32)
        };
        let near = cosine_of(alike)?;
        let others = self.others(own).filter(|it| *it != alike);
        let others: Vec<f32> = others.filter_map(cosine_of).collect();
        (others.len() >= LEAST_OTHERS).then(|| part_below(&others, near))
    }
}

impl Gathering {
    /// Examines some of an audience's exchanges.
    pub(super) fn look(&mut self, all: &Exchanges<'_>, sample: &[&Turn], now: &RepeatedVectors) {
        for turn in sample {
            let Some(&entry) = all.entries.get(&turn.id) else {
                continue;
            };
            self.has_vector += Share::one(all.vectors[entry].is_some());
            let kept = all.kept(turn).map(<[f32]>::to_vec);
            let made = now.first.get(&turn.id);
            if let Some(made) = made {
                self.answers += Share::one(made.is_some());
            }
            let made = made.cloned().flatten();
            if let (Some(one), Some(Some(other))) = (&made, now.again.get(&turn.id)) {
                self.repeatable.push(cosine(one, other));
            }
            if let (Some(one), Some(other)) = (&made, &kept) {
                self.kept.push(cosine(one, other));
            }
            let alike = all.alike(turn, entry);
            let sense = |vector: &Vec<f32>| all.sense(vector, entry, alike?);
            self.sense_kept.extend(kept.as_ref().and_then(sense));
            self.sense_now.extend(made.as_ref().and_then(sense));
            self.vectors.extend(made.or(kept));
        }
    }

    pub(super) fn check(&self, name: &str) -> EmbedderCheck {
        EmbedderCheck {
            name: name.to_owned(),
            has_vector: self.has_vector,
            answers: self.answers,
            spread: spread(&self.vectors),
            repeatable: middle(&self.repeatable),
            kept: middle(&self.kept),
            sense_kept: mean(&self.sense_kept),
            sense_now: mean(&self.sense_now),
        }
    }
}

/// Zero if they cannot be compared.
fn cosine(one: &[f32], other: &[f32]) -> f64 {
    if one.len() != other.len() {
        return 0.0;
    }
    let product = |one: &[f32], other: &[f32]| {
        let pairs = one.iter().zip(other);
        pairs
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum::<f64>()
    };
    let lengths = (product(one, one) * product(other, other)).sqrt();
    if lengths > 0.0 {
        product(one, other) / lengths
    } else {
        0.0
    }
}

fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// The standard deviation of the cosines between neighbouring vectors.
fn spread(vectors: &[Vec<f32>]) -> Option<f64> {
    if vectors.len() < MIN_USABLE_EXCHANGES {
        return None;
    }
    // Compared with the next vector and with one far away, so that adjacent copies do not look like a constant.
    let half = vectors.len() / 2;
    let pairs = (0..vectors.len()).flat_map(|at| [(at, at + 1), (at, at + half)]);
    let cosines = pairs.map(|(at, with)| cosine(&vectors[at], &vectors[with % vectors.len()]));
    let cosines: Vec<f64> = cosines.collect();
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    let squares = cosines.iter().map(|it| (it - mean).powi(2));
    Some((squares.sum::<f64>() / cosines.len() as f64).sqrt())
}
