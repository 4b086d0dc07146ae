//! Replays the journal: looks for the graph while it is away, and saves what waits beside the turns
//! that go on.
//!
//! Away ends when the graph answers, not when everything is saved: a session whose turns still wait
//! sees them in its window, and adds to them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::archive::Archive;
use crate::graph::session::SessionGuard;
use crate::graph::{NewTurn, StoreError};
use muninn_platform::in_one_line;

/// How long after the graph went away it is first looked for again, doubling up to [`SLOWEST`].
const FIRST_LOOK: Duration = Duration::from_millis(250);
/// The longest pause between two looks.
const SLOWEST: Duration = Duration::from_secs(15);
/// Turns of one transaction at most; fewer where the graph is too slow for that.
const MOST: usize = 400;
/// Turns that fail alone, each of another session, before all of them wait for better times.
const STUCK: usize = 3;
/// How long a turn waits at most for earlier ones of its session to be saved.
const DRAIN_FIRST: Duration = Duration::from_secs(2);
/// How long a transaction under way may take at the end.
const LET_FINISH: Duration = Duration::from_secs(5);

/// How replaying goes.
#[derive(Debug)]
pub(super) struct Replay {
    /// Turns of one transaction.
    batch: AtomicUsize,
    /// What was said last of why turns wait.
    said: Mutex<Option<String>>,
}

impl Default for Replay {
    fn default() -> Self {
        Self {
            batch: AtomicUsize::new(MOST),
            said: Mutex::default(),
        }
    }
}

impl Replay {
    fn batch(&self) -> usize {
        self.batch.load(Ordering::Relaxed)
    }

    fn went_well(&self) {
        let batch = (self.batch() * 2).min(MOST);
        self.batch.store(batch, Ordering::Relaxed);
        self.said().take();
    }

    fn went_badly(&self, error: &StoreError) {
        let batch = (self.batch() / 4).max(1);
        self.batch.store(batch, Ordering::Relaxed);
        let why = in_one_line(error);
        let mut said = self.said();
        if said.as_ref() != Some(&why) {
            tracing::error!(
                why,
                "turns wait for the graph; they are saved when it takes them"
            );
            *said = Some(why);
        }
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Archive {
    /// Looks for the graph while it is away, and saves what waits whenever it takes it, until
    /// `shutdown`.
    pub async fn watch(&self, shutdown: CancellationToken) {
        let mut pause = FIRST_LOOK;
        let end = async {
            shutdown.cancelled().await;
            tokio::time::sleep(LET_FINISH).await;
        };
        tokio::pin!(end);
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            let round = async {
                self.look().await?;
                self.tell_forgotten().await?;
                while !self.journal.is_empty() && !shutdown.is_cancelled() {
                    if self.save_batch().await? == 0 {
                        break;
                    }
                }
                Ok::<(), StoreError>(())
            };
            let went = tokio::select! {
                went = round => went,
                () = &mut end => return,
            };
            pause = match went {
                Ok(()) => FIRST_LOOK,
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::debug!(error, "turns still wait for the graph");
                    (pause * 2).min(SLOWEST)
                }
            };
        }
    }

    /// Saves everything that waits, and says how many turns it took out of the journal.
    ///
    /// # Errors
    /// When the graph does not take them; those it did not take wait on.
    pub async fn replay(&self) -> Result<usize, StoreError> {
        self.tell_forgotten().await?;
        let mut saved = 0;
        while !self.journal.is_empty() {
            match self.save_batch().await? {
                0 => break,
                turns => saved += turns,
            }
        }
        Ok(saved)
    }

    /// Sees whether the graph is back.
    async fn look(&self) -> Result<(), StoreError> {
        if self.is_away() {
            self.store().probe().await?;
            self.away.store(false, Ordering::Relaxed);
            let waiting = self.journal.len();
            tracing::info!(waiting, "the graph is back");
        }
        Ok(())
    }

    /// Tells the graph what was forgotten before it came there.
    async fn tell_forgotten(&self) -> Result<(), StoreError> {
        let events = self.journal.forgotten();
        if !events.is_empty() {
            self.store().mark_forgotten(&events).await?;
            self.journal.forgotten_is_known(&events);
        }
        Ok(())
    }

