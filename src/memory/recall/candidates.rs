//! All exchanges that were considered for a question, each with what was decided and why, for `muninn recall`. Pure.

use super::calibration::Calibration;
use super::index::AudienceIndex;
use super::limits::DEFAULT_RECALL_LIMIT;
use super::quote::quotable;
use super::rank::{IndexQuery, Ranking, RecallDecision, RecallSettings, Recalled};
use crate::memory::hints::revision::only_takes_back;
use crate::retrieval::speech::needs_no_recall;

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
            RecallDecision::Recalled if self.is_quoted && self.exchange.superseded.is_some() => {
                "quoted, outdated"
            }
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
            is_quoted: quoted.contains(&place) && !only_takes_back(ranking.said(place)),
        })
        .collect()
}
