//! Withdrawals on platforms that other processes serve: they are left to these in the graph that they share.

use std::sync::Weak;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::Withdrawals;
use super::queue::Withdrawal;
use crate::graph::{GraphStore, StoreError};
use crate::memory::Archive;

/// How often withdrawals are left to other processes, and those of other processes are looked for.
const EXCHANGE_EVERY: Duration = Duration::from_secs(5);

impl Withdrawals {
    /// Leaves withdrawals to the processes that serve their platforms, and takes those that were left to this one, until
    /// `shutdown`.
    pub async fn exchange(&self, shutdown: CancellationToken) {
        let Some(store) = self.store.as_ref().filter(|store| store.is_shared()) else {
            return;
        };
        loop {
            if let Err(error) = self.exchange_once(store).await {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(
                    error,
                    "withdrawals are exchanged with other processes later"
                );
            }
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = sleep(EXCHANGE_EVERY) => {}
            }
        }
    }

    pub(super) async fn exchange_once(&self, store: &GraphStore) -> Result<(), StoreError> {
        if let Some(archive) = self.archive.get().and_then(Weak::upgrade) {
            self.hand_over(store, &archive).await?;
        }
        self.take_handed_over(store).await
    }

    /// Leaves to other processes what only they can reach.
    async fn hand_over(&self, store: &GraphStore, archive: &Archive) -> Result<(), StoreError> {
        let neighbours = archive.neighbours();
        let is_theirs = |platform: &str| {
            !self.platforms.contains_key(platform) && neighbours.serve_too(platform)
        };
        let theirs = self.queue().all_on(is_theirs);
        for (number, withdrawal) in theirs {
            let left = serde_json::to_string(&withdrawal)
                .map_err(|error| StoreError::Unexpected(error.to_string()))?;
            // First: after a kill in between it is done twice, which changes nothing.
            store.hand_over(&withdrawal.platform, &left).await?;
            self.queue().remove(number);
            self.write().await;
        }
        Ok(())
    }

    /// Takes what other processes left to those that can reach a platform.
    async fn take_handed_over(&self, store: &GraphStore) -> Result<(), StoreError> {
        let platforms = self.platforms.iter().map(|it| it.key().clone());
        let platforms: Vec<String> = platforms.collect();
        for platform in platforms {
            for (id, left) in store.handed_over(&platform).await? {
                // An unreadable one is from another version of this program, which may still take it.
                let Ok(Withdrawal { left, .. }) = serde_json::from_str(&left) else {
                    continue;
                };
                let withdraw = self.of(&platform);
                let planned = self.plan_withdrawal(&platform, withdraw, vec![left]).await;
                store.remove_handed_over(&id).await?;
                // Dropped, not carried out: nobody waits for it.
                drop(planned);
            }
        }
        Ok(())
    }
}
