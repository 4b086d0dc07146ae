//! What the bot says of itself: one place for the words, apart from the logic.

use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::{Attention, Cut, HandedOver, Scope, Vocabulary, counted};
use serde::{Deserialize, Serialize};

use crate::agent::budget::Used;
use crate::conversation::backfill::BackfillError;
use crate::conversation::withdrawals::WithdrawalOutcome;
use crate::graph::accounts::Account;
use crate::knowledge::search::Rung;
use crate::llm::{Late, ModelError};

/// Something the bot tells the people it talks to. One sentence each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Said above an answer made without the model, because it failed.
    ModelDown(String),
    /// Said above what tools found, where the model then failed.
    ModelDownAfterTools(String),
    /// Said above a list of what was said, where the model did not put it into words.
    ModelDownListed(String),
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
    /// A copy of what is kept of somebody is made for them already.
    /// What lets somebody in to the pages.
    PagesLink(String),
    /// No pages are served.
    NoPages,
    /// The platform does not tell who may read what.
    NoPagesHere,
    /// So many times the one who asks was signed in to the pages.
    SignedOut(usize),
    ExportUnderWay,
    NothingKeptOfYou,
    /// Somebody has all that is kept of them.
    HandedOver {
        count: usize,
        place: HandedOver,
    },
    NotHandedOver {
        /// As the end of a sentence after "because".
        why: String,
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
    NothingSince(String),
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

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ModelDown(why) => write!(f, "I could not ask the model ({why}), so this is only what I remember:"),
            Self::ModelDownAfterTools(why) => write!(f, "I could not ask the model for the answer ({why}), so this is only what I found:"),
            Self::ModelDownListed(why) => write!(f, "I could not ask the model ({why}), so this is a list of what was said:"),
            Self::EmbeddingsDown => f.write_str("(The embedding service does not answer, so I searched my memory by words only.)"),
            Self::StoreDown { turns: 0 } => f.write_str("(My memory cannot be reached right now: I answered without it. This turn is kept and saved when it is back.)"),
            Self::StoreWasDown { turns: 0 } => f.write_str("(My memory could not be reached for a moment: I answered without it.)"),
            Self::StoreWasDown { turns } => write!(f, "(My memory could not be reached for a moment: I answered from {}.)", last(*turns)),
            Self::RecallFailed => f.write_str("(I could not look through what was said here earlier, so I answered without it.)"),
            Self::StoreDown { turns } => write!(f, "(My memory cannot be reached right now: I answered from {}. This turn is kept and saved when it is back.)", last(*turns)),
            Self::KnowledgeInPart(rung) => write!(f, "({})", rung.sentence()),
            Self::BudgetNearlyUp(Used { whose, spent, limit }) => write!(f, "(80 % of {} for this month is used: {spent} of {limit}. When it is used up, I answer without a model.)", whose.name()),
            Self::LookUpsFailed => f.write_str("(Every look-up for this answer failed, so it rests on none.)"),
            Self::CutOff { tokens } => write!(f, "(This answer is cut off: it reached its limit of {}. Ask me to go on, or have ANSWER_TOKENS raised.)", counted(*tokens, "token")),
            Self::Withheld => f.write_str("(This answer is incomplete: the model service's content filter withheld the rest.)"),
            Self::SecretRemoved => f.write_str("(I removed a secret from your message before I read or stored it; rotate it, because others may have seen it here.)"),
            Self::ReadInPart(why) => write!(f, "(I read only a part of what was said here before: {why}.)"),
            Self::NotKept => f.write_str("(This turn could not be saved anywhere: I will not remember it.)"),
            Self::Stopped => f.write_str("(stopped)"),
            Self::NoAnswer => f.write_str("I found no answer within my limits. Please ask more narrowly."),
            Self::TooLong { chars, limit } => write!(f, "That message has {}; I read at most {limit}. Please send it in parts, or only what matters.", counted(*chars, "character")),
            Self::TooFast { per_minute } => write!(f, "That is more than {} per minute from you. Please wait a little and send it again.", counted(*per_minute, "message")),
            Self::TooManyWaiting => f.write_str("Too many messages are waiting in this conversation. Please send it again when I have answered."),
            Self::TookTooLong(limit) => write!(f, "(I stopped after {}; whoever runs me can raise TURN_TIMEOUT.)", counted(limit.as_secs(), "second")),
            Self::UnknownCommand(name) => write!(f, "I know no command \"{name}\". Say help to see what there is."),
            Self::NothingToForget => f.write_str("There is nothing of yours to forget here."),
            Self::NotYoursToForget(Vocabulary { moderator, forget_last, .. }) => write!(f, "Others said things here too, so only {moderator} can have all of it forgotten. \"{forget_last}\" forgets your own last turn."),
            Self::ForgotTurn { quotes: 0 } => f.write_str("Forgotten: your last turn, with its answer and everything recall knew of it."),
            Self::ForgotWaitingTurn => f.write_str("Forgotten: your last turn, which still waited to be saved. My memory cannot be reached right now; if the turn arrived there after all, say \"forget last\" again when it is back."),
            Self::Noted { is_private: true, .. } => f.write_str("Noted, for you alone: I recall it when it bears on a question of yours. `forget last` forgets it."),
            Self::Noted { is_private: false, vocabulary: Vocabulary { channel, .. } } => write!(f, "Noted: I recall it in this {channel} when it bears on a question. `forget last` forgets it."),
            Self::NothingToNote => f.write_str("Tell me what to keep in mind: \"remember that tea is at four\"."),
            Self::ProposesNote(text) => write!(f, "Shall I keep this for you? Say `yes`: \u{201c}{text}\u{201d}"),
            Self::NotNoted => f.write_str("I could not write that down, so I will not remember it: the disk may be full. Please tell me again later."),
            Self::ListHint { first, has_more, is_search } => list_hint(f, *first, *has_more, *is_search),
            Self::RecalledHint => f.write_str("`forget 1` forgets what is numbered 1 above, and `correct 1: …` says it anew."),
            Self::NothingListed { is_search: true, .. } => f.write_str("Nothing that I keep of what you said here has all of these words."),
            Self::NothingListed { is_end: true, .. } => f.write_str("That was all that I keep of what you said here."),
            Self::NothingListed { .. } => f.write_str("I keep nothing of what you said here."),
            Self::ListEnds(listed) => write!(f, "A list ends after {listed}. `memory search WORDS` finds what is older."),
            Self::ListAgain => f.write_str("I do not know any more what the numbers stand for. Say `memory`, or `why`, and then the number that it shows."),
            Self::NoSuchNumber { number, listed } => write!(f, "There is no number {number} in the last list that you saw here, which has {listed}. Say `memory` to see it anew."),
            Self::ItemGone(number) => write!(f, "What was number {number} is forgotten already. Say `memory` to see what is left."),
            Self::ItemChanged(number) => write!(f, "What was number {number} says something else by now, so I left it as it is. Say `memory`, or `why`, to see it anew."),
            Self::NotYourItem { number, vocabulary: Vocabulary { moderator, .. } } => write!(f, "Somebody else said number {number}, so only they or {moderator} can have it changed."),
            Self::NothingToCorrect(number) => write!(f, "Say what is right: \"correct {number}: tea is at five\"."),
            Self::CorrectedItem(number) => write!(f, "Corrected: from now on that holds in place of number {number}, which I keep only as what was said before."),
            Self::AlreadyCorrected { by, at } => write!(f, "{by} corrected that on {}. Say `memory search WORDS`, or `why`, and correct what holds now.", at.format("%Y-%m-%d %H:%M")),
            Self::ForgotItem { number, earlier: 0 } => write!(f, "Forgotten: what was number {number}, with everything recall knew of it."),
            Self::ForgotItem { number, earlier } => write!(f, "Forgotten: what was number {number}, with everything recall knew of it and with {} that it had corrected.", counted(*earlier, "version")),
            Self::ForgotAll => f.write_str("Forgotten: everything that was said in this conversation."),
            Self::AskForgetMe { kept, vocabulary } => ask_forget_me(f, kept, vocabulary),
            Self::ForgotMe { kept, repeated, vocabulary } => forgot_me(f, kept, *repeated, vocabulary),
            Self::LinkCode(code) => write!(f, "Your code is `{code}`. On the other platform, say `link {code}` to me in a direct message within 10 minutes. From then on your accounts are one person's for me: what you say to me alone on one of them I recall for you on the others too; your quotas are shared; and `forget me` and `export mine` are about all of them. What is said in channels stays there. `unlink my account` undoes it. Give the code to nobody else: it is for your own account."),
            Self::Linked(others) => write!(f, "Done: your account here and {} are one person's for me. What you say to me alone on one of them I recall for you on the others too. `unlink my account` undoes it, and I tell you there.", accounts(others)),
            Self::LinkedElsewhere(account) => write!(f, "Your account here was linked with {}: what you say to me alone on one of them I recall on the other too. If that was not you, say `unlink my account` at once.", accounts(std::slice::from_ref(account))),
            Self::LinkNeedsDirectMessage => f.write_str("Say that to me in a direct message on Slack, Discord or Matrix: only there nobody else reads the code, and I know for sure whose account it is."),
            Self::OwnLinkCode => f.write_str("That is the code of this account itself. Enter it on the other platform, from your account there."),
            Self::WrongLinkCode => f.write_str("That code does not hold: it was used, is older than 10 minutes, or I never gave it. Say `link my accounts` to me on the other platform for a new one."),
            Self::TooManyLinkCodes => f.write_str("You entered too many codes. Please try again in an hour."),
            Self::TooManyAccounts(most) => write!(f, "That would be more than {}. Say `unlink my account` on one that you do not use any more, and then `link my accounts` again for a new code.", counted(*most, "account")),
            Self::Unlinked(others) => write!(f, "Done: your account here is no longer linked with {}. What you said to me alone there is not recalled here any more, nor the other way.", accounts(others)),
            Self::UnlinkedElsewhere(account) => write!(f, "Your account here is no longer linked with {}. What you said to me alone there is not recalled here any more, nor the other way.", accounts(std::slice::from_ref(account))),
            Self::NothingLinked => f.write_str("Your account here is linked with no other. Say `link my accounts` to me in a direct message to link it."),
            Self::LinkEnded => f.write_str("Your account here was not used for 90 days, so it is no longer linked with your other ones: it might be somebody else's by now. Say `link my accounts` to link it again."),
            Self::PagesLink(link) => write!(f, "This link opens the pages for you alone. It works once, within five minutes: {link}\nYou stay signed in for 12 hours, or until you say `web sign out`."),
            Self::NoPages => f.write_str("I have no pages to look at. Whoever runs me can start me with `WEB_ADDR=127.0.0.1:8088`."),
            Self::NoPagesHere => f.write_str("I cannot give you a link here, because I cannot ask this platform who may read what."),
            Self::SignedOut(0) => f.write_str("You were signed in to the pages nowhere."),
            Self::SignedOut(times) => write!(f, "You are signed out of the pages ({}).", counted(*times, "browser")),
            Self::ExportUnderWay => f.write_str("I am putting together what I keep of yours already. Please wait for it."),
            Self::NothingKeptOfYou => f.write_str("I keep nothing of yours."),
            Self::HandedOver { count, place } => handed_over(f, *count, place),
            Self::NotHandedOver { why, person } => write!(f, "I could not give you what I keep of yours, because {why}. Whoever runs me can make the files with `muninn export mine.json --person {person}`."),
            Self::Held => f.write_str("(This place is under a legal hold: nobody is shown it any more, but whoever runs me has a copy until the hold ends.)"),
            Self::StillInFile => f.write_str("(I do not use it any more, but its text is still in a file of mine, which could not be written: the disk may be full. It is removed when the file can be written again.)"),
            Self::ForgotTurn { quotes } => write!(f, "Forgotten: your last turn, with its answer and everything recall knew of it, and {} that quoted it.", counted(*quotes, "later answer")),
            Self::ForgotSession { turns, vocabulary } => write!(f, "Forgotten: {} of this {}.", all(*turns), vocabulary.conversation),
            Self::ForgotAudience { turns, vocabulary: Vocabulary { channel, conversation, .. } } => write!(f, "Forgotten: {} of this {channel}, in all its {conversation}s.", all(*turns)),
            Self::StillVisible(outcome) => still_visible(f, outcome),
            Self::ModeratorNeeded(Vocabulary { channel, moderator, forget_last, .. }) => write!(f, "Only {moderator} can have a whole {channel} forgotten. \"{forget_last}\" forgets your own last turn."),
            Self::Attends { attention, scope, still, vocabulary } => attends(f, *attention, *scope, *still, vocabulary),
            Self::HearsEverybody(Vocabulary { channel, conversation, moderator, .. }) => write!(f, "From now on I remember what people say to one another in this {channel}, so that it can be found again by those who are here; I still answer only what is meant for me. Tell me `don't remember me here`, and nothing of yours is kept, also nothing from before. `off` and `on` keep a {conversation} off the record, and a message that begins with `[off]` is not kept. To end it for all, {moderator} tells me `remember only what is asked`."),
            Self::HearsEverybodyNow(Vocabulary { channel, .. }) => write!(f, "I remember from now on what people say to one another in this {channel}, and told everybody in it."),
            Self::HearsNobody { was: true, vocabulary: Vocabulary { channel, .. } } => write!(f, "From now on I remember only what I am asked in this {channel}. What I kept until now stays; `forget {channel}` removes all of it."),
            Self::HearsNobody { was: false, vocabulary: Vocabulary { channel, .. } } => write!(f, "I remember only what I am asked in this {channel}."),
            Self::ModeratorNeededToHear(Vocabulary { channel, moderator, .. }) => write!(f, "Only {moderator} can say what I remember of a whole {channel}. `don't remember me here` holds for yourself."),
            Self::OptedOut { messages, vocabulary: Vocabulary { channel, .. } } => write!(f, "I keep nothing of what you say to others in this {channel}, and forgot what I had kept of it: {}. What you ask me is still remembered; `forget last` forgets it. `remember me here` undoes this.", counted(*messages, "message")),
            Self::OptedIn { is_heard: true, vocabulary: Vocabulary { channel, .. } } => write!(f, "From now on I remember what you say to others in this {channel} again."),
            Self::OptedIn { is_heard: false, vocabulary: Vocabulary { channel, .. } } => write!(f, "You are not left out in this {channel}; but nobody is: I remember only what I am asked here."),
            Self::Record { is_kept, scope, is_heard, vocabulary } => record(f, *is_kept, *scope, *is_heard, vocabulary),
            Self::ModeratorNeededToMute(Vocabulary { channel, conversation, moderator, .. }) => write!(f, "Only {moderator} can say when I answer in a whole {channel}. `mute` and `only when mentioned` hold for this {conversation}."),
            Self::NotInConversation(Vocabulary { channel, conversation, .. }) => write!(f, "I take no part in this {conversation}, so there is nothing to change. `mute {channel}` holds for all of the {channel}."),
            Self::StayedSilent { times, last } => write!(f, "(I chose to say nothing to {} here, the last on {}.)", counted(*times, "message"), last.format("%Y-%m-%d %H:%M")),
            Self::StoreNeeded => f.write_str("My memory cannot be reached right now, so I cannot do that. Please try again later."),
            Self::NothingYet => f.write_str("Nothing was said here yet."),
            Self::NothingSince(time) => write!(f, "Nothing that I know of was said here since {time}."),
            Self::NoSuchDay(words) => write!(f, "I do not understand {words:?} as a day that has come. Name one like \"Monday\", \"last week\" or \"2026-04-13\"."),
            Self::NoHistory => f.write_str("There is no history that I could read here."),
            Self::NoBackfill => f.write_str("I am not reading what was said here before. Say \"backfill since 2026-01-31\" to have me read it from that day on."),
            Self::ModeratorNeededToBackfill(Vocabulary { moderator, channel, .. }) => write!(f, "Only {moderator} can have me read what was said in this {channel} before."),
            Self::NotBackfilled(error) => write!(f, "I cannot read what was said here before: {error}."),
            Self::NoSuchAnswer => f.write_str("I do not know that answer any more: it was forgotten, or is not mine."),
            Self::NotYoursToAskAgain(Vocabulary { moderator, .. }) => write!(f, "Only the one who asked, or {moderator}, can have it answered again."),
            Self::TooLateToAskAgain => f.write_str("Too much was said since for that to be answered again in its place. Please ask again."),
            Self::Failed => f.write_str("Something went wrong on my side, and I could not answer. It is in my log."),
        }
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

