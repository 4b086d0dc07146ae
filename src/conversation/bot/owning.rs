//! Commands with which people handle single remembered items.

use muninn_platform::{
    Body, Command, ForgetWhat, IncomingMessage, ItemDeed, Language, PrivateFallback, Reply,
};

use super::Bot;
use crate::conversation::commands::{CommandContext, WhichItem};
use crate::conversation::notice::Notice;
use crate::conversation::turn::{TurnError, deliver, tell_asker, tell_privately};
use crate::graph::Turn;
use crate::graph::marks::Covered;
use crate::graph::session::SessionGuard;
use muninn_platform::EventId;
use muninn_platform::redact::is_redacted;

impl Bot {
    /// Notes, lists, corrects or forgets items. The caller holds no session.
    pub(super) async fn handle_item_command(
        &self,
        message: &IncomingMessage,
        command: &Command,
        reply: &mut dyn Reply,
    ) {
        let context = CommandContext::of(reply);
        let message = &self.commands.people.with_private_memory(message).await;
        let (commands, sessions) = (&self.commands, &self.sessions);
        let said = match command {
            Command::Memory(listing) => {
                let listed = commands.list(message, listing).await;
                return tell_privately(reply, &listed, PrivateFallback::Nowhere).await;
            }
            Command::Note(text) => {
                let text = self.intake.readable(text);
                match commands.note(message, &text, context.vocabulary).await {
                    Ok(noted) => {
                        let said = noted.in_language(message.language());
                        with_notice(said, &text, message.language())
                    }
                    Err(refused) => {
                        let said = refused.in_language(message.language());
                        return tell_asker(reply, &said).await;
                    }
                }
            }
            Command::Correct { number, text } => {
                let which = WhichItem::Number(*number);
                self.correct(message, which, text, &context).await
            }
            Command::Shown(item, ItemDeed::Correct(text)) => {
                let which = WhichItem::Shown(item);
                self.correct(message, which, text, &context).await
            }
            Command::Shown(item, ItemDeed::Forget) => {
                let which = WhichItem::Shown(item);
                commands
                    .forget_item(sessions, message, which, &context)
                    .await
            }
            Command::Shown(item, deed @ (ItemDeed::Approve | ItemDeed::Decline)) => {
                let is_yes = *deed == ItemDeed::Approve;
                return self.handle_button(message, item, is_yes, reply).await;
            }
            Command::Decide { asked, is_yes } => {
                return self.handle_reaction(message, asked, *is_yes, reply).await;
            }
            Command::Forget(ForgetWhat::Me { is_confirmed }) => {
                let said = self.forget_me(message, *is_confirmed, &context).await;
                return tell_privately(reply, &said, PrivateFallback::Nowhere).await;
            }
            Command::Forget(ForgetWhat::Item(number)) => {
                let which = WhichItem::Number(*number);
                commands
                    .forget_item(sessions, message, which, &context)
                    .await
            }
            other => {
                tracing::error!(?other, "a command about nothing that is kept");
                Notice::Failed.in_language(message.language())
            }
        };
        deliver(reply, &said).await;
    }

    async fn correct(
        &self,
        message: &IncomingMessage,
        which: WhichItem<'_>,
        text: &str,
        context: &CommandContext,
    ) -> String {
        let text = self.intake.readable(text);
        let correction = (which, text.as_str());
        let corrected =
            self.commands
                .correct(&self.sessions, message, correction, context.vocabulary);
        with_notice(corrected.await, &text, message.language())
    }

    /// Sends the author a copy of what is kept of them. The caller holds no session.
    pub(super) async fn export_mine(&self, message: &IncomingMessage, reply: &mut dyn Reply) {
        reply.show_typing().await;
        let said = self.commands.export_mine(message, reply).await;
        tell_asker(reply, &said).await;
    }

    /// Forgets everything of the author, including their running turns.
    async fn forget_me(
        &self,
        message: &IncomingMessage,
        is_confirmed: bool,
        context: &CommandContext,
    ) -> String {
        let accounts = message.accounts();
        if is_confirmed {
            // A command that is delivered again after a crash does not affect what was asked after it.
            let people: Vec<_> = accounts.iter().map(|it| Covered::Person(it)).collect();
            let cancelled = self.in_flight.cancel_asked_before(message, &people);
            for conversation in cancelled {
                // When the lock is free, the turn that held the conversation has ended.
                drop(self.sessions.lock(&conversation).await);
            }
        }
        if is_confirmed {
            self.sign_out(&accounts);
        }
        let forgotten = self
            .commands
            .forget_me(message, accounts, is_confirmed, context);
        forgotten.await
    }

    /// Updates or removes a note after its message was edited or deleted. A correction whose text has
    /// not changed stays, and so does a proposed note if the message still agrees to it.
    pub(super) async fn revise_note(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        note: &Turn,
        reply: &dyn Reply,
    ) -> Result<(), TurnError> {
        let Body::Edit { text, .. } = &message.body else {
            return Ok(());
        };
        let event = EventId::new(&note.event);
        match Command::parse_sentence(text) {
            Some(Command::Note(text) | Command::Correct { text, .. }) if !text.is_empty() => {
                self.update_heard_message(message, &event, &text).await
            }
            Some(_) | None if note.reply_to.is_some() => Ok(()),
            Some(_) | None
                if self
                    .commands
                    .is_still_agreed(guard.session(), message, note, text)
                    .await? =>
            {
                Ok(())
            }
            Some(_) | None => {
                let context = CommandContext::of(reply);
                let forgotten = self.commands.forget_turn(guard, message, note.id, &context);
                let (forgotten, planned) = forgotten.await;
                self.commands.withdrawals.carry_out(planned).await;
                forgotten?;
                Ok(())
            }
        }
    }
}

/// Appends to an answer that a secret was removed from what was kept.
fn with_notice(said: String, kept: &str, language: Language) -> String {
    if is_redacted(kept) {
        format!("{said}\n\n{}", Notice::SecretRemoved.in_language(language))
    } else {
        said
    }
}
