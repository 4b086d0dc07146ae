//! Handles one delivery of an event at a time.

use std::sync::Arc;

use dashmap::DashMap;
use muninn_platform::EventId;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Serialises deliveries of the same event that hold no session, such as commands that lock other sessions.
#[derive(Debug, Default)]
pub struct Deliveries(DashMap<EventId, Arc<Mutex<()>>>);

impl Deliveries {
    /// Waits for earlier deliveries of the event to finish. The caller holds no session, as those deliveries
    /// may wait for it.
    pub async fn lock_event(&self, event: &EventId) -> OwnedMutexGuard<()> {
        self.0.retain(|_, lock| Arc::strong_count(lock) > 1);
        let lock = self.0.entry(event.clone()).or_default().clone();
        lock.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_second_waits_for_the_first_and_nobody_for_another() {
        let deliveries = Deliveries::default();
        let (one, other) = (EventId::new("a/1"), EventId::new("a/2"));
        let first = deliveries.lock_event(&one).await;
        let second = deliveries.lock_event(&one);
        tokio::pin!(second);
        assert!(second.as_mut().now_or_never().is_none());
        drop(deliveries.lock_event(&other).await);
        drop(first);
        drop(second.await);
        drop(deliveries.lock_event(&other).await);
        assert_eq!(deliveries.0.len(), 1, "what nobody holds is dropped");
    }
}
