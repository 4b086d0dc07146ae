//! A fair semaphore for turns: people take turns in getting a permit.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A semaphore that hands out permits to waiting people in rotation. Somebody with a hundred questions
/// waits for a hundred turns, and delays nobody else.
#[derive(Debug)]
pub(super) struct FairSemaphore {
    state: Mutex<SemaphoreState>,
}

#[derive(Debug)]
struct SemaphoreState {
    free: usize,
    /// One queue per person. The first person is served next and then moves to the end.
    lines: VecDeque<PersonQueue>,
}

#[derive(Debug)]
struct PersonQueue {
    person: String,
    waiting: VecDeque<oneshot::Sender<Permit>>,
}

/// The right to a turn, until it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    of: Arc<FairSemaphore>,
}

impl FairSemaphore {
    pub(super) fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(SemaphoreState {
                free: permits,
                lines: VecDeque::new(),
            }),
        })
    }

    fn state(&self) -> MutexGuard<'_, SemaphoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a permit in the person's queue.
    pub(super) async fn acquire(self: &Arc<Self>, person: &str) -> Permit {
        loop {
            let waiting = {
                let mut state = self.state();
                if state.free > 0 {
                    state.free -= 1;
                    return self.permit();
                }
                state.join(person)
            };
            // No permit is lost on the way, so a retry happens only after a bug.
            if let Ok(permit) = waiting.await {
                return permit;
            }
        }
    }

    fn permit(self: &Arc<Self>) -> Permit {
        Permit {
            of: Arc::clone(self),
        }
    }
}

impl SemaphoreState {
    fn join(&mut self, person: &str) -> oneshot::Receiver<Permit> {
        let (sender, receiver) = oneshot::channel();
        match self.lines.iter_mut().find(|line| line.person == person) {
            Some(line) => line.waiting.push_back(sender),
            None => self.lines.push_back(PersonQueue {
                person: person.to_owned(),
                waiting: VecDeque::from([sender]),
            }),
        }
        receiver
    }

    /// The next one to receive a permit.
    fn next(&mut self) -> Option<oneshot::Sender<Permit>> {
        let mut line = self.lines.pop_front()?;
        let next = line.waiting.pop_front();
        if !line.waiting.is_empty() {
            self.lines.push_back(line);
        }
        next
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        loop {
            let next = {
                let mut state = self.of.state();
                let next = state.next();
                if next.is_none() {
                    state.free += 1;
                }
                next
            };
            let Some(next) = next else { return };
            // Whoever gave up waiting needs no permit.
            if !next.is_closed() {
                // If the receiver gave up just now, the permit is dropped and goes to the next one.
                drop(next.send(self.of.permit()));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn permits_go_round_the_people() {
        let places = FairSemaphore::new(1);
        let first = places.acquire("ada").await;
        let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
        for person in ["ada", "ada", "ada", "bob", "cleo", "bob"] {
            let (places, said) = (Arc::clone(&places), said.clone());
            tokio::spawn(async move {
                let _permit = places.acquire(person).await;
                said.send(person).unwrap();
            });
            tokio::task::yield_now().await;
        }
        drop((first, said));
        let mut order = Vec::new();
        while let Some(person) = heard.recv().await {
            order.push(person);
        }
        assert_eq!(order, ["ada", "bob", "cleo", "ada", "bob", "ada"]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_keeps_nobody_waiting() {
        let places = FairSemaphore::new(1);
        let first = places.acquire("ada").await;
        let gives_up = {
            let places = Arc::clone(&places);
            tokio::spawn(async move { places.acquire("bob").await })
        };
        tokio::task::yield_now().await;
        gives_up.abort();
        let _ = gives_up.await;
        drop(first);
        let again = places.acquire("cleo").await;
        drop(again);
        let _one = places.acquire("ada").await;
    }
}
