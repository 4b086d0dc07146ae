//! Runs one turn at a time per session, in the order in which the messages arrived.
//!
//! It knows nothing of platforms, models or the graph.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use dashmap::DashMap;
use muninn_platform::ConversationId;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Gives one task at a time the right to work on a session.
#[derive(Debug, Default)]
pub struct Sessions {
    locks: DashMap<ConversationId, Arc<Mutex<()>>>,
}

/// Proof that its holder is the only one in this process working on the session.
///
/// Everything that writes to the chain requires a `&SessionGuard`.
#[derive(Debug)]
pub struct SessionGuard {
    session: ConversationId,
    _guard: OwnedMutexGuard<()>,
}

/// A place in a session's queue. Awaiting [`SessionQueuePlace::turn`] waits for those before it.
pub struct SessionQueuePlace {
    session: ConversationId,
    waiting: Pin<Box<dyn Future<Output = OwnedMutexGuard<()>> + Send>>,
    arrived: Option<OwnedMutexGuard<()>>,
}

impl Sessions {
    /// Takes a place in the session's queue at once, so that messages are served in order of
    /// arrival, whichever task waits where.
    pub async fn queue(&self, session: &ConversationId) -> SessionQueuePlace {
        // Clone the lock out of the map first: its entry must not be held while we wait.
        let lock = self.locks.entry(session.clone()).or_default().clone();
        let mut waiting: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(lock.lock_owned());
        // The first poll takes the place in the queue.
        let arrived = std::future::poll_fn(|context| {
            Poll::Ready(match waiting.as_mut().poll(context) {
                Poll::Ready(guard) => Some(guard),
                Poll::Pending => None,
            })
        })
        .await;
        SessionQueuePlace {
            session: session.clone(),
            waiting,
            arrived,
        }
    }

    /// Waits for earlier turns of the session to finish.
    pub async fn lock(&self, session: &ConversationId) -> SessionGuard {
        self.queue(session).await.turn().await
    }

    /// The right to work on the session, if nobody has it or waits for it.
    pub fn try_lock(&self, session: &ConversationId) -> Option<SessionGuard> {
        let lock = self.locks.entry(session.clone()).or_default().clone();
        let guard = lock.try_lock_owned().ok()?;
        Some(SessionGuard {
            session: session.clone(),
            _guard: guard,
        })
    }

    /// Number of running and waiting turns of the session.
    pub fn line(&self, session: &ConversationId) -> usize {
        self.locks
            .get(session)
            .map_or(0, |lock| Arc::strong_count(&lock) - 1)
    }

    /// Drops the locks that nobody holds or waits for.
    pub fn sweep(&self) {
        self.locks.retain(|_, lock| Arc::strong_count(lock) > 1);
    }

    /// Number of sessions with a lock.
    pub fn len(&self) -> usize {
        self.locks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.locks.is_empty()
    }
}

impl SessionQueuePlace {
    pub async fn turn(self) -> SessionGuard {
        SessionGuard {
            session: self.session,
            _guard: match self.arrived {
                Some(guard) => guard,
                None => self.waiting.await,
            },
        }
    }
}

impl std::fmt::Debug for SessionQueuePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionQueuePlace")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

impl SessionGuard {
    pub fn session(&self) -> &ConversationId {
        &self.session
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_session_that_is_worked_on_is_not_free() {
        let sessions = Sessions::default();
        let a = ConversationId::new("a");
        let held = sessions.lock(&a).await;
        assert!(sessions.try_lock(&a).is_none());
        drop(held);
        assert!(sessions.try_lock(&a).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_turn_waits_for_the_first() {
        let sessions = Sessions::default();
        let a = ConversationId::new("a");
        let first = sessions.lock(&a).await;
        let second = sessions.lock(&a);
        tokio::pin!(second);
        assert!(
            tokio::time::timeout(Duration::from_secs(1), &mut second)
                .await
                .is_err()
        );
        drop(first);
        assert_eq!(second.await.session(), &a);
    }

    #[tokio::test]
    async fn places_are_served_in_the_order_they_were_taken() {
        let sessions = Sessions::default();
        let a = ConversationId::new("a");
        let mut places = Vec::new();
        for n in 0..20 {
            places.push((n, sessions.queue(&a).await));
        }
        let (sender, mut served) = tokio::sync::mpsc::unbounded_channel();
        // Awaited in the opposite order, but served in the order of the queue.
        for (n, place) in places.into_iter().rev() {
            let sender = sender.clone();
            tokio::spawn(async move {
                let _guard = place.turn().await;
                sender.send(n).unwrap();
            });
        }
        drop(sender);
        for n in 0..20 {
            assert_eq!(served.recv().await, Some(n));
        }
    }

    #[tokio::test]
    async fn sweeping_keeps_the_locks_in_use() {
        let sessions = Sessions::default();
        let held = sessions.lock(&ConversationId::new("a")).await;
        let waiting = sessions.queue(&ConversationId::new("a")).await;
        drop(sessions.lock(&ConversationId::new("b")).await);
        sessions.sweep();
        assert_eq!(sessions.len(), 1);
        assert_eq!(sessions.line(held.session()), 2);
        drop((held, waiting));
        sessions.sweep();
        assert!(sessions.is_empty());
    }
}
