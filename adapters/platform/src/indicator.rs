//! An indicator that an answer is being worked on, which a platform removes by itself after a while.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The requests that show the indicator of one reply. Nothing waits for them.
#[derive(Debug, Default)]
pub struct Indicator {
    shown_at: Option<Instant>,
    /// The last request in flight.
    on_its_way: Option<JoinHandle<()>>,
}

impl Indicator {
    pub fn is_shown(&self) -> bool {
        self.shown_at.is_some()
    }

    /// Whether it is to be shown, which is repeated after this time.
    pub fn is_due(&self, every: Duration) -> bool {
        // Slightly early, because the bot's clock ticks at that pace.
        self.shown_at
            .is_none_or(|at| at.elapsed() + Duration::from_secs(1) > every)
    }

    /// Whether no request is in flight.
    pub fn is_settled(&self) -> bool {
        self.on_its_way.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Shows it by these requests, after those in flight.
    pub fn show(&mut self, showing: impl Future<Output = ()> + Send + 'static) {
        self.shown_at = Some(Instant::now());
        let before = self.on_its_way.take();
        self.on_its_way = Some(tokio::spawn(async move {
            if let Some(before) = before {
                let _ = before.await;
            }
            showing.await;
        }));
    }

    /// Ends it, and waits for the requests in flight: only then can it be removed.
    pub async fn end(&mut self) {
        self.shown_at = None;
        if let Some(on_its_way) = self.on_its_way.take() {
            let _ = on_its_way.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_is_shown_again_at_its_pace_one_request_after_the_other() {
        const EVERY: Duration = Duration::from_secs(20);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let mut indicator = Indicator::default();
        assert!(!indicator.is_shown() && indicator.is_due(EVERY));
        for number in 0..2 {
            let shown = Arc::clone(&shown);
            indicator.show(async move {
                // The first one takes longer.
                for _ in number..2 {
                    tokio::task::yield_now().await;
                }
                shown.lock().push(number);
            });
        }
        assert!(indicator.is_shown() && !indicator.is_due(EVERY));
        assert!(!indicator.is_settled());
        tokio::time::advance(EVERY).await;
        assert!(indicator.is_due(EVERY));
        indicator.end().await;
        assert_eq!(*shown.lock(), [0, 1]);
        assert!(indicator.is_settled() && !indicator.is_shown());
    }
}
