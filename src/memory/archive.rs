//! Reading and keeping turns, whether the graph is there or not.
//!
//! The graph is the truth. While it is away, a turn sees the window held in memory and goes into
//! the journal; when it is back, the journal is replayed in order, each turn once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use muninn_platform::{
    AudienceId, ConversationId, Delivered, EventId, Feedback, IncomingMessage, MessageId,
};
use tokio_util::sync::CancellationToken;

use super::window::Windows;
use crate::graph::{
    Appended, GraphStore, NewTurn, ResponseId, StoreError, Turn, TurnContext, TurnRead,
};
use crate::journal::Journal;
use crate::session::{SessionGuard, Sessions};

/// How long after the graph went away it is first looked for again, doubling up to [`SLOWEST`].
const FIRST_LOOK: Duration = Duration::from_millis(250);
/// The longest pause between two looks.
const SLOWEST: Duration = Duration::from_secs(15);

/// The pauses between looks for an answer that was just delivered.
const LOOKS: [Duration; 3] = [
    Duration::from_millis(200),
    Duration::from_millis(800),
    Duration::from_secs(3),
];

/// Where turns are read and kept.
#[derive(Debug)]
pub struct Archive {
    store: Arc<dyn GraphStore>,
    journal: Journal,
    windows: Windows,
    sessions: Arc<Sessions>,
    away: AtomicBool,
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
        store: Arc<dyn GraphStore>,
        journal: Journal,
        sessions: Arc<Sessions>,
        window: usize,
    ) -> Self {
        Self {
            store,
            journal,
            windows: Windows::new(window),
            sessions,
            away: AtomicBool::new(false),
        }
    }

    /// The graph itself, for what needs it and can wait until it is there.
    pub fn store(&self) -> &Arc<dyn GraphStore> {
        &self.store
    }

    /// Whether the graph could not be asked the last time.
    pub fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    /// Turns that wait for the graph.
    pub async fn waiting(&self) -> usize {
        self.journal.len().await
    }

    /// Reads what a turn needs.
    ///
    /// # Errors
    /// When the graph answered with something other than that it is away.
    pub async fn begin(&self, read: &TurnRead<'_>) -> Result<Begun, StoreError> {
        if self.is_away() {
            return Ok(self.remembered(read));
        }
        let mut context = match self.store.begin_turn(read).await {
            Ok(context) => context,
            Err(error) if error.is_transient() => {
                self.went_away(&error);
                return Ok(self.remembered(read));
            }
            Err(error) => return Err(error),
        };
        // The graph is back, but turns of this session are still on their way to it.
        if self.journal.holds(read.session.as_str()).await {
            context.window = self.windows.get(read.session);
            context.duplicate = context
                .duplicate
                .or_else(|| answered(&context.window, read));
        } else {
            self.windows.set(read.session, &context.window);
        }
        Ok(Begun {
            context,
            store_away: false,
        })
    }

    /// The session's last turns as the graph has them, oldest first.
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
        Ok(self.store.begin_turn(&read).await?.window)
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
        // Behind the session's turns that wait already: the chain has one order.
        if !self.is_away() && !self.journal.holds(guard.session().as_str()).await {
            match self.store.append(guard, turn).await {
                Ok(Appended::Saved { .. }) => return Kept::Graph,
                Ok(Appended::Duplicate(earlier)) => return Kept::Duplicate(earlier),
                Err(error) if error.is_transient() => self.went_away(&error),
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

    /// Puts a turn in the place of an earlier one. It waits for the graph rather than in the journal:
    /// the earlier answer stands until then.
    ///
    /// # Errors
    /// When the graph cannot be asked, or the earlier turn is still on its way to it.
    pub async fn replace(&self, guard: &SessionGuard, turn: &NewTurn) -> Result<bool, StoreError> {
        let replaced = self.store.replace(guard, turn).await?;
        self.windows.forget(guard.session());
        Ok(replaced)
    }

    /// Keeps what an answer went out as. Where that fails, the same event delivered again brings the
    /// same answer once more.
    pub async fn delivered(
        &self,
        session: &ConversationId,
        response: ResponseId,
        delivered: &Delivered,
    ) {
        self.windows.set_delivered(session, response, delivered);
        let in_journal = self.journal.set_delivered(response, delivered).await;
        let kept = match in_journal {
            Ok(true) => return,
            Ok(false) => self.store.set_delivered(response, delivered).await,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                return tracing::error!(error, "the journal could not be written");
            }
        };
        if let Err(error) = kept {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                %response,
                "that an answer went out could not be kept"
            );
        }
    }

    /// The turn that an event made.
    ///
    /// # Errors
    /// When the graph cannot be asked, and the turn does not wait in the journal.
    pub async fn turn_of_event(&self, event: &EventId) -> Result<Option<Turn>, StoreError> {
        if let Some(waiting) = self.journal.turn_of_event(event.as_str()).await {
            return Ok(Some(waiting.turn));
        }
        self.store.turn_of_event(event).await
    }

    /// Whether the bot said anything in a session, as far as that can be known now.
    pub async fn takes_part(&self, session: &ConversationId) -> bool {
        if !self.windows.get(session).is_empty() {
            return true;
        }
        match self.store.takes_part(session).await {
            Ok(takes_part) => takes_part,
            Err(error) => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    %session,
                    "whether it takes part cannot be known"
                );
                false
            }
        }
    }

    /// Keeps what somebody thinks of an answer.
    ///
    /// # Errors
    /// When the graph cannot be asked.
    pub async fn keep_feedback(
        &self,
        audience: &AudienceId,
        feedback: &Feedback,
    ) -> Result<Option<ResponseId>, StoreError> {
        patiently(|| self.store.keep_feedback(audience, feedback)).await
    }

    /// The answer of an audience that went out as this message, and its session.
    ///
    /// # Errors
    /// When the graph cannot be asked.
    pub async fn response_of_message(
        &self,
        audience: &AudienceId,
        message: &MessageId,
    ) -> Result<Option<(ConversationId, ResponseId)>, StoreError> {
        patiently(|| self.store.response_of_message(audience, message)).await
    }

    /// Forgets what memory and the journal hold of a session's turns; says how many the journal
    /// held.
    pub async fn forget(
        &self,
        session: &ConversationId,
        gone: impl Fn(&Turn) -> bool + Send + Sync,
    ) -> usize {
        self.windows.forget(session);
        self.journal
            .drop_where(|waiting| waiting.turn.session == session.as_str() && gone(&waiting.turn))
            .await
            .unwrap_or_else(|error| {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the journal could not be written"
                );
                0
            })
    }

    /// Replays the journal whenever there is something in it and the graph takes it, until
    /// `shutdown`.
    pub async fn watch(&self, shutdown: CancellationToken) {
        let mut pause = FIRST_LOOK;
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            if !self.is_away() && self.journal.is_empty().await {
                pause = FIRST_LOOK;
                continue;
            }
            pause = match self.replay().await {
                Ok(()) => FIRST_LOOK,
                Err(error) => {
                    tracing::debug!(
                        error = &error as &dyn std::error::Error,
                        "the graph is still away"
                    );
                    (pause * 2).min(SLOWEST)
                }
            };
        }
    }

    /// Replays the journal: in order, each turn once.
    ///
    /// # Errors
    /// When the graph is still away.
    pub async fn replay(&self) -> Result<(), StoreError> {
        let mut saved = 0;
        while let Some(turn) = self.journal.first().await {
            let guard = self
                .sessions
                .lock(&ConversationId::new(&turn.turn.session))
                .await;
            // Somebody may have had it forgotten while we waited for the session.
            if self
                .journal
                .first()
                .await
                .is_none_or(|first| first.turn.id != turn.turn.id)
            {
                continue;
            }
            match self.store.append(&guard, &turn).await {
                Ok(_) => saved += 1,
                Err(error) if error.is_transient() => return Err(error),
                Err(error) => {
                    // It would be refused for ever, and hold up those behind it.
                    tracing::error!(error = &error as &dyn std::error::Error, response = %turn.turn.id, "the graph refuses a turn of the journal; it is set aside");
                    if let Err(error) = self.journal.set_aside(&turn).await {
                        tracing::error!(
                            error = &error as &dyn std::error::Error,
                            "it could not be set aside"
                        );
                        return Ok(());
                    }
                }
            }
            if let Err(error) = self.journal.done(&turn).await {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the journal could not be written"
                );
            }
        }
        if saved == 0 {
            self.store.health().await?;
        }
        if self.away.swap(false, Ordering::Relaxed) || saved > 0 {
            tracing::info!(saved, "the graph is back");
        }
        Ok(())
    }

    /// What memory holds of a session, for as long as the graph cannot say more.
    fn remembered(&self, read: &TurnRead<'_>) -> Begun {
        let window = self.windows.get(read.session);
        Begun {
            context: TurnContext {
                duplicate: answered(&window, read),
                window,
                ..TurnContext::default()
            },
            store_away: true,
        }
    }

    pub(super) fn went_away(&self, error: &StoreError) {
        metrics::counter!("muninn_ladder_total", "rung" => "store").increment(1);
        if !self.away.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                error = error as &dyn std::error::Error,
                "the graph is away: answering from memory, keeping turns in the journal"
            );
        }
    }
}

/// Looks a few times: people see an answer a moment before it is known what it went out as.
async fn patiently<T, F>(look: impl Fn() -> F) -> Result<Option<T>, StoreError>
where
    F: Future<Output = Result<Option<T>, StoreError>>,
{
    for pause in LOOKS {
        if let Some(found) = look().await? {
            return Ok(Some(found));
        }
        tokio::time::sleep(pause).await;
    }
    look().await
}

/// The turn that the event made already, as far as the window knows.
fn answered(window: &[Turn], read: &TurnRead<'_>) -> Option<Turn> {
    window
        .iter()
        .find(|turn| turn.event == read.event.as_str())
        .cloned()
}
