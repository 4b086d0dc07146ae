//! Whether an embedder does what it is for, found out without labels: texts that share rare words are nearer to one another
//! than to others, the same text has the same vector, and different ones have different vectors.
//!
//! Vectors are compared as they were made. Those of an index are drawn to what their exchange goes on with, so neighbours look
//! alike there whatever an embedder made of them.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::super::history::words;
use super::super::index::AudienceIndex;
use super::compare::{Interval, mean};
use super::figures::Share;
use super::history::draw;
use super::replay::part_below;
use super::text_of;
use crate::graph::{ResponseId, Turn};

/// Exchanges that are looked at in all, at most.
pub(super) const MOST: usize = 200;
/// Of those, so many have to tell something.
const LEAST: usize = 25;
/// Other exchanges below which nearness tells nothing.
const LEAST_OTHERS: usize = 10;
/// Exchanges that are not so far apart may belong to one conversation. They are not compared: a service that hands the vectors of
/// a request to the wrong texts hands neighbours those of neighbours.
const APART: usize = 20;
/// The part of an exchange's words that another has, if they are alike by words.
const ALIKE_BY_WORDS: f32 = 0.25;
/// One that orders texts by meaning is above this; a half is chance.
const CHANCE: f64 = 0.65;
/// Cosines closer together than this tell nothing apart.
const LEAST_DEVIATION: f64 = 1e-3;
/// Two vectors of the same text are at least so alike.
const SAME: f64 = 0.9;

/// What was found of an embedder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EmbedderCheck {
    pub name: String,
    /// Exchanges that have a vector of it, of those that are looked at.
    pub has_vector: Share,
    /// Texts that it was given now, and that it gave a vector for.
    pub answers: Share,
    /// How far the cosines of the vectors differ from one another: a standard deviation.
    pub spread: Option<f64>,
    /// The middle cosine of two vectors of the same text, made now in another order.
    pub repeatable: Option<f64>,
    /// The middle cosine of the vector that is kept and the one that is made now.
    pub kept: Option<f64>,
    /// The part of other exchanges that are less like an exchange than the one that is most like it by its words: by the
    /// vectors that are kept, and by those made now.
    pub sense_kept: Option<Interval>,
    pub sense_now: Option<Interval>,
}

/// What is wrong with an embedder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EmbedderProblem {
    /// It gives hardly any vectors.
    Silent(Share),
    /// All vectors are the same.
    AllAlike,
    /// The same text gets another vector the next time.
    NotRepeatable(f64),
    /// What is kept under its name was made by something else.
    OtherThanKept(f64),
    /// Nearness says no more than chance.
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
    /// What is wrong with it; the first is the plainest.
    pub fn problems(&self) -> Vec<EmbedderProblem> {
        let mut problems = Vec::new();
        let answers = self.answers.value();
        if self.answers.whole >= LEAST as u64 && answers.is_some_and(|part| part < 0.5) {
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
        if let Some(none) = sense.find(|it| it.of >= LEAST && it.high < CHANCE) {
            problems.push(EmbedderProblem::NoSense(none));
        }
        problems
    }
}

/// Gathers what is found in one audience after the other.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    has_vector: Share,
    answers: Share,
    /// Vectors made now, or those that are kept.
    vectors: Vec<Vec<f32>>,
    repeatable: Vec<f64>,
    kept: Vec<f64>,
    sense_kept: Vec<f64>,
    sense_now: Vec<f64>,
}

/// Vectors of exchanges that were made now: as they came, and once more in another order.
#[derive(Debug, Default)]
pub(super) struct MadeNow {
    pub(super) first: HashMap<ResponseId, Option<Vec<f32>>>,
    pub(super) again: HashMap<ResponseId, Option<Vec<f32>>>,
}

/// Exchanges of an audience to be looked at: the same ones each time.
pub(super) fn sample(turns: &[Turn], most: usize) -> Vec<&Turn> {
    let mut sample: Vec<&Turn> = turns.iter().filter(|it| it.can_be_recalled()).collect();
    sample.sort_by_key(|it| draw(it.id));
    sample.truncate(most);
    sample
}

/// An audience's exchanges, with vectors as they were made.
pub(super) struct Exchanges<'a> {
    index: &'a AudienceIndex,
    /// Where each is in the index.
    entries: HashMap<ResponseId, usize>,
    /// By their places in the index, as the next.
    texts: Vec<String>,
    vectors: Vec<Option<&'a [f32]>>,
}

impl<'a> Exchanges<'a> {
    /// With the vectors that are kept, or with those that were `made` in their place.
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

    /// The vector of this embedder that is kept of a turn.
    fn kept<'t>(&self, turn: &'t Turn) -> Option<&'t [f32]> {
        let kept = turn.embedding.as_ref();
        let own = kept.filter(|it| self.index.embedder() == Some(&*it.embedder));
        own.map(|it| it.vector.as_slice())
    }

    /// Those that an exchange is compared with: far from it, and with another text, which may have another vector.
    fn others(&self, own: usize) -> impl Iterator<Item = usize> {
        (0..self.index.len())
            .filter(move |it| it.abs_diff(own) > APART && self.texts[*it] != self.texts[own])
    }

    /// The exchange that is most like one by its words, if it is alike at all.
    fn alike(&self, turn: &Turn, own: usize) -> Option<usize> {
        let words = words(self.index, &turn.input, &[]);
        let found = self.index.postings().score(&words);
        let best = self
            .others(own)
            .max_by(|a, b| found.bm25[*a].total_cmp(&found.bm25[*b]))?;
        (found.coverage[best] >= ALIKE_BY_WORDS).then_some(best)
    }

    /// The part of other exchanges that are less like a vector than one of them.
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
    /// Looks at some of an audience's exchanges.
    pub(super) fn look(&mut self, all: &Exchanges<'_>, sample: &[&Turn], now: &MadeNow) {
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

/// Zero where they cannot be compared.
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

/// The standard deviation of the cosines of vectors with those next to them.
fn spread(vectors: &[Vec<f32>]) -> Option<f64> {
    if vectors.len() < LEAST {
        return None;
    }
    // Beside the next and one far away, so that copies side by side do not look like a constant.
    let half = vectors.len() / 2;
    let pairs = (0..vectors.len()).flat_map(|at| [(at, at + 1), (at, at + half)]);
    let cosines = pairs.map(|(at, with)| cosine(&vectors[at], &vectors[with % vectors.len()]));
    let cosines: Vec<f64> = cosines.collect();
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    let squares = cosines.iter().map(|it| (it - mean).powi(2));
    Some((squares.sum::<f64>() / cosines.len() as f64).sqrt())
}
