//! Posts messages that nobody asked for.

use async_trait::async_trait;

use crate::{AudienceId, Delivered, PlatformVocabulary, SafeText};

/// Posts in an audience, outside threads. An adapter provides one with
/// [`Incoming::Connected`](crate::Incoming).
///
/// Each call is one attempt, bounded in time and at the pace the platform allows.
#[async_trait]
pub trait Announce: Send + Sync {
    /// Posts the text without pinging anybody.
    async fn announce(&self, audience: &AudienceId, text: &SafeText) -> Announced;

    /// Whether this process posts in this audience of its platform: another process may serve its
    /// workspace.
    fn serves(&self, _audience: &AudienceId) -> bool {
        true
    }

    /// The platform's words for channels, threads and the like.
    fn vocabulary(&self) -> &'static PlatformVocabulary {
        &PlatformVocabulary::PLAIN
    }
}

/// The result of an announcement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Announced {
    /// The messages that carry it, as far as the platform confirmed them.
    Said(Delivered),
    /// The platform is unreachable or rate limits: try again later.
    NotYet,
    /// It must not be posted there. Holds the reason, as the end of a sentence after "because".
    Refused(String),
}

/// For a platform without a place for unasked messages.
#[derive(Clone, Copy, Debug)]
pub struct NoAnnouncements;

#[async_trait]
impl Announce for NoAnnouncements {
    async fn announce(&self, _: &AudienceId, _: &SafeText) -> Announced {
        Announced::Refused("nothing is said there unasked".to_owned())
    }
}
