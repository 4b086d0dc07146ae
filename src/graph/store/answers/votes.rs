//! Votes on an answer, stored as append-only lines.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use muninn_platform::{EventId, Feedback, Opinion};
use serde_json::{Value, json};

/// Number of votes of each kind on an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    pub good: usize,
    pub bad: usize,
}

impl Votes {
    /// Counts the lines of an answer: the last vote of each person that was not withdrawn.
    pub(crate) fn of(lines: &str) -> Self {
        let mut given: Vec<(EventId, String, Opinion)> = Vec::new();
        for line in lines.lines() {
            match serde_json::from_str(line) {
                Ok(Feedback::Given {
                    event,
                    answer: _,
                    person,
                    opinion,
                }) => given.push((event, person, opinion)),
                Ok(Feedback::Withdrawn { event }) => given.retain(|(known, ..)| *known != event),
                // Not a line of this program.
                Err(_) => {}
            }
        }
        let last: HashMap<String, Opinion> = given
            .into_iter()
            .map(|(_, person, opinion)| (person, opinion))
            .collect();
        let count = |sought| last.values().filter(|opinion| **opinion == sought).count();
        Self {
            good: count(Opinion::Good),
            bad: count(Opinion::Bad),
        }
    }
}

impl Votes {
    /// The lines of an answer without a person's votes of until a moment, in milliseconds. Earlier versions stored no time; such
    /// votes count as earlier.
    pub(crate) fn without(lines: &str, person: &str, until: i64) -> String {
        let mut theirs = HashSet::new();
        let mut others = String::new();
        for line in lines.lines() {
            match serde_json::from_str(line) {
                Ok(Feedback::Given {
                    event, person: by, ..
                }) if by == person && voted_at(line).is_none_or(|at| at <= until) => {
                    theirs.insert(event);
                }
                Ok(Feedback::Withdrawn { event }) if theirs.contains(&event) => {}
                Ok(Feedback::Given { .. } | Feedback::Withdrawn { .. }) | Err(_) => {
                    others.push_str(line);
                    others.push('\n');
                }
            }
        }
        others
    }
}

/// The field of a vote's time in a line, which is none of [`Feedback`].
const AT: &str = "at";

/// Formats a line, with the time of a vote.
pub(super) fn line(feedback: &Feedback, at: DateTime<Utc>) -> String {
    let mut line = serde_json::to_value(feedback).unwrap_or_default();
    if let Some(Value::Object(given)) = line.get_mut("Given") {
        given.insert(AT.to_owned(), json!(at.timestamp_millis()));
    }
    format!("{line}\n")
}

fn voted_at(line: &str) -> Option<i64> {
    let line: Value = serde_json::from_str(line).ok()?;
    line["Given"][AT].as_i64()
}

#[cfg(test)]
mod tests {
    use muninn_platform::MessageId;

    use super::*;

    fn given(event: &str, person: &str, opinion: Opinion) -> Feedback {
        Feedback::Given {
            event: EventId::new(event),
            answer: MessageId::new("m"),
            person: person.to_owned(),
            opinion,
        }
    }

    fn withdrawn(event: &str) -> Feedback {
        Feedback::Withdrawn {
            event: EventId::new(event),
        }
    }

    #[test]
    fn each_person_has_one_vote_and_can_take_it_back() {
        use Opinion::{Bad, Good};
        for (feedback, good, bad) in [
            (vec![], 0, 0),
            (vec![given("1", "ada", Good)], 1, 0),
            // Delivered again.
            (vec![given("1", "ada", Good), given("1", "ada", Good)], 1, 0),
            (vec![given("1", "ada", Good), given("2", "bob", Bad)], 1, 1),
            (vec![given("1", "ada", Good), given("2", "ada", Bad)], 0, 1),
            (vec![given("1", "ada", Good), withdrawn("1")], 0, 0),
            (
                vec![
                    given("1", "ada", Good),
                    given("2", "ada", Bad),
                    withdrawn("2"),
                ],
                1,
                0,
            ),
            (vec![withdrawn("1"), given("2", "ada", Bad)], 0, 1),
        ] {
            let lines = feedback.iter().map(|it| line(it, Utc::now()));
            let lines: String = lines.collect();
            assert_eq!(Votes::of(&lines), Votes { good, bad }, "{lines}");
        }
        assert_eq!(Votes::of("nonsense\n"), Votes::default());
    }

    #[test]
    fn who_is_forgotten_up_to_a_moment_keeps_the_votes_since() {
        use Opinion::{Bad, Good};
        let at = |millis| DateTime::from_timestamp_millis(millis).unwrap();
        // As an earlier version wrote it.
        let old = serde_json::to_string(&given("0", "ada", Good)).unwrap();
        let others = line(&given("1", "bob", Bad), at(5));
        let later = line(&given("3", "ada", Bad), at(11));
        let lines = [
            format!("{old}\n"),
            others.clone(),
            line(&given("2", "ada", Good), at(10)),
            line(&withdrawn("2"), at(10)),
            later.clone(),
        ];
        let lines = lines.concat();
        let since = format!("{others}{later}");
        assert_eq!(Votes::without(&lines, "ada", 10), since);
        assert_eq!(Votes::without(&lines, "ada", i64::MAX), others);
        assert_eq!(Votes::of(&since), Votes { good: 0, bad: 2 });
    }
}