impl KeptOfPerson {
    fn in_words(&self) -> String {
        let Self {
            asked,
            said,
            noted,
            conversations,
            held: _,
            accounts,
        } = *self;
        let from = match accounts {
            0 | 1 => String::new(),
            accounts => format!(" from {}", counted(accounts, "linked account")),
        };
        format!(
            "{} with what I answered, {} to others and {}, in {}{from}",
            counted(asked, "question"),
            counted(said, "message"),
            counted(noted, "note"),
            counted(conversations, "conversation"),
        )
    }
}

/// What "forget me" does, before it is done.
fn ask_forget_me(
    f: &mut std::fmt::Formatter<'_>,
    kept: &KeptOfPerson,
    vocabulary: &Vocabulary,
) -> std::fmt::Result {
    let Vocabulary {
        forget_me_for_good, ..
    } = vocabulary;
    write!(
        f,
        "This forgets everything of yours, in all places where I am: {}; what you thought of answers; and what of it is \
         in answers to others. I take my answers to you away, and it cannot be undone. If you want that, say \
         `{forget_me_for_good}`.",
        kept.in_words()
    )
}

/// What was done of it, and what is out of reach.
fn forgot_me(
    f: &mut std::fmt::Formatter<'_>,
    kept: &KeptOfPerson,
    repeated: usize,
    vocabulary: &Vocabulary,
) -> std::fmt::Result {
    let Vocabulary { channel, .. } = vocabulary;
    write!(
        f,
        "I forgot everything of yours: {}, and what you thought of answers.",
        kept.in_words()
    )?;
    if repeated > 0 {
        write!(
            f,
            " I emptied {} that quoted or repeated it.",
            counted(repeated, "other answer")
        )?;
    }
    if kept.accounts > 1 {
        f.write_str(" Your accounts are not linked any more.")?;
    }
    write!(
        f,
        "\n\nOut of my reach are your own messages here, what others wrote of them themselves, what the service of the \
         model keeps, and backups that whoever runs me made. Where you told me not to remember you in a {channel}, \
         that still holds."
    )?;
    if kept.held > 0 {
        write!(
            f,
            " {} under a legal hold: nobody is shown what you said there any more, but whoever runs me has a copy \
             until the hold ends.",
            match kept.held {
                1 => "One place is".to_owned(),
                held => format!("{held} places are"),
            }
        )?;
    }
    Ok(())
}

