//! Replays the journal: checks for the graph while it is away, and saves the waiting turns while new
//! ones continue.
//!
//! The graph counts as back when it answers, not when everything is saved. A session with waiting
//! turns sees them in its window, and new turns join them.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::archive::Archive;
use crate::graph::session::SessionGuard;
use crate::graph::{NewTurn, ResponseId, StoreError};

/// First pause after the graph went away until it is checked, doubling up to [`MAX_RETRY_DELAY`].
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(250);
/// Longest pause between two checks.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(15);

/// Number of turns, each of another session, that may fail individually before all of them wait for a
/// later time.
const MAX_STUCK_TURNS: usize = 3;
/// Longest time that a turn waits until earlier ones of its session are saved.
const DRAIN_FIRST: Duration = Duration::from_secs(2);
/// Longest time for the current transaction at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

impl Archive {
    /// Checks for the graph while it is away, and saves waiting turns whenever it accepts them, until
    /// `shutdown`.
    pub async fn watch(&self, shutdown: CancellationToken) {
        let mut pause = FIRST_RETRY_DELAY;
        let mut looked_at = None;
        let end = async {
            shutdown.cancelled().await;
            tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
        };
        tokio::pin!(end);
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            let round = async {
                self.look_for_space(&mut looked_at).await;
                self.look().await?;
                self.tell_forgotten().await?;
                self.tell_deliveries().await?;
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
                Ok(()) => FIRST_RETRY_DELAY,
                Err(error) => self.pause_after(&error, pause),
            };
        }
    }

    /// The pause after a round that failed. A long outage is counted again and again: turns count it only until one of them
    /// finds out, but what watches the count looks at the last minutes.
    fn pause_after(&self, error: &StoreError, pause: Duration) -> Duration {
        let error = error as &dyn std::error::Error;
        tracing::debug!(error, "turns still wait for the graph");
        if self.is_away() && pause == MAX_RETRY_DELAY {
            metrics::counter!("muninn_degradations_total", "degradation" => "store").increment(1);
        }
        (pause * 2).min(MAX_RETRY_DELAY)
    }

    /// Saves all waiting turns. Returns how many turns left the journal.
    ///
    /// # Errors
    /// Fails when the graph does not accept them; those then keep waiting.
    pub async fn replay(&self) -> Result<usize, StoreError> {
        self.tell_forgotten().await?;
        self.tell_deliveries().await?;
        let mut saved = 0;
        while !self.journal.is_empty() {
            match self.save_batch().await? {
                0 => break,
                turns => saved += turns,
            }
        }
        Ok(saved)
    }

    /// Checks whether the graph is back.
    async fn look(&self) -> Result<(), StoreError> {
        if self.is_away() {
            self.store().probe().await?;
            self.away.store(false, Ordering::Relaxed);
            let waiting = self.journal.len();
            tracing::info!(waiting, "the graph is back");
        }
        Ok(())
    }

    /// Tells the graph what was forgotten before it was saved there.
    async fn tell_forgotten(&self) -> Result<(), StoreError> {
        let events = self.journal.forgotten();
        if !events.is_empty() {
            self.store().mark_forgotten(&events).await?;
            self.journal.mark_reported(&events);
        }
        Ok(())
    }

    /// Saves the longest waiting turns of sessions that nobody is using. Returns how many of them no
    /// longer wait.
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

    /// Saves the waiting turns of a session before a new one, if that does not take long.
    ///
    /// # Errors
    /// Fails when the graph does not accept them.
    pub(in crate::memory) async fn save_first(
        &self,
        guard: &SessionGuard,
    ) -> Result<(), StoreError> {
        let deadline = Instant::now() + DRAIN_FIRST;
        self.save_while(guard, || Instant::now() < deadline).await
    }

    async fn save_while(
        &self,
        guard: &SessionGuard,
        goes_on: impl Fn() -> bool + Send + Sync,
    ) -> Result<(), StoreError> {
        while self.journal.holds(guard.session().as_str()) && goes_on() {
            let batch = self.replay.batch();
            if self.save(std::slice::from_ref(guard), batch).await? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Saves the waiting turns of a session unless the graph is away. What fails is retried by [`Archive::watch`].
    pub async fn save_waiting(&self, guard: &SessionGuard) {
        if !self.is_away()
            && let Err(error) = self.save_first(guard).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "turns of a conversation still wait");
        }
    }

    /// Saves the waiting turns of a session before one of its turns is forgotten: the graph is then searched for answers that
    /// repeat it. This is tried even while the graph counts as away, as that search may reach it again.
    ///
    /// # Errors
    /// Fails when the graph cannot be reached, unless the turn waits itself. What came after it then waits, too, and is emptied
    /// in the journal. Of what is under a legal hold, only the graph keeps a copy, so that has to be in the graph.
    pub async fn save_before_forgetting(
        &self,
        guard: &SessionGuard,
        turn: ResponseId,
    ) -> Result<(), StoreError> {
        let waiting = self.journal.turn(turn);
        let is_held = waiting.is_some_and(|it| self.store().is_held(&it.audience.id));
        if self.is_away() && self.journal.waits(turn) && !is_held {
            return Ok(());
        }
        let saved = without_refusals(self.save_while(guard, || true).await);
        match self.journal.waits(turn) {
            true if is_held => saved.and(Err(not_copied_yet())),
            true => Ok(()),
            false => saved,
        }
    }

    /// Saves the waiting turns of a session under a legal hold, as only what is in the graph is copied.
    ///
    /// # Errors
    /// Fails when the graph cannot be reached, or some of them still wait for it.
    pub async fn save_held_session(&self, guard: &SessionGuard) -> Result<(), StoreError> {
        let session = guard.session().as_str();
        let is_here = |it: &NewTurn| it.turn.session == session;
        if !self.waits_under_hold(is_here) {
            return Ok(());
        }
        let saved = without_refusals(self.save_while(guard, || true).await);
        match self.waits_under_hold(is_here) {
            true => saved.and(Err(not_copied_yet())),
            false => saved,
        }
    }

    /// Saves the waiting turns of some accounts that are under a legal hold, before the accounts are marked as forgotten: the
    /// graph then takes none of them any more.
    ///
    /// # Errors
    /// Fails when the graph cannot be reached, or some of them still wait for it, as somebody uses their session.
    pub async fn save_held_of(&self, accounts: &[String]) -> Result<(), StoreError> {
        let is_theirs = |it: &NewTurn| accounts.contains(&it.turn.author);
        if !self.waits_under_hold(is_theirs) {
            return Ok(());
        }
        let saved = self.save_all_waiting().await;
        match self.waits_under_hold(is_theirs) {
            true => saved.and(Err(not_copied_yet())),
            false => saved,
        }
    }

    /// Whether some of these turns are under a legal hold and wait for the graph.
    pub(in crate::memory) fn waits_under_hold(&self, is_meant: impl Fn(&NewTurn) -> bool) -> bool {
        let waiting = self.journal.all();
        let mut meant = waiting.iter().filter(|it| is_meant(it));
        meant.any(|it| self.store().is_held(&it.audience.id))
    }

    /// Saves the waiting turns of all sessions that nobody is using, for the same reason.
    ///
    /// # Errors
    /// Fails when the graph cannot be reached.
    pub async fn save_all_waiting(&self) -> Result<(), StoreError> {
        without_refusals(self.replay().await.map(drop))
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
                    self.mark_away(&error);
                }
                Err(error)
            }
        }
    }

    /// Saves turns in one transaction. If the graph refuses it, the batch is halved until the refused
    /// turn is alone.
    async fn save_turns(
        &self,
        guards: &[SessionGuard],
        turns: Vec<Arc<NewTurn>>,
    ) -> Result<usize, StoreError> {
        let mut saved = 0;
        let mut stuck: HashSet<String> = HashSet::new();
        let mut parts = vec![turns];
        while let Some(mut part) = parts.pop() {
            // A turn after one that keeps waiting has to wait too.
            part.retain(|turn| !stuck.contains(&turn.turn.session));
            let Some(first) = part.first() else { continue };
            let error = match self.store().append_all(guards, &part).await {
                Ok(known) => {
                    self.note_kept();
                    let is_known = |turn: &&Arc<NewTurn>| known.contains(&turn.turn.event);
                    self.update_saved(part.iter().filter(is_known)).await?;
                    let ids: Vec<_> = part.iter().map(|turn| turn.turn.id).collect();
                    self.journal.remove_saved(&ids);
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
                if stuck.len() >= MAX_STUCK_TURNS {
                    return Err(error);
                }
            }
        }
        Ok(saved)
    }

    /// Whether the graph is available and refuses this turn for its content; it is then set aside.
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

/// Why something under a legal hold is not forgotten or changed yet.
pub(in crate::memory) fn not_copied_yet() -> StoreError {
    StoreError::Refused {
        message: "it is under a legal hold and still on its way to the graph".to_owned(),
        transient: true,
    }
}

/// Leaves only the error that the graph cannot be reached. What it refuses is retried by [`Archive::watch`].
fn without_refusals(saved: Result<(), StoreError>) -> Result<(), StoreError> {
    match saved {
        Err(error) if !error.is_transient() => {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "turns still wait");
            Ok(())
        }
        saved => saved,
    }
}

