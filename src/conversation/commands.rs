//! Commands to the bot, and questions about the bot itself: `help`, `history`, `why`, `usage`, `forget` and the
//! others.

mod about;
mod export_mine;
mod forget;
mod forget_me;
mod forget_until;
mod history;
mod items;
mod link;
mod meant_turn;
mod once;
mod proposed;
mod remember;
mod withdrawing;

use std::sync::Arc;
use std::time::Duration;

use muninn_platform::{
    Attention, Channels, Command, ForgetWhat, IncomingMessage, Language, PlatformVocabulary, Reply,
    Scope, ShownItem, Withdraw,
};

use self::about::help;
pub(crate) use self::about::{for_money, tokens_read};
pub use self::export_mine::{ExportInProgress, Exports};
pub use self::items::{WhichItem, shown_item};
pub use self::proposed::{Decided, Decision, decision_event};
use crate::agent::budget::Budgets;
use crate::conversation::attention::Listening;
use crate::conversation::audit::{Audit, AuditAction};
use crate::conversation::catch_up::{CatchUp, WrittenSummary};
use crate::conversation::hearing::HearingRules;
use crate::conversation::notice::Notice;
use crate::conversation::people::People;
use crate::conversation::withdrawals::Withdrawals;
use crate::graph::StoreError;
use crate::graph::items::ReadTurn;
use crate::graph::session::SessionGuard;
use crate::memory::{Archive, Recaller};

/// Runs commands.
#[derive(Debug)]
pub struct Commands {
    pub archive: Arc<Archive>,
    pub recaller: Arc<Recaller>,
    pub withdrawals: Arc<Withdrawals>,
    pub budgets: Arc<Budgets>,
    pub listening: Arc<Listening>,
    pub hearing: Arc<HearingRules>,
    /// The settings of channels, such as their language.
    pub channels: Arc<Channels>,
    pub catch_up: CatchUp,
    pub audit: Audit,
    pub people: Arc<People>,
    pub exports: Exports,
    /// Up to this age a command may be delivered again, as a missed message.
    pub missed_age: Duration,
}

/// Where a command was given: the words used there, and the part that deletes the bot's messages there.
pub struct CommandContext {
    pub vocabulary: &'static PlatformVocabulary,
    pub withdraw: Arc<dyn Withdraw>,
}

impl std::fmt::Debug for CommandContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandContext").finish_non_exhaustive()
    }
}

impl CommandContext {
    pub fn of(reply: &dyn Reply) -> Self {
        Self {
            vocabulary: reply.vocabulary(),
            withdraw: reply.withdrawer(),
        }
    }
}

/// The reply to a command.
#[derive(Debug)]
pub struct CommandAnswer {
    pub text: String,
    /// The answers from which it quotes.
    pub shows: Vec<ReadTurn>,
    /// The listed items that can be forgotten or corrected individually.
    pub items: Vec<ShownItem>,
}

impl From<String> for CommandAnswer {
    fn from(text: String) -> Self {
        Self {
            text,
            shows: Vec::new(),
            items: Vec::new(),
        }
    }
}

/// The reply to a command, for everybody who sees it.
fn answering(notice: &Notice, message: &IncomingMessage) -> CommandAnswer {
    notice.in_language(message.language()).into()
}