/// Where somebody finds what is kept of them.
fn handed_over(
    f: &mut std::fmt::Formatter<'_>,
    count: usize,
    place: &HandedOver,
) -> std::fmt::Result {
    let things = counted(count, "thing");
    match place {
        // Others may read this.
        HandedOver::Directly => f.write_str("I sent it to you in a direct message."),
        HandedOver::Here => write!(
            f,
            "This is all that I keep of yours: {things}, as JSON for programs and as Markdown to read."
        ),
        HandedOver::At(paths) => {
            let paths: Vec<String> = paths.iter().map(|it| it.display().to_string()).collect();
            let paths = paths.join("` and `");
            write!(
                f,
                "All that I keep of yours ({things}) is in `{paths}`, which nobody else can read."
            )
        }
    }
}

/// What can be done with what a list shows.
fn list_hint(
    f: &mut std::fmt::Formatter<'_>,
    first: usize,
    has_more: bool,
    is_search: bool,
) -> std::fmt::Result {
    write!(
        f,
        "`forget {first}` forgets one of these, `correct {first}: …` says it anew"
    )?;
    match (has_more, is_search) {
        (true, true) => f.write_str("; there are more, which more words tell apart."),
        (true, false) => f.write_str(", `memory more` lists older ones."),
        (false, true | false) => f.write_str("."),
    }
}

