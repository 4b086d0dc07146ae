//! Pending messages: those that were accepted and are not answered yet, wherever they are stored.
//!
//! If several processes share a graph, pending messages are in the graph under a lease: when their process dies, another
//! one continues. Otherwise, and while the graph is away, they are in the [`ledger`](crate::conversation::ledger) of
//! this process. `docs/storage.md` describes the protocol.

mod undelivered;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use muninn_platform::{AudienceId, EventId, IncomingMessage, KeptMessage, LeftOver};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::undelivered::Undelivered;
use crate::conversation::ledger::{Ledger, message_without_secrets};
use crate::graph::{GraphStore, StoreError};
use crate::memory::Archive;

/// A message whose holder has not renewed it for this long may be taken by any process.
const LEASE: Duration = Duration::from_secs(10);
/// How long a message that was taken over is leased until its platform delivers it.
const TAKEN_LEASE: Duration = Duration::from_secs(60);
/// How often leases are renewed.
const RENEW_EVERY: Duration = Duration::from_secs(2);
/// Within this time, running processes have noticed a new one.
const DISCOVERY_DELAY: Duration = Duration::from_secs(4);
/// A process that has not renewed for this long is dead.
const PROCESS_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest wait for the graph before the file is used: Slack wants its answer within three seconds.
const ACCEPT_WAIT: Duration = Duration::from_secs(1);
/// How often finished messages and those that wait for the graph are handled.
const TIDY_EVERY: Duration = Duration::from_secs(2);
/// Longest wait for the graph at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of messages that are taken over, or reported as finished, at once.
const BATCH: usize = 32;
/// A message that nobody answered for this long is not answered any more.
const UNANSWERED_RETENTION: Duration = Duration::from_hours(24);

/// Keeps accepted messages until they are answered.
#[derive(Debug)]
pub struct PendingMessages {
    ledger: Ledger,
    archive: Arc<Archive>,
    /// The messages that this process holds in a shared graph.
    open: DashMap<EventId, Open>,
    /// Finished events that the graph has not been told about yet.
    finished: Mutex<Vec<EventId>>,
    is_any_finished: Notify,
    /// Messages whose answers are kept and wait for their platform.
    undelivered: Mutex<Undelivered>,
}

/// A message that is not answered yet.
#[derive(Debug)]
struct Open {
    /// The message, as long as the graph does not have it.
    unshared: Option<Box<IncomingMessage>>,
    /// Whether somebody here works on it, or will.
    in_flight: bool,
}

impl PendingMessages {
    pub fn new(ledger: Ledger, archive: Arc<Archive>) -> Self {
        Self {
            ledger,
            archive,
            open: DashMap::new(),
            finished: Mutex::default(),
            is_any_finished: Notify::new(),
            undelivered: Mutex::default(),
        }
    }

    /// The name under which this process claims events and holds messages.
    pub fn holder(&self) -> &str {
        self.ledger.holder()
    }

    fn store(&self) -> &GraphStore {
        self.archive.store()
    }

    /// Returns when the message would survive the process.
    pub async fn accept(&self, message: &IncomingMessage) {
        if !self.ledger.is_enabled() || !self.store().is_shared() {
            return self.ledger.accept(message).await;
        }
        let open = Open {
            unshared: None,
            in_flight: true,
        };
        self.open.insert(message.event.clone(), open);
        let kept = message_without_secrets(message);
        if !self.archive.is_away() && self.share(&kept).await.is_ok() {
            // Removes an entry of an earlier process or delivery.
            return self.ledger.mark_done(&message.event);
        }
        self.ledger.accept(&kept).await;
        if let Some(mut open) = self.open.get_mut(&message.event) {
            open.unshared = Some(Box::new(kept));
        }
    }

    async fn share(&self, message: &IncomingMessage) -> Result<(), StoreError> {
        let accepted = self.store().accept(message, self.holder(), LEASE);
        match timeout(ACCEPT_WAIT, accepted).await {
            Ok(shared) => shared,
            Err(_) => Err(StoreError::Refused {
                message: "the graph took too long to keep a message".to_owned(),
                transient: true,
            }),
        }
    }

    /// Erases the message of an event that needs nothing more.
    pub fn mark_done(&self, event: &EventId) {
        self.undelivered().remove(event);
        self.ledger.mark_done(event);
        self.open.remove(event);
        if self.store().is_shared() {
            let mut finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
            finished.push(event.clone());
            drop(finished);
            self.is_any_finished.notify_one();
        }
    }

