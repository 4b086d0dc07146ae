//! The memory of conversations: the window, the summary, and the recall of earlier exchanges.
//!
//! One [`AudienceIndex`] holds the exchanges of an audience; [`recall`] ranks them against a question and keeps those
//! that are likely to help. All of this is pure and in memory: the graph is the source of truth, and [`RecallCache`]
//! may drop whatever it can load again. `docs/recall-experiments.md` describes how it was measured.

mod archive;
mod asked;
pub mod cache;
pub mod calibrate;
mod calibration;
pub mod calibration_file;
mod candidates;
mod claims;
pub mod curve;
pub mod eval;
pub mod evaluation;
mod feature_values;
mod features;
mod forgotten_waiting;
mod history;
mod index;
pub mod journal;
mod leaving;
mod limits;
mod linking;
mod messages;
pub(crate) mod neighbours;
mod people;
mod queue_withdrawals;
mod quote;
mod rank;
mod recaller;
mod recent;
pub mod reembed;
mod replay;
mod replay_state;
mod revision;
mod shortlist;
pub mod summary;
mod talk;
mod talk_relation;
#[cfg(test)]
mod tests;
mod values;
mod when;
mod window;

use crate::graph::Source;

pub use self::limits::DEFAULT_RECALL_LIMIT;
pub use self::linking::replaced;
pub use crate::retrieval::text::MAX_SEARCHED_CHARS;
pub use archive::{Archive, Begun, TurnSaveOutcome};
pub use asked::Hints;
pub use cache::{Freshness, RecallCache, SharedIndex};
pub use calibration::{Calibration, CalibrationError, Prior, Spread, WeightSets, Weights};
pub use candidates::{Candidate, candidates};
pub use feature_values::Features;
pub use history::Earlier;
pub use index::{AudienceIndex, MAX_KEPT_CHARS};
pub use messages::{Edit, MessageError};
pub use queue_withdrawals::QueueWithdrawals;
pub use quote::{Grounds, MOST_QUOTED, grounds, quote, split_quotes};
pub use rank::{
    IndexQuery, RecallDecision, RecallMode, RecallSettings, Recalled, recall, within_budget,
};
pub use recaller::{RecallQuery, Recaller};
pub use when::beginning;

/// Tokens of recalled exchanges in a prompt, unless configured otherwise.
pub const DEFAULT_RECALL_TOKENS: usize = 1_000;
/// Tokens of recalled exchanges that are filled whatever their probability, best first, because a model can ignore
/// what does not bear on the question.
pub const USUAL_RECALL_TOKENS: usize = 500;

/// The text of an exchange that is embedded: question and answer, without the speakers' names (they hurt).
pub fn embedded_text(input: &str, output: &str) -> String {
    [input, output].join("\n")
}

/// The same for a turn of some source, using the question as it was understood. An answer that only quotes is not
/// embedded, or its content would be recalled twice.
pub fn embedded_text_of(source: Source, understood: &str, output: &str) -> String {
    match source {
        Source::Model | Source::Knowledge | Source::Retrieval => embedded_text(understood, output),
        Source::Memory | Source::Message | Source::Note => understood.to_owned(),
    }
}

impl RecallSettings {
    /// The settings that apply unless configured otherwise.
    pub fn by(calibration: &Calibration) -> Self {
        Self {
            mode: RecallMode::Probability,
            threshold: 0.0,
            usual: USUAL_RECALL_TOKENS,
            sure: calibration.threshold,
            tokens: DEFAULT_RECALL_TOKENS,
            limit: DEFAULT_RECALL_LIMIT,
        }
    }
}
