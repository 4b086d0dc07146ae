//! Notices about hearing people.

use muninn_platform::{PlatformVocabulary, Scope};
use muninn_texts::{Text, text};

/// A notice about remembering what people say to one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HearingNotice {
    /// Posted once to everybody in a channel: what they say to one another is remembered.
    Everybody(&'static PlatformVocabulary),
    /// The reply when this was announced to everybody.
    EverybodyNow(&'static PlatformVocabulary),
    Nobody {
        /// Whether people were heard until now.
        was: bool,
        vocabulary: &'static PlatformVocabulary,
    },
    ModeratorNeeded(&'static PlatformVocabulary),
    OptedOut {
        messages: usize,
        vocabulary: &'static PlatformVocabulary,
    },
    OptedIn {
        is_heard: bool,
        vocabulary: &'static PlatformVocabulary,
    },
    /// Whether what people say to one another is on the record from now on.
    Record {
        is_kept: bool,
        scope: Scope,
        /// Whether people are heard there at all.
        is_heard: bool,
        vocabulary: &'static PlatformVocabulary,
    },
}

impl HearingNotice {
    /// The sentences of the notice.
    pub(super) fn texts(&self) -> Vec<Text> {
        let text = match self {
            Self::Everybody(PlatformVocabulary {
                channel,
                conversation,
                moderator,
                ..
            }) => text!(
                "hears-everybody",
                channel = *channel,
                conversation = *conversation,
                moderator = *moderator
            ),
            Self::EverybodyNow(PlatformVocabulary { channel, .. }) => {
                text!("hears-everybody-now", channel = *channel)
            }
            Self::Nobody {
                was: true,
                vocabulary: PlatformVocabulary { channel, .. },
            } => text!("hears-nobody-any-more", channel = *channel),
            Self::Nobody {
                was: false,
                vocabulary: PlatformVocabulary { channel, .. },
            } => text!("hears-nobody", channel = *channel),
            Self::ModeratorNeeded(PlatformVocabulary {
                channel, moderator, ..
            }) => text!(
                "moderator-needed-to-hear",
                channel = *channel,
                moderator = *moderator
            ),
            Self::OptedOut {
                messages,
                vocabulary: PlatformVocabulary { channel, .. },
            } => text!("opted-out", count = *messages, channel = *channel),
            Self::OptedIn {
                is_heard: true,
                vocabulary: PlatformVocabulary { channel, .. },
            } => text!("opted-in", channel = *channel),
            Self::OptedIn {
                is_heard: false,
                vocabulary: PlatformVocabulary { channel, .. },
            } => text!("opted-in-unheard", channel = *channel),
            Self::Record {
                is_kept,
                scope,
                is_heard,
                vocabulary,
            } => return record(*is_kept, *scope, *is_heard, vocabulary),
        };
        vec![text]
    }
}

/// Whether what people say to one another is on the record from now on.
fn record(
    is_kept: bool,
    scope: Scope,
    is_heard: bool,
    vocabulary: &PlatformVocabulary,
) -> Vec<Text> {
    let PlatformVocabulary {
        channel,
        conversation,
        ..
    } = *vocabulary;
    let now = match (is_kept, scope) {
        (true, Scope::Conversation) => text!("on-record-conversation", conversation),
        (true, Scope::Audience) => text!("on-record-channel", channel),
        (false, Scope::Conversation) => text!("off-record-conversation", conversation),
        (false, Scope::Audience) => text!("off-record-channel", channel),
    };
    if is_heard {
        vec![now]
    } else {
        vec![now, text!("record-anyway", channel)]
    }
}
