//! What recall is asked, and what it returns.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::TimeZone;

use crate::graph::{ResponseId, Trust};
use crate::memory::recall::feature_values::Features;
use crate::memory::recall::history::Earlier;

/// Tokens for the date, author and link of a recalled exchange in the prompt.
pub(super) const HEADER_TOKENS: usize = 16;

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
    /// The IDs of the asker's accounts: who "I" is.
    pub asker: &'a [String],
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
    pub(super) fn has_room(&self, usual: usize, used: usize, tokens: usize, score: f64) -> bool {
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
    pub(in crate::memory) fn tokens(&self) -> usize {
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

/// Maximum tokens of an exchange that is recalled although it is not likely to help: a long one would take
/// the place of several.
const MAX_SHORT_EXCHANGE_TOKENS: usize = 120;
