//! Decides which earlier exchanges a turn replaces when it is kept; see
//! [`crate::graph::GraphStore::supersede`].

use crate::graph::{ReplacementKind, ResponseId, Turn};
use crate::memory::recall::calibration::Calibration;
use crate::memory::recall::index::AudienceIndex;
use crate::memory::recall::rank::{IndexQuery, Ranking, RecallSettings};
use crate::retrieval::speech::{asks_to_forget, needs_no_recall, states_something};

/// Number of earlier exchanges that a turn is compared with: the best matches by its own words.
const COMPARED: usize = 8;

/// The earlier exchanges that a turn replaces, and how. Only clear cases are linked; recalled exchanges are
/// compared again in the light of the question.
pub fn replaced(
    index: &AudienceIndex,
    calibration: &Calibration,
    turn: &Turn,
) -> Vec<(ResponseId, ReplacementKind)> {
    let says_nothing = needs_no_recall(turn.said()) || asks_to_forget(turn.said());
    if says_nothing || !states_something(turn.said()) {
        return Vec::new();
    }
    let statement = index.statement_of(turn);
    if !statement.says_that_something_changed() {
        return Vec::new();
    }
    let vector = turn.embedding.as_ref();
    let vector = vector.filter(|it| index.embedder() == Some(&*it.embedder));
    let query = IndexQuery {
        text: turn.said(),
        vector: vector.map(|embedding| &*embedding.vector),
        ..IndexQuery::default()
    };
    let ranking = Ranking::new(index, calibration, &query, &RecallSettings::by(calibration));
    let kept = ranking.kept().into_iter().take(COMPARED);
    kept.filter_map(|place| {
        let entry = ranking.ranked[place].scored.entry;
        let earlier = index.statement(entry);
        let how = index.pair_of(turn, &statement, entry, &earlier).links()?;
        Some((index.entry(entry).id, how))
    })
    .collect()
}