/// What is answered from now on.
fn attends(
    f: &mut std::fmt::Formatter<'_>,
    attention: Attention,
    scope: Scope,
    still: Attention,
    vocabulary: &Vocabulary,
) -> std::fmt::Result {
    let Vocabulary {
        channel,
        conversation,
        ..
    } = vocabulary;
    let (place, unmute) = match scope {
        Scope::Conversation => (conversation, "unmute".to_owned()),
        Scope::Audience => (channel, format!("unmute {channel}")),
    };
    match attention {
        Attention::Muted => write!(
            f,
            "I say nothing in this {place} any more, not even when I am mentioned, until somebody says `{unmute}` to me. Commands still work."
        ),
        Attention::Mentioned => write!(
            f,
            "In this {place} I answer only when I am mentioned or answered, until somebody says `{unmute}` to me."
        ),
        Attention::Open => write!(f, "In this {place} I answer again what is meant for me."),
    }?;
    let other = match scope {
        Scope::Conversation => format!("{channel} (`unmute {channel}`)"),
        Scope::Audience => format!("{conversation} (`unmute`)"),
    };
    match still {
        Attention::Muted if attention < still => {
            write!(f, " But all of this {other} is muted still.")
        }
        Attention::Mentioned if attention < still => write!(
            f,
            " But in all of this {other} I still answer only when mentioned."
        ),
        Attention::Open | Attention::Mentioned | Attention::Muted => Ok(()),
    }
}

