//! Which messages become turns.

use std::num::NonZeroU32;

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use muninn_platform::{Author, Body, IncomingMessage};

use crate::config::AdmissionConfig;
use crate::notice::Notice;

/// Turns that may wait in one session's line; a later one would be answered long after it mattered.
pub const LONGEST_LINE: usize = 32;

/// Decides whether a message becomes a turn.
#[derive(Debug)]
pub struct Admission {
    message_chars: usize,
    per_minute: u32,
    people: DefaultKeyedRateLimiter<String>,
}

impl Admission {
    pub fn new(config: &AdmissionConfig) -> Self {
        let per_minute = NonZeroU32::new(config.messages_per_minute).unwrap_or(NonZeroU32::MIN);
        Self {
            message_chars: config.message_chars,
            per_minute: per_minute.get(),
            people: RateLimiter::keyed(Quota::per_minute(per_minute)),
        }
    }

    /// Admits the message into a line of `line` turns, or says why not.
    ///
    /// # Errors
    /// What to tell the person.
    pub fn admit(&self, message: &IncomingMessage, line: usize) -> Result<(), Notice> {
        if let Body::Text(text) = &message.body {
            let chars = text.chars().count();
            if chars > self.message_chars {
                return Err(Notice::TooLong {
                    chars,
                    limit: self.message_chars,
                });
            }
        }
        if line >= LONGEST_LINE {
            return Err(Notice::TooManyWaiting);
        }
        self.within_quota(&message.audience.platform, &message.author)
    }

    /// Forgets the people whose quota is whole again.
    pub fn sweep(&self) {
        self.people.retain_recent();
    }

    fn within_quota(&self, platform: &str, author: &Author) -> Result<(), Notice> {
        self.people
            .check_key(&format!("{platform}/{}", author.id))
            .map_err(|_| Notice::TooFast {
                per_minute: self.per_minute,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission() -> Admission {
        Admission::new(&AdmissionConfig {
            messages_per_minute: 2,
            message_chars: 10,
            inbox_size: 1,
            turns_in_flight: 1,
        })
    }

    fn message(author: &str, text: &str) -> IncomingMessage {
        let mut message = crate::testing::message("e");
        message.author.id = author.to_owned();
        message.body = Body::Text(text.to_owned());
        message
    }

    #[test]
    fn each_person_has_a_quota() {
        let admission = admission();
        assert_eq!(admission.admit(&message("ada", "1"), 0), Ok(()));
        assert_eq!(admission.admit(&message("ada", "2"), 0), Ok(()));
        assert_eq!(
            admission.admit(&message("ada", "3"), 0),
            Err(Notice::TooFast { per_minute: 2 })
        );
        assert_eq!(admission.admit(&message("bob", "1"), 0), Ok(()));
    }

    #[test]
    fn what_is_refused_for_its_length_costs_no_quota() {
        let admission = admission();
        let long = message("ada", "12345678901");
        for _ in 0..3 {
            assert_eq!(
                admission.admit(&long, 0),
                Err(Notice::TooLong {
                    chars: 11,
                    limit: 10
                })
            );
        }
        assert_eq!(admission.admit(&message("ada", "short"), 0), Ok(()));
    }

    #[test]
    fn a_line_has_an_end() {
        assert_eq!(
            admission().admit(&message("ada", "1"), LONGEST_LINE),
            Err(Notice::TooManyWaiting)
        );
    }
}
