//! What the bot says of itself: one place for the words, apart from the logic.

mod wording;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{Attention, Cut, HandedOver, Scope, Vocabulary};
use muninn_texts::{Language, Text, Value};
use serde::{Deserialize, Serialize};

pub use self::wording::model_trouble;
use crate::agent::budget::Used;
use crate::agent::tools::ProposedCall;
use crate::conversation::backfill::BackfillError;
use crate::conversation::withdrawals::WithdrawalOutcome;
use crate::graph::accounts::Account;
use crate::graph::tokens::KeptToken;
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
    NothingToForget,
    NotYoursToForget(&'static Vocabulary),
    ForgotTurn {
        quotes: usize,
    },
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
    /// Somebody else was asked.
    NotYoursToApprove,
    /// It was asked too long ago.
    ApprovalOver,
    /// What was asked about is not known any more.
    ApprovalGone,
    /// It is not done.
    Declined,
    /// It was begun before, and what came of it is not known.
    ApprovalUnknown(String),
    /// It was decided before.
    DecidedBefore(String),
    /// Neither the graph nor a file took it.
    NotNoted,
    /// Said below a list of what is remembered.
    ListHint {
        first: usize,
        has_more: bool,
        is_search: bool,
    },
    /// The same below what was recalled.
    RecalledHint,
    NothingListed {
        is_search: bool,
        /// What is listed already was all.
        is_end: bool,
    },
    /// A list has so many things, and no more.
    ListEnds(usize),
    /// Nobody knows what a number means.
    ListAgain,
    NoSuchNumber {
        number: u32,
        listed: usize,
    },
    ItemGone(u32),
    ItemChanged(u32),
    NotYourItem {
        number: u32,
        vocabulary: &'static Vocabulary,
    },
    NothingToCorrect(u32),
    CorrectedItem(u32),
    AlreadyCorrected {
        by: String,
        at: DateTime<Utc>,
    },
    ForgotItem {
        number: u32,
        /// What it had corrected.
        earlier: usize,
    },
    /// The graph cannot be reached, and the turn was not in it.
    ForgotWaitingTurn,
    ForgotSession {
        turns: usize,
        vocabulary: &'static Vocabulary,
    },
    /// A command that took effect already.
    ForgotAll,
    ForgotAudience {
        turns: usize,
        vocabulary: &'static Vocabulary,
    },
    /// What it means to be forgotten, before it is done.
    AskForgetMe {
        kept: KeptOfPerson,
        vocabulary: &'static Vocabulary,
    },
    ForgotMe {
        kept: KeptOfPerson,
        /// Answers to others that repeated it, and say nothing any more.
        repeated: usize,
        vocabulary: &'static Vocabulary,
    },
    /// The code by which another account is linked to this one.
    LinkCode(String),
    /// These accounts are the author's, too.
    Linked(Vec<Account>),
    /// Said to those whose account it was linked to.
    LinkedElsewhere(Account),
    /// Accounts are linked in direct messages alone.
    LinkNeedsDirectMessage,
    OwnLinkCode,
    WrongLinkCode,
    TooManyLinkCodes,
    TooManyAccounts(usize),
    Unlinked(Vec<Account>),
    /// Said to those whose account it was linked to.
    UnlinkedElsewhere(Account),
    NothingLinked,
    /// The account was not used for long.
    LinkEnded,
    /// What lets somebody in to the pages.
    PagesLink(String),
    /// No pages are served.
    NoPages,
    /// The platform does not tell who may read what.
    NoPagesHere,
    /// So many times the one who asks was signed in to the pages.
    SignedOut(usize),
    /// By which a program asks for somebody. Said once.
    TokenMade {
        token: String,
        /// Where it asks.
        address: String,
        is_everywhere: bool,
        until: Option<DateTime<Utc>>,
    },
    /// What tokens somebody has.
    Tokens(Vec<KeptToken>),
    TokensRevoked(usize),
    NoSuchToken(u32),
    TooManyTokens,
    /// Words that say no time.
    NoSuchLife(String),
    /// Programs cannot ask.
    NoMcp,
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
    /// Said below what was forgotten: where it was is under a legal hold.
    Held,
    /// Said below what was forgotten: a file could not be written anew.
    StillInFile,
    /// Said after what was forgotten: what of it can still be seen.
    StillVisible(WithdrawalOutcome),
    ModeratorNeeded(&'static Vocabulary),
    /// Which messages are answered from now on. `still`: what holds, where the other of the two is stricter.
    Attends {
        attention: Attention,
        scope: Scope,
        still: Attention,
        vocabulary: &'static Vocabulary,
    },
    ModeratorNeededToMute(&'static Vocabulary),
    /// Said to all in a channel, once: that what they say to one another is remembered.
    HearsEverybody(&'static Vocabulary),
    /// It was said to all.
    HearsEverybodyNow(&'static Vocabulary),
    HearsNobody {
        /// People were heard until now.
        was: bool,
        vocabulary: &'static Vocabulary,
    },
    ModeratorNeededToHear(&'static Vocabulary),
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
        /// It would be kept at all.
        is_heard: bool,
        vocabulary: &'static Vocabulary,
    },
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
