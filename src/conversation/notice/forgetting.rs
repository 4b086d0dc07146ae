//! Notices about forgetting.

use muninn_platform::PlatformVocabulary;
use muninn_texts::{Text, text};
use serde::{Deserialize, Serialize};

use crate::conversation::withdrawals::WithdrawalOutcome;

/// A notice about what was forgotten, or will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgetNotice {
    Nothing,
    NotYours(&'static PlatformVocabulary),
    /// The author replies to a message that is not kept as theirs.
    NotYourMessage(&'static PlatformVocabulary),
    Turn {
        /// Which turn it was, without its words.
        what: Text,
        quotes: usize,
    },
    /// The graph is unavailable, and the turn was not in it yet.
    WaitingTurn,
    Session {
        turns: usize,
        vocabulary: &'static PlatformVocabulary,
    },
    /// The command took effect at an earlier delivery.
    All,
    Audience {
        turns: usize,
        vocabulary: &'static PlatformVocabulary,
    },
    /// What "forget me" means, before it is done.
    AskMe {
        kept: KeptOfPerson,
        vocabulary: &'static PlatformVocabulary,
    },
    Me {
        kept: KeptOfPerson,
        /// Number of answers to others that repeated it and were emptied.
        repeated: usize,
        vocabulary: &'static PlatformVocabulary,
    },
    /// Below a confirmation: the place is under a legal hold.
    Held,
    /// Below a confirmation: a file could not be rewritten.
    StillInFile,
    /// After a confirmation: which messages can still be seen.
    StillVisible(WithdrawalOutcome),
    ModeratorNeeded(&'static PlatformVocabulary),
}

impl ForgetNotice {
    /// The sentences of the notice.
    pub(super) fn texts(&self) -> Vec<Text> {
        let text = match self {
            Self::Nothing => text!("nothing-to-forget"),
            Self::NotYours(PlatformVocabulary {
                moderator,
                forget_last,
                ..
            }) => text!(
                "not-yours-to-forget",
                moderator = *moderator,
                forget_last = *forget_last
            ),
            Self::NotYourMessage(PlatformVocabulary { forget_last, .. }) => {
                text!("not-your-message", forget_last = *forget_last)
            }
            Self::Turn { what, quotes } => {
                text!("forgot-turn", what = what.clone(), quotes = *quotes)
            }
            Self::WaitingTurn => text!("forgot-waiting-turn"),
            Self::All => text!("forgot-all"),
            Self::Session {
                turns,
                vocabulary: PlatformVocabulary { conversation, .. },
            } => text!(
                "forgot-session",
                turns = *turns,
                conversation = *conversation
            ),
            Self::Audience {
                turns,
                vocabulary:
                    PlatformVocabulary {
                        channel,
                        conversation,
                        ..
                    },
            } => text!(
                "forgot-audience",
                turns = *turns,
                channel = *channel,
                conversation = *conversation
            ),
            Self::AskMe { kept, vocabulary } => text!(
                "ask-forget-me",
                kept = kept.text(),
                command = vocabulary.forget_me_for_good
            ),
            Self::Me { kept, repeated, .. } => return forgot_me(kept, *repeated),
            Self::Held => text!("held"),
            Self::StillInFile => text!("still-in-file"),
            Self::StillVisible(outcome) => return still_visible(outcome),
            Self::ModeratorNeeded(PlatformVocabulary {
                channel,
                moderator,
                forget_last,
                ..
            }) => text!(
                "moderator-needed",
                channel = *channel,
                moderator = *moderator,
                forget_last = *forget_last
            ),
        };
        vec![text]
    }
}

/// How much is kept of a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptOfPerson {
    pub asked: usize,
    pub said: usize,
    pub noted: usize,
    pub conversations: usize,
    /// Number of places under a legal hold.
    pub held: usize,
    /// Number of their linked accounts.
    #[serde(default)]
    pub accounts: usize,
}

impl KeptOfPerson {
    fn text(&self) -> Text {
        let Self {
            asked,
            said,
            noted,
            conversations,
            held: _,
            accounts,
        } = *self;
        text!(
            "kept-of-person",
            questions = text!("count-questions", count = asked),
            messages = text!("count-messages", count = said),
            notes = text!("count-notes", count = noted),
            conversations = text!("count-conversations", count = conversations),
            accounts
        )
    }
}

/// What "forget me" did.
fn forgot_me(kept: &KeptOfPerson, repeated: usize) -> Vec<Text> {
    let mut said = vec![text!("forgot-me", kept = kept.text())];
    if repeated > 0 {
        said.push(text!("forgot-me-repeated", count = repeated));
    }
    if kept.accounts > 1 {
        said.push(text!("forgot-me-accounts"));
    }
    said
}

/// What "forget me" could not do.
pub(super) fn out_of_reach(kept: &KeptOfPerson, vocabulary: &PlatformVocabulary) -> Vec<Text> {
    let mut said = vec![text!(
        "forgot-me-out-of-reach",
        channel = vocabulary.channel
    )];
    if kept.held > 0 {
        said.push(text!("forgot-me-held", count = kept.held));
    }
    said
}

fn still_visible(outcome: &WithdrawalOutcome) -> Vec<Text> {
    let mut said = Vec::new();
    if outcome.later > 0 {
        said.push(text!("removed-later", count = outcome.later));
    }
    let stays = outcome.stays.iter();
    said.extend(
        stays.map(|(why, number)| text!("stays-visible", count = *number, why = why.clone())),
    );
    said
}