/// Whether some of the turns may cause the error, so that a smaller batch may succeed.
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

#[cfg(test)]
mod tests {
    use muninn_platform::{Channels, ConversationId};

    use super::*;
    use crate::graph::session::Sessions;
    use crate::graph::testing::failing_store;
    use crate::memory::keeping::journal::Journal;
    use crate::testing::new_turn;

    /// An archive over a graph that fails, with what makes the terminal held.
    fn failing_archive(
        folder: &std::path::Path,
        error: fn() -> StoreError,
    ) -> (Archive, Arc<Sessions>, Channels) {
        let settings = folder.join("channels.toml");
        std::fs::write(&settings, "['terminal']\nlegal_hold = true\n").unwrap();
        let journal = Journal::open(folder).unwrap();
        let sessions = Arc::new(Sessions::default());
        let store = Arc::new(failing_store(error));
        let archive = Archive::new(store, journal, Arc::clone(&sessions), 10);
        (archive, sessions, Channels::load(&settings).unwrap())
    }

    fn unreachable_graph() -> StoreError {
        StoreError::Unreachable {
            url: "bolt://graph".to_owned(),
            source: None,
        }
    }

    #[tokio::test]
    async fn what_waits_under_a_legal_hold_is_forgotten_only_when_the_graph_can_copy_it() {
        let folder = tempfile::tempdir().unwrap();
        let (archive, sessions, held) = failing_archive(folder.path(), unreachable_graph);
        let turn = new_turn("terminal/a", "When is it?");
        let guard = sessions.lock(&ConversationId::new("terminal/a")).await;
        archive.journal.keep(turn.clone()).await.unwrap();
        archive.away.store(true, Ordering::Relaxed);
        for (channels, is_held) in [(Channels::default(), false), (held, true)] {
            archive.store().hold_by(Arc::new(channels));
            let saved = archive.save_before_forgetting(&guard, turn.turn.id).await;
            assert_eq!(saved.is_err(), is_held, "{saved:?}");
            let saved = archive.save_held_session(&guard).await;
            assert_eq!(saved.is_err(), is_held, "{saved:?}");
            let person = std::slice::from_ref(&turn.turn.author);
            let saved = archive.save_held_of(person).await;
            assert_eq!(saved.is_err(), is_held, "{saved:?}");
            assert_eq!(archive.waiting(), 1);
        }
    }

