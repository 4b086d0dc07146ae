//! What an audience said before, laid out for one flat scan.
//!
//! Holds exchanges in the order of their positions, with their vectors, their words and their
//! chain. Knows nothing of probabilities: that is [`super::rank`].

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::is_question;
use super::postings::Postings;
use super::text::{bounded, date_words};
use crate::graph::{ResponseId, Source, Turn};

/// Characters kept of a question and of an answer; what is longer is cut, with an ellipsis.
pub const MAX_KEPT_CHARS: usize = 8_192;

/// One exchange.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: ResponseId,
    pub(super) position: i64,
    pub(super) at: DateTime<Utc>,
    pub(super) session: Arc<str>,
    pub(super) author: Arc<str>,
    /// Question and answer in one allocation.
    text: Box<str>,
    /// Where the answer begins.
    answer: u32,
    /// The exchange before it on its session's chain.
    pub(super) previous: Option<u32>,
    pub(super) next: Option<u32>,
}

impl Entry {
    pub(super) fn input(&self) -> &str {
        &self.text[..self.answer as usize]
    }

    pub(super) fn output(&self) -> &str {
        &self.text[self.answer as usize..]
    }

    /// Roughly how many tokens it takes in a prompt: a quarter of its bytes.
    pub(super) fn tokens(&self) -> usize {
        self.text.len().div_ceil(4).max(1)
    }
}

/// A vector as eight-bit integers: `value[i] * scale`. A quarter of the memory of floats.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantised {
    pub(super) values: Vec<i8>,
    pub(super) scale: f32,
}

impl Quantised {
    /// At unit length; `None` for what has no direction: empty, zero, not finite.
    pub(super) fn new(vector: &[f32]) -> Option<Self> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        if !length.is_finite() || largest <= f32::MIN_POSITIVE || length <= f32::MIN_POSITIVE {
            return None;
        }
        let step = largest / 127.0;
        let values: Vec<i8> = vector.iter().map(|x| (x / step).round() as i8).collect();
        // The length of what is kept, not of what was: so a vector's cosine with itself is 1.
        let kept = (dot(&values, &values) as f32).sqrt();
        Some(Self {
            values,
            scale: kept.recip(),
        })
    }
}

/// Sum of products. Widened to 16 bits first: compilers make one instruction of eight of these.
pub(super) fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| i32::from(i16::from(a) * i16::from(b)))
        .sum()
}

/// Everything of one audience that can be recalled.
///
/// It is append-only: when something is forgotten its epoch ends, and it is loaded again.
#[derive(Debug)]
pub struct AudienceIndex {
    embedder: Option<(Box<str>, usize)>,
    epoch: i64,
    position: i64,
    entries: Vec<Entry>,
    /// Row-major, `entries × dimension`; zeros where an entry has none.
    vectors: Vec<i8>,
    /// The rows' scales; zero where an entry has none.
    scales: Vec<f32>,
    postings: Postings,
    /// Each session's last exchange.
    ends: HashMap<Arc<str>, u32>,
    names: HashMap<Box<str>, Arc<str>>,
    foreign: usize,
}

impl AudienceIndex {
    /// An empty index of the epoch in which its turns are read.
    ///
    /// `embedder` names the embedder whose vectors are compared and their dimension; an exchange
    /// with any other vector is found by its words only.
    pub fn new(embedder: Option<(&str, usize)>, epoch: i64) -> Self {
        Self {
            embedder: embedder.map(|(name, dimension)| (name.into(), dimension)),
            epoch,
            position: 0,
            entries: Vec::new(),
            vectors: Vec::new(),
            scales: Vec::new(),
            postings: Postings::default(),
            ends: HashMap::new(),
            names: HashMap::new(),
            foreign: 0,
        }
    }

    /// Adds the audience's next turn. One it has seen already is left out, so turns may be handed
    /// over twice; what is volatile, or a question that memory alone answered, is seen and never
    /// recalled.
    pub fn push(&mut self, turn: &Turn) {
        if turn.position <= self.position {
            return;
        }
        self.position = turn.position;
        let says_something = match turn.source {
            Source::Model | Source::Knowledge => true,
            // What it answered only quotes; what it was told may be worth recalling.
            Source::Memory => !is_question(&turn.input),
        };
        if turn.volatile || !says_something {
            return;
        }
        self.push_vector(turn);
        self.push_words(turn);
        self.push_entry(turn);
    }