    /// Saves the turns that have waited longest of sessions that nobody works on; says how many of
    /// them do not wait any more.
    async fn save_batch(&self) -> Result<usize, StoreError> {
        let batch = self.replay.batch();
        let mut guards = Vec::new();
        let mut turns = 0;
        for (session, waiting) in self.journal.sessions() {
            if turns >= batch {
                break;
            }
            if let Some(guard) = self.sessions.try_lock(&session) {
                turns += waiting;
                guards.push(guard);
            }
        }
        self.save(&guards, batch).await
    }

    /// Saves what waits of a session before it goes on, if that does not take long.
    ///
    /// # Errors
    /// When the graph does not take it.
    pub(super) async fn save_first(&self, guard: &SessionGuard) -> Result<(), StoreError> {
        let deadline = Instant::now() + DRAIN_FIRST;
        while self.journal.holds(guard.session().as_str()) && Instant::now() < deadline {
            let batch = self.replay.batch();
            if self.save(std::slice::from_ref(guard), batch).await? == 0 {
                break;
            }
        }
        Ok(())
    }

    async fn save(&self, guards: &[SessionGuard], most: usize) -> Result<usize, StoreError> {
        let sessions: HashSet<&str> = guards.iter().map(|it| it.session().as_str()).collect();
        let turns = self.journal.first_of(&sessions, most);
        let all = turns.len();
        let saving = async {
            let turns = self.without_forgotten(turns).await?;
            let forgotten = all - turns.len();
            let saved = self.save_turns(guards, turns).await?;
            Ok(forgotten + saved)
        };
        match saving.await {
            Ok(saved) => {
                self.replay.went_well();
                Ok(saved)
            }
            Err(error) => {
                self.replay.went_badly(&error);
                if let Err(error) = self.store().probe().await {
                    self.went_away(&error);
                }
                Err(error)
            }
        }
    }

    /// Saves turns in one transaction. Where the graph refuses it, it is halved until what is refused
    /// is alone.
    async fn save_turns(
        &self,
        guards: &[SessionGuard],
        turns: Vec<Arc<NewTurn>>,
    ) -> Result<usize, StoreError> {
        let mut saved = 0;
        let mut stuck: HashSet<String> = HashSet::new();
        let mut parts = vec![turns];
        while let Some(mut part) = parts.pop() {
            // What follows a turn that waits on waits with it.
            part.retain(|turn| !stuck.contains(&turn.turn.session));
            let Some(first) = part.first() else { continue };
            let error = match self.store().append_all(guards, &part).await {
                Ok(()) => {
                    let ids: Vec<_> = part.iter().map(|turn| turn.turn.id).collect();
                    self.journal.done(&ids);
                    saved += part.len();
                    continue;
                }
                Err(error) => error,
            };
            if !may_be_the_turns(&error) {
                return Err(error);
            }
            if part.len() > 1 {
                let rest = part.split_off(part.len() / 2);
                parts.extend([rest, part]);
            } else if self.is_to_blame(first, &error).await? {
                saved += 1;
            } else {
                stuck.insert(first.turn.session.clone());
                if stuck.len() >= STUCK {
                    return Err(error);
                }
            }
        }
        Ok(saved)
    }

    /// Whether the graph, which answers, refuses this turn for what is in it; it is then set aside.
    async fn is_to_blame(&self, turn: &NewTurn, error: &StoreError) -> Result<bool, StoreError> {
        self.store().probe().await?;
        if error.is_outage() {
            return Ok(false);
        }
        tracing::error!(
            error = error as &dyn std::error::Error,
            response = %turn.turn.id,
            "the graph refuses a turn of the journal; it is set aside: see `muninn offline-turns`"
        );
        match self.journal.set_aside(turn, error).await {
            Ok(()) => Ok(true),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "it could not be set aside, and waits on");
                Ok(false)
            }
        }
    }
}

/// Whether it may lie in some of the turns, so that fewer of them may do better.
fn may_be_the_turns(error: &StoreError) -> bool {
    match error {
        StoreError::Invalid(_) | StoreError::Unexpected(_) => true,
        StoreError::Refused { transient, .. } => !transient,
        StoreError::Unreachable { .. }
        | StoreError::Unauthorized { .. }
        | StoreError::Locked { .. }
        | StoreError::Corrupt { .. }
        | StoreError::NewerSchema { .. }
        | StoreError::Misconfigured(_) => false,
    }
}
