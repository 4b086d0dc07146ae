//! The features of one exchange for one question.

use crate::memory::hints::asked::Hints;

/// The features of one exchange for one question. `docs/recall-experiments.md` describes the benefit of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    /// Cosine of the question and the exchange. `None` if one of them has no vector; the other
    /// features from cosines are then zero.
    pub cosine: Option<f32>,
    /// Standard score of the cosine among this question's cosines, shrunk to the prior.
    pub z_cosine: f32,
    /// `ln(1 + BM25)`.
    pub ln_bm25: f32,
    /// Standard score of BM25 among this question's scores, shrunk to the prior.
    pub z_bm25: f32,
    /// The higher `z_cosine` of its two neighbours on the chain; zero if there is none.
    pub near_z_cosine: f32,
    /// The higher `z_bm25` of its two neighbours.
    pub near_z_bm25: f32,
    /// Mean `z_cosine` of up to four exchanges before it and four after it.
    pub around_z_cosine: f32,
    /// Mean `z_bm25` of the same exchanges.
    pub around_z_bm25: f32,
    /// Share of the question's words, weighted by rarity, that it contains: 0 to 1.
    pub coverage: f32,
    /// Its mean cosine with the three other exchanges that are most likely to help, weighted by their
    /// probability: exchanges that help with different parts of a question resemble one another.
    pub peer_similarity: f32,
    /// How well it meets the parts of the question beside its subject.
    pub hints: Hints,
}
