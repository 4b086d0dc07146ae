//! Saying something where nobody asked.

use async_trait::async_trait;

use crate::{AudienceId, MessageId, SafeText, Vocabulary};

/// Says something in an audience, beside threads. An adapter gives one with
/// [`Incoming::Connected`](crate::Incoming).
///
/// Each call is one attempt, bounded in time and at the pace the platform allows.
#[async_trait]
pub trait Announce: Send + Sync {
    /// Says it, without pinging anybody.
    async fn announce(&self, audience: &AudienceId, text: &SafeText) -> Announced;

    /// Whether this process says anything in an audience of its platform: another one may serve its workspace.
    fn serves(&self, _audience: &AudienceId) -> bool {
        true
    }

    /// What the people there call things.
    fn vocabulary(&self) -> &'static Vocabulary {
        &Vocabulary::PLAIN
    }
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Announced {
    Said(MessageId),
    /// The platform is away or wants a rest: to be tried again.
    NotYet,
    /// It is not to be said there. Says why, as the end of a sentence after "because".
    Refused(String),
}

/// For a platform that has no place where anything can be said unasked.
#[derive(Clone, Copy, Debug)]
pub struct NothingToSay;

#[async_trait]
impl Announce for NothingToSay {
    async fn announce(&self, _: &AudienceId, _: &SafeText) -> Announced {
        Announced::Refused("nothing is said there unasked".to_owned())
    }
}
