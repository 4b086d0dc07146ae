//! Maps each notice to its sentences in the catalogue.

use muninn_platform::{Attention, HandedOver, PlatformVocabulary, Scope};
use muninn_texts::{Language, Text, Value, text};

use super::forgetting::out_of_reach;
use super::sentences::sentences;
use super::tokens::token_list;
use super::{APPROVAL_LIFETIME, ForgetNotice, Notice, TokenNotice};
use crate::agent::budget::{BudgetOwner, Used};
use crate::agent::tools::ProposedCall;
use crate::llm::{ModelError, TimedOutWait};

impl Notice {
    /// The text in one language.
    pub fn in_language(&self, language: Language) -> String {
        let mut paragraphs = vec![sentences(self.texts(), language)];
        if let Self::Token(TokenNotice::List(tokens)) = self {
            paragraphs = vec![token_list(tokens, language)];
        }
        if let Self::Forget(ForgetNotice::Me {
            kept, vocabulary, ..
        }) = self
        {
            paragraphs.push(sentences(out_of_reach(kept, vocabulary), language));
        }
        paragraphs.join("\n\n")
    }

    /// The sentences of the notice.
    fn texts(&self) -> Vec<Text> {
        let text = match self {
            Self::ModelDown(why) => text!("model-down", why),
            Self::ModelDownAfterTools(why) => text!("model-down-after-tools", why),
            Self::ModelDownListed(why) => text!("model-down-listed", why),
            Self::EmbeddingsDown => text!("embeddings-down"),
            Self::StoreDown { turns } => text!("store-down", turns = *turns),
            Self::StoreWasDown { turns } => text!("store-was-down", turns = *turns),
            Self::StoreDownInPart => text!("store-down-in-part"),
            Self::StoreWasDownInPart => text!("store-was-down-in-part"),
            Self::StoreDownLater => text!("store-down-later"),
            Self::RecallFailed => text!("recall-failed"),
            Self::KnowledgeInPart(degradation) => text!("bracketed", text = degradation.text()),
            Self::BudgetNearlyUp(Used {
                whose,
                spent,
                limit,
            }) => text!(
                "budget-nearly-up",
                whose = whose.text(),
                spent = spent.to_string(),
                limit = limit.to_string()
            ),
            Self::LookUpsFailed => text!("look-ups-failed"),
            Self::LookUpFailed => text!("look-up-failed"),
            Self::CutOff { tokens } => text!("cut-off", tokens = *tokens),
            Self::CutShort => text!("cut-short"),
            Self::Withheld => text!("withheld"),
            Self::SecretRemoved => text!("secret-removed"),
            Self::FilesInPart(names) => {
                text!("files-in-part", files = Value::list(names.iter().cloned()))
            }
            Self::FilesNeedModel => text!("files-need-model"),
            Self::ImagesNotSeen => text!("images-not-seen"),
            Self::ReadInPart(cut) => text!("read-in-part", why = cut.text()),
            Self::NotKept => text!("not-kept"),
            Self::Stopped => text!("stopped"),
            Self::NoAnswer => text!("no-answer"),
            Self::TooLong { chars, limit } => text!("too-long", chars = *chars, limit = *limit),
            Self::TooFast { per_minute } => text!("too-fast", per_minute = *per_minute),
            Self::TooManyWaiting => text!("too-many-waiting"),
            Self::TookTooLong(limit) => text!("took-too-long", seconds = limit.as_secs()),
            Self::UnknownCommand(name) => text!("unknown-command", name),
            Self::Forget(it) => return it.texts(),
            Self::Noted {
                is_private: true, ..
            } => text!("noted-privately"),
            Self::Noted {
                is_private: false,
                vocabulary: PlatformVocabulary { channel, .. },
            } => text!("noted", channel = *channel),
            Self::NothingToNote => text!("nothing-to-note"),
            Self::ProposesNote(text) => text!("proposes-note", text),
            Self::ProposesCall(ProposedCall { tool, arguments }) => text!(
                "proposes-call",
                minutes = APPROVAL_LIFETIME.num_minutes().unsigned_abs(),
                // Some platforms end a code block at three backticks, wherever they are.
                call = format!("```\n{tool} {}\n```", arguments.replace("``", "`\u{200b}`"))
            ),
            Self::Approval(it) => it.text(),
            Self::NotNoted => text!("not-noted"),
            Self::Item(it) => it.text(),
            Self::Link(it) => it.text(),
            Self::PagesLink(link) => text!("pages-link", link),
            Self::NoPages => text!("no-pages"),
            Self::NoPagesHere => text!("no-pages-here"),
            Self::SignedOut(times) => text!("signed-out", times = *times),
            Self::Token(it) => return it.texts(),
            Self::ExportUnderWay => text!("export-under-way"),
            Self::NothingKeptOfYou => text!("nothing-kept-of-you"),
            Self::HandedOver { count, place } => handed_over(*count, place),
            Self::NotHandedOver { why, person } => {
                text!("not-handed-over", why = why.clone(), person)
            }
            Self::Attends {
                attention,
                scope,
                still,
                vocabulary,
            } => return attends(*attention, *scope, *still, vocabulary),
            Self::Hearing(it) => return it.texts(),
            Self::ModeratorNeededToMute(PlatformVocabulary {
                channel,
                conversation,
                moderator,
                ..
            }) => text!(
                "moderator-needed-to-mute",
                channel = *channel,
                conversation = *conversation,
                moderator = *moderator
            ),
            Self::NotInConversation(PlatformVocabulary {
                channel,
                conversation,
                ..
            }) => text!(
                "not-in-conversation",
                channel = *channel,
                conversation = *conversation
            ),
            Self::StayedSilent { times, last } => {
                text!("stayed-silent", times = *times, last = Value::moment(last))
            }
            Self::StoreNeeded => text!("store-needed"),
            Self::NothingYet => text!("nothing-yet"),
            Self::NothingSince(time) => text!("nothing-since", time = time.clone()),
            Self::NoSuchDay(words) => text!("no-such-day", words = format!("{words:?}")),
            Self::NoHistory => text!("no-history"),
            Self::NoBackfill => text!("no-backfill"),
            Self::ModeratorNeededToBackfill(PlatformVocabulary {
                moderator, channel, ..
            }) => text!(
                "moderator-needed-to-backfill",
                channel = *channel,
                moderator = *moderator
            ),
            Self::NotBackfilled(error) => text!("not-backfilled", why = error.text()),
            Self::NoSuchAnswer => text!("no-such-answer"),
            Self::NotYoursToAskAgain(PlatformVocabulary { moderator, .. }) => {
                text!("not-yours-to-ask-again", moderator = *moderator)
            }
            Self::TooLateToAskAgain => text!("too-late-to-ask-again"),
            Self::Failed => text!("failed"),
        };
        vec![text]
    }
}

