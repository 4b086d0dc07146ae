//! Reading and keeping turns, whether the graph is there or not.
//!
//! The graph is the truth. While it is away, a turn sees the window held in memory and goes into
//! the journal; when it is back, the journal is [replayed](super::replay) in order, each turn once.

mod lookup;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use muninn_platform::{ConversationId, Delivered, EventId, IncomingMessage, counted};
use tokio::time::Instant;

use super::forgotten_waiting::TakesAway;
use super::leaving::{Lately, Leaving};
use super::neighbours::Neighbours;
use super::recaller::Recaller;
use super::replay::Replay;
use super::window::Windows;
use crate::graph::answers::{ForgottenEvent, Marks, Spoken};
use crate::graph::items::AsRead;
use crate::graph::session::{SessionGuard, Sessions};
use crate::graph::{
    Appended, GraphStore, NewTurn, ResponseId, StoreError, Turn, TurnContext, TurnRead,
};
use crate::memory::journal::{Journal, JournalError};

/// How long after the graph went away it is first asked again, doubling up to [`SLOWEST`].
const FIRST_LOOK: Duration = Duration::from_millis(250);
/// The longest pause between two looks.
const SLOWEST: Duration = Duration::from_secs(15);
/// How long a turn waits for a graph in which other processes look for it.
const PATIENCE: Duration = Duration::from_mins(30);
/// How often it is tried to keep what an answer went out as, where other processes look for that.
const DELIVERED_TRIES: u32 = 5;

/// Where turns are read and kept.
#[derive(Debug)]
pub struct Archive {
    store: Arc<GraphStore>,
    pub(super) journal: Journal,
    pub(super) windows: Windows,
    /// What embeds messages; without it they are kept without a vector.
    pub(super) recaller: Option<Arc<Recaller>>,
    /// Without it, what was shown of turns that were forgotten elsewhere stays.
    pub(super) withdrawals: Option<Arc<dyn TakesAway>>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) away: AtomicBool,
    pub(super) replay: Replay,
    neighbours: Neighbours,
    leaving: Leaving,
    /// Events of turns that this process forgot, as far as its windows had them.
    forgotten: Lately<String>,
}

/// What a turn begins with.
#[derive(Debug)]
pub struct Begun {
    pub context: TurnContext,
    /// The graph could not be asked: only the window is there, and it is what memory holds.
    pub store_away: bool,
}

