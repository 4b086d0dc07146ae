//! Keeping what people say to one another.
//!
//! A message is a turn that nothing answers ([`Source::Message`](crate::graph::Source)). It stands on the chain of its
//! thread, so whatever keeps, finds, exports and forgets turns does the same with it.

use std::collections::HashSet;
use std::sync::Arc;

use muninn_platform::ConversationId;

use super::archive::Archive;
use super::journal::JournalError;
use crate::graph::{NewTurn, StoreError};

/// Messages of one transaction at most.
const MOST: usize = 400;

impl Archive {
    /// Keeps messages, of any threads and audiences, each event once: in the graph, or in the journal while that is
    /// away or earlier ones of their thread wait there. When this returns, they cannot be lost.
    ///
    /// Nothing waits for a turn that is under way in the thread. What cannot be embedded now is embedded later.
    ///
    /// # Errors
    /// When the graph did not take some of them and they could not be written into the journal either. Those that
    /// were kept are kept; all of them may be handed over again.
    pub async fn keep_messages(&self, messages: Vec<NewTurn>) -> Result<(), JournalError> {
        let mut seen = HashSet::new();
        let mut messages: Vec<NewTurn> = messages
            .into_iter()
            .filter(|it| seen.insert(it.turn.event.clone()))
            .filter(|it| self.journal.turn_of_event(&it.turn.event).is_none())
            .collect();
        if let Some(recaller) = &self.recaller {
            recaller.embed_messages(&mut messages).await;
        }
        let messages: Vec<Arc<NewTurn>> = messages.into_iter().map(Arc::new).collect();
        for part in messages.chunks(MOST) {
            self.keep_part(part).await?;
            for message in part {
                let session = ConversationId::new(&message.turn.session);
                self.windows.hear(&session, &message.turn);
            }
        }
        Ok(())
    }

    /// Keeps as many messages as one transaction takes.
    async fn keep_part(&self, part: &[Arc<NewTurn>]) -> Result<(), JournalError> {
        // Behind those of their thread that wait already: the chain has one order.
        let waits = |it: &&Arc<NewTurn>| self.is_away() || self.journal.holds(&it.turn.session);
        let (mut waiting, direct): (Vec<_>, Vec<_>) = part.iter().partition(waits);
        let direct: Vec<Arc<NewTurn>> = direct.into_iter().cloned().collect();
        if !direct.is_empty()
            && let Err(error) = self.store().append_all(&[], &direct).await
        {
            self.not_taken(&error);
            // In their order, also of threads that waited already.
            waiting = part.iter().collect();
        }
        if waiting.is_empty() {
            return Ok(());
        }
        let waiting = waiting.into_iter().map(|it| NewTurn::clone(it)).collect();
        self.journal.keep_all(waiting).await
    }

    fn not_taken(&self, error: &StoreError) {
        if error.is_outage() {
            self.went_away(error);
        } else {
            let error = error as &dyn std::error::Error;
            tracing::error!(
                error,
                "the graph refused messages; they wait in the journal"
            );
        }
    }
}
