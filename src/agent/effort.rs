//! How much is done for one answer, by how long the model takes for a small step. Pure.

use std::time::Duration;

/// From there on a turn asks the model less. A turn with a round of follow-up questions makes about six calls before the
/// first word of its answer: at this pace that is a minute, which is as long as people wait.
pub const SLOW_STEP: Duration = Duration::from_secs(10);
/// From there on it asks for nothing but the answer and its look-ups.
pub const VERY_SLOW_STEP: Duration = SLOW_STEP.saturating_mul(2);

/// What is done for an answer beside looking up and writing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How often the critic's questions are asked.
    pub rounds: u32,
    /// Questions are rephrased.
    pub rephrases: bool,
}

/// What is done by a model that takes so long for a small step, as far as that is known, where so many rounds are set.
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
