//! The memory of conversations: the window, the summary, and the recall of earlier exchanges.
//!
//! One [`AudienceIndex`] holds the exchanges of an audience; [`recall()`] ranks them against a question and keeps those
//! that are likely to help. All of this is pure and in memory: the graph is the source of truth, and [`RecallCache`]
//! may drop whatever it can load again. `docs/recall-experiments.md` describes how it was measured.

pub mod evaluation;
mod hints;
mod keeping;
mod recall;
#[cfg(test)]
mod tests;

use crate::graph::Source;

pub use self::evaluation::{calibrate, curve, recall_eval};
pub use self::hints::asked::Hints;
pub use self::hints::when::{beginning, names_time_as_subject};
pub use self::keeping::archive::{Archive, Begun, TurnSaveOutcome};
pub use self::keeping::linking::replaced;
pub use self::keeping::messages::{Edit, MessageError};
pub use self::keeping::queue_withdrawals::QueueWithdrawals;
pub use self::keeping::{journal, reembed, summary};
pub use self::recall::cache::{Freshness, RecallCache, SharedIndex};
pub use self::recall::calibration::{
    Calibration, CalibrationError, Prior, Spread, WeightSets, Weights,
};
pub use self::recall::candidates::{Candidate, candidates};
pub use self::recall::feature_values::Features;
pub use self::recall::history::Earlier;
pub use self::recall::index::{AudienceIndex, MAX_KEPT_CHARS};
pub use self::recall::limits::DEFAULT_RECALL_LIMIT;
pub use self::recall::quote::{Grounds, MOST_QUOTED, grounds, quote, split_quotes};
pub use self::recall::rank::{
    IndexQuery, RecallDecision, RecallMode, RecallSettings, Recalled, recall, within_budget,
};
pub use self::recall::recaller::{RecallQuery, Recaller};
pub use self::recall::{cache, calibration_file};
pub use crate::retrieval::text::MAX_SEARCHED_CHARS;

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