/// Whether what people say to one another is on the record from now on.
fn record(
    f: &mut std::fmt::Formatter<'_>,
    is_kept: bool,
    scope: Scope,
    is_heard: bool,
    vocabulary: &Vocabulary,
) -> std::fmt::Result {
    let (place, on) = match scope {
        Scope::Conversation => (vocabulary.conversation, "on".to_owned()),
        Scope::Audience => (vocabulary.channel, format!("on {}", vocabulary.channel)),
    };
    if is_kept {
        write!(
            f,
            "What people say to one another in this {place} is on the record again."
        )?;
    } else {
        write!(
            f,
            "What people say to one another in this {place} is off the record: I keep nothing of it until somebody says `{on}` to me. What I am asked is remembered as always."
        )?;
    }
    if is_heard {
        return Ok(());
    }
    write!(
        f,
        " (I remember only what I am asked in this {} anyway.)",
        vocabulary.channel
    )
}

/// "your account Maria on Discord and your account @maria:example.org on Matrix"
fn accounts(accounts: &[Account]) -> String {
    let named = accounts.iter().map(|account| {
        let Account { platform, name, .. } = account;
        let (first, rest) = platform.split_at(platform.len().min(1));
        format!("your account {name} on {}{rest}", first.to_uppercase())
    });
    named.collect::<Vec<_>>().join(" and ")
}

