//! Sends requests at the pace that Slack allows.
//!
//! Slack limits the rate of messages per channel, about one per second except for short bursts, so
//! each channel has its own queue. A rate limit delays all requests of the channel, in order;
//! meanwhile, updates that only show progress are skipped.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use muninn_platform::{RateLimit, RequestFailure, RetryBudget};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::errors::ApiError;

/// How long Slack may be unreachable before a request is given up. Rate limits do not count.
const UNREACHABLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum total wait of a request.
const LONGEST_WAIT: Duration = Duration::from_secs(900);

/// Messages that may follow each other at once before the pace applies.
const BURST: u32 = 3;

/// Maximum number of channel queues; beyond it, unused ones are dropped.
const LINES: usize = 1_024;

/// Returns how many calls per minute may be progress updates: below the limit that Slack documents
/// per workspace, so that required requests have room.
fn shows_a_minute(method: &str) -> u32 {
    match method {
        // 20, and each stream has an end.
        "chat.startStream" => 15,
        // 100
        "chat.appendStream" => 80,
        // 50
        "chat.update" => 30,
        _ => u32::MAX,
    }
}

/// Whether a method posts a message, to which the pace of a channel applies.
fn fills_channel(method: &str) -> bool {
    matches!(
        method,
        "chat.postMessage" | "chat.postEphemeral" | "chat.startStream" | "chat.update"
    )
}

#[derive(Debug)]
pub(crate) struct SlackOutbox {
    every: Duration,
    lines: Mutex<HashMap<String, Arc<ChannelQueue>>>,
    /// By method: the end of its rate limit.
    rests: Mutex<HashMap<&'static str, Instant>>,
    /// By method: when the next progress update may go.
    shows: Mutex<HashMap<&'static str, Pace>>,
}

/// A method call for a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MethodCall<'a> {
    pub(crate) method: &'static str,
    pub(crate) channel: &'a str,
}

#[derive(Debug)]
struct ChannelQueue {
    /// Fair: the longest waiting request goes first.
    turn: tokio::sync::Mutex<()>,
    pace: Mutex<Pace>,
}

/// A rate limiter. Pure except for the clock, which is passed in.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// When it would be idle: ahead of the clock by what was sent recently.
    idle_at: Instant,
    rest_until: Instant,
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self {
            idle_at: now,
            rest_until: now,
        }
    }

    /// Returns when a request at `now` may go, with bursts of `burst`.
    fn next(&self, now: Instant, every: Duration, burst: u32) -> Instant {
        let paced = self.idle_at.checked_sub(every * (burst - 1)).unwrap_or(now);
        paced.max(self.rest_until).max(now)
    }

    fn went(&mut self, now: Instant, every: Duration) {
        self.idle_at = self.idle_at.max(now) + every;
    }
}

impl SlackOutbox {
    pub(crate) fn new(every: Duration) -> Self {
        Self {
            every,
            lines: Mutex::default(),
            rests: Mutex::default(),
            shows: Mutex::default(),
        }
    }

    fn line(&self, channel: &str) -> Arc<ChannelQueue> {
        let mut lines = self.lines.lock();
        let now = Instant::now();
        if lines.len() > LINES {
            lines.retain(|_, line| {
                let is_idle = line.pace.lock().next(now, self.every, 1) <= now;
                Arc::strong_count(line) > 1 || !is_idle
            });
        }
        let line = lines.entry(channel.to_owned()).or_insert_with(|| {
            Arc::new(ChannelQueue {
                turn: tokio::sync::Mutex::default(),
                pace: Mutex::new(Pace::new(now)),
            })
        });
        Arc::clone(line)
    }

    /// Sends a progress update: once, and not while others wait or during a rate limit.
    pub(crate) async fn try_send<T>(
        &self,
        call: MethodCall<'_>,
        attempt: impl Future<Output = Result<T, ApiError>>,
    ) -> Option<Result<T, ApiError>> {
        if !self.may_show(call) {
            return None;
        }
        let sent = attempt.await;
        if let Err(ApiError::Limited { rest, .. }) = &sent {
            self.note(call, *rest);
        }
        Some(sent)
    }

