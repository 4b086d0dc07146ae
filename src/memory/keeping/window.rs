//! Holds the last turns of active sessions in memory.
//!
//! The graph is the source of truth. This copy is used while the graph is unavailable, and shows a
//! session its own turns that still wait in the journal.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use muninn_platform::{ConversationId, Delivered};

use crate::graph::{ResponseId, Turn};

/// Maximum number of sessions; the one that was inactive longest is dropped first.
const SESSIONS: usize = 512;

/// Windows of the sessions that talked last.
#[derive(Debug)]
pub(in crate::memory) struct Windows {
    turns: usize,
    held: Mutex<WindowCache>,
}

#[derive(Debug, Default)]
struct WindowCache {
    clock: u64,
    windows: HashMap<ConversationId, (u64, VecDeque<Turn>)>,
}

impl Windows {
    /// Windows of at most `turns` turns.
    pub(in crate::memory) fn new(turns: usize) -> Self {
        Self {
            turns,
            held: Mutex::default(),
        }
    }

    /// The session's last turns, oldest first.
    pub(in crate::memory) fn get(&self, session: &ConversationId) -> Vec<Turn> {
        self.with(|held| {
            held.windows
                .get(session)
                .map(|(_, turns)| turns.iter().cloned().collect())
                .unwrap_or_default()
        })
    }

    /// Replaces a window with what the graph returned.
    pub(in crate::memory) fn set(&self, session: &ConversationId, window: &[Turn]) {
        let from = window.len().saturating_sub(self.turns);
        let turns = window[from..].iter().map(without_vector).collect();
        self.put(session, turns);
    }

    /// Adds a turn to a window.
    pub(in crate::memory) fn push(&self, session: &ConversationId, turn: &Turn) {
        let mut turns: VecDeque<Turn> = self.get(session).into();
        if turns.len() >= self.turns {
            turns.pop_front();
        }
        turns.push_back(without_vector(turn));
        self.put(session, turns);
    }

    /// Adds a heard message if the session's window is loaded. Sessions in which nobody asks the bot
    /// need none.
    pub(in crate::memory) fn hear(&self, session: &ConversationId, turn: &Turn) {
        if self.with(|held| held.windows.contains_key(session)) {
            self.push(session, turn);
        }
    }

    /// Records the delivered messages of an answer.
    pub(in crate::memory) fn set_delivered(
        &self,
        session: &ConversationId,
        response: ResponseId,
        delivered: &Delivered,
    ) {
        self.with(|held| {
            let window = held.windows.get_mut(session);
            let turns = window.into_iter().flat_map(|(_, turns)| turns.iter_mut());
            for turn in turns.filter(|turn| turn.id == response) {
                turn.delivered = Some(delivered.clone());
            }
        });
    }

    /// Drops a window in which something was forgotten.
    pub(in crate::memory) fn forget(&self, session: &ConversationId) {
        self.with(|held| held.windows.remove(session));
    }

    /// Drops all windows.
    pub(in crate::memory) fn clear(&self) {
        self.with(|held| held.windows.clear());
    }

    fn put(&self, session: &ConversationId, turns: VecDeque<Turn>) {
        self.with(|held| {
            held.clock += 1;
            let now = held.clock;
            held.windows.insert(session.clone(), (now, turns));
            if held.windows.len() > SESSIONS {
                let oldest = held.windows.iter().min_by_key(|(_, (at, _))| *at);
                if let Some(oldest) = oldest.map(|(session, _)| session.clone()) {
                    held.windows.remove(&oldest);
                }
            }
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut WindowCache) -> T) -> T {
        act(&mut self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Prompts need no vectors, which are the larger part of a turn.
fn without_vector(turn: &Turn) -> Turn {
    Turn {
        embedding: None,
        ..turn.clone()
    }
}