/// Where the person finds their copy.
fn handed_over(count: usize, place: &HandedOver) -> Text {
    match place {
        // Others may read this notice.
        HandedOver::Directly => text!("handed-over-directly"),
        HandedOver::Here => text!("handed-over-here", count),
        HandedOver::At(paths) => {
            let paths = paths.iter().map(|it| format!("`{}`", it.display()));
            text!("handed-over-at", count, paths = Value::list(paths))
        }
    }
}

/// Which messages are answered from now on.
fn attends(
    attention: Attention,
    scope: Scope,
    still: Attention,
    vocabulary: &PlatformVocabulary,
) -> Vec<Text> {
    let PlatformVocabulary {
        channel,
        conversation,
        ..
    } = *vocabulary;
    let now = match (attention, scope) {
        (Attention::Muted, Scope::Conversation) => text!("muted-conversation", conversation),
        (Attention::Muted, Scope::Audience) => text!("muted-channel", channel),
        (Attention::Mentioned, Scope::Conversation) => {
            text!("mentioned-conversation", conversation)
        }
        (Attention::Mentioned, Scope::Audience) => text!("mentioned-channel", channel),
        (Attention::Open, Scope::Conversation) => text!("open-conversation", conversation),
        (Attention::Open, Scope::Audience) => text!("open-channel", channel),
    };
    // The setting of the other scope, where that is stricter.
    let other = match (still, scope) {
        (Attention::Muted, Scope::Conversation) => text!("still-muted-channel", channel),
        (Attention::Muted, Scope::Audience) => text!("still-muted-conversation", conversation),
        (Attention::Mentioned, Scope::Conversation) => text!("still-mentioned-channel", channel),
        (Attention::Mentioned, Scope::Audience) => {
            text!("still-mentioned-conversation", conversation)
        }
        (Attention::Open, Scope::Conversation | Scope::Audience) => return vec![now],
    };
    if attention < still {
        vec![now, other]
    } else {
        vec![now]
    }
}

/// Why the model did not answer, in a few words for the chat.
pub fn model_trouble(error: &ModelError) -> Text {
    match error {
        ModelError::Unreachable { .. } => text!("model-unreachable"),
        ModelError::TimedOut(TimedOutWait::Silent(_)) => text!("model-silent"),
        ModelError::TimedOut(TimedOutWait::Unfinished(_)) => text!("model-unfinished"),
        ModelError::TimedOut(TimedOutWait::GaveUp) => text!("model-gave-up"),
        ModelError::TimedOut(TimedOutWait::Fixed(_)) => text!("model-late"),
        ModelError::Unauthorized => text!("model-unauthorized"),
        ModelError::UnknownModel { model } => {
            text!("model-unknown", model = format!("{model:?}"))
        }
        ModelError::QuotaExhausted => text!("model-quota"),
        ModelError::RateLimited => text!("model-rate-limited"),
        ModelError::ContextTooLong(_) => text!("model-context"),
        ModelError::OnlyReasoned(_) => text!("model-only-reasoned"),
        ModelError::OverBudget { whose, .. } => match BudgetOwner::named(whose) {
            Some(whose) => text!("model-over-budget", whose = whose.text()),
            None => text!("model-over-budget", whose = *whose),
        },
        ModelError::Busy => text!("model-busy"),
        ModelError::Refused(_) => text!("model-refused"),
        ModelError::Failed(_) => text!("model-failed"),
        ModelError::CutOff => text!("model-broke-off"),
        ModelError::BadAnswer(_) => text!("model-nonsense"),
    }
}
