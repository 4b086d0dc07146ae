//! Handles what people say to one another, beside the messages for the bot.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::{
    Ack, Addressed, Arrival, Body, Command, ConversationId, EventId, Incoming, IncomingMessage,
    SilentReply,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Admitted, Bot};
use crate::conversation::in_flight::Revision;
use crate::conversation::intake::{BATCH, HeardMessage};
use crate::conversation::turn::TurnError;
use crate::graph::{StoreError, Turn};
use crate::memory::{Edit, MessageError};

/// Overheard messages with the acknowledgements that their adapters wait for.
type OverheardBatch = Vec<(IncomingMessage, Ack)>;

/// Whether a message has a turn that was only heard.
pub(super) fn is_only_heard(turn: Result<Option<Turn>, StoreError>) -> bool {
    turn.is_ok_and(|turn| turn.is_some_and(|turn| turn.is_message()))
}

impl Bot {
    /// Handles overheard messages in order, until the inbox is closed or `stop` is cancelled.
    pub(super) async fn process_overheard(
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
            let mut said: OverheardBatch = Vec::with_capacity(batch.len());
            for arrival in batch.drain(..) {
                let (incoming, ack) = arrival.into_parts();
                let Incoming::Overheard(message) = incoming else {
                    ack.ack();
                    continue;
                };
                match message.body {
                    Body::Text(_) => said.push((message, ack)),
                    Body::Edit { .. } | Body::Deletion { .. } => {
                        // The message that it revises may be among them.
                        self.keep_overheard_batch(&mut said, &stop).await;
                        self.revise_overheard(message, ack, &stop).await;
                    }
                    Body::Command(_) => ack.ack(),
                }
            }
            self.keep_overheard_batch(&mut said, &stop).await;
        }
    }

    async fn keep_overheard_batch(
        self: &Arc<Self>,
        said: &mut OverheardBatch,
        stop: &CancellationToken,
    ) {
        let messages: Vec<HeardMessage<'_>> =
            said.iter().map(|(message, _)| message.into()).collect();
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
            // Dropped without an acknowledgement, so the platform delivers them again.
            Err(_) => drop(all),
        }
    }

    /// Follows an overheard edit or deletion, in the queue of its message.
    async fn revise_overheard(
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
        // The semaphore is never closed.
        let Ok(room) = room else { return };
        let withdraw = self.commands.withdrawals.of(&message.audience.platform);
        let admitted = Admitted {
            message,
            reply: Box::new(SilentReply(withdraw)),
            ack,
        };
        self.enqueue_message(admitted, room).await;
    }

    /// Keeps a message that turned out not to be for the bot, where people are heard. `revised_at` is when its text got its
    /// present form.
    pub(super) async fn keep_unanswered(
        self: &Arc<Self>,
        message: &IncomingMessage,
        revised_at: Option<DateTime<Utc>>,
    ) {
        let is_among_people = match message.addressed {
            Addressed::InConversation | Addressed::Overheard => true,
            Addressed::Directly => message.toward.omits_bot,
        };
        if !is_among_people || !self.commands.hearing.heard.hears(&message.audience.id) {
            return;
        }
        let said = HeardMessage {
            message,
            revised_at,
        };
        match self.intake.keep(&[said], &self.halt).await {
            Ok(untold) => {
                for audience in untold {
                    let rules = &self.commands.hearing;
                    rules.announce(self.archive.store(), &audience).await;
                }
            }
            Err(_) => tracing::error!(event = %message.event, "what was said could not be kept"),
        }
    }

    /// Turns a sentence to the bot that is a command into that command. Messages of a program are never commands: it may
    /// repeat words that it read somewhere.
    pub(super) fn as_command(message: IncomingMessage) -> IncomingMessage {
        if message.through.is_some() {
            return message;
        }
        let command = match (&message.body, message.addressed) {
            (Body::Text(text), Addressed::Directly) => Command::parse_sentence(text),
            (
                Body::Text(_) | Body::Command(_) | Body::Edit { .. } | Body::Deletion { .. },
                Addressed::Directly | Addressed::InConversation | Addressed::Overheard,
            ) => None,
        };
        match command {
            // What is to be noted may be in the files, so it is read like a question.
            Some(Command::Note(_)) if !message.attachments.is_empty() => message,
            Some(command) => IncomingMessage {
                body: Body::Command(command),
                ..message
            },
            None => message,
        }
    }

    /// Whether an edit asks the bot something that it answers there, and its message was only heard.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub(super) async fn addresses_heard_message(
        &self,
        revision: &Revision,
    ) -> Result<bool, StoreError> {
        let Revision { message, .. } = revision;
        let Body::Edit { text, .. } = &message.body else {
            return Ok(false);
        };
        let is_question = !text.trim().is_empty() || !message.attachments.is_empty();
        if !is_question || message.addressed != Addressed::Directly {
            return Ok(false);
        }
        let turn = self.find_revised_turn(message).await?;
        if !turn.is_some_and(|turn| turn.is_message()) {
            return Ok(false);
        }
        let ignored = self.ignore_reason(message, text, message.addressed);
        Ok(ignored.await.is_none())
    }

    /// Answers an edit of what was said to others as a new message. Returns whether it needs nothing more.
    pub(super) async fn answer_edit(self: &Arc<Self>, edit: Revision, of: &EventId) -> bool {
        let Revision { message, reply } = edit;
        let Body::Edit { text, .. } = &message.body else {
            return true;
        };
        let body = Body::Text(text.clone());
        let message = IncomingMessage {
            event: of.clone(),
            body,
            ..message
        };
        let line = self.join_conversation_queue(&message.conversation).await;
        self.in_flight.add_message(&message);
        let is_done = Box::pin(self.serve(line, message.clone(), reply, false)).await;
        if is_done {
            // It was claimed under its own event, and not under that of the edit.
            self.pending.mark_done(of);
        }
        is_done || self.keep_undelivered(&message).await
    }

    /// Updates a heard message after an edit.
    pub(super) async fn update_heard_message(
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
        self.commands.listening.drop_held(of);
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

    /// The queue of a conversation, for a message that joins it late.
    pub(super) async fn join_conversation_queue(
        &self,
        conversation: &ConversationId,
    ) -> crate::graph::session::SessionQueuePlace {
        self.sessions.queue(conversation).await
    }
}
