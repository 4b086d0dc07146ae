//! Sets what may be remembered of what people say to one another: per channel, per person, and on or off the
//! record.

use chrono::{DateTime, Utc};
use muninn_platform::{
    Audience, AudienceId, ChannelMemory, IncomingMessage, PlatformVocabulary, Scope,
};
use muninn_texts::text;

use super::forget::forgotten_text;
use super::once::retry_until_done;
use super::{CommandContext, Commands, failure_notice};
use crate::conversation::audit::AuditAction;
use crate::conversation::notice::{ForgetNotice, HearingNotice, Notice};
use crate::conversation::withdrawals::{ForgottenConversation, PlannedWithdrawals};
use crate::graph::answers::ForgottenEvent;
use crate::graph::hearing::HearingChange;
use crate::graph::{ResponseId, StoreError};
use crate::memory::MessageError;

impl Commands {
    /// Sets what is remembered of a channel, and announces it there.
    pub(super) async fn remember(
        &self,
        message: &IncomingMessage,
        memory: ChannelMemory,
        vocabulary: &'static PlatformVocabulary,
    ) -> Result<Notice, StoreError> {
        if !message.may_moderate(message.channel()) {
            return Ok(Notice::Hearing(HearingNotice::ModeratorNeeded(vocabulary)));
        }
        let (audience, store) = (channel(message), self.archive.store());
        let was = self.hearing.memory(&audience.id);
        let change = HearingChange::Memory(memory);
        let at = asked_at(message);
        self.hearing.change(store, &audience, &change, at).await?;
        let about = audience.id.as_str();
        let action = AuditAction::ChangedMemory;
        self.audit
            .record_message_action(message, action, about, None)
            .await;
        Ok(match memory {
            ChannelMemory::Asked => Notice::Hearing(HearingNotice::Nobody {
                was: was == ChannelMemory::Channel,
                vocabulary,
            }),
            ChannelMemory::Channel if self.hearing.announce(store, &audience).await => {
                Notice::Hearing(HearingNotice::EverybodyNow(vocabulary))
            }
            // The platform cannot announce anything, or not now.
            ChannelMemory::Channel => Notice::Hearing(HearingNotice::Everybody(vocabulary)),
        })
    }

    /// Sets whether what people say to one another is kept, here or in the whole channel.
    pub(super) async fn set_recording(
        &self,
        message: &IncomingMessage,
        is_kept: bool,
        scope: Scope,
        vocabulary: &'static PlatformVocabulary,
    ) -> Result<Notice, StoreError> {
        let audience = channel(message);
        let place = match scope {
            Scope::Conversation => message.conversation.to_string(),
            Scope::Audience => audience.id.to_string(),
        };
        let change = if is_kept {
            HearingChange::OnTheRecord(place.clone())
        } else {
            HearingChange::OffTheRecord(place.clone())
        };
        let store = self.archive.store();
        let at = asked_at(message);
        self.hearing.change(store, &audience, &change, at).await?;
        let action = AuditAction::ChangedRecord;
        self.audit
            .record_message_action(message, action, &place, None)
            .await;
        let is_heard = self.hearing.memory(&audience.id) == ChannelMemory::Channel;
        let notice = Notice::Hearing(HearingNotice::Record {
            is_kept,
            scope,
            is_heard,
            vocabulary,
        });
        // It applies to everybody there, but only the author sees the reply.
        if is_heard && message.also_recalls.is_some() {
            let notice = notice.in_language(message.languages.place);
            let told = text!("asked-for-this", name = &message.author.name, notice);
            let told = told.in_language(message.languages.place);
            self.hearing.announce_text(&audience, &told).await;
        }
        Ok(notice)
    }

    /// From now on, keeps again what the author says to others here.
    pub(super) async fn opt_in(
        &self,
        message: &IncomingMessage,
        vocabulary: &'static PlatformVocabulary,
    ) -> Result<Notice, StoreError> {
        let (audience, store) = (channel(message), self.archive.store());
        let change = HearingChange::OptIn(message.author.id.clone());
        let at = asked_at(message);
        self.hearing.change(store, &audience, &change, at).await?;
        let about = audience.id.as_str();
        self.audit
            .record_message_action(message, AuditAction::OptedIn, about, None)
            .await;
        let is_heard = self.hearing.memory(&audience.id) == ChannelMemory::Channel;
        Ok(Notice::Hearing(HearingNotice::OptedIn {
            is_heard,
            vocabulary,
        }))
    }

    /// Stops keeping what the author tells others here, forgets what was kept, and returns how much that was. Does
    /// not wait for running turns.
    pub async fn opt_out(&self, message: &IncomingMessage, context: &CommandContext) -> String {
        let audience = channel(message);
        let change = HearingChange::OptOut(message.author.id.clone());
        let store = self.archive.store();
        let said = async {
            let at = asked_at(message);
            self.hearing.change(store, &audience, &change, at).await?;
            // After this, messages that were just being kept are in the graph and will be found.
            drop(self.hearing.keeping.lock().await);
            // So are answers that repeat them.
            self.archive.save_all_waiting().await?;
            let author = &message.author.id;
            let planning = self.plan_heard_withdrawal(&audience.id, message, context);
            let mut planned = planning.await?;
            let place = &audience.id;
            let forgetting = || self.archive.forget_heard_messages(place, author);
            let forgotten = retry_until_done(forgetting, MessageError::is_transient).await?;
            planned.add(self.plan_emptied(&forgotten, message, context).await);
            self.listening.forget_person(author);
            let (about, count) = (audience.id.as_str(), Some(forgotten.turns));
            self.audit
                .record_message_action(message, AuditAction::OptedOut, about, count)
                .await;
            let visible = self.withdrawals.carry_out(planned).await;
            Ok::<_, MessageError>((forgotten, visible))
        };
        let vocabulary = context.vocabulary;
        let notice = match said.await {
            Ok((forgotten, visible)) => {
                let notice = Notice::Hearing(HearingNotice::OptedOut {
                    messages: forgotten.turns,
                    vocabulary,
                });
                return forgotten_text(&notice, &forgotten, visible, message.language());
            }
            Err(MessageError::Graph(error)) => failure_notice(&error),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "what was forgotten is still in a file");
                Notice::Forget(ForgetNotice::StillInFile)
            }
        };
        notice.in_language(message.language())
    }

    /// Plans to withdraw the bot's messages that show what the author said to others in an audience, such as digests, before
    /// the record of them is deleted.
    async fn plan_heard_withdrawal(
        &self,
        audience: &AudienceId,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> Result<PlannedWithdrawals, StoreError> {
        let store = self.archive.store();
        let said = store
            .heard_messages_of(audience, &message.author.id)
            .await?;
        // Marked first: whoever keeps a message that shows them later withdraws it.
        let marks = said.iter().map(ForgottenEvent::from).collect();
        store.mark_forgotten(&marks).await?;
        let ids: Vec<ResponseId> = said.iter().map(|it| it.id).collect();
        let shown = store.delivered_messages_of(&ids).await?;
        let all = ForgottenConversation::of(&message.conversation, shown, false);
        Ok(self.plan_on_platforms(all, message, context).await)
    }
}

/// When a change was asked for, by the clock by which the messages around it are timed. Other clocks may be ahead.
fn asked_at(message: &IncomingMessage) -> DateTime<Utc> {
    message.sent_at.min(Utc::now())
}

/// The channel in which a message was written, also if its author asks privately there.
fn channel(message: &IncomingMessage) -> Audience {
    Audience {
        id: message.channel().clone(),
        ..message.audience.clone()
    }
}
