//! Waits for a shared graph in which other processes look for a turn.

use std::time::Duration;

use tokio::time::Instant;

use super::{Archive, FIRST_RETRY_DELAY, MAX_RETRY_DELAY, TurnSaveOutcome};
use crate::graph::session::SessionGuard;
use crate::graph::{Appended, NewTurn};

/// How long a turn waits for the graph.
const GRAPH_WAIT_TIMEOUT: Duration = Duration::from_mins(30);

impl Archive {
    /// Keeps a turn in the graph, as soon as that can be used. `None` if the graph refuses the turn itself: it then also knows
    /// whose the event is, so no other process answers it.
    pub(super) async fn keep_in_graph(
        &self,
        guard: &SessionGuard,
        turn: &NewTurn,
    ) -> Option<TurnSaveOutcome> {
        let deadline = Instant::now() + GRAPH_WAIT_TIMEOUT;
        let mut pause = FIRST_RETRY_DELAY;
        loop {
            match self.store.append(guard, turn).await {
                Ok(Appended::Saved { .. }) => return Some(TurnSaveOutcome::Graph),
                // An earlier try succeeded, but its response was late.
                Ok(Appended::Duplicate(earlier)) if earlier.id == turn.turn.id => {
                    return Some(TurnSaveOutcome::Graph);
                }
                Ok(Appended::Duplicate(earlier)) => {
                    return Some(TurnSaveOutcome::Duplicate(earlier));
                }
                Ok(Appended::Forgotten) => return Some(TurnSaveOutcome::Forgotten),
                Err(error) if error.is_refusal() => return None,
                Err(error) if Instant::now() < deadline => self.mark_away(&error),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, event = %turn.turn.event, "the graph is away for too long: an answer is left to whoever takes its message");
                    return Some(TurnSaveOutcome::Unknown);
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_RETRY_DELAY);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::graph::StoreError;
    use crate::graph::session::Sessions;
    use crate::graph::testing::failing_store;
    use crate::memory::keeping::journal::Journal;
    use crate::testing::new_turn;

    /// Keeps a turn beside other processes. Returns what became of it, and the number of turns in the journal.
    async fn keep(error: fn() -> StoreError) -> (TurnSaveOutcome, usize) {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let (store, sessions) = (failing_store(error), Arc::new(Sessions::default()));
        let archive = Archive::new(Arc::new(store), journal, Arc::clone(&sessions), 10);
        archive.neighbours().serve(&["terminal".to_owned()]);
        archive.neighbours().seen(vec!["terminal".to_owned()]);
        let turn = new_turn("terminal/a", "When is it?");
        let session = muninn_platform::ConversationId::new(&turn.turn.session);
        let guard = sessions.lock(&session).await;
        let kept = archive.keep(&guard, &turn).await;
        (kept, archive.waiting())
    }

    #[tokio::test(start_paused = true)]
    async fn beside_other_processes_only_a_turn_that_the_graph_refuses_is_journaled() {
        let outages: [fn() -> StoreError; 3] = [
            || StoreError::Unreachable {
                url: "bolt://graph".to_owned(),
                source: None,
            },
            || StoreError::Unauthorized {
                url: "bolt://graph".to_owned(),
            },
            || StoreError::Refused {
                message: "busy".to_owned(),
                transient: true,
            },
        ];
        for outage in outages {
            let (kept, journaled) = keep(outage).await;
            assert!(matches!(kept, TurnSaveOutcome::Unknown), "{kept:?}");
            assert_eq!(journaled, 0);
        }
        let refusals: [fn() -> StoreError; 2] = [
            || StoreError::Refused {
                message: "no".to_owned(),
                transient: false,
            },
            || StoreError::Invalid("too long".to_owned()),
        ];
        for refusal in refusals {
            let (kept, journaled) = keep(refusal).await;
            assert!(matches!(kept, TurnSaveOutcome::Journal), "{kept:?}");
            assert_eq!(journaled, 1);
        }
    }
}
