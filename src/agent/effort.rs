//! Adapts the effort for one answer to the time that the model takes for a small step. Pure.

use std::time::Duration;

/// From this time per step on, a turn makes fewer model calls. A turn with a round of follow-up questions makes about
/// six calls before the first word of its answer: at this pace that is a minute, which is as long as people wait.
pub const SLOW_STEP: Duration = Duration::from_secs(10);
/// From this time on, a turn makes only the calls for look-ups and the answer.
pub const VERY_SLOW_STEP: Duration = SLOW_STEP.saturating_mul(2);

/// What is done for an answer beside look-ups and writing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Number of rounds of the critic's questions.
    pub rounds: u32,
    /// Whether questions are rephrased.
    pub rephrases: bool,
}

/// The effort for a model that takes this long for a small step, if known, with this number of configured rounds.
pub fn effort(rounds: u32, step: Option<Duration>) -> Effort {
    match step {
        Some(step) if step >= VERY_SLOW_STEP => Effort {
            rounds: 0,
            rephrases: false,
        },
        Some(step) if step >= SLOW_STEP => Effort {
            rounds: rounds.min(1),
            rephrases: true,
        },
        Some(_) | None => Effort {
            rounds,
            rephrases: true,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_the_less() {
        for (rounds, step, expected) in [
            (2, None, (2, true)),
            (2, Some(9_999), (2, true)),
            (2, Some(10_000), (1, true)),
            (0, Some(10_000), (0, true)),
            (2, Some(20_000), (0, false)),
        ] {
            let Effort { rounds, rephrases } = effort(rounds, step.map(Duration::from_millis));
            assert_eq!((rounds, rephrases), expected, "{step:?}");
        }
    }
}