    fn may_show(&self, call: MethodCall<'_>) -> bool {
        let line = self.line(call.channel);
        let now = Instant::now();
        let Ok(_turn) = line.turn.try_lock() else {
            return false;
        };
        if self.rest_of(call.method, now) > now {
            return false;
        }
        let mut shows = self.shows.lock();
        let show = shows.entry(call.method).or_insert_with(|| Pace::new(now));
        let mut pace = line.pace.lock();
        // As many per minute as allowed; for one channel at one per second.
        let most = shows_a_minute(call.method);
        let every = self.every * 60 / most;
        let is_paced = fills_channel(call.method);
        let is_early = is_paced && pace.next(now, self.every, BURST) > now;
        if is_early || show.next(now, every, most / 3) > now {
            return false;
        }
        if is_paced {
            pace.went(now, self.every);
        }
        show.went(now, every);
        true
    }

    /// Sends a request until it succeeds or is given up. `attempt` is told whether an earlier
    /// attempt may have succeeded without confirmation.
    pub(crate) async fn send<T, F>(
        &self,
        call: MethodCall<'_>,
        attempt: impl Fn(bool) -> F,
    ) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>>,
    {
        self.send_within(UNREACHABLE_TIMEOUT, call, attempt).await
    }

    /// As [`SlackOutbox::send`], for a request that has an alternative if Slack is unreachable for that
    /// long.
    pub(crate) async fn send_within<T, F>(
        &self,
        patience: Duration,
        call: MethodCall<'_>,
        attempt: impl Fn(bool) -> F,
    ) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>>,
    {
        let deadline = Instant::now() + LONGEST_WAIT;
        let mut retries = RetryBudget::new(patience);
        let mut is_in_doubt = false;
        loop {
            self.wait(call, deadline).await?;
            let error = match attempt(is_in_doubt).await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            is_in_doubt |= error.may_be_done();
            match error.request_failure() {
                // The wait for it is above, in order with the channel's other requests.
                RequestFailure::Limited(rest) => self.note(call, rest),
                failure => match retries.pause_after(failure) {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return Err(error),
                },
            }
        }
    }

    /// Waits for the channel's turn, and for the end of the method's rate limit.
    async fn wait(&self, call: MethodCall<'_>, deadline: Instant) -> Result<(), ApiError> {
        let too_late = || ApiError::Away {
            method: call.method,
            reason: "Slack let nothing through for too long".to_owned(),
            may_be_done: false,
        };
        let is_paced = fills_channel(call.method);
        let line = self.line(call.channel);
        let turn = timeout_at(deadline, line.turn.lock()).await;
        let _turn = turn.map_err(|_| too_late())?;
        loop {
            let now = Instant::now();
            let mut next = self.rest_of(call.method, now);
            if is_paced {
                next = next.max(line.pace.lock().next(now, self.every, BURST));
            }
            if next > deadline {
                return Err(too_late());
            }
            if next <= now {
                if is_paced {
                    line.pace.lock().went(now, self.every);
                }
                return Ok(());
            }
            sleep_until(next).await;
        }
    }

    /// Returns the end of the method's rate limit; `now` if there is none.
    fn rest_of(&self, method: &'static str, now: Instant) -> Instant {
        let until = self.rests.lock().get(method).copied();
        until.unwrap_or(now).max(now)
    }

