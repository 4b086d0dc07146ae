//! Reads and keeps turns, whether the graph is available or not.
//!
//! The graph is the source of truth. While it is away, a turn sees the window in memory and is written to the journal. When
//! the graph is back, the journal is [replayed](super::replay) in order, each turn once.

mod deliveries;
mod graph_wait;
mod listings;
mod lookup;
mod trouble;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::{ConversationId, Delivered, EventId, IncomingMessage};

use super::journal::{Journal, JournalError};
use super::leaving::{Leaving, RecentValues};
use super::neighbours::Neighbours;
use super::queue_withdrawals::QueueWithdrawals;
use super::replay_state::Replay;
use super::window::Windows;
use crate::graph::answers::ForgottenEvent;
use crate::graph::marks::CoveringMarks;
use crate::graph::session::{SessionGuard, Sessions};
use crate::graph::{
    Appended, Forget, Forgotten, GraphStore, NewTurn, ResponseId, StoreError, Turn, TurnContext,
    TurnRead,
};
use crate::memory::recall::recaller::Recaller;

/// First pause after the graph went away until it is asked again, doubling up to [`MAX_RETRY_DELAY`].
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(250);
/// Longest pause between two tries.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(15);
/// How often the delivered message IDs are tried to be kept, where other processes look for them.
const DELIVERED_TRIES: u32 = 5;

/// Reads and keeps turns.
#[derive(Debug)]
pub struct Archive {
    store: Arc<GraphStore>,
    pub(in crate::memory) journal: Journal,
    pub(in crate::memory) windows: Windows,
    /// Embeds messages. Without it they are kept without a vector.
    pub(in crate::memory) recaller: Option<Arc<Recaller>>,
    /// Withdraws messages that show turns forgotten elsewhere. Without it they stay.
    pub(in crate::memory) withdrawals: Option<Arc<dyn QueueWithdrawals>>,
    pub(in crate::memory) sessions: Arc<Sessions>,
    pub(in crate::memory) away: AtomicBool,
    /// The last turn could be kept nowhere, as on a full disk.
    loses_turns: AtomicBool,
    pub(in crate::memory) replay: Replay,
    neighbours: Neighbours,
    leaving: Leaving,
    /// Events of turns that this process forgot, as far as its windows had them.
    pub(in crate::memory) forgotten: RecentValues<String>,
}

/// The state with which a turn begins.
#[derive(Debug)]
pub struct Begun {
    pub context: TurnContext,
    /// The graph could not be read; there is only the window from memory.
    pub store_away: bool,
}

/// Where a turn was kept.
#[derive(Debug)]
pub enum TurnSaveOutcome {
    Graph,
    /// The graph is away; the turn is in the journal.
    Journal,
    /// Another process had already answered the same event.
    Duplicate(Box<Turn>),
    /// Its question was forgotten while it was answered; nothing of it is kept.
    Forgotten,
    /// Neither could store it.
    Nowhere,
    /// The graph was away for too long, and another process may have answered the same event meanwhile.
    Unknown,
}

impl Archive {
    pub fn new(
        store: Arc<GraphStore>,
        journal: Journal,
        sessions: Arc<Sessions>,
        window: usize,
    ) -> Self {
        Self {
            store,
            journal,
            windows: Windows::new(window),
            recaller: None,
            withdrawals: None,
            sessions,
            away: AtomicBool::new(false),
            loses_turns: AtomicBool::new(false),
            replay: Replay::default(),
            neighbours: Neighbours::default(),
            leaving: Leaving::default(),
            forgotten: RecentValues::default(),
        }
    }

    /// Sets what embeds heard messages.
    #[must_use]
    pub fn with_recaller(self, recaller: Arc<Recaller>) -> Self {
        Self {
            recaller: Some(recaller),
            ..self
        }
    }

    /// Sets what withdraws messages that show turns forgotten elsewhere.
    #[must_use]
    pub fn with_withdrawals(self, withdrawals: Arc<dyn QueueWithdrawals>) -> Self {
        Self {
            withdrawals: Some(withdrawals),
            ..self
        }
    }

