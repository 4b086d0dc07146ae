//! Votes on an answer, stored as append-only lines.

use std::collections::{HashMap, HashSet};

use muninn_platform::{EventId, Feedback, Opinion};

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
    /// The lines of an answer without a person's votes.
    pub(crate) fn without(lines: &str, person: &str) -> String {
        let mut theirs = HashSet::new();
        let mut others = String::new();
        for line in lines.lines() {
            match serde_json::from_str(line) {
                Ok(Feedback::Given {
                    event, person: by, ..
                }) if by == person => {
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

/// Formats a line.
pub(super) fn line(feedback: &Feedback) -> String {
    let line = serde_json::to_string(feedback).unwrap_or_default();
    format!("{line}\n")
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
            let lines: String = feedback.iter().map(line).collect();
            assert_eq!(Votes::of(&lines), Votes { good, bad }, "{lines}");
        }
        assert_eq!(Votes::of("nonsense\n"), Votes::default());
    }
}
