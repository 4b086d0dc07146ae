//! What goes out, at the pace Slack allows.
//!
//! Slack limits how fast one channel fills, about a message a second beside short bursts; so each
//! channel has a line of its own. Whoever was told to wait makes the others of the channel wait too,
//! in their order; what is only for show is left out meanwhile.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use crate::errors::ApiError;

/// How long Slack may be away before something is given up. A rest that it asks for is not counted.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long something may wait altogether.
const LONGEST_WAIT: Duration = Duration::from_secs(900);

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// What Slack is given when it says nothing.
const REST: Duration = Duration::from_secs(5);

/// Messages that may follow each other at once before the pace is kept.
const BURST: u32 = 5;

/// Lines of channels nobody wrote to for a while are dropped when there are more than this.
const LINES: usize = 1_024;

#[derive(Debug)]
pub(crate) struct Outbox {
    every: Duration,
    lines: Mutex<HashMap<String, Arc<Line>>>,
}

#[derive(Debug)]
struct Line {
    /// Fair: who waits longest goes first.
    turn: tokio::sync::Mutex<()>,
    pace: Mutex<Pace>,
}

/// When the next message may go. Pure but for the clock, which is given.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// When a channel that nobody wrote to would be idle: ahead of the clock by what was sent of late.
    idle_at: Instant,
    rest_until: Option<Instant>,
}

impl Pace {
    /// When a message may go that wants to go at `now`.
    fn next(&self, now: Instant, every: Duration) -> Instant {
        let burst = every * (BURST - 1);
        let paced = self.idle_at.checked_sub(burst).unwrap_or(now);
        paced.max(self.rest_until.unwrap_or(now)).max(now)
    }

    fn went(&mut self, now: Instant, every: Duration) {
        self.idle_at = self.idle_at.max(now) + every;
    }
}

impl Outbox {
    pub(crate) fn new(every: Duration) -> Self {
        Self {
            every,
            lines: Mutex::default(),
        }
    }

    fn line(&self, channel: &str) -> Arc<Line> {
        let mut lines = lock(&self.lines);
        if lines.len() > LINES {
            let now = Instant::now();
            lines.retain(|_, line| {
                Arc::strong_count(line) > 1 || lock(&line.pace).next(now, self.every) > now
            });
        }
        let line = lines.entry(channel.to_owned()).or_insert_with(|| {
            Arc::new(Line {
                turn: tokio::sync::Mutex::default(),
                pace: Mutex::new(Pace {
                    idle_at: Instant::now(),
                    rest_until: None,
                }),
            })
        });
        Arc::clone(line)
    }

    /// Sends something for show: once, and not while others wait or Slack wants a rest.
    pub(crate) async fn try_send<T>(
        &self,
        channel: &str,
        attempt: impl Future<Output = Result<T, ApiError>>,
    ) -> Option<Result<T, ApiError>> {
        let line = self.line(channel);
        {
            let _turn = line.turn.try_lock().ok()?;
            let now = Instant::now();
            let mut pace = lock(&line.pace);
            if pace.next(now, self.every) > now {
                return None;
            }
            pace.went(now, self.every);
        }
        let sent = attempt.await;
        if let Err(ApiError::Limited { rest, .. }) = &sent {
            line.note(*rest);
        }
        Some(sent)
    }

    /// Sends something until it is out, or is given up. `attempt` is told whether an earlier one may
    /// have been done without our knowing.
    pub(crate) async fn send<T, F>(
        &self,
        channel: &str,
        attempt: impl Fn(bool) -> F,
    ) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>>,
    {
        let line = self.line(channel);
        let deadline = Instant::now() + LONGEST_WAIT;
        let mut away_since: Option<Instant> = None;
        let mut pause = FIRST_PAUSE;
        loop {
            self.wait(&line, deadline).await?;
            match attempt(away_since.is_some()).await {
                Err(ApiError::Limited { rest, .. }) => line.note(rest),
                Err(error @ ApiError::Away { .. }) => {
                    let since = *away_since.get_or_insert_with(Instant::now);
                    if since.elapsed() + pause > PATIENCE {
                        return Err(error);
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                other @ (Ok(_)
                | Err(
                    ApiError::Refused { .. }
                    | ApiError::Revoked { .. }
                    | ApiError::MissingScope { .. },
                )) => return other,
            }
        }
    }

    /// Waits for a place in the channel.
    async fn wait(&self, line: &Line, deadline: Instant) -> Result<(), ApiError> {
        let too_late = || ApiError::Away {
            method: "chat.postMessage",
            reason: "Slack let nothing through for too long".to_owned(),
        };
        let turn = timeout_at(deadline, line.turn.lock()).await;
        let _turn = turn.map_err(|_| too_late())?;
        loop {
            let now = Instant::now();
            let next = lock(&line.pace).next(now, self.every);
            if next > deadline {
                return Err(too_late());
            }
            if next <= now {
                lock(&line.pace).went(now, self.every);
                return Ok(());
            }
            sleep_until(next).await;
        }
    }
}

impl Line {
    fn note(&self, rest: Option<Duration>) {
        let until = Instant::now() + rest.unwrap_or(REST).min(LONGEST_WAIT);
        let mut pace = lock(&self.pace);
        pace.rest_until = pace.rest_until.max(Some(until));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Times and tables: whatever a panic left of them is sound.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const EVERY: Duration = Duration::from_secs(1);

    fn limited(seconds: u64) -> ApiError {
        ApiError::Limited {
            method: "chat.update",
            rest: Some(Duration::from_secs(seconds)),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_goes_at_once_and_the_rest_at_the_pace() {
        let (outbox, begun) = (Outbox::new(EVERY), Instant::now());
        let mut seconds = Vec::new();
        for _ in 0..8 {
            outbox.send("C1", async |_| Ok(())).await.unwrap();
            seconds.push(begun.elapsed().as_secs());
        }
        assert_eq!(seconds, [0, 0, 0, 0, 0, 1, 2, 3]);
        // Another channel has a line of its own.
        outbox.send("C2", async |_| Ok(())).await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_rest_is_kept_and_nothing_is_shown_meanwhile() {
        let (outbox, begun) = (Outbox::new(EVERY), Instant::now());
        let tries = AtomicU32::new(0);
        let sent = outbox.send("C1", async |_| {
            match tries.fetch_add(1, Ordering::SeqCst) {
                0 => Err(limited(30)),
                _ => Ok(()),
            }
        });
        let shown = async {
            tokio::time::sleep(EVERY).await;
            outbox.try_send("C1", async { Ok(()) }).await
        };
        let (sent, shown) = tokio::join!(sent, shown);
        assert_eq!((sent, shown), (Ok(()), None));
        assert_eq!(begun.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_away_for_too_long_is_given_up() {
        let (outbox, begun) = (Outbox::new(EVERY), Instant::now());
        let doubts = AtomicU32::new(0);
        let away = || ApiError::timed_out("chat.postMessage");
        let sent = outbox.send("C1", async |may_be_done| {
            doubts.fetch_add(u32::from(may_be_done), Ordering::SeqCst);
            Err::<(), _>(away())
        });
        assert_eq!(sent.await, Err(away()));
        assert!(begun.elapsed() <= PATIENCE);
        assert!(doubts.load(Ordering::SeqCst) > 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_told_at_once() {
        let outbox = Outbox::new(EVERY);
        let refused = || ApiError::Refused {
            method: "chat.postMessage",
            code: "is_archived".to_owned(),
        };
        let sent = outbox.send("C1", async |_| Err::<(), _>(refused())).await;
        assert_eq!(sent, Err(refused()));
    }
}
