//! What people do with single things that are remembered.

use muninn_platform::{Body, Command, ForgetWhat, IncomingMessage, Reply};

use super::Bot;
use crate::conversation::commands::CommandContext;
use crate::conversation::notice::Notice;
use crate::conversation::turn::{TurnError, deliver, tell_privately};
use crate::graph::Turn;
use crate::graph::session::SessionGuard;
use muninn_platform::EventId;
use muninn_platform::redact::is_redacted;

impl Bot {
    /// Notes something, or lists, corrects or forgets what was said. No session is held.
    pub(super) async fn see_to_items(
        &self,
        message: &IncomingMessage,
        command: &Command,
        reply: &mut dyn Reply,
    ) {
        let context = CommandContext::of(reply);
        let (commands, sessions) = (&self.commands, &self.sessions);
        let said = match command {
            Command::Memory(listing) => {
                let listed = commands.list(message, listing).await;
                return tell_privately(reply, &listed).await;
            }
            Command::Note(text) => {
                let text = self.intake.readable(text);
                let said = commands.note(message, &text, context.vocabulary).await;
                with_notice(said, &text)
            }
            Command::Correct { number, text } => {
                let text = self.intake.readable(text);
                let corrected =
                    commands.correct(sessions, message, (*number, &text), context.vocabulary);
                with_notice(corrected.await, &text)
            }
            Command::Forget(ForgetWhat::Item(number)) => {
                commands
                    .forget_item(sessions, message, *number, &context)
                    .await
            }
            other => {
                tracing::error!(?other, "a command about nothing that is kept");
                Notice::Failed.to_string()
            }
        };
        deliver(reply, &said).await;
    }

    /// A note says something else now, or is none any more. A correction that says nothing else stays.
    pub(super) async fn follow_note(
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
        match Command::in_a_sentence(text) {
            Some(Command::Note(text) | Command::Correct { text, .. }) if !text.is_empty() => {
                self.rehear(message, &event, &text).await
            }
            Some(_) | None if note.reply_to.is_some() => Ok(()),
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

/// What is said of something that was kept, and of a secret that was in it.
fn with_notice(said: String, kept: &str) -> String {
    if is_redacted(kept) {
        format!("{said}\n\n{}", Notice::SecretRemoved)
    } else {
        said
    }
}
