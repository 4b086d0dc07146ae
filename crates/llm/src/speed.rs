//! The speed of a model, measured from its latest calls, and the time-outs that follow from it. Pure.

use std::time::Duration;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::timeouts::Timeouts;

/// Number of calls that are kept: their median is not changed by a cold start, a cached prompt or a pause of the
/// service.
const CALLS: usize = 9;
/// Factor on the measured time before the service is given up.
const SLACK: u32 = 4;
/// Maximum factor by which configured limits are raised, so that the settings stay in control.
const MAX_TIMEOUT_FACTOR: u32 = 5;
/// Maximum tokens in one chunk.
const CHUNK_TOKENS: u32 = 8;
/// Tokens that a small step writes.
const STEP_TOKENS: u32 = 100;
/// Fewer tokens say little about the speed.
const LEAST_TOKENS: u32 = 8;

/// The timing of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallTiming {
    /// Tokens of the prompt.
    pub(super) prompt: u32,
    /// Time until the first token. For a call that was given up: how long it was waited for.
    pub(super) first_ms: u32,
    /// Tokens written; `None` if nothing arrived.
    pub(super) written: u32,
    /// Total time.
    pub(super) ms: u32,
}

/// The latest calls of a model, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Timings {
    calls: Vec<CallTiming>,
    on: NaiveDate,
}

/// The speed of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed {
    /// Time until the first token of its answer.
    pub first: Duration,
    /// Tokens of the prompt in this measurement.
    pub prompt: u32,
    /// Time per written token; `None` if unknown.
    pub per_token: Option<Duration>,
    /// Date of the last measurement.
    pub on: NaiveDate,
}

/// The time-outs of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    /// For the first bytes.
    pub(super) first: Duration,
    /// For the next bytes.
    pub(super) between: Duration,
    /// For the whole call.
    pub(super) whole: Duration,
}

impl Timings {
    /// Adds a finished call. Of several consecutive calls that were given up only the last is kept, so that a service
    /// that hangs does not count as a slow one for long.
    pub(super) fn add(&mut self, call: CallTiming, on: NaiveDate) {
        let was_given_up = |call: &CallTiming| call.written == 0;
        if was_given_up(&call) && self.calls.last().is_some_and(was_given_up) {
            self.calls.pop();
        }
        self.calls.push(call);
        if self.calls.len() > CALLS {
            self.calls.remove(0);
        }
        self.on = on;
    }

    pub(super) fn speed(&self) -> Option<Speed> {
        let of = |what: fn(&CallTiming) -> u32| median(self.calls.iter().map(what).collect());
        let per_token = |call: &CallTiming| {
            let writing = call.ms.checked_sub(call.first_ms)?;
            // In microseconds, as fast models write a thousand tokens a second. An answer that arrived as a whole says
            // nothing about it.
            let tells = call.written >= LEAST_TOKENS && writing > 0;
            tells.then(|| writing.saturating_mul(1_000) / call.written)
        };
        let per_token = median(self.calls.iter().filter_map(per_token).collect());
        Some(Speed {
            first: millis(of(|call| call.first_ms)?),
            prompt: of(|call| call.prompt)?,
            per_token: per_token.map(|micros| Duration::from_micros(micros.into())),
            on: self.on,
        })
    }

    /// The time-outs of a call with this many tokens in its prompt and at most this many in its answer: the configured
    /// ones, or longer ones if the model was measured to be slow. Each time-out doubles the next one.
    pub(super) fn patience(&self, set: &Timeouts, prompt: u32, answer: u32) -> Patience {
        let in_vain = self.calls.last().filter(|call| call.written == 0);
        let in_vain = in_vain.map_or(Duration::ZERO, |call| millis(call.first_ms));
        let Some(speed) = self.speed() else {
            return Patience {
                first: set.read,
                between: set.read,
                whole: set.total,
            };
        };
        let first = speed.first_of(prompt);
        let per_token = speed.per_token.unwrap_or_default();
        let wait = grown(set.read, (first * SLACK).max(in_vain * 2));
        Patience {
            first: wait,
            between: grown(set.read, per_token * CHUNK_TOKENS * SLACK),
            whole: grown(set.total, speed.answered(first, answer).max(wait)),
        }
    }
}

impl Speed {
    /// Time until the first token for a prompt of this size: longer prompts take longer to read.
    fn first_of(&self, prompt: u32) -> Duration {
        let longer = f64::from(prompt) / f64::from(self.prompt.max(1));
        self.first
            .mul_f64(longer.clamp(1.0, f64::from(MAX_TIMEOUT_FACTOR)))
    }

    /// Time of a small step of a turn, such as rephrasing a question. Answers say less about that, as they may be long.
    pub fn small_step(&self) -> Duration {
        self.first + self.per_token.unwrap_or_default() * STEP_TOKENS
    }

    /// Tokens written per second.
    pub fn tokens_per_second(&self) -> Option<f64> {
        let seconds = self.per_token?.as_secs_f64();
        (seconds > 0.0).then(|| 1.0 / seconds)
    }

    /// The time limit of a turn with an answer of this many tokens: the configured one, or a longer one for a model that
    /// needs it.
    pub fn turn_limit(&self, set: Duration, answer: u32) -> Duration {
        grown(set, self.answered(self.first, answer))
    }

