//! What was accepted and is not answered yet, wherever it is kept.
//!
//! In a graph that several processes share it is in the graph, under a lease: when this process dies,
//! another goes on. Otherwise, and while the graph is away, it is in the [`ledger`](crate::conversation::ledger) of this
//! process. `docs/storage.md` tells the protocol.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use muninn_platform::{AudienceId, EventId, IncomingMessage, KeptMessage, LeftOver};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::conversation::ledger::{Ledger, message_without_secrets};
use crate::graph::{GraphStore, StoreError};
use crate::memory::Archive;

/// A message whose holder gave no sign of life for this long is anybody's.
const LEASE: Duration = Duration::from_secs(10);
/// What is taken over has this long until its platform delivers it.
const TAKEN_LEASE: Duration = Duration::from_secs(60);
/// Signs of life are given this often.
const RENEW_EVERY: Duration = Duration::from_secs(2);
/// Within this, those who are there have seen who came.
const NOTICED: Duration = Duration::from_secs(4);
/// A process without a sign of life for this long is gone.
const LIVES: Duration = Duration::from_secs(30);
/// The longest wait for the graph before the file is used: Slack wants its answer within three
/// seconds.
const ACCEPT_WAIT: Duration = Duration::from_secs(1);
/// How often what waits for the graph is looked at.
const TIDY_EVERY: Duration = Duration::from_secs(2);
/// The longest wait for the graph at the end.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Messages taken over, or said to be finished, at once.
const BATCH: usize = 32;
/// What nobody answered for this long is not answered any more.
const KEPT: Duration = Duration::from_hours(24);

/// Keeps what was accepted until it is answered.
#[derive(Debug)]
pub struct PendingMessages {
    ledger: Ledger,
    archive: Arc<Archive>,
    /// What this process has of a shared graph's messages.
    open: DashMap<EventId, Open>,
    /// Events that the graph does not know yet to be done.
    finished: Mutex<Vec<EventId>>,
    is_any_finished: Notify,
}