    /// Records a rate limit: posts are limited per channel, other methods per workspace.
    fn note(&self, call: MethodCall<'_>, rest: Option<Duration>) {
        let until = RateLimit::end(rest);
        if matches!(call.method, "chat.postMessage" | "chat.postEphemeral") {
            let line = self.line(call.channel);
            let mut pace = line.pace.lock();
            pace.rest_until = pace.rest_until.max(until);
        } else {
            self.rests.lock().insert(call.method, until);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const EVERY: Duration = Duration::from_secs(1);

    const fn post(channel: &str) -> MethodCall<'_> {
        let method = "chat.postMessage";
        MethodCall { method, channel }
    }

    const C1: MethodCall<'_> = post("C1");
    const C2: MethodCall<'_> = post("C2");

    fn limited(seconds: u64) -> ApiError {
        ApiError::Limited {
            method: "chat.update",
            rest: Some(Duration::from_secs(seconds)),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_goes_at_once_and_the_rest_at_the_pace() {
        let (outbox, begun) = (SlackOutbox::new(EVERY), Instant::now());
        let mut seconds = Vec::new();
        for _ in 0..8 {
            outbox.send(C1, async |_| Ok(())).await.unwrap();
            seconds.push(begun.elapsed().as_secs());
        }
        assert_eq!(seconds, [0, 0, 0, 1, 2, 3, 4, 5]);
        // Another channel has its own queue.
        outbox.send(C2, async |_| Ok(())).await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_rest_is_kept_and_nothing_is_shown_meanwhile() {
        let (outbox, begun) = (SlackOutbox::new(EVERY), Instant::now());
        let tries = AtomicU32::new(0);
        let sent = outbox.send(C1, async |_| match tries.fetch_add(1, Ordering::SeqCst) {
            0 => Err(limited(30)),
            _ => Ok(()),
        });
        let shown = async {
            tokio::time::sleep(EVERY).await;
            outbox.try_send(C1, async { Ok(()) }).await
        };
        let (sent, shown) = tokio::join!(sent, shown);
        assert_eq!((sent, shown), (Ok(()), None));
        assert_eq!(begun.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_without_a_pause_is_no_loop() {
        let (outbox, begun) = (SlackOutbox::new(EVERY), Instant::now());
        let tries = AtomicU32::new(0);
        let delete = MethodCall {
            method: "chat.delete",
            channel: "C1",
        };
        let sent = outbox.send(delete, async |_| {
            match tries.fetch_add(1, Ordering::SeqCst) {
                0..10 => Err(limited(0)),
                _ => Ok(()),
            }
        });
        assert_eq!(sent.await, Ok(()));
        assert_eq!((tries.into_inner(), begun.elapsed().as_secs()), (11, 10));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_for_show_leaves_room_for_the_rest() {
        let outbox = SlackOutbox::new(EVERY);
        let begun = Instant::now();
        let mut shown = 0;
        // Forty channels want to show progress each second.
        while begun.elapsed() < Duration::from_secs(300) {
            for channel in 0..40 {
                let channel = format!("C{channel}");
                let call = MethodCall {
                    method: "chat.update",
                    channel: &channel,
                };
                shown += usize::from(outbox.try_send(call, async { Ok(()) }).await.is_some());
            }
            tokio::time::sleep(EVERY).await;
        }
        assert!((140..=165).contains(&shown), "{shown} in five minutes");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_away_for_too_long_is_given_up() {
        let (outbox, begun) = (SlackOutbox::new(EVERY), Instant::now());
        let doubts = AtomicU32::new(0);
        let away = || ApiError::timed_out("chat.postMessage");
        let sent = outbox.send(C1, async |may_be_done| {
            doubts.fetch_add(u32::from(may_be_done), Ordering::SeqCst);
            Err::<(), _>(away())
        });
        assert_eq!(sent.await, Err(away()));
        assert!(begun.elapsed() <= UNREACHABLE_TIMEOUT);
        assert!(doubts.load(Ordering::SeqCst) > 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_told_at_once() {
        let outbox = SlackOutbox::new(EVERY);
        let refused = || ApiError::Refused {
            method: "chat.postMessage",
            code: "is_archived".to_owned(),
        };
        let sent = outbox.send(C1, async |_| Err::<(), _>(refused())).await;
        assert_eq!(sent, Err(refused()));
    }
}
