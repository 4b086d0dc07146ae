//! The waiting turns, indexed for lookups.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use muninn_platform::{AudienceId, ConversationId, Delivered};

use crate::graph::{NewTurn, ResponseId};

/// Waiting turns in the order in which they were kept.
#[derive(Debug, Default)]
pub(super) struct OfflineTurnQueue {
    turns: BTreeMap<u64, Arc<NewTurn>>,
    next: u64,
    responses: HashMap<ResponseId, u64>,
    events: HashMap<String, u64>,
    sessions: HashMap<String, BTreeSet<u64>>,
}

impl OfflineTurnQueue {
    pub(super) fn push(&mut self, turn: Arc<NewTurn>) {
        // A turn that is kept twice waits once.
        self.remove(turn.turn.id);
        let place = self.next;
        self.next += 1;
        self.responses.insert(turn.turn.id, place);
        self.events.insert(turn.turn.event.clone(), place);
        let of_session = self.sessions.entry(turn.turn.session.clone());
        of_session.or_default().insert(place);
        self.turns.insert(place, turn);
    }

    pub(super) fn remove(&mut self, response: ResponseId) -> Option<Arc<NewTurn>> {
        let place = self.responses.remove(&response)?;
        let turn = self.turns.remove(&place)?;
        if self.events.get(&turn.turn.event) == Some(&place) {
            self.events.remove(&turn.turn.event);
        }
        if let Some(places) = self.sessions.get_mut(&turn.turn.session) {
            places.remove(&place);
            if places.is_empty() {
                self.sessions.remove(&turn.turn.session);
            }
        }
        Some(turn)
    }

    /// Records the delivered messages of a turn. Returns whether the turn waits.
    pub(super) fn set_delivered(&mut self, response: ResponseId, delivered: &Delivered) -> bool {
        let place = self.responses.get(&response);
        let Some(turn) = place.and_then(|place| self.turns.get_mut(place)) else {
            return false;
        };
        Arc::make_mut(turn).turn.delivered = Some(delivered.clone());
        true
    }

    /// Replaces the turn with the same ID. Returns whether that waits.
    pub(super) fn replace(&mut self, turn: NewTurn) -> bool {
        let place = self.responses.get(&turn.turn.id);
        let Some(waiting) = place.and_then(|place| self.turns.get_mut(place)) else {
            return false;
        };
        *waiting = Arc::new(turn);
        true
    }

    pub(super) fn has(&self, response: ResponseId) -> bool {
        self.responses.contains_key(&response)
    }

    pub(super) fn get(&self, response: ResponseId) -> Option<&Arc<NewTurn>> {
        self.turns.get(self.responses.get(&response)?)
    }

    pub(super) fn of_event(&self, event: &str) -> Option<&Arc<NewTurn>> {
        self.turns.get(self.events.get(event)?)
    }

    pub(super) fn holds(&self, session: &str) -> bool {
        self.sessions.contains_key(session)
    }

    pub(super) fn len(&self) -> usize {
        self.turns.len()
    }

    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = &Arc<NewTurn>> {
        self.turns.values()
    }

    /// The turns of a session, oldest first.
    pub(super) fn of_session(
        &self,
        session: &str,
    ) -> impl DoubleEndedIterator<Item = &Arc<NewTurn>> {
        let places = self.sessions.get(session).into_iter().flatten();
        places.filter_map(|place| self.turns.get(place))
    }

    /// The sessions with their number of waiting turns, longest waiting first.
    pub(super) fn sessions(&self) -> Vec<(ConversationId, usize)> {
        let mut sessions: Vec<(u64, &str, usize)> = self
            .sessions
            .iter()
            .filter_map(|(session, places)| {
                Some((*places.first()?, session.as_str(), places.len()))
            })
            .collect();
        sessions.sort_unstable();
        let named = |(_, session, turns): (u64, &str, usize)| (ConversationId::new(session), turns);
        sessions.into_iter().map(named).collect()
    }

    /// The first turns of some sessions, in order, at most `limit`.
    pub(super) fn first_of(&self, sessions: &HashSet<&str>, limit: usize) -> Vec<Arc<NewTurn>> {
        let places = sessions.iter().filter_map(|it| self.sessions.get(*it));
        let mut places: Vec<u64> = places
            .flat_map(|places| places.iter().take(limit).copied())
            .collect();
        places.sort_unstable();
        places.truncate(limit);
        let turns = places.iter().filter_map(|place| self.turns.get(place));
        turns.cloned().collect()
    }

    /// The sessions of an audience with waiting turns.
    pub(super) fn sessions_of(&self, audience: &AudienceId) -> Vec<ConversationId> {
        let theirs = self.all().filter(|turn| turn.audience.id == *audience);
        let sessions: BTreeSet<&str> = theirs.map(|turn| turn.turn.session.as_str()).collect();
        sessions.into_iter().map(ConversationId::new).collect()
    }
}