/// A message that is not answered yet.
#[derive(Debug)]
struct Open {
    /// As long as the graph does not have it.
    unshared: Option<Box<IncomingMessage>>,
    /// Somebody works on it, or will.
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
        }
    }

    /// By what this process claims events and has messages.
    pub fn holder(&self) -> &str {
        self.ledger.holder()
    }

    fn store(&self) -> &GraphStore {
        self.archive.store()
    }

    /// Returns when the message survives the process.
    pub async fn accept(&self, message: &IncomingMessage) {
        if !self.ledger.keeps() || !self.store().is_shared() {
            return self.ledger.accept(message).await;
        }
        let open = Open {
            unshared: None,
            in_flight: true,
        };
        self.open.insert(message.event.clone(), open);
        let kept = message_without_secrets(message);
        if !self.archive.is_away() && self.share(&kept).await.is_ok() {
            // Of an earlier process, or an earlier delivery.
            return self.ledger.done(&message.event);
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

    /// The event needs nothing more: its message is erased.
    pub fn done(&self, event: &EventId) {
        self.ledger.done(event);
        self.open.remove(event);
        if self.store().is_shared() {
            let mut finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
            finished.push(event.clone());
            drop(finished);
            self.is_any_finished.notify_one();
        }
    }

    /// The message was taken back: it is erased wherever it is.
    pub async fn erase(&self, event: &EventId) {
        self.done(event);
        if let Err(error) = self.store().erase_pending(event).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "a message that was taken back may stay for a day");
        }
    }

    /// Whether an event was accepted, here or by another process, and is not known to need nothing more.
    ///
    /// # Errors
    /// When a graph that several share does not say.
    pub async fn waits(&self, event: &EventId) -> Result<bool, StoreError> {
        Ok(self.ledger.is_left_over(event) || self.store().is_pending(event).await?)
    }

    /// What of an audience an earlier process accepted, and nobody told this one of again yet.
    pub fn left_in(&self, audience: &AudienceId) -> Vec<KeptMessage> {
        self.ledger.left_in(audience)
    }

    /// Nobody here works on the event any more: it needs nothing more, or whoever takes it goes on.
    pub fn ended(&self, event: &EventId, is_done: bool) {
        if is_done {
            self.done(event);
        } else {
            self.let_go(event);
        }
    }

    /// Nobody here works on the event any more, and it is not done: whoever takes it goes on.
    fn let_go(&self, event: &EventId) {
        if let Some(mut open) = self.open.get_mut(event) {
            open.in_flight = false;
        }
        self.open
            .remove_if(event, |_, open| !open.in_flight && open.unshared.is_none());
    }

    /// Tells the graph what it does not know yet, until `done`, and then once more.
    pub async fn tidy(&self, done: CancellationToken) {
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
        // What is not told now, the turns in the graph say as well.
        let _ = timeout(LAST_WORDS, self.tell()).await;
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

    /// Moves what was accepted while the graph was away from the file to the graph.
    async fn share_all(&self) -> Result<(), StoreError> {
        let unshared: Vec<IncomingMessage> = self
            .open
            .iter()
            .filter_map(|open| open.unshared.as_deref().cloned())
            .collect();
        for message in unshared {
            self.share(&message).await?;
            let event = &message.event;
            self.ledger.done(event);
            self.is_in_graph(event);
        }
        Ok(())
    }

    fn is_in_graph(&self, event: &EventId) {
        match self.open.get_mut(event) {
            Some(mut open) => open.unshared = None,
            // It was answered meanwhile.
            None => return self.done(event),
        }
        self.open.remove_if(event, |_, open| !open.in_flight);
    }

    /// Says that this process serves these platforms, and takes what it left there when it was
    /// ended. Where the graph does not answer, others may be told the same for all that is known.
    pub async fn sign_in(&self, platforms: &[String], left_over: &LeftOver) {
        if !self.store().is_shared() {
            return;
        }
        self.archive.neighbours().serve(platforms);
        self.look(platforms, left_over, true).await;
        let neighbours = self.archive.neighbours();
        if platforms.iter().any(|it| !neighbours.is_alone(it)) {
            // Until they have looked as well, they may take themselves for alone.
            sleep(NOTICED).await;
        }
    }

    /// Gives signs of life of this process and its messages, and takes over those of processes that give
    /// none any more, until `done`.
    pub async fn look_after(
        &self,
        platforms: &[String],
        left_over: &LeftOver,
        done: CancellationToken,
    ) {
        if !self.store().is_shared() {
            return;
        }
        loop {
            tokio::select! {
                () = done.cancelled() => break,
                () = sleep(jittered(RENEW_EVERY)) => {}
            }
            self.look(platforms, left_over, false).await;
        }
        if let Err(error) = self.store().sign_out(self.holder()).await {
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
            let sign_in = || self.store().sign_in(holder, platforms, &alone, LIVES);
            let mut others = sign_in().await?;
            if own {
                // Two that come at the same moment see nothing of each other within their transactions: of two that look
                // once more, at least one does, and waits until the other has looked.
                others = sign_in().await?;
            }
            neighbours.seen(others);
            let shared = self.open.iter().filter(|open| open.unshared.is_none());
            let mine: Vec<EventId> = shared.map(|open| open.key().clone()).collect();
            if !mine.is_empty() {
                self.store().renew_pending(&mine, holder, LEASE).await?;
            }
            // What is taken has to be delivered before there is more.
            if own || left_over.is_empty() {
                let most = if own { usize::from(u16::MAX) } else { BATCH };
                let taken = self
                    .store()
                    .take_over(holder, platforms, own, most, TAKEN_LEASE)
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
        self.ledger.left_by_another(&missing);
        left_over.add(missing);
    }

    /// Removes what is too old to be answered.
    pub async fn sweep(&self) {
        if !self.archive.is_away()
            && let Err(error) = self.store().sweep_pending(KEPT).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "old messages could not be removed");
        }
    }
}

/// Up to a half longer, so that processes do not look at the same moment.
fn jittered(pause: Duration) -> Duration {
    let dice = u32::from(uuid::Uuid::new_v4().as_bytes()[0]);
    pause + pause * dice / 512
}
