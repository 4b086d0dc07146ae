//! What the bot says of itself: one place for the words, apart from the logic.

use std::time::Duration;

use crate::knowledge::search::Rung;
use crate::llm::ModelError;

/// Something the bot tells the people it talks to. One sentence each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Said above an answer made without the model, because it failed.
    ModelDown(String),
    /// Said above what tools found, where the model then failed.
    ModelDownAfterTools(String),
    /// Said below an answer: recall had words only.
    EmbeddingsDown,
    /// Said below an answer: the graph was not there.
    StoreDown {
        turns: usize,
    },
    /// Said below an answer: the team's knowledge was searched in part.
    KnowledgeInPart(Rung),
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
    NotYoursToForget,
    ForgotTurn {
        quotes: usize,
    },
    ForgotSession {
        turns: usize,
    },
    ForgotAudience {
        turns: usize,
    },
    AdministratorNeeded,
    StoreNeeded,
    NothingYet,
    NoSuchAnswer,
    /// Somebody wants an answer anew that somebody else asked for.
    NotYoursToAskAgain,
    TooLateToAskAgain,
    Failed,
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ModelDown(why) => write!(f, "I could not ask the model ({why}), so this is only what I remember:"),
            Self::ModelDownAfterTools(why) => write!(f, "I could not ask the model for the answer ({why}), so this is only what I found:"),
            Self::EmbeddingsDown => f.write_str("(The embedding service does not answer, so I searched my memory by words only.)"),
            Self::StoreDown { turns: 0 } => f.write_str("(My memory cannot be reached right now: I answered without it. This turn is kept and saved when it is back.)"),
            Self::StoreDown { turns } => write!(f, "(My memory cannot be reached right now: I answered from the last {turns} turns. This turn is kept and saved when it is back.)"),
            Self::KnowledgeInPart(rung) => write!(f, "({})", rung.sentence()),
            Self::NotKept => f.write_str("(This turn could not be saved anywhere: I will not remember it.)"),
            Self::Stopped => f.write_str("(stopped)"),
            Self::NoAnswer => f.write_str("I found no answer within my limits. Please ask more narrowly."),
            Self::TooLong { chars, limit } => write!(f, "That message has {chars} characters; I read at most {limit}. Please send it in parts, or only what matters."),
            Self::TooFast { per_minute } => write!(f, "That is more than {per_minute} messages a minute from you. Please wait a little and send it again."),
            Self::TooManyWaiting => f.write_str("Too many messages are waiting in this conversation. Please send it again when I have answered."),
            Self::TookTooLong(limit) => write!(f, "(I stopped after {} seconds.)", limit.as_secs()),
            Self::UnknownCommand(name) => write!(f, "I know no command \"{name}\". Say help to see what there is."),
            Self::NothingToForget => f.write_str("There is nothing of yours to forget here."),
            Self::NotYoursToForget => f.write_str("Others said things here too, so only an administrator can have all of it forgotten. \"forget last\" forgets your own last turn."),
            Self::ForgotTurn { quotes: 0 } => f.write_str("Forgotten: your last turn, with its answer and everything recall knew of it."),
            Self::ForgotTurn { quotes } => write!(f, "Forgotten: your last turn, with its answer and everything recall knew of it, and {quotes} later answers that quoted it."),
            Self::ForgotSession { turns } => write!(f, "Forgotten: all {turns} turns of this conversation."),
            Self::ForgotAudience { turns } => write!(f, "Forgotten: all {turns} turns of this room, in all its conversations."),
            Self::AdministratorNeeded => f.write_str("Only an administrator can have a whole room forgotten. \"forget last\" forgets your own last turn."),
            Self::StoreNeeded => f.write_str("My memory cannot be reached right now, so I cannot do that. Please try again later."),
            Self::NothingYet => f.write_str("Nothing was said here yet."),
            Self::NoSuchAnswer => f.write_str("I do not know that answer any more: it was forgotten, or is not mine."),
            Self::NotYoursToAskAgain => f.write_str("Only the one who asked, or an administrator, can have it answered again."),
            Self::TooLateToAskAgain => f.write_str("Too much was said since for that to be answered again in its place. Please ask again."),
            Self::Failed => f.write_str("Something went wrong on my side, and I could not answer. It is in my log."),
        }
    }
}

/// Why the model did not answer, in a few words for the chat.
pub fn model_trouble(error: &ModelError) -> String {
    match error {
        ModelError::Unreachable { .. } => "it cannot be reached",
        ModelError::TimedOut => "it did not answer in time",
        ModelError::Unauthorized => "it refused my key",
        ModelError::UnknownModel { model } => return format!("it does not know {model:?}"),
        ModelError::QuotaExhausted => "its quota is used up",
        ModelError::RateLimited => "it is over its rate limit",
        ModelError::ContextTooLong => "the conversation is too long for it",
        ModelError::Busy => "too many requests are waiting for it",
        ModelError::Refused(_) => "it refused the request",
        ModelError::Failed(_) => "it failed",
        ModelError::CutOff => "its answer broke off",
        ModelError::BadAnswer(_) => "its answer made no sense",
    }
    .to_owned()
}