    /// Erases a deleted message wherever it is stored.
    pub async fn erase(&self, event: &EventId) {
        self.mark_done(event);
        if let Err(error) = self.store().erase_pending(event).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "a message that was taken back may stay for a day");
        }
    }

    /// Whether an earlier process accepted the event, and it was not accepted by this one yet.
    pub fn is_left_over(&self, event: &EventId) -> bool {
        self.ledger.is_left_over(event)
    }

    /// Whether an event was accepted, here or by another process, and is not known to be finished.
    ///
    /// # Errors
    /// Fails when a shared graph cannot be read.
    pub async fn is_pending(&self, event: &EventId) -> Result<bool, StoreError> {
        Ok(self.ledger.is_left_over(event) || self.store().is_pending(event).await?)
    }

    /// The messages of an audience that an earlier process accepted, and that were not delivered to this one yet.
    pub fn left_over_in(&self, audience: &AudienceId) -> Vec<KeptMessage> {
        self.ledger.left_over_in(audience)
    }

    fn undelivered(&self) -> MutexGuard<'_, Undelivered> {
        self.undelivered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a message of which the answer could not be delivered, as its platform is away. The message stays this process's
    /// and pending, and is delivered again from time to time. Returns false if it is given up.
    pub fn postpone(&self, message: &IncomingMessage) -> bool {
        self.ledger.is_enabled()
            && self
                .undelivered()
                .postpone(message_without_secrets(message))
    }

    /// Whether the answer to an event is kept and waits for its platform.
    pub fn is_undelivered(&self, event: &EventId) -> bool {
        self.undelivered().contains(event)
    }

    /// Has the messages delivered again whose time has come, and gives up those that are too old.
    fn deliver_undelivered(&self, left_over: &LeftOver) {
        let too_old = self.undelivered().take_too_old();
        for event in &too_old {
            self.mark_done(event);
        }
        let due = self.undelivered().take_due();
        self.ledger.add_left_over(&due);
        left_over.add(due);
    }

    /// Ends the work on an event here. If it is not done, whichever process takes it continues.
    pub fn end_work(&self, event: &EventId, is_done: bool) {
        if is_done {
            self.mark_done(event);
        } else {
            self.release_unfinished(event);
        }
    }

    /// Ends the work on an unfinished event here; whichever process takes it continues.
    fn release_unfinished(&self, event: &EventId) {
        if self.is_undelivered(event) {
            return;
        }
        if let Some(mut open) = self.open.get_mut(event) {
            open.in_flight = false;
        }
        self.open
            .remove_if(event, |_, open| !open.in_flight && open.unshared.is_none());
    }

    /// Reports finished messages to the graph until `done`, and once more at the end.
    pub async fn keep_reporting_finished(&self, done: CancellationToken) {
        if !self.store().is_shared() {
            return;
        }
        loop {
            tokio::select! {
                () = done.cancelled() => break,
                () = self.is_any_finished.notified() => {}
                () = sleep(TIDY_EVERY) => {}
            }
            if !self.archive.is_away() {
                self.tell().await;
            }
        }
        // The turns in the graph also show what could not be reported.
        let _ = timeout(SHUTDOWN_TIMEOUT, self.tell()).await;
    }

    async fn tell(&self) {
        let told = async {
            self.tell_finished().await?;
            self.share_all().await
        };
        if let Err(error) = told.await {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "the graph is told later what became of messages");
        }
    }

    async fn tell_finished(&self) -> Result<(), StoreError> {
        loop {
            let batch: Vec<EventId> = {
                let mut all = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
                let most = all.len().min(BATCH);
                all.drain(..most).collect()
            };
            if batch.is_empty() {
                return Ok(());
            }
            if let Err(error) = self.store().finish_events(&batch, self.holder()).await {
                let mut all = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
                all.extend(batch);
                return Err(error);
            }
        }
    }

    /// Moves messages that were accepted while the graph was away from the file to the graph.
    async fn share_all(&self) -> Result<(), StoreError> {
        let unshared: Vec<IncomingMessage> = self
            .open
            .iter()
            .filter_map(|open| open.unshared.as_deref().cloned())
            .collect();
        for message in unshared {
            self.share(&message).await?;
            let event = &message.event;
            self.ledger.mark_done(event);
            self.mark_in_graph(event);
        }
        Ok(())
    }

    fn mark_in_graph(&self, event: &EventId) {
        match self.open.get_mut(event) {
            Some(mut open) => open.unshared = None,
            // It was answered meanwhile.
            None => return self.mark_done(event),
        }
        self.open.remove_if(event, |_, open| !open.in_flight);
    }

    /// Registers this process for these platforms, and takes the messages that it left there when it was ended. If the
    /// graph does not answer, other processes may be delivered the same messages.
    pub async fn register_process(&self, platforms: &[String], left_over: &LeftOver) {
        if !self.store().is_shared() {
            return;
        }
        self.archive.neighbours().serve(platforms);
        self.look(platforms, left_over, true).await;
        let neighbours = self.archive.neighbours();
        if platforms.iter().any(|it| !neighbours.is_alone(it)) {
            // Until the others have looked as well, they may assume that they are alone.
            sleep(DISCOVERY_DELAY).await;
        }
    }

    /// Renews the leases of this process and its messages, takes over the messages of processes that stopped renewing, and
    /// has undelivered answers delivered, until `done`.
    pub async fn keep_leases(
        &self,
        platforms: &[String],
        left_over: &LeftOver,
        done: CancellationToken,
    ) {
        let is_shared = self.store().is_shared();
        loop {
            tokio::select! {
                () = done.cancelled() => break,
                () = sleep(jittered(RENEW_EVERY)) => {}
            }
            if is_shared {
                self.look(platforms, left_over, false).await;
            }
            self.deliver_undelivered(left_over);
        }
        if is_shared && let Err(error) = self.store().sign_out(self.holder()).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "what is not answered is free for others in a while only"
            );
        }
    }

    async fn look(&self, platforms: &[String], left_over: &LeftOver, own: bool) {
        let looked = async {
            let holder = self.holder();
            let neighbours = self.archive.neighbours();
            let alone = neighbours.alone_or_unheard();
            let sign_in = || {
                self.store()
                    .sign_in(holder, platforms, &alone, PROCESS_TIMEOUT)
            };
            let mut others = sign_in().await?;
            if own {
                // Two processes that start at the same moment do not see each other within their transactions. If both
                // look again, at least one sees the other, and waits until that one has looked.
                others = sign_in().await?;
            }
            neighbours.seen(others);
            let shared = self.open.iter().filter(|open| open.unshared.is_none());
            let mine: Vec<EventId> = shared.map(|open| open.key().clone()).collect();
            if !mine.is_empty() {
                self.store().renew_pending(&mine, holder, LEASE).await?;
            }
            let (ready, most) = match own {
                true => (platforms.to_vec(), usize::from(u16::MAX)),
                false => (ready_for_more(platforms, left_over), BATCH),
            };
            if !ready.is_empty() {
                let taken = self
                    .store()
                    .take_over(holder, &ready, own, most, TAKEN_LEASE)
                    .await?;
                self.deliver(taken, left_over);
            }
            Ok::<(), StoreError>(())
        };
        if let Err(error) = looked.await {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "no sign of life could be given");
        }
    }

    fn deliver(&self, taken: Vec<IncomingMessage>, left_over: &LeftOver) {
        let missing = taken.into_iter();
        let missing = missing.filter(|message| !self.open.contains_key(&message.event));
        let missing: Vec<IncomingMessage> = missing.collect();
        if !missing.is_empty() {
            metrics::counter!("muninn_taken_over_total").increment(missing.len() as u64);
            tracing::info!(
                messages = missing.len(),
                "were accepted by a process that is gone"
            );
        }
        self.ledger.add_left_over(&missing);
        left_over.add(missing);
    }

    /// Removes messages that are too old to be answered.
    pub async fn sweep(&self) {
        if !self.archive.is_away()
            && let Err(error) = self.store().sweep_pending(UNANSWERED_RETENTION).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "old messages could not be removed");
        }
    }
}