    /// The graph itself, for callers that can wait until it is available.
    pub fn store(&self) -> &Arc<GraphStore> {
        &self.store
    }

    /// What is known of the other processes that share the graph.
    pub(crate) fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }

    /// Whether the last access to the graph failed.
    pub fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    /// Number of turns that wait for the graph.
    pub fn waiting(&self) -> usize {
        self.journal.len()
    }

    /// Reads what a turn needs. Offline turns of its session are saved first.
    ///
    /// # Errors
    /// Fails when the graph reports an error other than being unavailable.
    pub async fn begin(
        &self,
        guard: &SessionGuard,
        read: &TurnRead<'_>,
    ) -> Result<Begun, StoreError> {
        if self.is_away() {
            return Ok(self.remembered(read));
        }
        if let Err(error) = self.save_first(guard).await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                session = %guard.session(),
                "its earlier turns still wait"
            );
            if self.is_away() {
                return Ok(self.remembered(read));
            }
        }
        let mut context = match self.store.begin_turn(read).await {
            Ok(context) => context,
            Err(error) if error.is_outage() => {
                self.mark_away(&error);
                return Ok(self.remembered(read));
            }
            Err(error) => return Err(error),
        };
        let leaving = self.leaving.all();
        context.window.retain(|turn| !leaving.contains(&turn.id));
        let waiting = self.journal.of_session(read.session.as_str());
        context.is_forgotten |= self.is_forgotten_here(read.event);
        if waiting.is_empty() {
            self.windows.set(read.session, &context.window);
        } else {
            // The graph is back, but turns of this session are still being saved.
            context.window = with_waiting(context.window, &waiting, read.window);
            context.duplicate = context
                .duplicate
                .or_else(|| answered(&context.window, read));
        }
        Ok(Begun {
            context,
            store_away: false,
        })
    }

    /// Returns the session's last turns from the graph and those that still wait for it, oldest first.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn window(
        &self,
        message: &IncomingMessage,
        turns: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        let read = TurnRead {
            session: &message.conversation,
            audience: &message.audience.id,
            event: &message.event,
            window: turns,
            seen: i64::MAX,
        };
        let window = self.store.begin_turn(&read).await?.window;
        let waiting = self.journal.of_session(read.session.as_str());
        Ok(with_waiting(window, &waiting, turns))
    }

    /// The session's last turns in memory.
    pub fn remembered_window(&self, session: &ConversationId) -> Vec<Turn> {
        let waiting = self.journal.of_session(session.as_str());
        with_waiting(self.held(session), &waiting, usize::MAX)
    }

    /// The session's turns in memory, unless another process may have forgotten or emptied some: the graph cannot tell now.
    /// Who forgets from one platform also forgets on those where they have linked accounts.
    fn held(&self, session: &ConversationId) -> Vec<Turn> {
        if self.neighbours.are_none() {
            self.windows.get(session)
        } else {
            Vec::new()
        }
    }

    /// Keeps a turn in the graph, or else in the journal.
    pub async fn keep(&self, guard: &SessionGuard, turn: &NewTurn) -> TurnSaveOutcome {
        let kept = self.keep_somewhere(guard, turn).await;
        self.note_outcome(&kept);
        match &kept {
            TurnSaveOutcome::Graph | TurnSaveOutcome::Journal => {
                self.windows.push(guard.session(), &turn.turn)
            }
            TurnSaveOutcome::Duplicate(_)
            | TurnSaveOutcome::Forgotten
            | TurnSaveOutcome::Nowhere
            | TurnSaveOutcome::Unknown => {}
        }
        kept
    }

    async fn keep_somewhere(&self, guard: &SessionGuard, turn: &NewTurn) -> TurnSaveOutcome {
        self.save_waiting(guard).await;
        // Another process that gets the same event would not see the turn in this one's journal.
        if !self.neighbours.is_alone(&turn.audience.platform)
            && !self.journal.holds(guard.session().as_str())
            && let Some(kept) = self.keep_in_graph(guard, turn).await
        {
            return kept;
        }
        // After the session's offline turns, so that the chain keeps its order.
        if !self.is_away() && !self.journal.holds(guard.session().as_str()) {
            match self.store.append(guard, turn).await {
                Ok(Appended::Saved { .. }) => return TurnSaveOutcome::Graph,
                Ok(Appended::Duplicate(earlier)) => return TurnSaveOutcome::Duplicate(earlier),
                Ok(Appended::Forgotten) => return TurnSaveOutcome::Forgotten,
                Err(error) if error.is_outage() => self.mark_away(&error),
                Err(error) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "the graph refused a turn"
                    );
                }
            }
        }
        match self.journal.keep(turn.clone()).await {
            Ok(()) => TurnSaveOutcome::Journal,
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "a turn could not be kept"
                );
                TurnSaveOutcome::Nowhere
            }
        }
    }

    /// Replaces an earlier turn. It is never written to the journal: until the graph is available, the earlier answer
    /// stays.
    ///
    /// # Errors
    /// Fails when the graph cannot be used, or the earlier turn still waits for it.
    pub async fn replace(&self, guard: &SessionGuard, turn: &NewTurn) -> Result<bool, StoreError> {
        let replaced = self.store.replace(guard, turn).await?;
        if !replaced && self.journal.waits(turn.turn.id) {
            return Err(StoreError::Refused {
                message: "the earlier turn is still on its way to the graph".to_owned(),
                transient: true,
            });
        }
        self.windows.forget(guard.session());
        Ok(replaced)
    }

    /// Records the delivered messages of an answer. If the graph is away, they are kept in the journal until it is told. If that
    /// fails too, a repeated delivery of the event brings the same answer again. Returns `false` if the answer was forgotten
    /// meanwhile, or emptied because of what it repeats. `kept` is the turn if it was just kept.
    pub async fn delivered(
        &self,
        session: &ConversationId,
        response: ResponseId,
        kept: Option<(&SessionGuard, &NewTurn)>,
        delivered: &Delivered,
    ) -> bool {
        self.windows.set_delivered(session, response, delivered);
        let in_journal = self.journal.set_delivered(response, delivered).await;
        let stands = match in_journal {
            Ok(true) => return true,
            Ok(false) => {
                self.keep_delivered(session, response, kept, delivered)
                    .await
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "the journal could not be written");
                return true;
            }
        };
        match stands {
            Ok(stands) => {
                self.journal.mark_delivery_told(response);
                stands
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, %response, "the graph could not be told that an answer went out");
                if !error.is_refusal() {
                    let covering = kept.map(|(_, new)| CoveringMarks::of(new));
                    self.record_delivery_later(session, response, covering, delivered)
                        .await;
                }
                true
            }
        }
    }

    async fn keep_delivered(
        &self,
        session: &ConversationId,
        response: ResponseId,
        kept: Option<(&SessionGuard, &NewTurn)>,
        delivered: &Delivered,
    ) -> Result<bool, StoreError> {
        let platform = session.platform();
        let setting = async || match kept {
            Some((guard, new)) => self.store.set_first_delivered(guard, new, delivered).await,
            None => self.store.set_delivered(response, delivered).await,
        };
        let mut pause = FIRST_RETRY_DELAY;
        for _ in 1..DELIVERED_TRIES {
            match setting().await {
                Err(error) if error.is_transient() && !self.neighbours.is_alone(platform) => {}
                stands => return stands,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_RETRY_DELAY);
        }
        setting().await
    }

    /// Forgets a turn or a session in the graph.
    ///
    /// # Errors
    /// Fails when the graph cannot be used.
    pub async fn forget_saved(
        &self,
        guard: &SessionGuard,
        what: Forget,
    ) -> Result<Forgotten, StoreError> {
        let was_away = self.is_away();
        let forgotten = self.store.forget(guard, what).await;
        // Answers in any session may have been emptied, even if it failed.
        if forgotten.is_ok() || !was_away {
            self.windows.clear();
        }
        forgotten
    }

    /// Forgets some turns of a session in the graph, as one deletion.
    ///
    /// # Errors
    /// Fails when the graph cannot be used.
    pub async fn forget_saved_turns(
        &self,
        guard: &SessionGuard,
        turns: &[ResponseId],
        said_until: DateTime<Utc>,
    ) -> Result<Forgotten, StoreError> {
        let forgotten = self.store.forget_turns(guard, turns, said_until).await;
        // Answers in any session may have been emptied, even if it failed.
        self.windows.clear();
        forgotten
    }

    /// Queues the turns that were set aside again. Returns how many there were.
    ///
    /// # Errors
    /// Fails when a file could not be read or written.
    pub async fn retry_set_aside(&self) -> Result<usize, JournalError> {
        self.journal.retry_set_aside().await
    }

    /// Whether this process forgot the turn of an event. The graph may be away when the event is delivered again.
    fn is_forgotten_here(&self, event: &EventId) -> bool {
        if self.forgotten.has(event.as_str()) {
            return true;
        }
        let untold = self.journal.forgotten();
        untold.iter().any(|it| it.event == event.as_str())
    }

    /// Records that a message was deleted on its platform, so that it is not answered when it arrives late or again.
    ///
    /// # Errors
    /// Fails when the graph cannot record it.
    pub async fn mark_deleted(
        &self,
        session: &ConversationId,
        event: &EventId,
    ) -> Result<(), StoreError> {
        let deleted = ForgottenEvent {
            session: session.as_str().to_owned(),
            event: event.as_str().to_owned(),
        };
        self.store.mark_deleted(&deleted).await
    }

    /// Removes the marks of messages that were deleted this long ago.
    pub async fn sweep_deletions(&self, kept: Duration) {
        if !self.is_away()
            && let Err(error) = self.store.sweep_deletions(kept).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "marks of deleted messages could not be removed");
        }
    }

    /// Records that a message was taken back before it was answered, so that it is not answered when it is delivered again.
    ///
    /// # Errors
    /// Fails when the graph cannot record it.
    pub async fn mark_forgotten(
        &self,
        session: &ConversationId,
        event: &EventId,
    ) -> Result<(), StoreError> {
        let forgotten = ForgottenEvent {
            session: session.as_str().to_owned(),
            event: event.as_str().to_owned(),
        };
        self.store
            .mark_forgotten(&BTreeSet::from([forgotten]))
            .await
    }

    /// The state from memory, for as long as the graph is unavailable.
    fn remembered(&self, read: &TurnRead<'_>) -> Begun {
        // After a restart, the offline turns are all there is.
        let waiting = self.journal.of_session(read.session.as_str());
        let window = with_waiting(self.held(read.session), &waiting, read.window);
        Begun {
            context: TurnContext {
                duplicate: answered(&window, read),
                window,
                is_forgotten: self.is_forgotten_here(read.event),
                ..TurnContext::default()
            },
            store_away: true,
        }
    }

    pub(in crate::memory) fn mark_away(&self, error: &StoreError) {
        metrics::counter!("muninn_degradations_total", "degradation" => "store").increment(1);
        if !self.store.is_shared() {
            // A graph on this machine may be busy or its disk full, but it is never away.
            let error = error as &dyn std::error::Error;
            tracing::error!(error, "the graph on this machine failed");
        } else if !self.away.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                error = error as &dyn std::error::Error,
                "the graph is away: answering from memory, keeping turns in the journal"
            );
        }
    }
}

/// A window with the offline turns, at most `most`, oldest first.
fn with_waiting(mut window: Vec<Turn>, waiting: &[Arc<NewTurn>], most: usize) -> Vec<Turn> {
    let known: HashSet<ResponseId> = window.iter().map(|turn| turn.id).collect();
    let waiting = waiting.iter().map(|it| &it.turn);
    let new = waiting.filter(|turn| !known.contains(&turn.id)).cloned();
    window.extend(new.map(|turn| Turn {
        embedding: None,
        ..turn
    }));
    window.split_off(window.len().saturating_sub(most))
}

/// The turn that answered the event already, as far as the window shows.
fn answered(window: &[Turn], read: &TurnRead<'_>) -> Option<Turn> {
    window
        .iter()
        .find(|turn| turn.event == read.event.as_str() && turn.is_answered())
        .cloned()
}