    fn push_vector(&mut self, turn: &Turn) {
        let dimension = self.dimension();
        let row = turn.embedding.as_ref().and_then(|embedding| {
            let ours = self.embedder.as_ref().is_some_and(|(name, dimension)| {
                **name == *embedding.embedder && *dimension == embedding.vector.len()
            });
            let row = ours.then(|| Quantised::new(&embedding.vector)).flatten();
            self.foreign += usize::from(row.is_none());
            row
        });
        match row {
            Some(row) => {
                self.vectors.extend_from_slice(&row.values);
                self.scales.push(row.scale);
            }
            None => {
                self.vectors.resize(self.vectors.len() + dimension, 0);
                self.scales.push(0.0);
            }
        }
    }

    fn push_words(&mut self, turn: &Turn) {
        let date = date_words(turn.created_at);
        let texts = [turn.input.as_str(), answer(turn), &turn.author_name];
        self.postings
            .push(texts.into_iter().chain(date.iter().map(String::as_str)));
    }

    fn push_entry(&mut self, turn: &Turn) {
        let number = self.entries.len() as u32;
        let session = self.name(&turn.session);
        let previous = self.ends.insert(session.clone(), number);
        if let Some(previous) = previous {
            self.entries[previous as usize].next = Some(number);
        }
        let mut text = kept(&turn.input);
        let answer_begins = text.len() as u32;
        text.push_str(&kept(answer(turn)));
        let author = self.name(&turn.author_name);
        self.entries.push(Entry {
            id: turn.id,
            position: turn.position,
            at: turn.created_at,
            session,
            author,
            text: text.into_boxed_str(),
            answer: answer_begins,
            previous,
            next: None,
        });
    }

    /// One copy of a name however many exchanges bear it.
    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let shared: Arc<str> = bounded(name, 256).into();
        self.names.insert(name.into(), shared.clone());
        shared
    }

    /// How many exchanges can be recalled.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The position of the last turn it has seen; zero before the first.
    pub fn position(&self) -> i64 {
        self.position
    }

    /// Everything up to `position` is in it, or was forgotten.
    pub(super) fn skip_to(&mut self, position: i64) {
        self.position = self.position.max(position);
    }

    /// The embedder whose vectors are compared.
    pub fn embedder(&self) -> Option<&str> {
        self.embedder.as_ref().map(|(name, _)| &**name)
    }

    /// The epoch its turns belong to: see [`crate::graph::News`].
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// Exchanges whose vector was made by another embedder or makes no sense: `muninn reembed`
    /// is for these.
    pub fn foreign_vectors(&self) -> usize {
        self.foreign
    }

    /// Bytes held on the heap, computed from capacities; what the allocator adds is not in it.
    pub fn heap_bytes(&self) -> usize {
        let texts: usize = self.entries.iter().map(|entry| entry.text.len()).sum();
        texts
            + self.entries.capacity() * size_of::<Entry>()
            + self.vectors.capacity()
            + self.scales.capacity() * size_of::<f32>()
            + self.postings.heap_bytes()
    }

    pub(super) fn entry(&self, number: usize) -> &Entry {
        &self.entries[number]
    }

    pub(super) fn postings(&self) -> &Postings {
        &self.postings
    }

    /// Length of the vectors; zero where none are compared.
    pub(super) fn dimension(&self) -> usize {
        self.embedder
            .as_ref()
            .map_or(0, |(_, dimension)| *dimension)
    }

    pub(super) fn has_vector(&self, number: usize) -> bool {
        self.scales[number] > 0.0
    }

    /// The cosine of every exchange with the query, NaN where an exchange has no vector.
    pub(super) fn cosines(&self, query: &Quantised) -> Vec<f32> {
        let rows = self.vectors.chunks_exact(self.dimension().max(1));
        rows.zip(&self.scales)
            .map(|(row, &scale)| {
                if scale > 0.0 {
                    dot(row, &query.values) as f32 * scale * query.scale
                } else {
                    f32::NAN
                }
            })
            .collect()
    }

    /// The cosine of two exchanges, where both have a vector.
    pub(super) fn cosine_between(&self, a: usize, b: usize) -> Option<f32> {
        (self.has_vector(a) && self.has_vector(b)).then(|| {
            let row = |number| &self.vectors[number * self.dimension()..][..self.dimension()];
            dot(row(a), row(b)) as f32 * self.scales[a] * self.scales[b]
        })
    }
}

/// The answer, where it is one of its own: what only quotes memory is not remembered twice.
fn answer(turn: &Turn) -> &str {
    match turn.source {
        Source::Model | Source::Knowledge => &turn.output,
        Source::Memory => "",
    }
}

fn kept(text: &str) -> String {
    let short = bounded(text, MAX_KEPT_CHARS);
    let mut kept = short.to_owned();
    if short.len() < text.len() {
        kept.push('…');
    }
    kept
}
