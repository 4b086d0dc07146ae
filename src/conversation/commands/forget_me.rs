//! Forgets everything of one person, in all places.
//!
//! The targets of the command are stored before anything is deleted, so that the same event continues after a kill at any
//! moment. The bot's messages are written down for withdrawal before the record of them is deleted.

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, ConversationId, IncomingMessage};

use super::forget::forgotten_text;
use super::once::{CommandOutcome, retry_until_done};
use super::{CommandContext, Commands, failure_notice};
use crate::conversation::audit::AuditAction;
use crate::conversation::notice::{ForgetNotice, KeptOfPerson, Notice};
use crate::conversation::withdrawals::{ForgottenConversation, PlannedWithdrawals};
use crate::graph::answers::ForgottenEvent;
use crate::graph::forgetting::KeptTurn;
use crate::graph::marks::Covered;
use crate::graph::{Forgotten, ResponseId, StoreError};
use crate::memory::MessageError;

impl Commands {
    /// Explains what forgetting everything of these accounts means, or does it. None of their turns is running any more,
    /// and the caller holds no session.
    pub async fn forget_me(
        &self,
        message: &IncomingMessage,
        accounts: Vec<String>,
        is_confirmed: bool,
        context: &CommandContext,
    ) -> String {
        // For the author alone.
        let language = message.languages.person;
        let said = async {
            if is_confirmed {
                return self.try_forget_me(message, accounts, context).await;
            }
            let until = self.archive.until_now(&accounts).await?;
            let kept = self.counted_of(&accounts, &self.kept_of(&accounts, until).await?);
            let vocabulary = context.vocabulary;
            Ok(Notice::Forget(ForgetNotice::AskMe { kept, vocabulary }).in_language(language))
        };
        match said.await {
            Ok(said) => said,
            Err(MessageError::Graph(error)) => failure_notice(&error).in_language(language),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "what was forgotten is still in a file");
                Notice::Forget(ForgetNotice::StillInFile).in_language(language)
            }
        }
    }

    async fn try_forget_me(
        &self,
        message: &IncomingMessage,
        accounts: Vec<String>,
        context: &CommandContext,
    ) -> Result<String, MessageError> {
        let (accounts, kept, until, is_repeated) = match self.outcome(message).await? {
            Some(CommandOutcome::Said(said)) => return Ok(said),
            Some(CommandOutcome::Person {
                accounts,
                kept,
                until,
            }) => {
                let until = match until {
                    Some(until) => until,
                    None => self.archive.until_now(&accounts).await?,
                };
                (accounts, kept, until, true)
            }
            Some(
                CommandOutcome::Turn(..) | CommandOutcome::Session(_) | CommandOutcome::Sessions(_),
            )
            | None => {
                // Before anything is marked: the graph takes nothing of them any more after that.
                let saving = || self.archive.save_held_of(&accounts);
                retry_until_done(saving, is_not_copied_yet).await?;
                let until = self.last_moment_of(&accounts, message).await?;
                let kept = self.counted_of(&accounts, &self.kept_of(&accounts, until).await?);
                let outcome = CommandOutcome::Person {
                    accounts: accounts.clone(),
                    kept,
                    until: Some(until),
                };
                self.keep_outcome(message, &outcome).await?;
                (accounts, kept, until, false)
            }
        };
        let about = (accounts.as_slice(), until, is_repeated);
        let forgetting = || self.forget_accounts(message, about, context);
        let (forgotten, planned) = retry_until_done(forgetting, MessageError::is_transient).await?;
        for account in &accounts {
            self.listening.forget_person(account);
            let action = AuditAction::ForgotPerson;
            self.audit
                .record_message_action(message, action, account, Some(forgotten.turns))
                .await;
        }
        self.people.load().await;
        let visible = self.withdrawals.carry_out(planned).await;
        let notice = Notice::Forget(ForgetNotice::Me {
            kept,
            repeated: forgotten.quotes,
            vocabulary: context.vocabulary,
        });
        let said = forgotten_text(&notice, &forgotten, visible, message.languages.person);
        Ok(self.save_reply(message, said).await?)
    }

    /// Until when everything of some accounts is forgotten: not before anything that they said before the command.
    async fn last_moment_of(
        &self,
        accounts: &[String],
        message: &IncomingMessage,
    ) -> Result<DateTime<Utc>, StoreError> {
        // After this, messages that were just being kept will be found.
        drop(self.hearing.keeping.lock().await);
        // Another process keeps no answer to them after this, and what it kept before is found.
        for account in accounts {
            let person = Covered::Person(account);
            let store = self.archive.store();
            store.mark_covered(person, message.sent_at).await?;
        }
        let until = self.archive.until_now(accounts).await?;
        Ok(until.max(message.sent_at))
    }

    /// Forgets what was kept of some accounts until a moment, and plans to withdraw the messages that show it.
    async fn forget_accounts(
        &self,
        message: &IncomingMessage,
        (accounts, until, is_repeated): (&[String], DateTime<Utc>, bool),
        context: &CommandContext,
    ) -> Result<(Forgotten, PlannedWithdrawals), MessageError> {
        // After this, answers that repeat their messages are in the graph and will be found.
        self.archive.save_all_waiting().await?;
        let turns = self.kept_of(accounts, until).await?;
        // Marked before looking for messages that show them: whoever keeps such a message later withdraws it.
        let marks = turns.iter().map(ForgottenEvent::from).collect();
        self.archive.store().mark_forgotten(&marks).await?;
        let about = (accounts, until);
        let planned = self.plan_person_withdrawal(about, &turns, message, context);
        let mut planned = planned.await?;
        let forgotten = self
            .archive
            .forget_person(accounts, message.sent_at, until, is_repeated)
            .await?;
        planned.add(self.plan_emptied(&forgotten, message, context).await);
        let audiences: HashSet<&AudienceId> = turns.iter().map(|turn| &turn.audience).collect();
        audiences
            .iter()
            .for_each(|audience| self.recaller.forget(audience));
        Ok((forgotten, planned))
    }

    async fn kept_of(
        &self,
        accounts: &[String],
        until: DateTime<Utc>,
    ) -> Result<Vec<KeptTurn>, StoreError> {
        let mut all = Vec::new();
        for account in accounts {
            let store = self.archive.store();
            all.extend(store.turns_of_person(account, until).await?);
        }
        Ok(all)
    }

    fn counted_of(&self, accounts: &[String], turns: &[KeptTurn]) -> KeptOfPerson {
        let count = |is: fn(&KeptTurn) -> bool| turns.iter().filter(|turn| is(turn)).count();
        let conversations: HashSet<&ConversationId> = turns.iter().map(|it| &it.session).collect();
        let audiences: HashSet<&AudienceId> = turns.iter().map(|it| &it.audience).collect();
        let held = audiences
            .iter()
            .filter(|it| self.archive.store().is_held(it));
        KeptOfPerson {
            asked: count(|turn| !turn.is_message && !turn.is_note),
            said: count(|turn| turn.is_message),
            noted: count(|turn| turn.is_note),
            conversations: conversations.len(),
            held: held.count(),
            accounts: accounts.len(),
        }
    }

    /// Plans to withdraw the bot's messages of these turns, and of others that repeat them, on every platform.
    async fn plan_person_withdrawal(
        &self,
        (accounts, until): (&[String], DateTime<Utc>),
        turns: &[KeptTurn],
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> Result<PlannedWithdrawals, StoreError> {
        let store = self.archive.store();
        let mut by_session: BTreeMap<&ConversationId, Vec<ResponseId>> = BTreeMap::new();
        for turn in turns {
            by_session.entry(&turn.session).or_default().push(turn.id);
        }
        let mut all = Vec::new();
        for (session, ids) in by_session {
            let spoken = store.delivered_messages_of(&ids).await?;
            // The title of a conversation is its first question.
            let first = store.answers_after(session, None, 1).await?;
            let has_title = first.first().is_some_and(|first| ids.contains(&first.id));
            all.extend(ForgottenConversation::of(session, spoken, has_title));
        }
        for spoken in self.archive.offline_deliveries_of(accounts, until) {
            let session = spoken.session.clone();
            all.extend(ForgottenConversation::of(&session, vec![spoken], false));
        }
        Ok(self.plan_on_platforms(all, message, context).await)
    }
}

/// Whether something waits for a session that is in use. A graph that is away is not waited for before anything is begun.
fn is_not_copied_yet(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Refused {
            transient: true,
            ..
        }
    )
}
