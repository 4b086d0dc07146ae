//! Everything that the bot says about itself: the wording in one place, apart from the logic.

mod approvals;
mod forgetting;
mod hearing;
mod items;
mod linking;
mod sentences;
mod tokens;
mod wording;

use std::time::Duration;

use chrono::DateTime;
use muninn_platform::{Attention, Cut, HandedOver, PlatformVocabulary, Scope, TimeZone};
use muninn_texts::{Language, Text, Value};

pub use self::approvals::{APPROVAL_LIFETIME, ApprovalNotice};
pub use self::forgetting::{ForgetNotice, KeptOfPerson};
pub use self::hearing::HearingNotice;
pub use self::items::ItemNotice;
pub use self::linking::LinkNotice;
pub use self::tokens::TokenNotice;
pub use self::wording::model_trouble;
use crate::agent::budget::Used;
use crate::agent::tools::ProposedCall;
use crate::conversation::backfill::BackfillError;
use crate::graph::StoreError;
use crate::knowledge::search::Degradation;

/// Something that the bot tells people about itself, usually in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Above an answer made without the model, because the model failed.
    ModelDown(Text),
    /// Above the findings of tools, after which the model failed.
    ModelDownAfterTools(Text),
    /// Above a list of messages that the model did not summarise.
    ModelDownListed(Text),
    /// Below an answer: recall could compare words only.
    EmbeddingsDown,
    /// Below an answer: the graph was unavailable.
    StoreDown {
        turns: usize,
    },
    /// The same, but it was available again when the turn was kept.
    StoreWasDown {
        turns: usize,
    },
    /// The same two, where something was recalled without the graph.
    StoreDownInPart,
    StoreWasDownInPart,
    /// Below an answer: the graph went away between reading and keeping the turn.
    StoreDownLater,
    /// Below an answer: earlier turns could not be read.
    RecallFailed,
    /// Below an answer: the team's knowledge was searched only partly.
    KnowledgeInPart(Degradation),
    /// Below an answer, once a month.
    BudgetNearlyUp(Used),
    /// Below an answer: all tools that were called for it failed.
    LookUpsFailed,
    /// Below an answer: a tool that was called for it failed, and nothing else found anything.
    LookUpFailed,
    /// Below an answer that reached the token limit.
    CutOff {
        tokens: u32,
    },
    /// Below an answer that ended before that limit, as the model could not write more.
    CutShort,
    /// Below an answer that the service's content filter ended.
    Withheld,
    /// Below an answer: the message had a secret in it.
    SecretRemoved,
    /// Below an answer: the model was given only a part of the files of these names.
    FilesInPart(Vec<String>),
    /// Below an answer that no model wrote: the attached files were not looked at for it.
    FilesNeedModel,
    /// Below an answer that was given again: the model was not shown the images that came with the question.
    ImagesNotSeen,
    /// Below an answer: the messages from before the bot joined were read only partly.
    ReadInPart(Cut),
    /// Below an answer that could not be kept.
    NotKept,
    /// Somebody stopped the turn.
    Stopped,
    /// The model wrote nothing within its limits.
    NoAnswer,
    TooLong {
        chars: usize,
        limit: usize,
    },
    TooFast {
        per_minute: u32,
    },
    TooManyWaiting,
    TookTooLong(Duration),
    UnknownCommand(String),
    /// About forgetting.
    Forget(ForgetNotice),
    /// A note was kept.
    Noted {
        /// For its author alone.
        is_private: bool,
        vocabulary: &'static PlatformVocabulary,
    },
    NothingToNote,
    /// Below an answer: a note that is kept if its reader agrees.
    ProposesNote(String),
    /// Below an answer: a call that is made if its reader agrees.
    ProposesCall(ProposedCall),
    /// About a question for approval.
    Approval(ApprovalNotice),
    /// Neither the graph nor a file could store the note.
    NotNoted,
    /// About single remembered items.
    Item(ItemNotice),
    /// About linked accounts.
    Link(LinkNotice),
    /// A link that signs somebody in to the pages.
    PagesLink(String),
    /// No pages are served.
    NoPages,
    /// The platform does not tell who may read what.
    NoPagesHere,
    /// How many browsers of the author were signed out of the pages.
    SignedOut(usize),
    /// About the tokens of programs.
    Token(TokenNotice),
    /// A copy for this person is already being made.
    ExportUnderWay,
    NothingKeptOfYou,
    /// Somebody received the copy of what is kept of them.
    HandedOver {
        count: usize,
        place: HandedOver,
    },
    NotHandedOver {
        /// The end of a sentence, after "because".
        why: Value,
        /// Stable ID of the person.
        person: String,
    },
    /// Which messages are answered from now on. `still`: the setting of the other scope, where that is
    /// stricter.
    Attends {
        attention: Attention,
        scope: Scope,
        still: Attention,
        vocabulary: &'static PlatformVocabulary,
    },
    ModeratorNeededToMute(&'static PlatformVocabulary),
    /// About remembering what people say to one another.
    Hearing(HearingNotice),
    /// There is no conversation to mute.
    NotInConversation(&'static PlatformVocabulary),
    /// Below `history` or `why`: how often the bot chose not to answer.
    StayedSilent {
        times: u64,
        /// In the reader's time zone.
        last: DateTime<TimeZone>,
    },
    StoreNeeded,
    NothingYet,
    /// Nothing was said since that time.
    NothingSince(Value),
    /// The words name no past day.
    NoSuchDay(String),
    /// No platform offers its history here.
    NoHistory,
    /// No backfill was requested, or it has ended.
    NoBackfill,
    ModeratorNeededToBackfill(&'static PlatformVocabulary),
    NotBackfilled(BackfillError),
    NoSuchAnswer,
    /// Somebody wants to regenerate an answer that somebody else asked for.
    NotYoursToAskAgain(&'static PlatformVocabulary),
    TooLateToAskAgain,
    Failed,
}

impl Notice {
    /// What a person is told when the graph could not do something: only one that is away is said to
    /// be away.
    pub(super) fn of_store_error(error: &StoreError) -> Self {
        if error.is_refusal() {
            Self::Failed
        } else {
            Self::StoreNeeded
        }
    }
}

/// For logs and tests.
impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.in_language(Language::English))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_graph_that_is_away_cannot_be_reached() {
        let refused = |transient| StoreError::Refused {
            message: "no".to_owned(),
            transient,
        };
        for (error, notice) in [
            (refused(false), Notice::Failed),
            (StoreError::Invalid("no".to_owned()), Notice::Failed),
            (refused(true), Notice::StoreNeeded),
            (
                StoreError::Unreachable {
                    url: "bolt://x".to_owned(),
                    source: None,
                },
                Notice::StoreNeeded,
            ),
        ] {
            assert_eq!(Notice::of_store_error(&error), notice, "{error}");
        }
    }
}
