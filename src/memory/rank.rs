//! Decides what is recalled for a question, and why the rest is not. Pure: from an index, a question and
//! settings to exchanges.

mod ranking;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::TimeZone;

pub(super) use self::ranking::{Ranking, least_best, logit, raise_newer};
use super::DEFAULT_RECALL_LIMIT;
use super::calibration::Calibration;
use super::features::Features;
use super::history::Earlier;
use super::index::AudienceIndex;
use super::quote::quotable;
use crate::graph::{ResponseId, Trust};
use crate::retrieval::speech::needs_no_recall;

/// Maximum tokens of an exchange that is recalled although it is not likely to help: a long one would take
/// the place of several.
const MAX_SHORT_EXCHANGE_TOKENS: usize = 120;
/// Tokens for the date, author and link of a recalled exchange in the prompt.
const HEADER_TOKENS: usize = 16;

/// What the threshold is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum RecallMode {
    /// The probability that the exchange helps.
    #[default]
    Probability,
    /// The plain cosine.
    Cosine,
}

/// A question to the index.
#[derive(Clone, Copy, Debug, Default)]
pub struct IndexQuery<'a> {
    pub text: &'a str,
    /// The question's vector from the index's embedder. `None` if embeddings are down; then words alone
    /// decide.
    pub vector: Option<&'a [f32]>,
    /// What was said before in the session, oldest first. Used if the question depends on it.
    pub earlier: &'a [Earlier<'a>],
    /// Turns that are in the prompt already.
    pub exclude: &'a [ResponseId],
    /// The asker's name, as in their exchanges: who "I" is.
    pub asker: Option<&'a str>,
    /// When it is asked, in the asker's time zone: what "yesterday" is.
    pub at: Option<DateTime<TimeZone>>,
}

/// Limits on what is recalled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecallSettings {
    pub mode: RecallMode,
    /// Minimum probability, or cosine, of what is recalled.
    pub threshold: f64,
    /// Tokens (of about four bytes) that are filled with the best candidates; fewer are used if something
    /// surely helps, more if nothing does.
    pub usual: usize,
    /// Minimum probability, or cosine, of what is recalled beyond `usual`.
    pub sure: f64,
    /// Maximum tokens in total.
    pub tokens: usize,
    /// Maximum number of exchanges.
    pub limit: usize,
}

impl RecallSettings {
    /// Whether an exchange of `tokens` fits beside those that are used.
    fn has_room(&self, usual: usize, used: usize, tokens: usize, score: f64) -> bool {
        let sum = used + tokens;
        // A long answer may still be the best there is.
        let is_short = tokens <= MAX_SHORT_EXCHANGE_TOKENS;
        sum <= self.tokens && ((sum <= usual && is_short) || used == 0 || score >= self.sure)
    }
}

/// A recalled exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    pub id: ResponseId,
    pub session: Arc<str>,
    pub at: DateTime<Utc>,
    pub author: Arc<str>,
    pub input: String,
    pub output: String,
    /// The value that is compared with the threshold.
    pub score: f64,
    pub probability: f64,
    pub features: Features,
    /// Since when it no longer holds, as far as the other recalled exchanges show.
    pub superseded: Option<DateTime<Utc>>,
    /// It replaces another recalled exchange.
    pub is_newer: bool,
    /// It is a heard message.
    pub is_message: bool,
    /// It is a note that bears on the question.
    pub is_pinned: bool,
    /// The trust class of its answer; for a message without one, that of a person's words.
    pub trust: Trust,
}

impl Recalled {
    /// Its tokens in a prompt, of about four bytes.
    pub(super) fn tokens(&self) -> usize {
        (self.input.len() + self.output.len()).div_ceil(4) + HEADER_TOKENS
    }
}

/// The decision on a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecallDecision {
    Recalled,
    /// It is in the prompt already.
    InWindow,
    BelowThreshold,
    /// It is above the threshold, but no candidate is far enough above it.
    NothingStandsOut,
    /// The message asks for nothing: thanks, a greeting.
    SmallTalk,
    /// An exchange with nearly the same content, which is newer or in the window, is used instead.
    Duplicate {
        of: ResponseId,
    },
    OverBudget,
    OverLimit,
    /// Somebody corrected it.
    Corrected,
}

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
