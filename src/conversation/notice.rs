//! What the bot says of itself: one place for the words, apart from the logic.

mod approvals;
mod forgetting;
mod hearing;
mod items;
mod linking;
mod tokens;
mod wording;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{Attention, Cut, HandedOver, Scope, Vocabulary};
use muninn_texts::{Language, Text, Value};
use serde::{Deserialize, Serialize};

pub use self::approvals::ApprovalNotice;
pub use self::forgetting::ForgetNotice;
pub use self::hearing::HearingNotice;
pub use self::items::ItemNotice;
pub use self::linking::LinkNotice;
pub use self::tokens::TokenNotice;
pub use self::wording::model_trouble;
use crate::agent::budget::Used;
use crate::agent::tools::ProposedCall;
use crate::conversation::backfill::BackfillError;
use crate::knowledge::search::Rung;

/// How long a question whether something is to be done holds.
pub const ASKED_FOR: TimeDelta = TimeDelta::minutes(15);

/// Something the bot tells the people it talks to. One sentence each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Said above an answer made without the model, because it failed.
    ModelDown(Text),
    /// Said above what tools found, where the model then failed.
    ModelDownAfterTools(Text),
    /// Said above a list of what was said, where the model did not put it into words.
    ModelDownListed(Text),
    /// Said below an answer: recall had words only.
    EmbeddingsDown,
    /// Said below an answer: the graph was not there.
    StoreDown {
        turns: usize,
    },
    /// The same, and it was there again when the turn was kept.
    StoreWasDown {
        turns: usize,
    },
    /// Said below an answer: earlier turns could not be read.
    RecallFailed,
    /// Said below an answer: the team's knowledge was searched in part.
    KnowledgeInPart(Rung),
    /// Said below an answer, once a month.
    BudgetNearlyUp(Used),
    /// Said below an answer: tools were called for it, and all of them failed.
    LookUpsFailed,
    /// Said below an answer that came to the limit of tokens.
    CutOff {
        tokens: u32,
    },
    /// Said below an answer that the service's content filter ended.
    Withheld,
    /// Said below an answer: what was sent had a secret in it.
    SecretRemoved,
    /// Said below an answer: of what was said before the bot came, not all was read.
    ReadInPart(Cut),
    /// Said below an answer that could be kept nowhere.
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
    /// Of what was forgotten, or is to be.
    Forget(ForgetNotice),
    /// Something is kept in mind from now on.
    Noted {
        /// For the one who said it alone.
        is_private: bool,
        vocabulary: &'static Vocabulary,
    },
    NothingToNote,
    /// Said below an answer: what is kept where its reader says yes.
    ProposesNote(String),
    /// Said below an answer: what is done where its reader says yes.
    ProposesCall(ProposedCall),
    /// Of what was asked whether it is to be done.
    Approval(ApprovalNotice),
    /// Neither the graph nor a file took it.
    NotNoted,
    /// Of single things that are remembered.
    Item(ItemNotice),
    /// Of linked accounts.
    Link(LinkNotice),
    /// What lets somebody in to the pages.
    PagesLink(String),
    /// No pages are served.
    NoPages,
    /// The platform does not tell who may read what.
    NoPagesHere,
    /// So many times the one who asks was signed in to the pages.
    SignedOut(usize),
    /// Of the tokens by which programs ask.
    Token(TokenNotice),
    /// A copy of what is kept of somebody is made for them already.
    ExportUnderWay,
    NothingKeptOfYou,
    /// Somebody has all that is kept of them.
    HandedOver {
        count: usize,
        place: HandedOver,
    },
    NotHandedOver {
        /// As the end of a sentence after "because".
        why: Value,
        /// Stable id of the person.
        person: String,
    },
    /// Which messages are answered from now on. `still`: what holds, where the other of the two is stricter.
    Attends {
        attention: Attention,
        scope: Scope,
        still: Attention,
        vocabulary: &'static Vocabulary,
    },
    ModeratorNeededToMute(&'static Vocabulary),
    /// Of remembering what people say to one another.
    Hearing(HearingNotice),
    /// There is nothing to mute.
    NotInConversation(&'static Vocabulary),
    /// Said below what was said in a conversation, or why.
    StayedSilent {
        times: u64,
        last: DateTime<Utc>,
    },
    StoreNeeded,
    NothingYet,
    /// Nothing was said since a time.
    NothingSince(Value),
    /// Words that name no day that has come.
    NoSuchDay(String),
    /// No platform gives its history here.
    NoHistory,
    /// Nobody asked for one, or it is over.
    NoBackfill,
    ModeratorNeededToBackfill(&'static Vocabulary),
    NotBackfilled(BackfillError),
    NoSuchAnswer,
    /// Somebody wants an answer anew that somebody else asked for.
    NotYoursToAskAgain(&'static Vocabulary),
    TooLateToAskAgain,
    Failed,
}

/// For logs and tests.
impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.in_language(Language::English))
    }
}

/// How much is kept of a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptOfPerson {
    pub asked: usize,
    pub said: usize,
    pub noted: usize,
    pub conversations: usize,
    /// Places under a legal hold.
    pub held: usize,
    /// Accounts of theirs that are linked.
    #[serde(default)]
    pub accounts: usize,
}
