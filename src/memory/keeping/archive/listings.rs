//! Records listings: messages that show turns without being their answer.

use super::Archive;
use crate::graph::answers::{DeliveredAnswer, Overlisted};
use crate::graph::items::ReadTurn;
use crate::graph::{ResponseId, StoreError};

impl Archive {
    /// Tells the graph which messages quote these answers, so that they are withdrawn when the answers are forgotten.
    /// Returns whether all answers still exist: whoever forgot one meanwhile may not have known of the quotes.
    ///
    /// # Errors
    /// Fails when the graph cannot be told, or some of the answers still wait for it.
    pub async fn record_quotes(
        &self,
        answers: &[ReadTurn],
        listing: &DeliveredAnswer,
    ) -> Result<bool, StoreError> {
        if answers.iter().any(|answer| self.journal.waits(answer.id)) {
            return Err(StoreError::Refused {
                message: "some of what a listing shows is still on its way to the graph".to_owned(),
                transient: true,
            });
        }
        let ids: Vec<ResponseId> = answers.iter().map(|answer| answer.id).collect();
        self.store.record_quotes(&ids, listing).await?;
        if let Err(error) = self.drop_oldest_listings(&ids).await {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(
                error,
                "what is listed too often keeps all its listings for now"
            );
        }
        Ok(!self.find_changed_turns(answers).await?.is_any_forgotten())
    }

    /// Withdraws the oldest listings of what is listed too often, as their record is deleted: whatever a listing shows, it
    /// goes when that is forgotten.
    async fn drop_oldest_listings(&self, answers: &[ResponseId]) -> Result<(), StoreError> {
        let Some(withdrawals) = &self.withdrawals else {
            return Ok(());
        };
        let overlisted = self.store.overlisted(answers).await?;
        let mut oldest: Vec<DeliveredAnswer> = Vec::new();
        for listing in overlisted.iter().flat_map(Overlisted::oldest) {
            if !oldest.contains(&listing) {
                oldest.push(listing);
            }
        }
        if !oldest.is_empty() {
            withdrawals.queue_withdrawals(oldest).await;
        }
        self.store.drop_oldest_listings(&overlisted).await
    }
}