    /// The time for an answer of this many tokens whose first one is expected after `first`.
    fn answered(&self, first: Duration, answer: u32) -> Duration {
        let written = self.per_token.unwrap_or_default().saturating_mul(answer);
        ((first + written) * 2).max(first * SLACK + written)
    }

    /// Whether two speeds are about the same, so that the later one need not be stored.
    pub(super) fn is_about(&self, other: &Self) -> bool {
        let near = |one: Duration, other: Duration| {
            let (least, most) = (one.min(other), one.max(other));
            most <= least + least / 4 + Duration::from_millis(100)
        };
        near(self.first, other.first)
            && near(self.small_step(), other.small_step())
            && self.per_token.is_some() == other.per_token.is_some()
            && self.on == other.on
    }
}

/// The wanted time, but at least the configured one and at most [`MAX_TIMEOUT_FACTOR`] times that.
fn grown(set: Duration, wanted: Duration) -> Duration {
    wanted.clamp(set, set.saturating_mul(MAX_TIMEOUT_FACTOR))
}

/// The median.
fn median(mut all: Vec<u32>) -> Option<u32> {
    all.sort_unstable();
    all.get(all.len() / 2).copied()
}

fn millis(ms: u32) -> Duration {
    Duration::from_millis(ms.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: Timeouts = Timeouts {
        connect: Duration::from_secs(10),
        read: Duration::from_secs(60),
        total: Duration::from_secs(120),
    };

    fn day() -> NaiveDate {
        NaiveDate::from_ymd_opt(2026, 11, 21).unwrap()
    }

    /// Calls by prompt, seconds until the first token, tokens and seconds in all.
    fn timings(calls: &[(u32, u32, u32, u32)]) -> Timings {
        let mut timings = Timings::default();
        for (prompt, first, written, all) in calls {
            let call = CallTiming {
                prompt: *prompt,
                first_ms: first * 1_000,
                written: *written,
                ms: all * 1_000,
            };
            timings.add(call, day());
        }
        timings
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn one_odd_call_changes_nothing() {
        let mut usual = vec![(1_000, 2, 100, 12); 6];
        let before = timings(&usual).speed().unwrap();
        usual.push((16_000, 50, 10, 90));
        assert_eq!(timings(&usual).speed().unwrap(), before);
        assert_eq!(before.first, seconds(2));
        assert_eq!(before.per_token, Some(Duration::from_millis(100)));
        assert_eq!(before.small_step(), seconds(12));
        assert_eq!(timings(&[]).speed(), None);
    }

    #[test]
    fn waits_follow_the_speed() {
        // Seconds for the first bytes, between bytes, and in all; for a prompt of 1,000 tokens and an answer of 500.
        for (calls, first, between, whole) in [
            // Unknown or fast: the configured limits.
            (&[][..], 60, 60, 120),
            (&[(1_000, 1, 100, 3)], 60, 60, 120),
            // 30 s for such a prompt; 0.5 s per token.
            (&[(1_000, 30, 100, 80)], 120, 60, 560),
            // A tenth of the prompt took 10 s: a longer one takes longer, at most five times as long.
            (&[(100, 10, 100, 20)], 200, 60, 250),
            // 4 s per token.
            (&[(1_000, 1, 10, 41)], 60, 128, 600),
            // Never more than five times the configured limit.
            (&[(1_000, 500, 10, 600)], 300, 300, 600),
            // Timed out: twice as long the next time, until it answers again.
            (&[(1_000, 60, 0, 60)], 240, 60, 240),
            (&[(1_000, 1, 100, 3), (1_000, 60, 0, 60)], 240, 60, 250),
            (
                &[(1_000, 1, 100, 3), (1_000, 60, 0, 60), (1_000, 1, 100, 3)],
                60,
                60,
                120,
            ),
        ] {
            let patience = timings(calls).patience(&SET, 1_000, 500);
            let expected = Patience {
                first: seconds(first),
                between: seconds(between),
                whole: seconds(whole),
            };
            assert_eq!(patience, expected, "{calls:?}");
        }
    }

    #[test]
    fn a_service_that_hangs_is_not_taken_for_a_slow_one() {
        let mut calls = vec![(1_000, 1, 100, 3); 9];
        calls.extend(vec![(1_000, 60, 0, 60); 8]);
        assert_eq!(timings(&calls).speed().unwrap().first, seconds(1));
    }

    #[test]
    fn a_turn_has_the_time_that_its_answer_takes() {
        for (calls, limit) in [
            ((1_000, 1, 100, 3), 120),
            // 0.5 s per token.
            ((1_000, 10, 100, 60), 520),
            ((1_000, 10, 100, 600), 600),
        ] {
            let speed = timings(&[calls]).speed().unwrap();
            assert_eq!(speed.turn_limit(seconds(120), 500), seconds(limit));
        }
    }

    #[test]
    fn what_is_about_the_same_is_not_kept_again() {
        let speed = |first, all| timings(&[(1_000, first, 100, all)]).speed().unwrap();
        assert!(speed(10, 60).is_about(&speed(11, 65)));
        assert!(!speed(10, 60).is_about(&speed(20, 70)));
        assert!(!speed(10, 60).is_about(&speed(10, 90)));
    }
}
