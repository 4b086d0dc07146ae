//! Asks questions again, each with what was known when it was asked. Pure.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::history::{AudienceHistory, Windows};
use super::scan::{RelevanceSignal, ReplayQuestion, week};
use crate::graph::{Embedding, ResponseId, Turn};
use crate::memory::Calibration;
use crate::memory::quote;
use crate::memory::recall::index::AudienceIndex;
use crate::memory::recall::recaller::REACH;
use crate::memory::{Earlier, IndexQuery, RecallSettings, recall};
use crate::retrieval::vectors::Quantised;
use muninn_platform::TimeZone;

/// Minimum number of other exchanges: with fewer, similarity shows nothing.
const LEAST_OTHERS: usize = 10;

/// The result of a question that was asked again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replayed {
    /// ID of its turn, or its ID in the file of labels.
    pub id: String,
    pub kind: RelevanceSignal,
    pub channel: String,
    /// The week in which it was asked; empty if unknown.
    pub week: String,
    /// Whether the expected exchange is recalled; if there is nothing to find, whether nothing would be quoted.
    pub found: bool,
    /// Reciprocal rank of the first expected exchange among those recalled; zero if there is none.
    pub rank: f64,
    /// Share of the other exchanges that are less similar to the question than the expected one, by the embedder alone. A half
    /// is chance. `None` if no vectors are compared.
    pub meaning: Option<f64>,
    /// Tokens of what is recalled.
    pub tokens: usize,
    pub recalled: usize,
    /// The question, and the first expected exchange: for people who may read it, and never saved.
    #[serde(skip)]
    pub words: [String; 2],
}

/// Vectors by text.
pub(super) type Vectors = HashMap<String, Option<Vec<f32>>>;

/// The setup with which questions are asked.
pub(super) struct Asker<'a> {
    /// The embedder whose vectors are compared, and their dimension.
    pub(super) embedder: Option<(&'a str, usize)>,
    pub(super) calibration: &'a Calibration,
    pub(super) settings: RecallSettings,
    pub(super) time_zone: TimeZone,
    pub(super) window: usize,
    /// Of the questions, and of what was said before them.
    pub(super) vectors: &'a Vectors,
    /// Vectors of the exchanges, where the kept ones are from another embedder.
    pub(super) exchanges: Option<&'a HashMap<ResponseId, Vec<f32>>>,
}

