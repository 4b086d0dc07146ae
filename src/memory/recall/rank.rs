//! Decides what is recalled for a question. Pure: from an index, a question and settings to exchanges.

mod duplicates;
mod ranking;
mod recalled;

pub(in crate::memory) use self::ranking::{Ranking, least_best, logit, raise_newer};
use super::calibration::Calibration;
use super::index::AudienceIndex;
use crate::retrieval::speech::needs_no_recall;

pub use self::recalled::{IndexQuery, RecallDecision, RecallMode, RecallSettings, Recalled};

/// Recalls what is likely to help. The best are chosen first, but the result is ordered oldest first, so
/// that a correction comes after what it corrects.
pub fn recall(
    index: &AudienceIndex,
    calibration: &Calibration,
    query: &IndexQuery<'_>,
    settings: &RecallSettings,
) -> Vec<Recalled> {
    if needs_no_recall(query.text) {
        return Vec::new();
    }
    let ranking = Ranking::new(index, calibration, query, settings);
    ranking.in_order(&ranking.kept())
}

/// Merges what was recalled from several audiences, oldest first, keeping the best that fit the budget of
/// one.
pub fn within_budget(recalled: Vec<Vec<Recalled>>, settings: &RecallSettings) -> Vec<Recalled> {
    let mut recalled: Vec<Recalled> = recalled.into_iter().flatten().collect();
    recalled.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)));
    recalled.truncate(settings.limit);
    let mut used = 0;
    recalled.retain(|one| {
        let fits = settings.has_room(settings.usual, used, one.tokens(), one.score)
            || (one.is_pinned && used + one.tokens() <= settings.tokens);
        used += if fits { one.tokens() } else { 0 };
        fits
    });
    recalled.sort_by_key(|one| one.at);
    recalled
}
