//! Notices about hearing people.

use muninn_platform::{Scope, Vocabulary};
use muninn_texts::{Text, text};

/// A notice about remembering what people say to one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HearingNotice {
    /// Posted once to everybody in a channel: what they say to one another is remembered.
    Everybody(&'static Vocabulary),
    /// The reply when this was announced to everybody.
    EverybodyNow(&'static Vocabulary),
    Nobody {
        /// Whether people were heard until now.
        was: bool,
        vocabulary: &'static Vocabulary,
    },
    ModeratorNeeded(&'static Vocabulary),
    OptedOut {
        messages: usize,
        vocabulary: &'static Vocabulary,
    },
    OptedIn {
        is_heard: bool,
        vocabulary: &'static Vocabulary,
    },
    /// Whether what people say to one another is on the record from now on.
    Record {
        is_kept: bool,
        scope: Scope,
        /// Whether people are heard there at all.
        is_heard: bool,
        vocabulary: &'static Vocabulary,
    },
}

impl HearingNotice {
    /// The sentences of the notice.
    pub(super) fn texts(&self) -> Vec<Text> {
        let text = match self {
            Self::Everybody(Vocabulary {
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
            Self::EverybodyNow(Vocabulary { channel, .. }) => {
                text!("hears-everybody-now", channel = *channel)
            }
            Self::Nobody {
                was: true,
                vocabulary: Vocabulary { channel, .. },
            } => text!("hears-nobody-any-more", channel = *channel),
            Self::Nobody {
                was: false,
                vocabulary: Vocabulary { channel, .. },
            } => text!("hears-nobody", channel = *channel),
            Self::ModeratorNeeded(Vocabulary {
                channel, moderator, ..
            }) => text!(
                "moderator-needed-to-hear",
                channel = *channel,
                moderator = *moderator
            ),
            Self::OptedOut {
                messages,
                vocabulary: Vocabulary { channel, .. },
            } => text!("opted-out", count = *messages, channel = *channel),
            Self::OptedIn {
                is_heard: true,
                vocabulary: Vocabulary { channel, .. },
            } => text!("opted-in", channel = *channel),
            Self::OptedIn {
                is_heard: false,
                vocabulary: Vocabulary { channel, .. },
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
fn record(is_kept: bool, scope: Scope, is_heard: bool, vocabulary: &Vocabulary) -> Vec<Text> {
    let Vocabulary {
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