/// The platforms that took what waited for them: messages that were taken over must be delivered before more are taken. A
/// platform that is still connecting holds up no other.
fn ready_for_more(platforms: &[String], left_over: &LeftOver) -> Vec<String> {
    let ready = platforms.iter().filter(|name| !left_over.waits_for(name));
    ready.cloned().collect()
}

/// Adds up to half of the pause, so that processes do not look at the same moment.
fn jittered(pause: Duration) -> Duration {
    let dice = u32::from(uuid::Uuid::new_v4().as_bytes()[0]);
    pause + pause * dice / 512
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::message;

    #[test]
    fn a_platform_that_takes_nothing_holds_up_no_other() {
        let platforms = ["a", "b"].map(str::to_owned);
        for (waiting, ready) in [
            (vec![], vec!["a", "b"]),
            (vec!["b"], vec!["a"]),
            (vec!["a", "b"], vec![]),
            (vec!["elsewhere"], vec!["a", "b"]),
        ] {
            let left_over = LeftOver::default();
            for platform in &waiting {
                let mut taken = message("1");
                taken.audience.platform = (*platform).to_owned();
                left_over.add(vec![taken]);
            }
            assert_eq!(ready_for_more(&platforms, &left_over), ready, "{waiting:?}");
        }
    }
}
