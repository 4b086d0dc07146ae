//! What is to be done for a channel, one thing after the other; channels do not wait for each other.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serenity::model::id::ChannelId;
use tokio_util::task::TaskTracker;

/// Events that wait in all lines. The gateway cannot be told to wait, so what is above is lost, and
/// the log says so.
const MOST_WAITING: usize = 16_384;

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Default)]
struct Waiting {
    /// A channel is here as long as somebody works for it.
    lines: HashMap<ChannelId, VecDeque<Job>>,
    number: usize,
}

#[derive(Default)]
pub(crate) struct Lines {
    waiting: Mutex<Waiting>,
    workers: TaskTracker,
}

impl Lines {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Jobs run outside of it, so no panic of theirs is seen here.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets something be done after what waits for this channel already. False: too much waits.
    pub(crate) fn put(
        self: &Arc<Self>,
        channel: ChannelId,
        job: impl Future<Output = ()> + Send + 'static,
    ) -> bool {
        let mut waiting = self.waiting();
        if waiting.number >= MOST_WAITING {
            return false;
        }
        waiting.number += 1;
        let is_new = !waiting.lines.contains_key(&channel);
        waiting
            .lines
            .entry(channel)
            .or_default()
            .push_back(Box::pin(job));
        drop(waiting);
        if is_new {
            let lines = Arc::clone(self);
            self.workers.spawn(async move { lines.work(channel).await });
        }
        true
    }

    async fn work(&self, channel: ChannelId) {
        while let Some(job) = self.next(channel) {
            job.await;
        }
    }

    fn next(&self, channel: ChannelId) -> Option<Job> {
        let mut waiting = self.waiting();
        let job = waiting.lines.get_mut(&channel)?.pop_front();
        match job {
            Some(_) => waiting.number -= 1,
            None => {
                waiting.lines.remove(&channel);
            }
        }
        job
    }

    /// Waits until everything is done.
    pub(crate) async fn end(&self) {
        self.workers.close();
        self.workers.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn each_channel_keeps_its_order() {
        let lines = Arc::new(Lines::default());
        let (sender, mut done) = mpsc::unbounded_channel();
        for number in 0..1_000_u64 {
            let sender = sender.clone();
            let channel = ChannelId::new(1 + number % 7);
            let is_put = lines.put(channel, async move {
                tokio::task::yield_now().await;
                sender.send((channel, number)).unwrap();
            });
            assert!(is_put);
        }
        lines.end().await;
        drop(sender);
        let mut last = HashMap::new();
        let mut count = 0;
        while let Some((channel, number)) = done.recv().await {
            let before = last.insert(channel, number);
            assert!(before.is_none_or(|before| before < number));
            count += 1;
        }
        assert_eq!(count, 1_000);
        assert!(lines.waiting().lines.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_too_much_is_refused() {
        let lines = Arc::new(Lines::default());
        let channel = ChannelId::new(1);
        let wait = || tokio::time::sleep(Duration::from_secs(1));
        for _ in 0..MOST_WAITING {
            assert!(lines.put(channel, wait()));
        }
        assert!(!lines.put(channel, wait()));
    }
}
