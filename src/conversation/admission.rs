//! Which messages become turns.

use std::mem::Discriminant;
use std::num::NonZeroU32;

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use muninn_platform::{Body, Command, IncomingMessage, ItemDeed};

use crate::config::AdmissionConfig;
use crate::conversation::notice::Notice;

/// Maximum number of turns that wait in one session's queue. A later one would be answered long
/// after it mattered.
pub const MAX_QUEUED_TURNS: usize = 32;

/// Decides whether a message becomes a turn.
#[derive(Debug)]
pub struct Admission {
    message_chars: usize,
    per_minute: u32,
    people: DefaultKeyedRateLimiter<String>,
    /// Limits how often a person is told of the same kind of refusal.
    told: DefaultKeyedRateLimiter<(String, Discriminant<Notice>)>,
}

impl Admission {
    pub fn new(config: &AdmissionConfig) -> Self {
        let per_minute = NonZeroU32::new(config.messages_per_minute).unwrap_or(NonZeroU32::MIN);
        Self {
            message_chars: config.message_chars,
            per_minute: per_minute.get(),
            people: RateLimiter::keyed(Quota::per_minute(per_minute)),
            told: RateLimiter::keyed(Quota::per_minute(NonZeroU32::MIN)),
        }
    }

    /// Admits the message to a queue of `line` waiting turns.
    ///
    /// # Errors
    /// Returns what to tell the person when the message is refused.
    pub fn admit(&self, message: &IncomingMessage, line: usize) -> Result<(), Notice> {
        self.within_length(message)?;
        if line >= MAX_QUEUED_TURNS {
            return Err(Notice::TooManyWaiting);
        }
        self.within_quota(message)
    }

    /// Whether the text of a message is short enough.
    ///
    /// # Errors
    /// Returns what to tell the person when it is not.
    pub fn within_length(&self, message: &IncomingMessage) -> Result<(), Notice> {
        if let Body::Text(text)
        | Body::Edit { text, .. }
        | Body::Command(
            Command::Note(text)
            | Command::Correct { text, .. }
            | Command::Shown(_, ItemDeed::Correct(text)),
        ) = &message.body
        {
            let chars = text.chars().count();
            if chars > self.message_chars {
                return Err(Notice::TooLong {
                    chars,
                    limit: self.message_chars,
                });
            }
        }
        Ok(())
    }

    /// Whether the author is told of this refusal: at most once a minute per kind, so that refusals
    /// do not flood the place. After this call the author counts as told.
    pub fn claim_refusal_notice(&self, message: &IncomingMessage, notice: &Notice) -> bool {
        let kind = std::mem::discriminant(notice);
        self.told.check_key(&(message.person(), kind)).is_ok()
    }

    /// Forgets people whose quota is full again.
    pub fn sweep(&self) {
        self.people.retain_recent();
        self.told.retain_recent();
    }

    fn within_quota(&self, message: &IncomingMessage) -> Result<(), Notice> {
        self.people
            .check_key(&message.person())
            .map_err(|_| Notice::TooFast {
                per_minute: self.per_minute,
            })
    }
}

#[cfg(test)]
mod tests {
    use muninn_platform::ShownItem;

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
        let edit = IncomingMessage {
            body: Body::Edit {
                of: long.event.clone(),
                text: "12345678901".to_owned(),
            },
            ..long
        };
        assert!(matches!(
            admission.admit(&edit, 0),
            Err(Notice::TooLong { .. })
        ));
        let item = ShownItem {
            number: 1,
            id: "a-1".to_owned(),
            version: 7,
        };
        let correct = ItemDeed::Correct("12345678901".to_owned());
        let form = IncomingMessage {
            body: Body::Command(Command::Shown(item, correct)),
            ..edit
        };
        assert!(matches!(
            admission.admit(&form, 0),
            Err(Notice::TooLong { .. })
        ));
        assert_eq!(admission.admit(&message("ada", "short"), 0), Ok(()));
    }

    #[test]
    fn a_person_is_told_of_refusals_once_a_minute() {
        let admission = admission();
        let told = |author, notice| admission.claim_refusal_notice(&message(author, "1"), &notice);
        assert!(told("ada", Notice::TooManyWaiting));
        assert!(!told("ada", Notice::TooManyWaiting));
        assert!(told("ada", Notice::TooFast { per_minute: 2 }));
        assert!(told("bob", Notice::TooManyWaiting));
    }

    #[test]
    fn a_line_has_an_end() {
        assert_eq!(
            admission().admit(&message("ada", "1"), MAX_QUEUED_TURNS),
            Err(Notice::TooManyWaiting)
        );
    }
}
