//! Decides what is recalled for a question, and why the rest is not. Pure: from an index, a question and
//! settings to exchanges.

mod ranking;
mod recalled;

pub(super) use self::ranking::{Ranking, least_best, logit, raise_newer};
use super::calibration::Calibration;
use super::index::AudienceIndex;
use super::limits::DEFAULT_RECALL_LIMIT;
use super::quote::quotable;
use crate::retrieval::speech::needs_no_recall;

pub use self::recalled::{IndexQuery, RecallDecision, RecallMode, RecallSettings, Recalled};

/// An exchange that was considered, for `muninn recall`.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub exchange: Recalled,
    pub verdict: RecallDecision,
    /// A person is shown it if there is no model.
    pub is_quoted: bool,
}

impl Candidate {
    /// The decision, in a word or two.
    pub fn outcome(&self) -> &'static str {
        match self.verdict {
            RecallDecision::Recalled if self.is_quoted => "and quoted",
            RecallDecision::Recalled if self.exchange.superseded.is_some() => "outdated",
            RecallDecision::Recalled => "recalled",
            RecallDecision::InWindow => "in window",
            RecallDecision::BelowThreshold => "below",
            RecallDecision::NothingStandsOut => "doubtful",
            RecallDecision::SmallTalk => "small talk",
            RecallDecision::Duplicate { .. } => "duplicate",
            RecallDecision::OverBudget => "over budget",
            RecallDecision::OverLimit => "over limit",
            RecallDecision::Corrected => "corrected",
        }
    }
}

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

/// All candidates with their features and decisions, best first, at most `limit`.
pub fn candidates(
    index: &AudienceIndex,
    calibration: &Calibration,
    query: &IndexQuery<'_>,
    settings: &RecallSettings,
    limit: usize,
) -> Vec<Candidate> {
    let ranking = Ranking::new(index, calibration, query, settings);
    let quoted = quotable(&ranking, calibration, query);
    let is_small_talk = needs_no_recall(query.text);
    let kept = ranking.kept();
    let leading = &kept[..kept.len().min(DEFAULT_RECALL_LIMIT)];
    let marked = ranking.in_order(leading);
    let shown = ranking.ranked.iter().enumerate().take(limit);
    shown
        .map(|(place, one)| Candidate {
            exchange: {
                let plain = one.recalled(index);
                let marked = marked.iter().find(|it| it.id == plain.id);
                marked.cloned().unwrap_or(plain)
            },
            verdict: match one.verdict {
                RecallDecision::Recalled if is_small_talk => RecallDecision::SmallTalk,
                verdict => verdict,
            },
            is_quoted: quoted.contains(&place),
        })
        .collect()
}