impl Commands {
    /// Runs a command and returns its reply.
    pub async fn run(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        command: &Command,
        context: &CommandContext,
    ) -> CommandAnswer {
        let vocabulary = context.vocabulary;
        let answer = |notice| answering(&notice, message);
        let said = match command {
            Command::Help => Ok(help(vocabulary, message.language()).into()),
            Command::Unknown(name) => Ok(answer(Notice::UnknownCommand(name.clone()))),
            Command::History => self.history(message).await,
            Command::Why => self.why_last(message).await,
            Command::WhyOf(answer) => self.why_of(message, answer).await,
            Command::About => {
                let about = self.about(message, vocabulary).await;
                about.map(CommandAnswer::from)
            }
            Command::Attend(attention, scope) => {
                let set = self.set_attention(guard, message, *attention, *scope, vocabulary);
                set.await.map(answer)
            }
            Command::Remember(memory) => {
                let set = self.remember(message, *memory, vocabulary);
                set.await.map(answer)
            }
            Command::OffTheRecord(scope) => {
                let set = self.set_recording(message, false, *scope, vocabulary);
                set.await.map(answer)
            }
            Command::OnTheRecord(scope) => {
                let set = self.set_recording(message, true, *scope, vocabulary);
                set.await.map(answer)
            }
            Command::OptIn => self.opt_in(message, vocabulary).await.map(answer),
            Command::Link(code) => {
                let linked = self.link_accounts(message, code.as_deref());
                linked.await.map(answer)
            }
            Command::Unlink => self.unlink_account(message).await.map(answer),
            Command::Usage => self.usage(message).await.map(CommandAnswer::from),
            // The bot handles these itself: they concern other sessions than the one it holds.
            Command::Again(_)
            | Command::CatchUp(_)
            | Command::Backfill(_)
            | Command::PlaceGone
            | Command::OptOut
            | Command::Note(_)
            | Command::Memory(_)
            | Command::Correct { .. }
            | Command::Shown(..)
            | Command::Decide { .. }
            | Command::ExportMine
            | Command::Web
            | Command::WebSignOut
            | Command::Token(_)
            | Command::Forget(
                ForgetWhat::Last
                | ForgetWhat::Audience
                | ForgetWhat::Item(_)
                | ForgetWhat::Me { .. },
            ) => Ok(answer(Notice::Failed)),
            Command::Forget(ForgetWhat::Session) => {
                let said = self.forget_session(guard, message, context).await;
                said.map(CommandAnswer::from)
            }
        };
        said.unwrap_or_else(|error| answering(&failure_notice(&error), message))
    }

    /// Sets which messages are answered, and returns what applies now.
    async fn set_attention(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        attention: Attention,
        scope: Scope,
        vocabulary: &'static PlatformVocabulary,
    ) -> Result<Notice, StoreError> {
        let store = self.archive.store();
        match scope {
            Scope::Audience if !message.may_moderate(&message.audience.id) => {
                return Ok(Notice::ModeratorNeededToMute(vocabulary));
            }
            Scope::Audience => {
                let audience = &message.audience;
                store.set_audience_attention(audience, attention).await?;
            }
            Scope::Conversation if !store.set_session_attention(guard, attention).await? => {
                return Ok(Notice::NotInConversation(vocabulary));
            }
            Scope::Conversation => {}
        }
        self.listening.invalidate_cache();
        let about = match scope {
            Scope::Audience => message.audience.id.as_str(),
            Scope::Conversation => guard.session().as_str(),
        };
        let action = AuditAction::ChangedAttention;
        self.audit
            .record_message_action(message, action, about, None)
            .await;
        let kept = store.attention(guard.session(), &message.audience.id);
        Ok(Notice::Attends {
            attention,
            scope,
            still: kept.await?.attention(),
            vocabulary,
        })
    }

    /// What was said here while the author was away. The caller holds no session, as a model may take long.
    pub async fn catch_up(&self, message: &IncomingMessage, since: Option<&str>) -> CommandAnswer {
        let written = async {
            let written = self.catch_up.summarize_for_author(message, since).await?;
            // Where only the author sees it, it cannot be withdrawn.
            let changed = self.archive.find_changed_turns(&written.made_from);
            if changed.await?.is_any_forgotten() {
                return self.catch_up.summarize_for_author(message, since).await;
            }
            Ok(written)
        };
        match written.await {
            Ok(WrittenSummary { text, made_from }) => CommandAnswer {
                shows: made_from,
                ..text.into()
            },
            Err(error) => failure_notice(&error)
                .in_language(message.languages.person)
                .into(),
        }
    }
}

/// The outcome of a command, in words.
fn outcome_text(outcome: Result<String, StoreError>, language: Language) -> String {
    outcome.unwrap_or_else(|error| failure_notice(&error).in_language(language))
}

/// The notice for a failed command.
fn failure_notice(error: &StoreError) -> Notice {
    tracing::warn!(error = error as &dyn std::error::Error, "a command failed");
    Notice::of_store_error(error)
}
