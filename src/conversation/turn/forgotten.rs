//! Regenerates an answer if something that it was given was forgotten while it was written.

use muninn_platform::{IncomingMessage, Reply};

use super::draft::Draft;
use super::{KeptReason, Read, Regenerated, Regeneration, TurnError, TurnRunner, deliver};
use crate::conversation::interrupt::Interrupt;
use crate::conversation::notice::Notice;
use crate::graph::answers::DeliveredAnswer;
use crate::graph::items::ReadTurn;
use crate::graph::session::SessionGuard;
use crate::graph::{Forget, ResponseId, StoreError, TurnRead};

impl TurnRunner {
    /// Whether an input of the answer was forgotten meanwhile, emptied because it repeats something forgotten, or
    /// regenerated. If so, such turns are hidden from the next recall.
    pub(super) async fn rests_on_forgotten(
        &self,
        message: &IncomingMessage,
        draft: &Draft,
        read: &Read,
    ) -> bool {
        // The heard copy of the event itself is replaced by the answer.
        let window = read.context.window.iter();
        let window = window.filter(|turn| turn.event != message.event.as_str());
        let mut given: Vec<ReadTurn> = window.map(ReadTurn::from).collect();
        let recalled = draft.recalled.iter();
        given.extend(recalled.map(|it| ReadTurn::new(it.id, &it.output)));
        let listed = draft.evidence.listed.iter();
        given.extend(listed.map(|id| ReadTurn::new(*id, "")));
        let looking = async {
            if read.context.summary.is_none() {
                let gone = self.archive.find_changed_turns(&given).await?;
                return Ok(!gone.is_empty());
            }
            let looking = self.archive.find_changed_turns_and_epochs(&given);
            let (gone, epochs) = looking.await?;
            if !gone.is_empty() {
                return Ok(true);
            }
            // Usually this says it without another read.
            let epoch = epochs.get(&message.audience.id);
            let is_as_read = epoch == Some(&read.context.news.epoch);
            Ok(!is_as_read && self.has_lost_summary(message, read).await?)
        };
        let changed: Result<bool, StoreError> = looking.await;
        match changed {
            Ok(false) => false,
            Ok(true) => {
                let audiences = message.recalled_audiences().into_iter();
                audiences.for_each(|audience| self.recaller.forget(audience));
                true
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(
                    error,
                    "whether something was forgotten meanwhile cannot be known"
                );
                false
            }
        }
    }

    /// Whether something was forgotten in the audience meanwhile, and with it the summary that the answer was given.
    async fn has_lost_summary(
        &self,
        message: &IncomingMessage,
        read: &Read,
    ) -> Result<bool, StoreError> {
        let Some(given) = &read.context.summary else {
            return Ok(false);
        };
        let asked = TurnRead {
            session: &message.conversation,
            audience: &message.audience.id,
            event: &message.event,
            window: 0,
            seen: i64::MAX,
        };
        let now = self.archive.store().begin_turn(&asked).await?;
        // One that was extended forgets nothing.
        let stands = now
            .summary
            .is_some_and(|summary| summary.text == given.text);
        Ok(!stands && now.news.epoch != read.context.news.epoch)
    }

    /// Whether a turn is known to be forgotten, or about to be.
    pub(super) async fn is_forgotten(&self, kept: ResponseId) -> bool {
        let asked = [ReadTurn::new(kept, "")];
        let gone = self
            .archive
            .find_changed_turns(&asked)
            .await
            .unwrap_or_default();
        !gone.forgotten.is_empty()
    }

    /// Regenerates a kept answer whose inputs were forgotten at the same moment. `shown` are its messages, if it was
    /// delivered.
    pub(super) async fn without_forgotten(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        kept: ResponseId,
        shown: Option<DeliveredAnswer>,
        reply: &mut dyn Reply,
        interrupt: &Interrupt,
    ) -> Result<Regenerated, TurnError> {
        let again = Regeneration::Unshown;
        let mut anew = self
            .regenerate(guard, message, kept, again, reply, interrupt)
            .await;
        if matches!(anew, Ok(Err(KeptReason::Stopped))) && interrupt.is_superseded() {
            // The edit is followed once this answer exists.
            let unhindered = Interrupt::default();
            anew = self
                .regenerate(guard, message, kept, again, reply, &unhindered)
                .await;
        }
        let notice = match anew {
            Ok(Ok(regenerated)) => return Ok(regenerated),
            Ok(Err(KeptReason::Stopped)) => Notice::Stopped,
            Ok(Err(
                KeptReason::Same
                | KeptReason::OutOfWindow
                | KeptReason::NotTheirs
                | KeptReason::CallResult,
            ))
            | Err(_) => Notice::Failed,
        };
        if self.is_forgotten(kept).await {
            // The question was forgotten too: nobody waits for an answer.
            self.withdraw_outdated(reply, shown).await;
        } else {
            // Replaces what was shown, and comes first: after a kill in between, the notice is sent again, and the turn is
            // not forgotten silently.
            deliver(reply, &notice.in_language(message.language())).await;
        }
        let forgetting = self.archive.store().forget(guard, Forget::Turn(kept));
        if let Err(error) = forgetting.await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, response = %kept, "an answer that nobody was given stays kept");
        }
        self.recaller.forget(&message.audience.id);
        Ok(Regenerated::Over)
    }
}
