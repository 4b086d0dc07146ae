//! An audience's history for the evaluation, read page by page.

use std::collections::{HashMap, HashSet, VecDeque};

use muninn_platform::AudienceId;

use crate::graph::{GraphStore, Outcome, Replaced, ResponseId, StoreError, Turn};

/// Number of turns read at once.
const PAGE: usize = 1_000;

/// The turns of an audience, and what became of them.
#[derive(Debug)]
pub(super) struct AudienceHistory {
    pub(super) audience: AudienceId,
    /// In order.
    pub(super) turns: Vec<Turn>,
    pub(super) outcomes: HashMap<ResponseId, Outcome>,
    /// Keyed by the later turn.
    pub(super) replaced: HashMap<ResponseId, Vec<Replaced>>,
}

impl AudienceHistory {
    pub(super) async fn read(
        store: &GraphStore,
        audience: &AudienceId,
    ) -> Result<Self, StoreError> {
        let mut history = Self {
            audience: audience.clone(),
            turns: Vec::new(),
            outcomes: HashMap::new(),
            replaced: HashMap::new(),
        };
        let mut behind = 0;
        loop {
            let news = store.turns_since(audience, behind, PAGE).await?;
            let outcomes = store.outcomes(audience, behind, news.through).await?;
            history.turns.extend(news.turns);
            let by_id = outcomes.into_iter().map(|it| (it.id, it));
            history.outcomes.extend(by_id);
            behind = news.through;
            if !news.more {
                break;
            }
        }
        for replaced in store.superseded(audience).await? {
            let of = history.replaced.entry(replaced.later).or_default();
            of.push(replaced);
        }
        Ok(history)
    }

    /// The reverse: for each earlier turn, all that replace it.
    pub(super) fn replaced_by(&self) -> HashMap<ResponseId, Vec<ResponseId>> {
        let mut later: HashMap<ResponseId, Vec<ResponseId>> = HashMap::new();
        for it in self.replaced.values().flatten() {
            later.entry(it.earlier).or_default().push(it.later);
        }
        later
    }

    /// The turns that somebody corrected.
    pub(super) fn corrected(&self) -> HashSet<ResponseId> {
        let all = self.replaced.values().flatten();
        let corrected = all.filter(|it| it.corrected_at.is_some());
        corrected.map(|it| it.earlier).collect()
    }
}

/// The last turns of each conversation, as in the prompt's window.
#[derive(Debug)]
pub(super) struct Windows {
    turns: usize,
    of: HashMap<String, VecDeque<usize>>,
}

impl Windows {
    pub(super) fn new(turns: usize) -> Self {
        Self {
            turns,
            of: HashMap::new(),
        }
    }

    /// Numbers of the last turns of a conversation, oldest first.
    pub(super) fn get(&self, session: &str) -> Vec<usize> {
        let of = self.of.get(session);
        of.map(|it| it.iter().copied().collect())
            .unwrap_or_default()
    }

    pub(super) fn push(&mut self, session: &str, place: usize) {
        let of = self.of.entry(session.to_owned()).or_default();
        of.push_back(place);
        if of.len() > self.turns {
            of.pop_front();
        }
    }
}

/// A key that selects turns evenly and always the same: the random part of their IDs.
pub(super) fn draw(id: ResponseId) -> u64 {
    let (_, low) = id.0.as_u64_pair();
    // IDs from elsewhere may be sequential in this part.
    let mut mixed = low ^ (low >> 33);
    mixed = mixed.wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}
