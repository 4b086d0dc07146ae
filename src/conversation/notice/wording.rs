//! Which sentences of the catalogue a notice is.

use chrono::{DateTime, Utc};
use muninn_platform::{Attention, HandedOver, Scope, Vocabulary};
use muninn_texts::{Language, Text, Value, text};

use super::{ASKED_FOR, KeptOfPerson, Notice};
use crate::agent::budget::{Used, Whose};
use crate::agent::tools::ProposedCall;
use crate::conversation::tokens::MOST_TOKENS;
use crate::conversation::withdrawals::WithdrawalOutcome;
use crate::graph::accounts::Account;
use crate::graph::tokens::KeptToken;
use crate::llm::{Late, ModelError};

impl Notice {
    /// As somebody reads it.
    pub fn in_language(&self, language: Language) -> String {
        let mut paragraphs = vec![sentences(self.texts(), language)];
        if let Self::Tokens(tokens) = self {
            paragraphs = vec![token_list(tokens, language)];
        }
        if let Self::ForgotMe {
            kept, vocabulary, ..
        } = self
        {
            paragraphs.push(sentences(out_of_reach(kept, vocabulary), language));
        }
        paragraphs.join("\n\n")
    }

    /// Its sentences.
    fn texts(&self) -> Vec<Text> {
        let text = match self {
            Self::ModelDown(why) => text!("model-down", why),
            Self::ModelDownAfterTools(why) => text!("model-down-after-tools", why),
            Self::ModelDownListed(why) => text!("model-down-listed", why),
            Self::EmbeddingsDown => text!("embeddings-down"),
            Self::StoreDown { turns } => text!("store-down", turns = *turns),
            Self::StoreWasDown { turns } => text!("store-was-down", turns = *turns),
            Self::RecallFailed => text!("recall-failed"),
            Self::KnowledgeInPart(rung) => text!("bracketed", text = rung.text()),
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
            Self::CutOff { tokens } => text!("cut-off", tokens = *tokens),
            Self::Withheld => text!("withheld"),
            Self::SecretRemoved => text!("secret-removed"),
            Self::ReadInPart(cut) => text!("read-in-part", why = cut.text()),
            Self::NotKept => text!("not-kept"),
            Self::Stopped => text!("stopped"),
            Self::NoAnswer => text!("no-answer"),
            Self::TooLong { chars, limit } => text!("too-long", chars = *chars, limit = *limit),
            Self::TooFast { per_minute } => text!("too-fast", per_minute = *per_minute),
            Self::TooManyWaiting => text!("too-many-waiting"),
            Self::TookTooLong(limit) => text!("took-too-long", seconds = limit.as_secs()),
            Self::UnknownCommand(name) => text!("unknown-command", name),
            Self::NothingToForget => text!("nothing-to-forget"),
            Self::NotYoursToForget(Vocabulary {
                moderator,
                forget_last,
                ..
            }) => text!(
                "not-yours-to-forget",
                moderator = *moderator,
                forget_last = *forget_last
            ),
            Self::ForgotTurn { quotes } => text!("forgot-turn", quotes = *quotes),
            Self::ForgotWaitingTurn => text!("forgot-waiting-turn"),
            Self::Noted {
                is_private: true, ..
            } => text!("noted-privately"),
            Self::Noted {
                is_private: false,
                vocabulary: Vocabulary { channel, .. },
            } => text!("noted", channel = *channel),
            Self::NothingToNote => text!("nothing-to-note"),
            Self::ProposesNote(text) => text!("proposes-note", text),
            Self::ProposesCall(ProposedCall { tool, arguments }) => text!(
                "proposes-call",
                minutes = ASKED_FOR.num_minutes().unsigned_abs(),
                // Some platforms end a block at three of them, wherever they stand.
                call = format!("```\n{tool} {}\n```", arguments.replace("``", "`\u{200b}`"))
            ),
            Self::NotYoursToApprove => text!("not-yours-to-approve"),
            Self::ApprovalOver => text!(
                "approval-over",
                minutes = ASKED_FOR.num_minutes().unsigned_abs()
            ),
            Self::ApprovalGone => text!("approval-gone"),
            Self::Declined => text!("declined"),
            Self::ApprovalUnknown(tool) => text!("approval-unknown", tool),
            Self::DecidedBefore(said) => text!("decided-before", said),
            Self::NotNoted => text!("not-noted"),
            Self::ListHint {
                first,
                has_more,
                is_search,
            } => match (has_more, is_search) {
                (true, true) => text!("list-hint-more-words", first = *first),
                (true, false) => text!("list-hint-more", first = *first),
                (false, true | false) => text!("list-hint", first = *first),
            },
            Self::RecalledHint => text!("recalled-hint"),
            Self::NothingListed {
                is_search: true, ..
            } => text!("nothing-found"),
            Self::NothingListed { is_end: true, .. } => text!("nothing-more"),
            Self::NothingListed { .. } => text!("nothing-listed"),
            Self::ListEnds(listed) => text!("list-ends-after", listed = *listed),
            Self::ListAgain => text!("list-again"),
            Self::NoSuchNumber { number, listed } => {
                text!("no-such-number", number = *number, listed = *listed)
            }
            Self::ItemGone(number) => text!("item-gone", number = *number),
            Self::ItemChanged(number) => text!("item-changed", number = *number),
            Self::NotYourItem {
                number,
                vocabulary: Vocabulary { moderator, .. },
            } => text!("not-your-item", number = *number, moderator = *moderator),
            Self::NothingToCorrect(number) => text!("nothing-to-correct", number = *number),
            Self::CorrectedItem(number) => text!("corrected-item", number = *number),
            Self::AlreadyCorrected { by, at } => {
                text!("already-corrected", by, at = Value::moment(at))
            }
            Self::ForgotItem { number, earlier } => {
                text!("forgot-item", number = *number, earlier = *earlier)
            }
            Self::ForgotAll => text!("forgot-all"),
            Self::ForgotSession {
                turns,
                vocabulary: Vocabulary { conversation, .. },
            } => text!(
                "forgot-session",
                turns = *turns,
                conversation = *conversation
            ),
            Self::ForgotAudience {
                turns,
                vocabulary:
                    Vocabulary {
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
            Self::AskForgetMe { kept, vocabulary } => text!(
                "ask-forget-me",
                kept = kept.text(),
                command = vocabulary.forget_me_for_good
            ),
            Self::ForgotMe { kept, repeated, .. } => return forgot_me(kept, *repeated),
            Self::LinkCode(code) => text!("link-code", code),
            Self::Linked(others) => text!("linked", others = accounts(others)),
            Self::LinkedElsewhere(account) => {
                text!("linked-elsewhere", account = an_account(account))
            }
            Self::LinkNeedsDirectMessage => text!("link-needs-direct-message"),
            Self::OwnLinkCode => text!("own-link-code"),
            Self::WrongLinkCode => text!("wrong-link-code"),
            Self::TooManyLinkCodes => text!("too-many-link-codes"),
            Self::TooManyAccounts(most) => text!("too-many-accounts", most = *most),
            Self::Unlinked(others) => text!("unlinked", others = accounts(others)),
            Self::UnlinkedElsewhere(account) => {
                text!("unlinked-elsewhere", account = an_account(account))
            }
            Self::NothingLinked => text!("nothing-linked"),
            Self::LinkEnded => text!("link-ended"),
            Self::PagesLink(link) => text!("pages-link", link),
            Self::NoPages => text!("no-pages"),
            Self::NoPagesHere => text!("no-pages-here"),
            Self::SignedOut(times) => text!("signed-out", times = *times),
            Self::TokenMade {
                token,
                address,
                is_everywhere,
                until,
            } => return token_made((token, address), *is_everywhere, *until),
            Self::Tokens(_) => text!("tokens"),
            Self::TokensRevoked(count) => text!("tokens-revoked", count = *count),
            Self::NoSuchToken(number) => text!("no-such-token", number = *number),
            Self::TooManyTokens => text!("too-many-tokens", most = MOST_TOKENS),
            Self::NoSuchLife(life) => text!("no-such-life", life),
            Self::NoMcp => text!("no-mcp"),
            Self::ExportUnderWay => text!("export-under-way"),
            Self::NothingKeptOfYou => text!("nothing-kept-of-you"),
            Self::HandedOver { count, place } => handed_over(*count, place),
            Self::NotHandedOver { why, person } => {
                text!("not-handed-over", why = why.clone(), person)
            }
            Self::Held => text!("held"),
            Self::StillInFile => text!("still-in-file"),
            Self::StillVisible(outcome) => return still_visible(outcome),
            Self::ModeratorNeeded(Vocabulary {
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
            Self::Attends {
                attention,
                scope,
                still,
                vocabulary,
            } => return attends(*attention, *scope, *still, vocabulary),
            Self::HearsEverybody(Vocabulary {
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
            Self::HearsEverybodyNow(Vocabulary { channel, .. }) => {
                text!("hears-everybody-now", channel = *channel)
            }
            Self::HearsNobody {
                was: true,
                vocabulary: Vocabulary { channel, .. },
            } => text!("hears-nobody-any-more", channel = *channel),
            Self::HearsNobody {
                was: false,
                vocabulary: Vocabulary { channel, .. },
            } => text!("hears-nobody", channel = *channel),
            Self::ModeratorNeededToHear(Vocabulary {
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
            Self::ModeratorNeededToMute(Vocabulary {
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
            Self::NotInConversation(Vocabulary {
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
            Self::ModeratorNeededToBackfill(Vocabulary {
                moderator, channel, ..
            }) => text!(
                "moderator-needed-to-backfill",
                channel = *channel,
                moderator = *moderator
            ),
            Self::NotBackfilled(error) => text!("not-backfilled", why = error.text()),
            Self::NoSuchAnswer => text!("no-such-answer"),
            Self::NotYoursToAskAgain(Vocabulary { moderator, .. }) => {
                text!("not-yours-to-ask-again", moderator = *moderator)
            }
            Self::TooLateToAskAgain => text!("too-late-to-ask-again"),
            Self::Failed => text!("failed"),
        };
        vec![text]
    }
}

fn token_made(
    (token, address): (&str, &str),
    is_everywhere: bool,
    until: Option<DateTime<Utc>>,
) -> Vec<Text> {
    let reads = match is_everywhere {
        true => text!("token-reads-everywhere"),
        false => text!("token-reads-here"),
    };
    let mut texts = vec![text!("token-made", token, address), reads];
    texts.extend(until.map(|until| text!("token-until", until = Value::moment(&until))));
    texts.push(text!("token-is-secret"));
    texts
}

/// A line each.
fn token_list(tokens: &[KeptToken], language: Language) -> String {
    if tokens.is_empty() {
        return text!("no-tokens").in_language(language);
    }
    let mut lines = vec![text!("tokens").in_language(language)];
    for (token, number) in tokens.iter().zip(1_usize..) {
        let made = Value::date(&token.created_at);
        let first = match &token.places {
            None => text!("token-line-everywhere", number, made),
            Some(places) => {
                let places: Vec<String> = places.iter().map(|it| format!("`{it}`")).collect();
                text!("token-line", number, made, places = places.join(", "))
            }
        };
        let used = match token.used_at {
            Some(at) => text!("token-used", at = Value::date(&at)),
            None => text!("token-unused"),
        };
        let mut texts = vec![first, used];
        let until = token
            .until
            .map(|it| text!("token-until", until = Value::moment(&it)));
        texts.extend(until);
        lines.push(sentences(texts, language));
    }
    lines.push(text!("tokens-hint").in_language(language));
    lines.join("\n")
}

/// One after another.
fn sentences(texts: Vec<Text>, language: Language) -> String {
    let one = texts
        .into_iter()
        .reduce(|first, next| text!("two-sentences", first, next));
    one.map_or(String::new(), |text| text.in_language(language))
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
fn out_of_reach(kept: &KeptOfPerson, vocabulary: &Vocabulary) -> Vec<Text> {
    let mut said = vec![text!(
        "forgot-me-out-of-reach",
        channel = vocabulary.channel
    )];
    if kept.held > 0 {
        said.push(text!("forgot-me-held", count = kept.held));
    }
    said
}

/// Where somebody finds what is kept of them.
fn handed_over(count: usize, place: &HandedOver) -> Text {
    match place {
        // Others may read this.
        HandedOver::Directly => text!("handed-over-directly"),
        HandedOver::Here => text!("handed-over-here", count),
        HandedOver::At(paths) => {
            let paths = paths.iter().map(|it| format!("`{}`", it.display()));
            text!("handed-over-at", count, paths = Value::list(paths))
        }
    }
}

/// What is answered from now on.
fn attends(
    attention: Attention,
    scope: Scope,
    still: Attention,
    vocabulary: &Vocabulary,
) -> Vec<Text> {
    let Vocabulary {
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
    // What holds in the other of the two, where that is stricter.
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

/// "your account Maria on Discord and your account @maria:example.org on Matrix"
fn accounts(accounts: &[Account]) -> Value {
    Value::list(accounts.iter().map(an_account))
}

fn an_account(account: &Account) -> Text {
    let Account { platform, name, .. } = account;
    let (first, rest) = platform.split_at(platform.len().min(1));
    let platform = format!("{}{rest}", first.to_uppercase());
    text!("an-account", name, platform)
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

/// Why the model did not answer, in a few words for the chat.
pub fn model_trouble(error: &ModelError) -> Text {
    match error {
        ModelError::Unreachable { .. } => text!("model-unreachable"),
        ModelError::TimedOut(Late::Silent(_)) => text!("model-silent"),
        ModelError::TimedOut(Late::Unfinished(_)) => text!("model-unfinished"),
        ModelError::TimedOut(Late::GaveUp) => text!("model-gave-up"),
        ModelError::TimedOut(Late::Fixed(_)) => text!("model-late"),
        ModelError::Unauthorized => text!("model-unauthorized"),
        ModelError::UnknownModel { model } => {
            text!("model-unknown", model = format!("{model:?}"))
        }
        ModelError::QuotaExhausted => text!("model-quota"),
        ModelError::RateLimited => text!("model-rate-limited"),
        ModelError::ContextTooLong(_) => text!("model-context"),
        ModelError::OnlyReasoned => text!("model-only-reasoned"),
        ModelError::OverBudget { whose, .. } => match Whose::named(whose) {
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
