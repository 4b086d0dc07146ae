//! Stand-in until the ranking branch is merged.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};
use crate::graph::{ResponseId, Turn, Source};
use crate::agent::prompt::Memory;
use crate::prompts::{Quoted, lines};
use muninn_platform::AudienceId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RecallMode { Probability, Cosine }
#[derive(Clone, Debug)]
pub struct RecallSettings { pub mode: RecallMode, pub threshold: Option<f64>, pub tokens: usize }
impl Default for RecallSettings { fn default() -> Self { Self { mode: RecallMode::Cosine, threshold: None, tokens: 1500 } } }
#[derive(Clone, Debug)]
pub struct Recalled { pub id: ResponseId, pub probability: f64, turn: Arc<Turn> }
impl Recalled {
    pub fn quoted(&self) -> Quoted {
        Quoted { date: self.turn.created_at.format("%Y-%m-%d").to_string(), author: self.turn.author_name.clone(), input: lines(&self.turn.input), output: if self.turn.source == Source::Memory { vec![] } else { lines(&self.turn.output) } }
    }
    pub fn memory(&self) -> Memory { Memory { quoted: self.quoted(), score: self.probability } }
}
#[derive(Debug, Default)]
pub struct AudienceIndex { pub seen: i64, pub epoch: i64, turns: Vec<Arc<Turn>> }
impl AudienceIndex {
    pub fn push(&mut self, turn: Turn) { self.seen = turn.position; self.turns.push(Arc::new(turn)); }
    pub fn recall(&self, vector: Option<&[f32]>, text: &str, shown: &[ResponseId], threshold: f64) -> Vec<Recalled> {
        let words: Vec<String> = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let mut all: Vec<Recalled> = self.turns.iter().filter(|t| !shown.contains(&t.id) && !t.volatile && !(t.source == Source::Memory && super::is_question(&t.input))).map(|t| {
            let score = match (vector, &t.embedding) { (Some(a), Some(b)) => a.iter().zip(&b.vector).map(|(a, b)| f64::from(a * b)).sum(), _ => { let low = t.input.to_lowercase(); words.iter().filter(|w| low.contains(w.as_str())).count() as f64 / words.len().max(1) as f64 } };
            Recalled { id: t.id, probability: score, turn: Arc::clone(t) }
        }).filter(|r| r.probability >= threshold).collect();
        all.sort_by(|a, b| a.probability.total_cmp(&b.probability));
        all.truncate(5);
        all
    }
}
#[derive(Debug, Default)]
pub struct AudienceCache(Mutex<HashMap<AudienceId, Arc<RwLock<AudienceIndex>>>>);
impl AudienceCache {
    pub fn get(&self, a: &AudienceId) -> Option<Arc<RwLock<AudienceIndex>>> { self.0.lock().unwrap().get(a).cloned() }
    pub fn insert(&self, a: &AudienceId, i: AudienceIndex) { self.0.lock().unwrap().insert(a.clone(), Arc::new(RwLock::new(i))); }
    pub fn invalidate(&self, a: &AudienceId) { self.0.lock().unwrap().remove(a); }
}
