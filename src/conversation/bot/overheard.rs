//! Taking in what people say to one another, beside what is asked.

use std::sync::Arc;

use muninn_platform::{
    Ack, Addressed, Arrival, Body, Command, ConversationId, EventId, Incoming, IncomingMessage,
    Reply,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Admitted, Bot};
use crate::conversation::in_flight::Revision;
use crate::conversation::intake::{BATCH, Unanswered};
use crate::conversation::turn::TurnError;
use crate::memory::{Edit, MessageError};

/// What was said to others, and what its adapter waits for.
type Said = Vec<(IncomingMessage, Ack)>;

impl Bot {
    /// Takes in what comes, in its order, until nothing can come any more, or until `stop`.
    pub(super) async fn hear_all(
        self: Arc<Self>,
        mut overheard: mpsc::Receiver<Arrival>,
        stop: CancellationToken,
    ) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                came = overheard.recv_many(&mut batch, BATCH) => if came == 0 { return },
            }
            let mut said: Said = Vec::with_capacity(batch.len());
            for arrival in batch.drain(..) {
                let (incoming, ack) = arrival.into_parts();
                let Incoming::Overheard(message) = incoming else {
                    ack.ack();
                    continue;
                };
                match message.body {
                    Body::Text(_) => said.push((message, ack)),
                    Body::Edit { .. } | Body::Deletion { .. } => {
                        // What it is about may be among them.
                        self.keep_said(&mut said, &stop).await;
                        self.hear_revision(message, ack, &stop).await;
                    }
                    Body::Command(_) => ack.ack(),
                }
            }
            self.keep_said(&mut said, &stop).await;
        }
    }

    async fn keep_said(self: &Arc<Self>, said: &mut Said, stop: &CancellationToken) {
        let messages: Vec<&IncomingMessage> = said.iter().map(|(message, _)| message).collect();
        if messages.is_empty() {
            return;
        }
        let kept = self.intake.keep(&messages, stop).await;
        let all = said.drain(..);
        match kept {
            Ok(untold) => {
                all.for_each(|(_, ack)| ack.ack());
                for audience in untold {
                    let bot = Arc::clone(self);
                    self.spawn(async move {
                        let rules = &bot.commands.hearing;
                        rules.announce(bot.archive.store(), &audience).await;
                    });
                }
            }
            // Nobody is told that they are kept, so they come again.
            Err(_) => drop(all),
        }
    }

    /// Follows a revision that was told beside its message, in its own line.
    async fn hear_revision(
        self: &Arc<Self>,
        message: IncomingMessage,
        ack: Ack,
        stop: &CancellationToken,
    ) {
        let room = Arc::clone(&self.heard_backlog).acquire_owned();
        let room = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            room = room => room,
        };
        // Nobody closes it.
        let Ok(room) = room else { return };
        let withdraw = self.commands.withdrawals.of(&message.audience.platform);
        let admitted = Admitted {
            message,
            reply: Box::new(Unanswered(withdraw)),
            ack,
        };
        self.take_in(admitted, room).await;
    }

    /// Keeps a message that turned out not to be for the bot, where people are heard.
    pub(super) async fn hear_unanswered(self: &Arc<Self>, message: &IncomingMessage) {
        let is_among_people = match message.addressed {
            Addressed::InConversation | Addressed::Overheard => true,
            Addressed::Directly => message.toward.omits_bot,
        };
        if !is_among_people || !self.commands.hearing.heard.hears(&message.audience.id) {
            return;
        }
        match self.intake.keep(&[message], &self.halt).await {
            Ok(untold) => {
                for audience in untold {
                    let rules = &self.commands.hearing;
                    rules.announce(self.archive.store(), &audience).await;
                }
            }
            Err(_) => tracing::error!(event = %message.event, "what was said could not be kept"),
        }
    }

    /// What people say to the bot as a sentence and is a command. A program that asks for somebody gives none so: what it
    /// asks may be in words that it read somewhere.
    pub(super) fn as_command(message: IncomingMessage) -> IncomingMessage {
        if message.through.is_some() {
            return message;
        }
        let command = match (&message.body, message.addressed) {
            (Body::Text(text), Addressed::Directly) => Command::in_a_sentence(text),
            (
                Body::Text(_) | Body::Command(_) | Body::Edit { .. } | Body::Deletion { .. },
                Addressed::Directly | Addressed::InConversation | Addressed::Overheard,
            ) => None,
        };
        match command {
            // What is to be remembered may be in the files: that is read like a question.
            Some(Command::Note(_)) if !message.attachments.is_empty() => message,
            Some(command) => IncomingMessage {
                body: Body::Command(command),
                ..message
            },
            None => message,
        }
    }

    /// What was only heard and says to the bot now what it says: as if it were said now. Gives it back where it is
    /// anything else.
    ///
    /// # Errors
    /// The revision, where its message was not heard or is not for the bot.
    pub(super) async fn newly_asked(
        &self,
        revision: Box<Revision>,
        of: &EventId,
    ) -> Result<(IncomingMessage, Box<dyn Reply>), Box<Revision>> {
        let Body::Edit { text, .. } = &revision.message.body else {
            return Err(revision);
        };
        if revision.message.addressed != Addressed::Directly {
            return Err(revision);
        }
        let heard = match self.turn_revised(&revision.message).await {
            Ok(Some(turn)) => turn.is_message(),
            Ok(None) | Err(_) => false,
        };
        if !heard {
            return Err(revision);
        }
        let body = Body::Text(text.clone());
        let Revision { message, reply } = *revision;
        let message = IncomingMessage {
            event: of.clone(),
            body,
            ..message
        };
        Ok((message, reply))
    }

    /// A message that was heard says something else now.
    pub(super) async fn rehear(
        &self,
        message: &IncomingMessage,
        of: &EventId,
        text: &str,
    ) -> Result<(), TurnError> {
        let edit = Edit {
            event: of,
            audience: &message.audience,
            author: &message.author.id,
            text: &self.intake.readable(text),
            at: message.sent_at,
        };
        self.commands.listening.let_go(of);
        match self.archive.edit_message(&edit).await {
            Ok(edited) => tracing::debug!(edited, event = %of, "an edit of what was heard"),
            Err(MessageError::Graph(error)) => return Err(error.into()),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "an edit could not be written into the journal");
            }
        }
        Ok(())
    }

    /// The line of a conversation, for a message that comes into it late.
    pub(super) async fn line_in(
        &self,
        conversation: &ConversationId,
    ) -> crate::graph::session::Place {
        self.sessions.queue(conversation).await
    }
}
