//! Tells the graph later what it could not be told when it happened: which messages carry an answer, and edits of turns that
//! it had saved already.

use std::sync::Arc;

use muninn_platform::{ConversationId, Delivered, EventId};

use super::Archive;
use crate::graph::answers::DeliveredAnswer;
use crate::graph::marks::CoveringMarks;
use crate::graph::{NewTurn, ResponseId, StoreError};

impl Archive {
    /// Keeps the delivered messages of an answer that is in the graph, until the graph can be told.
    pub(super) async fn record_delivery_later(
        &self,
        session: &ConversationId,
        response: ResponseId,
        covering: Option<CoveringMarks>,
        delivered: &Delivered,
    ) {
        let shown = DeliveredAnswer::new(session.clone(), delivered.clone());
        let keeping = self.journal.keep_delivery(response, shown, covering);
        if let Err(error) = keeping.await {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, %response, "that an answer went out could not be kept");
        }
    }

    /// Tells the graph which messages carry answers of which it does not know that. What was forgotten meanwhile, by somebody
    /// who did not know of the messages, is withdrawn.
    ///
    /// # Errors
    /// Fails when the graph cannot be reached.
    pub(in crate::memory) async fn tell_deliveries(&self) -> Result<(), StoreError> {
        for (response, shown, covering) in self.journal.untold_deliveries() {
            let (session, messages) = (&shown.session, &shown.messages);
            let told = match &covering {
                Some(by) => {
                    let telling = self
                        .store
                        .set_late_delivered(session, response, by, messages);
                    telling.await
                }
                None => self.store.set_delivered(response, messages).await,
            };
            match told {
                Ok(true) => {}
                Ok(false) => {
                    self.windows.forget(session);
                    self.withdraw(vec![shown]).await;
                }
                Err(error) if error.is_refusal() => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, %response, "the graph refuses which messages carry an answer");
                }
                Err(error) => return Err(error),
            }
            self.journal.mark_delivery_told(response);
        }
        Ok(())
    }

    /// Updates turns of the journal that the graph had saved already: the response to that was late or lost, so what happened to
    /// them since then is in the journal only.
    ///
    /// # Errors
    /// Fails when the graph cannot be reached.
    pub(in crate::memory) async fn update_saved(
        &self,
        turns: impl Iterator<Item = &Arc<NewTurn>>,
    ) -> Result<(), StoreError> {
        for turn in turns {
            match self.update_saved_turn(turn).await {
                Ok(()) => {}
                Err(error) if error.is_refusal() => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, response = %turn.turn.id, "the graph refuses what happened to a turn since it was saved");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn update_saved_turn(&self, new: &NewTurn) -> Result<(), StoreError> {
        let turn = &new.turn;
        if turn.delivered.is_none() && turn.revised_at.is_none() {
            return Ok(());
        }
        let saved = self.store.turn_of_event(&EventId::new(&turn.event)).await?;
        // Another process may have answered the event.
        if saved.as_ref().is_some_and(|saved| saved.id != turn.id) {
            return Ok(());
        }
        let edited_at = saved.as_ref().and_then(|saved| saved.revised_at);
        if saved.is_some() && !turn.is_answered() && edited_at < turn.revised_at {
            self.store.edit_message(new).await?;
            if let Some(recaller) = &self.recaller {
                recaller.forget(&new.audience.id);
            }
        }
        let is_known = saved.is_some_and(|saved| saved.delivered.is_some());
        if let Some(delivered) = turn.delivered.as_ref().filter(|_| !is_known)
            && !self.store.set_delivered(turn.id, delivered).await?
        {
            let session = ConversationId::new(&turn.session);
            let shown = DeliveredAnswer::new(session, delivered.clone());
            self.withdraw(vec![shown]).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use muninn_platform::MessageId;

    use super::*;
    use crate::graph::session::Sessions;
    use crate::graph::testing::failing_store;
    use crate::memory::keeping::journal::Journal;

    #[tokio::test(start_paused = true)]
    async fn what_the_graph_cannot_be_told_now_is_kept_until_it_can() {
        let away: fn() -> StoreError = || StoreError::Unreachable {
            url: "bolt://graph".to_owned(),
            source: None,
        };
        let refused: fn() -> StoreError = || StoreError::Invalid("too long".to_owned());
        let (session, response) = (ConversationId::new("terminal/a"), ResponseId::fresh());
        let delivered = Delivered(vec![MessageId::new("noted")]);
        let shown = DeliveredAnswer::new(session.clone(), delivered.clone());
        for (error, expected) in [(away, vec![(response, shown, None)]), (refused, Vec::new())] {
            let folder = tempfile::tempdir().unwrap();
            let journal = Journal::open(folder.path()).unwrap();
            let (store, sessions) = (failing_store(error), Arc::new(Sessions::default()));
            let archive = Archive::new(Arc::new(store), journal, sessions, 10);
            let stands = archive.delivered(&session, response, None, &delivered);
            assert!(stands.await);
            assert_eq!(archive.waiting(), 0);
            assert_eq!(archive.journal.untold_deliveries(), expected);
            let told = archive.tell_deliveries().await;
            assert_eq!(told.is_err(), !expected.is_empty());
            drop(archive);
            let journal = Journal::open(folder.path()).unwrap();
            assert_eq!(journal.untold_deliveries(), expected);
        }
    }
}
