//! Queues per key: tasks with the same key run one after the other, in order of arrival. Different
//! keys do not wait for each other.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

/// The last entry of each key; the next one waits for it.
#[derive(Debug)]
pub struct KeyedQueue<K: Eq + Hash> {
    most: usize,
    waiting: Mutex<KeyedQueueState<K>>,
}

#[derive(Debug)]
struct KeyedQueueState<K> {
    last: HashMap<K, (u64, oneshot::Receiver<()>)>,
    /// Capacity for all keys together.
    places: usize,
}

/// A place in a queue. Dropping it leaves the queue, also when the task panics.
#[derive(Debug)]
pub struct QueuePlace<K: Eq + Hash> {
    queue: Arc<KeyedQueue<K>>,
    key: K,
    number: u64,
    before: Option<oneshot::Receiver<()>>,
    /// Dropped with the place, which releases the next one.
    _done: oneshot::Sender<()>,
}

impl<K: Clone + Eq + Hash> KeyedQueue<K> {
    /// Creates a queue in which at most `most` tasks of all keys together wait or run.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            waiting: Mutex::new(KeyedQueueState {
                last: HashMap::new(),
                places: 0,
            }),
        })
    }

    /// Takes the next place without waiting, in order of calls. `None`: the queue is full.
    pub fn enter(self: &Arc<Self>, key: K) -> Option<QueuePlace<K>> {
        let (done, is_done) = oneshot::channel();
        let mut waiting = self.waiting.lock();
        if waiting.places >= self.most {
            return None;
        }
        waiting.places += 1;
        let (number, before) = match waiting.last.remove(&key) {
            Some((number, before)) => (number + 1, Some(before)),
            None => (0, None),
        };
        waiting.last.insert(key.clone(), (number, is_done));
        drop(waiting);
        Some(QueuePlace {
            queue: Arc::clone(self),
            key,
            number,
            before,
            _done: done,
        })
    }

    /// Spawns a task that runs after the tasks of this key before it. `None`: the queue is full.
    pub fn spawn<T: Send + 'static>(
        self: &Arc<Self>,
        key: K,
        tasks: &TaskTracker,
        job: impl Future<Output = T> + Send + 'static,
    ) -> Option<JoinHandle<T>>
    where
        K: Send + 'static,
    {
        let mut place = self.enter(key)?;
        Some(tasks.spawn(async move {
            place.turn().await;
            let done = job.await;
            drop(place);
            done
        }))
    }
}

impl<K: Eq + Hash> KeyedQueue<K> {}

impl<K: Eq + Hash> QueuePlace<K> {
    /// Waits until all earlier places are left.
    pub async fn turn(&mut self) {
        if let Some(before) = self.before.take() {
            // Nothing is ever sent: the previous one dropped its end.
            let _ = before.await;
        }
    }
}

impl<K: Eq + Hash> Drop for QueuePlace<K> {
    fn drop(&mut self) {
        let mut waiting = self.queue.waiting.lock();
        waiting.places -= 1;
        // If nobody came after, the queue of this key is removed.
        let last = waiting.last.get(&self.key);
        if last.is_some_and(|(number, _)| *number == self.number) {
            waiting.last.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a job does; all of them note that they were begun.
    #[derive(Clone, Copy, Debug)]
    enum JobBehaviour {
        Done,
        Yields(u8),
        Panics,
    }

    fn job() -> impl Strategy<Value = JobBehaviour> {
        prop_oneof![
            Just(JobBehaviour::Done),
            (1_u8..5).prop_map(JobBehaviour::Yields),
            Just(JobBehaviour::Panics),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn each_key_keeps_its_order_whatever_its_jobs_do(
            jobs in proptest::collection::vec((0_u8..4, job()), 1..60),
        ) {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(3)
                .build()
                .unwrap();
            let begun: Arc<Mutex<Vec<(u8, usize)>>> = Arc::default();
            let queue = KeyedQueue::new(jobs.len());
            runtime.block_on(async {
                let tasks = TaskTracker::new();
                for (number, (key, job)) in jobs.iter().copied().enumerate() {
                    let begun = Arc::clone(&begun);
                    let spawned = queue.spawn(key, &tasks, async move {
                        begun.lock().push((key, number));
                        match job {
                            JobBehaviour::Done => {}
                            JobBehaviour::Yields(times) => {
                                for _ in 0..times {
                                    tokio::task::yield_now().await;
                                }
                            }
                            JobBehaviour::Panics => std::panic::resume_unwind(Box::new("meant")),
                        }
                    });
                    assert!(spawned.is_some());
                }
                tasks.close();
                tasks.wait().await;
            });
            let begun = begun.lock();
            prop_assert_eq!(begun.len(), jobs.len());
            for key in 0..4 {
                let of_key = begun.iter().filter(|(of, _)| *of == key);
                prop_assert!(of_key.map(|(_, number)| number).is_sorted());
            }
            let waiting = queue.waiting.lock();
            prop_assert!(waiting.last.is_empty() && waiting.places == 0);
        }
    }

    #[tokio::test]
    async fn one_too_many_is_refused_until_somebody_leaves() {
        let queue = KeyedQueue::new(2);
        let (first, second) = (queue.enter("a"), queue.enter("b"));
        assert!(first.is_some() && second.is_some());
        assert!(queue.enter("a").is_none() && queue.enter("c").is_none());
        drop(first);
        let mut place = queue.enter("c").unwrap();
        place.turn().await;
    }
}