impl Asker<'_> {
    /// Asks all questions. Also returns the index of the whole history.
    pub(super) fn replay(
        &self,
        history: &AudienceHistory,
        questions: &[ReplayQuestion],
    ) -> (Vec<Replayed>, AudienceIndex) {
        let mut questions: Vec<&ReplayQuestion> = questions.iter().collect();
        questions.sort_by_key(|it| it.known);
        let mut questions = questions.into_iter().peekable();
        let mut index = AudienceIndex::new(self.embedder, 0);
        let mut windows = Windows::new(self.window);
        let mut replayed = Vec::new();
        for (place, turn) in history.turns.iter().enumerate() {
            while let Some(question) = questions.next_if(|it| it.known <= place) {
                replayed.push(self.ask(history, &index, &windows, question));
            }
            match self.exchanges {
                None => index.push(turn),
                Some(vectors) => index.push(&self.embedded(turn, vectors)),
            }
            for replaced in history.replaced.get(&turn.id).into_iter().flatten() {
                match replaced.corrected_at {
                    Some(at) => index.correct(turn.id, replaced.earlier, at),
                    None => index.link(turn.id, replaced.earlier),
                }
            }
            windows.push(&turn.session, place);
        }
        replayed.extend(questions.map(|it| self.ask(history, &index, &windows, it)));
        (replayed, index)
    }

    fn embedded(&self, turn: &Turn, vectors: &HashMap<ResponseId, Vec<f32>>) -> Turn {
        let embedder = self.embedder.map_or("", |(name, _)| name);
        Turn {
            embedding: vectors.get(&turn.id).map(|vector| Embedding {
                embedder: embedder.to_owned(),
                vector: vector.clone(),
            }),
            ..turn.clone()
        }
    }

    fn vector(&self, text: &str) -> Option<&[f32]> {
        self.vectors.get(text)?.as_deref()
    }

    fn ask(
        &self,
        history: &AudienceHistory,
        index: &AudienceIndex,
        windows: &Windows,
        question: &ReplayQuestion,
    ) -> Replayed {
        let session = question.session.as_deref().unwrap_or_default();
        let before = windows.get(session);
        let before = before.iter().map(|place| &history.turns[*place]);
        let before: Vec<&Turn> = before.collect();
        let leans_on = before.len().saturating_sub(REACH);
        let earlier = before[leans_on..].iter().map(|turn| Earlier {
            text: &turn.input,
            vector: self.vector(&turn.input),
        });
        let earlier: Vec<Earlier<'_>> = earlier.collect();
        let shown = before.iter().filter(|_| question.has_window);
        let exclude: Vec<ResponseId> = shown.map(|turn| turn.id).chain(question.own).collect();
        let vector = self.vector(&question.text);
        let query = IndexQuery {
            text: &question.text,
            vector,
            earlier: &earlier,
            exclude: &exclude,
            asker: &question.asker,
            at: question.at.map(|at| at.with_timezone(&self.time_zone)),
        };
        let mut recalled = recall(index, self.calibration, &query, &self.settings);
        recalled.sort_by(|a, b| b.score.total_cmp(&a.score));
        let is_target = |id: &ResponseId| question.targets.contains(id);
        let found = recalled.iter().filter(|it| is_target(&it.id)).count();
        let first = recalled.iter().position(|it| is_target(&it.id));
        let is_found = match question.kind {
            RelevanceSignal::Nothing => {
                quote(index, self.calibration, &query, &self.settings).is_empty()
            }
            RelevanceSignal::Used
            | RelevanceSignal::SaidAgain
            | RelevanceSignal::Repeated
            | RelevanceSignal::Replied
            | RelevanceSignal::Corrected
            | RelevanceSignal::Labelled(_) => found >= question.least,
        };
        Replayed {
            id: question.id.clone(),
            kind: question.kind.clone(),
            channel: history.audience.as_str().to_owned(),
            week: question.at.map(week).unwrap_or_default(),
            found: is_found,
            rank: first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
            meaning: self.meaning(index, vector, question, &exclude),
            tokens: recalled.iter().map(|it| it.tokens()).sum(),
            recalled: recalled.len(),
            words: [question.text.clone(), expected(history, question)],
        }
    }

    fn meaning(
        &self,
        index: &AudienceIndex,
        vector: Option<&[f32]>,
        question: &ReplayQuestion,
        exclude: &[ResponseId],
    ) -> Option<f64> {
        if index.dimension() == 0 || question.targets.is_empty() {
            return None;
        }
        // Without a vector the embedder shows no preference.
        let Some(vector) = vector.filter(|it| it.len() == index.dimension()) else {
            return (!self.vectors.is_empty()).then_some(0.5);
        };
        let cosines = index.cosines(&Quantised::new(vector)?);
        let (mut targets, mut others) = (Vec::new(), Vec::new());
        for (entry, cosine) in cosines.into_iter().enumerate() {
            let id = index.entry(entry).id;
            if question.targets.contains(&id) {
                targets.push(cosine);
            } else if !exclude.contains(&id) {
                others.push(cosine);
            }
        }
        if targets.is_empty() || others.len() < LEAST_OTHERS {
            return None;
        }
        let above: f64 = targets.iter().map(|it| part_below(&others, *it)).sum();
        Some(above / targets.len() as f64)
    }
}

fn expected(history: &AudienceHistory, question: &ReplayQuestion) -> String {
    let turn = question.targets.first().and_then(|id| {
        let mut turns = history.turns.iter();
        turns.find(|turn| turn.id == *id)
    });
    turn.map(|turn| turn.input.clone()).unwrap_or_default()
}

/// The share of cosines that are lower than one; equal and unknown ones count half.
pub(super) fn part_below(others: &[f32], one: f32) -> f64 {
    let worth = |other: &f32| match other.partial_cmp(&one) {
        Some(std::cmp::Ordering::Less) => 1.0,
        Some(std::cmp::Ordering::Equal) | None => 0.5,
        Some(std::cmp::Ordering::Greater) => 0.0,
    };
    others.iter().map(worth).sum::<f64>() / others.len() as f64
}