/// Where a turn went.
#[derive(Debug)]
pub enum Kept {
    Graph,
    /// The graph is away; the journal has it.
    Journal,
    /// The same event had been answered already, by another process.
    Duplicate(Box<Turn>),
    /// Neither took it.
    Nowhere,
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
            replay: Replay::default(),
            neighbours: Neighbours::default(),
            leaving: Leaving::default(),
            forgotten: Lately::default(),
        }
    }

    /// With what embeds messages that were heard.
    #[must_use]
    pub fn with_recaller(self, recaller: Arc<Recaller>) -> Self {
        Self {
            recaller: Some(recaller),
            ..self
        }
    }

    /// With what takes away what was shown of turns that were forgotten elsewhere.
    #[must_use]
    pub fn with_withdrawals(self, withdrawals: Arc<dyn TakesAway>) -> Self {
        Self {
            withdrawals: Some(withdrawals),
            ..self
        }
    }

    /// The graph itself, for what needs it and can wait until it is there.
    pub fn store(&self) -> &Arc<GraphStore> {
        &self.store
    }

    /// What is known of the other processes that share the graph.
    pub(crate) fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }

    /// Whether the graph could not be asked the last time.
    pub fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    /// Turns that wait for the graph.
    pub fn waiting(&self) -> usize {
        self.journal.len()
    }

    /// Why turns do not reach the graph, in a sentence; none while they do.
    pub fn trouble(&self) -> Option<String> {
        self.is_away().then(|| {
            let waiting = counted(self.waiting(), "turn");
            format!("the graph is away; waiting in the journal: {waiting}")
        })
    }

    /// Reads what a turn needs. What still waits of its session is saved first.
    ///
    /// # Errors
    /// When the graph answered with something other than that it is away.
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
                self.went_away(&error);
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
            // The graph is back, but turns of this session are still on their way to it.
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

    /// The session's last turns as the graph has them, and those that still wait for it, oldest
    /// first.
    ///
    /// # Errors
    /// When the graph cannot be asked.
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

    /// The session's last turns as memory holds them.
    pub fn remembered_window(&self, session: &ConversationId) -> Vec<Turn> {
        let waiting = self.journal.of_session(session.as_str());
        with_waiting(self.held(session), &waiting, usize::MAX)
    }

    /// What memory holds of a session's turns, where no other process may have forgotten some: the graph cannot say so now.
    fn held(&self, session: &ConversationId) -> Vec<Turn> {
        if self.neighbours.is_alone(session.platform()) {
            self.windows.get(session)
        } else {
            Vec::new()
        }
    }

    /// Keeps a turn in the graph, or else in the journal.
    pub async fn keep(&self, guard: &SessionGuard, turn: &NewTurn) -> Kept {
        let kept = self.keep_somewhere(guard, turn).await;
        match &kept {
            Kept::Graph | Kept::Journal => self.windows.push(guard.session(), &turn.turn),
            Kept::Duplicate(_) | Kept::Nowhere => {}
        }
        kept
    }

    async fn keep_somewhere(&self, guard: &SessionGuard, turn: &NewTurn) -> Kept {
        if !self.is_away()
            && let Err(error) = self.save_first(guard).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "what was said meanwhile still waits");
        }
        // Another process that is told the same would not see it in this one's journal.
        if !self.neighbours.is_alone(&turn.audience.platform)
            && !self.journal.holds(guard.session().as_str())
            && let Some(kept) = self.keep_in_graph(guard, turn).await
        {
            return kept;
        }
        // Behind the session's turns that wait already: the chain has one order.
        if !self.is_away() && !self.journal.holds(guard.session().as_str()) {
            match self.store.append(guard, turn).await {
                Ok(Appended::Saved { .. }) => return Kept::Graph,
                Ok(Appended::Duplicate(earlier)) => return Kept::Duplicate(earlier),
                Err(error) if error.is_outage() => self.went_away(&error),
                Err(error) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "the graph refused a turn"
                    );
                }
            }
        }
        match self.journal.keep(turn.clone()).await {
            Ok(()) => Kept::Journal,
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "a turn could not be kept"
                );
                Kept::Nowhere
            }
        }
    }

    /// Keeps a turn in the graph however long that is away. None: the graph refuses it.
    async fn keep_in_graph(&self, guard: &SessionGuard, turn: &NewTurn) -> Option<Kept> {
        let deadline = Instant::now() + PATIENCE;
        let mut pause = FIRST_LOOK;
        loop {
            match self.store.append(guard, turn).await {
                Ok(Appended::Saved { .. }) => return Some(Kept::Graph),
                // An earlier try took effect, and its answer was late.
                Ok(Appended::Duplicate(earlier)) if earlier.id == turn.turn.id => {
                    return Some(Kept::Graph);
                }
                Ok(Appended::Duplicate(earlier)) => return Some(Kept::Duplicate(earlier)),
                Err(error) if error.is_transient() && Instant::now() < deadline => {
                    self.went_away(&error);
                }
                Err(_) => return None,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(SLOWEST);
        }
    }

    /// Puts a turn in the place of an earlier one. It waits for the graph rather than in the journal:
    /// the earlier answer stands until then.
    ///
    /// # Errors
    /// When the graph cannot be asked, or the earlier turn is still on its way to it.
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

    /// Keeps what an answer went out as. Where that fails, the same event delivered again brings the
    /// same answer once more. False: it was forgotten meanwhile, or emptied because of what it repeats.
    pub async fn delivered(
        &self,
        session: &ConversationId,
        response: ResponseId,
        delivered: &Delivered,
    ) -> bool {
        self.windows.set_delivered(session, response, delivered);
        let in_journal = self.journal.set_delivered(response, delivered).await;
        let kept = match in_journal {
            Ok(true) => return true,
            Ok(false) => self.keep_delivered(session, response, delivered).await,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "the journal could not be written");
                return true;
            }
        };
        kept.unwrap_or_else(|error| {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                %response,
                "that an answer went out could not be kept"
            );
            true
        })
    }

    /// Keeps which messages show these answers without being one of them, so that they go when the answers are
    /// forgotten. Says whether all of them still stand: whoever forgot one meanwhile may not have known of the listing.
    pub async fn quoted_in(
        &self,
        guard: &SessionGuard,
        answers: &[AsRead],
        listing: &Spoken,
    ) -> bool {
        if answers.is_empty() || listing.messages.0.is_empty() {
            return true;
        }
        if !self.is_away()
            && let Err(error) = self.save_first(guard).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "some of what a listing shows still waits");
        }
        let ids: Vec<ResponseId> = answers.iter().map(|answer| answer.id).collect();
        if let Err(error) = self.store.quoted_in(&ids, listing).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "that a listing shows answers could not be kept; it stays when they are forgotten"
            );
            return true;
        }
        match self.gone(answers).await {
            Ok(gone) => !gone.is_any_forgotten(),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    error,
                    "whether what a listing shows still stands is not known"
                );
                true
            }
        }
    }

    async fn keep_delivered(
        &self,
        session: &ConversationId,
        response: ResponseId,
        delivered: &Delivered,
    ) -> Result<bool, StoreError> {
        let platform = session.platform();
        let mut pause = FIRST_LOOK;
        for _ in 1..DELIVERED_TRIES {
            match self.store.set_delivered(response, delivered).await {
                Err(error) if error.is_transient() && !self.neighbours.is_alone(platform) => {}
                kept => return kept,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(SLOWEST);
        }
        self.store.set_delivered(response, delivered).await
    }

    /// What was forgotten in a session, in the graph or before it came there.
    ///
    /// # Errors
    /// When the graph cannot be asked.
    pub async fn marks(&self, session: &ConversationId) -> Result<Marks, StoreError> {
        // First: what the graph is told of in between is in one of the two.
        let untold = self.journal.forgotten();
        let mut marks = self.store.marks(session).await?;
        let here = untold
            .into_iter()
            .filter(|it| it.session == session.as_str());
        marks.events.extend(here.map(|it| it.event));
        Ok(marks)
    }

    /// Forgets what memory and the journal hold of a session's turns; says how many the journal
    /// held.
    ///
    /// # Errors
    /// When they are forgotten, and yet still in a file.
    pub async fn forget(
        &self,
        session: &ConversationId,
        gone: impl Fn(&Turn) -> bool + Send + Sync,
    ) -> Result<usize, JournalError> {
        let window = self.windows.get(session).into_iter();
        self.forgotten
            .add(window.filter(|turn| gone(turn)).map(|turn| turn.event));
        self.windows.forget(session);
        let waiting = self.journal.of_session(session.as_str()).into_iter();
        let ids: HashSet<ResponseId> = waiting
            .filter(|waiting| gone(&waiting.turn))
            .map(|waiting| waiting.turn.id)
            .collect();
        if !ids.is_empty() {
            self.empty_what_says_again(&ids).await;
        }
        self.journal
            .forget(|waiting| waiting.turn.session == session.as_str() && gone(&waiting.turn))
            .await
    }

    /// Lets turns wait again that were set aside, and says how many there were.
    ///
    /// # Errors
    /// When a file could not be read or written.
    pub async fn retry_set_aside(&self) -> Result<usize, JournalError> {
        self.journal.retry_set_aside().await
    }

    /// Whether this process forgot the turn of an event: the graph may be away when it is told again.
    fn is_forgotten_here(&self, event: &EventId) -> bool {
        if self.forgotten.has(event.as_str()) {
            return true;
        }
        let untold = self.journal.forgotten();
        untold.iter().any(|it| it.event == event.as_str())
    }

    /// Keeps that a message was taken back before it was answered, so that it is not answered when it is told again.
    ///
    /// # Errors
    /// When the graph cannot keep it.
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

    /// What memory holds of a session, for as long as the graph cannot say more.
    fn remembered(&self, read: &TurnRead<'_>) -> Begun {
        // After a restart, what waits is all there is.
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

    pub(super) fn went_away(&self, error: &StoreError) {
        metrics::counter!("muninn_ladder_total", "rung" => "store").increment(1);
        if !self.store.is_shared() {
            // It is on this machine: it may be busy, or its disk full, but it is there.
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

/// A window with the turns that still wait, at most `most`, oldest first.
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

/// The turn that the event made already, as far as the window knows.
fn answered(window: &[Turn], read: &TurnRead<'_>) -> Option<Turn> {
    window
        .iter()
        .find(|turn| turn.event == read.event.as_str() && turn.is_answered())
        .cloned()
}