    #[tokio::test]
    async fn a_session_under_a_legal_hold_is_not_forgotten_while_the_graph_refuses_its_turns() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = || StoreError::Refused {
            message: "read-only".to_owned(),
            transient: false,
        };
        let (archive, sessions, held) = failing_archive(folder.path(), refusal);
        let guard = sessions.lock(&ConversationId::new("terminal/a")).await;
        let turn = new_turn("terminal/a", "When is it?");
        archive.journal.keep(turn).await.unwrap();
        archive.store().hold_by(Arc::new(held));
        let saved = archive.save_held_session(&guard).await;
        assert!(
            saved.as_ref().is_err_and(StoreError::is_transient),
            "{saved:?}"
        );
        assert_eq!(archive.waiting(), 1);
    }

    #[tokio::test]
    async fn what_a_person_said_under_a_legal_hold_is_not_dropped_while_it_waits_for_the_graph() {
        let folder = tempfile::tempdir().unwrap();
        let (archive, _, held) = failing_archive(folder.path(), unreachable_graph);
        let turn = new_turn("terminal/a", "When is it?");
        let person = [turn.turn.author.clone()];
        let until = turn.turn.created_at;
        archive.journal.keep(turn).await.unwrap();
        archive.store().hold_by(Arc::new(held));
        let forgotten = archive.forget_person(&person, until, until, false).await;
        let error = forgotten.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
        assert_eq!(archive.waiting(), 1);
        // Without a hold it is forgotten where it waits.
        archive.store().hold_by(Arc::new(Channels::default()));
        let forgotten = archive.forget_person(&person, until, until, false).await;
        assert!(forgotten.is_err());
        assert_eq!(archive.waiting(), 0);
    }

    #[tokio::test]
    async fn what_was_set_aside_under_a_legal_hold_is_not_forgotten_without_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let (archive, _, held) = failing_archive(folder.path(), unreachable_graph);
        let turn = new_turn("terminal/a", "When is it?");
        let why = StoreError::Unexpected("it is odd".to_owned());
        archive.journal.set_aside(&turn, &why).await.unwrap();
        let session = ConversationId::new("terminal/a");
        for (channels, is_held) in [(held, true), (Channels::default(), false)] {
            archive.store().hold_by(Arc::new(channels));
            let forgotten = archive.forget(&session, |_| true).await;
            assert_eq!(forgotten.is_err(), is_held, "{forgotten:?}");
            let left = archive.journal.aside().await.len();
            assert_eq!(left, usize::from(is_held));
        }
    }
}