fn all(turns: usize) -> String {
    match turns {
        1 => "the only turn".to_owned(),
        turns => format!("all {turns} turns"),
    }
}

fn last(turns: usize) -> String {
    match turns {
        1 => "the last turn".to_owned(),
        turns => format!("the last {turns} turns"),
    }
}

fn still_visible(f: &mut std::fmt::Formatter<'_>, outcome: &WithdrawalOutcome) -> std::fmt::Result {
    let mut sentences = Vec::new();
    if outcome.later > 0 {
        let messages = counted(outcome.later, "message");
        sentences.push(format!(
            "I could not remove {messages} of mine yet and keep trying."
        ));
    }
    for (why, number) in &outcome.stays {
        let stay = if *number == 1 { "stays" } else { "stay" };
        let messages = counted(*number, "message");
        sentences.push(format!("{messages} of mine {stay} visible, because {why}."));
    }
    f.write_str(&sentences.join(" "))
}

/// Why the model did not answer, in a few words for the chat.
pub fn model_trouble(error: &ModelError) -> String {
    match error {
        ModelError::Unreachable { .. } => "it cannot be reached",
        ModelError::TimedOut(Late::Silent(_)) => {
            "it did not answer in time; whoever runs me can raise MODEL_TIMEOUT"
        }
        ModelError::TimedOut(Late::Unfinished(_)) => {
            "it was not done in time; whoever runs me can raise TURN_TIMEOUT"
        }
        ModelError::TimedOut(Late::GaveUp) => "its service gave up waiting for it",
        ModelError::TimedOut(Late::Fixed(_)) => "it did not answer in time",
        ModelError::Unauthorized => "it refused my key",
        ModelError::UnknownModel { model } => return format!("it does not know {model:?}"),
        ModelError::QuotaExhausted => "its quota is used up",
        ModelError::RateLimited => "it is over its rate limit",
        ModelError::ContextTooLong(_) => "the conversation is too long for it",
        ModelError::OnlyReasoned => {
            "it wrote nothing but its reasoning; whoever runs me can raise ANSWER_TOKENS"
        }
        ModelError::OverBudget { whose, .. } => {
            return format!("{whose} for this month is used up");
        }
        ModelError::Busy => "too many requests are waiting for it",
        ModelError::Refused(_) => "it refused the request",
        ModelError::Failed(_) => "it failed",
        ModelError::CutOff => "its answer broke off",
        ModelError::BadAnswer(_) => "its answer made no sense",
    }
    .to_owned()
}
