//! Permits for searches through the text of conversations. A search reads much of the graph, which also reads for turns.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// Maximum number of concurrent searches. The embedded graph reads one after the other, so with more a turn would wait for
/// several of them.
const MAX_SEARCHES: usize = 1;
/// Longest wait for a permit.
const PERMIT_WAIT: Duration = Duration::from_secs(5);

/// The permits: one for all, and one per account, so that nobody's searches stand before those of others.
#[derive(Debug)]
pub(super) struct SearchPermits {
    all: Semaphore,
    by_account: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// Held while a search runs.
#[derive(Debug)]
pub(super) struct SearchPermit<'a> {
    _of_account: OwnedSemaphorePermit,
    _of_all: SemaphorePermit<'a>,
}

impl Default for SearchPermits {
    fn default() -> Self {
        Self {
            all: Semaphore::new(MAX_SEARCHES),
            by_account: Mutex::default(),
        }
    }
}

impl SearchPermits {
    /// Waits until a search of an account may run. `None` if that takes too long.
    pub(super) async fn acquire(&self, account: &str) -> Option<SearchPermit<'_>> {
        let of_account = self.of_account(account);
        // An account that waits for its own earlier search takes none of the others.
        let acquired = async {
            Some(SearchPermit {
                _of_account: of_account.acquire_owned().await.ok()?,
                _of_all: self.all.acquire().await.ok()?,
            })
        };
        timeout(PERMIT_WAIT, acquired).await.ok()?
    }

    fn of_account(&self, account: &str) -> Arc<Semaphore> {
        let mut by_account = self.by_account.lock();
        // Drops those that no search holds or waits for.
        by_account.retain(|_, it| Arc::strong_count(it) > 1);
        let of_account = by_account.entry(account.to_owned());
        Arc::clone(of_account.or_insert_with(|| Arc::new(Semaphore::new(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_search_runs_at_a_time() {
        let permits = SearchPermits::default();
        let anns = permits.acquire("ann").await.unwrap();
        assert!(permits.acquire("ann").await.is_none());
        assert!(permits.acquire("bob").await.is_none());
        drop(anns);
        drop(permits.acquire("bob").await.unwrap());
        // Accounts that do not search are not kept.
        assert_eq!(permits.by_account.lock().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn searches_of_one_account_run_one_after_the_other() {
        let permits = SearchPermits::default();
        let searches = (0..30).map(async |_| permits.acquire("ann").await.is_some());
        let ran = futures::future::join_all(searches).await;
        assert!(ran.into_iter().all(|it| it));
    }
}
