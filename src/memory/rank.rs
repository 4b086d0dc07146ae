//! What is recalled for a question, and why the rest is not. Pure: an index, a question and
//! settings in, exchanges out.

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
use crate::retrieval::speech::asks_for_nothing;

/// Tokens of what is recalled though it is not likely to help: a long one would take the place of several.
const SHORT: usize = 120;
/// Tokens that date, author and link of a recalled exchange take in the prompt.
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

/// What is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    pub text: &'a str,
    /// By the embedder of the index; `None` when embeddings are down: words alone decide.
    pub vector: Option<&'a [f32]>,
    /// What was said before in the session, oldest first; looked at when the question leans on
    /// it.
    pub earlier: &'a [Earlier<'a>],
    /// Turns the prompt has already.
    pub exclude: &'a [ResponseId],
    /// Who asks, by the name under which their exchanges are kept: who "I" is.
    pub asker: Option<&'a str>,
    /// When it is asked, by the asker's clock: what "yesterday" is.
    pub at: Option<DateTime<TimeZone>>,
}

/// How much is recalled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecallSettings {
    pub mode: RecallMode,
    /// The least probability, or cosine, of what is recalled.
    pub threshold: f64,
    /// Tokens of about four bytes that are filled with the best there is; fewer where something surely
    /// helps, more where nothing does.
    pub usual: usize,
    /// The least probability, or cosine, of what is recalled beyond these.
    pub sure: f64,
    /// Budget for all of it.
    pub tokens: usize,
    /// At most so many exchanges.
    pub limit: usize,
}

impl RecallSettings {
    /// Whether so many tokens go beside those that are used.
    fn has_room(&self, usual: usize, used: usize, tokens: usize, score: f64) -> bool {
        let sum = used + tokens;
        // A long answer may be the best there is.
        let is_short = tokens <= SHORT;
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
    /// What the threshold was compared with.
    pub score: f64,
    pub probability: f64,
    pub features: Features,
    /// Since when it no longer holds, as far as what was recalled with it tells.
    pub superseded: Option<DateTime<Utc>>,
    /// It replaces another of them.
    pub is_newer: bool,
    /// People said it to one another.
    pub is_message: bool,
    /// Somebody had it kept in mind, and it bears on the question.
    pub is_pinned: bool,
    /// Of its answer; of what has none, that a person said it.
    pub trust: Trust,
}

impl Recalled {
    /// What it takes of a prompt, in tokens of about four bytes.
    pub(super) fn tokens(&self) -> usize {
        (self.input.len() + self.output.len()).div_ceil(4) + HEADER_TOKENS
    }
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Recalled,
    /// The prompt has it already.
    InWindow,
    BelowThreshold,
    /// It is above the threshold, but nothing is by enough.
    NothingStandsOut,
    /// The message asks for nothing: thanks, a greeting.
    SmallTalk,
    /// Another that is as good as the same, and newer or in the window, stands for it.
    Duplicate {
        of: ResponseId,
    },
    OverBudget,
    OverLimit,
    /// Somebody said something else in its place.
    Corrected,
}

/// An exchange that was considered, for `muninn recall`.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub exchange: Recalled,
    pub verdict: Verdict,
    /// A person is shown it where there is no model.
    pub is_quoted: bool,
}

impl Candidate {
    /// What became of it, in a word or two.
    pub fn outcome(&self) -> &'static str {
        match self.verdict {
            Verdict::Recalled if self.is_quoted => "and quoted",
            Verdict::Recalled if self.exchange.superseded.is_some() => "outdated",
            Verdict::Recalled => "recalled",
            Verdict::InWindow => "in window",
            Verdict::BelowThreshold => "below",
            Verdict::NothingStandsOut => "doubtful",
            Verdict::SmallTalk => "small talk",
            Verdict::Duplicate { .. } => "duplicate",
            Verdict::OverBudget => "over budget",
            Verdict::OverLimit => "over limit",
            Verdict::Corrected => "corrected",
        }
    }
}

/// Recalls what is likely to help, oldest first, so that a correction comes after what it
/// corrects. Which are kept is decided best first.
pub fn recall(
    index: &AudienceIndex,
    calibration: &Calibration,
    query: &Query<'_>,
    settings: &RecallSettings,
) -> Vec<Recalled> {
    if asks_for_nothing(query.text) {
        return Vec::new();
    }
    let ranking = Ranking::new(index, calibration, query, settings);
    ranking.in_order(&ranking.kept())
}

/// What was recalled from several audiences, oldest first, as much of the best as one may take.
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

/// Every candidate with its features and what became of it, best first, at most `limit`.
pub fn candidates(
    index: &AudienceIndex,
    calibration: &Calibration,
    query: &Query<'_>,
    settings: &RecallSettings,
    limit: usize,
) -> Vec<Candidate> {
    let ranking = Ranking::new(index, calibration, query, settings);
    let quoted = quotable(&ranking, calibration, query);
    let is_small_talk = asks_for_nothing(query.text);
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
                Verdict::Recalled if is_small_talk => Verdict::SmallTalk,
                verdict => verdict,
            },
            is_quoted: quoted.contains(&place),
        })
        .collect()
}
