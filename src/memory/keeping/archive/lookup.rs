//! Finds turns in the graph, or among those that still wait for it.

use std::collections::HashMap;
use std::time::Duration;

use muninn_platform::{AudienceId, ConversationId, EventId, Feedback, KeptMessage, MessageId};

use super::Archive;
use crate::graph::answers::{DeliveredAnswer, Marks, WhichResponse};
use crate::graph::items::{ChangedTurns, ReadTurn};
use crate::graph::redacted::REDACTED_ANSWER;
use crate::graph::session::SessionGuard;
use crate::graph::{ResponseId, StoreError, Turn};

/// The pauses between looks for an answer that was just delivered.
const LOOKS: [Duration; 3] = [
    Duration::from_millis(200),
    Duration::from_millis(800),
    Duration::from_secs(3),
];

impl Archive {
    /// Returns the turn of an event.
    ///
    /// # Errors
    /// Fails when the graph cannot be read and the turn is not in the journal.
    pub async fn turn_of_event(&self, event: &EventId) -> Result<Option<Turn>, StoreError> {
        if let Some(waiting) = self.journal.turn_of_event(event.as_str()) {
            return Ok(Some(waiting.turn));
        }
        if let Some(saved) = self.store.turn_of_event(event).await? {
            return Ok(Some(saved));
        }
        let refused = self.journal.refused_of_event(event.as_str()).await;
        Ok(refused.map(|refused| refused.turn))
    }

    /// Returns the answer of a turn, unless it was forgotten or emptied.
    ///
    /// # Errors
    /// Fails when the graph cannot be read and the turn is not in the journal.
    pub async fn answer_of(&self, turn: ResponseId) -> Result<Option<String>, StoreError> {
        let waiting = self.journal.turn(turn).map(|it| it.turn.output.clone());
        let answer = match waiting {
            Some(waiting) => Some(waiting),
            None => self.store.item(turn).await?.map(|item| item.turn.output),
        };
        Ok(answer.filter(|answer| answer != REDACTED_ANSWER))
    }

    /// Whether the bot wrote anything in a session, as far as that can be known now.
    pub async fn takes_part(&self, session: &ConversationId) -> bool {
        let waiting = || self.journal.of_session(session.as_str());
        if self.windows.get(session).iter().any(Turn::is_answered)
            || waiting().iter().any(|it| it.turn.is_answered())
        {
            return true;
        }
        match self
            .store
            .find_response(WhichResponse::LastIn(session))
            .await
        {
            Ok(last) => last.is_some(),
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

    /// Records somebody's vote on an answer.
    ///
    /// # Errors
    /// Fails when the graph cannot be used.
    pub async fn keep_feedback(
        &self,
        audience: &AudienceId,
        feedback: &Feedback,
    ) -> Result<Option<ResponseId>, StoreError> {
        patiently(|| self.store.keep_feedback(audience, feedback)).await
    }

    /// Returns the answer of an audience that was delivered as this message, and its session.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn response_of_message(
        &self,
        audience: &AudienceId,
        message: &MessageId,
    ) -> Result<Option<(ConversationId, ResponseId)>, StoreError> {
        let sent = WhichResponse::SentAs(audience, message);
        patiently(|| self.store.find_response(sent)).await
    }

    /// Returns what was forgotten in a session, in the graph or before it was saved there. `audience` is the session's.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn marks(
        &self,
        session: &ConversationId,
        audience: &AudienceId,
    ) -> Result<Marks, StoreError> {
        // Read first: what is reported to the graph in between is in one of the two.
        let untold = self.journal.forgotten();
        let mut marks = self.store.marks(session).await?;
        let of_place = self.store.place_forgotten_until(session, audience);
        marks.until = marks.until.max(of_place.await?);
        let here = untold
            .into_iter()
            .filter(|it| it.session == session.as_str());
        marks.events.extend(here.map(|it| it.event));
        Ok(marks)
    }

    /// The offline turns of a person in an audience, oldest first, with what they said to others.
    pub fn waiting_turns_of(&self, audience: &AudienceId, person: &str) -> Vec<Turn> {
        let waiting = self.journal.turns_by(audience, person);
        waiting.iter().map(|it| it.turn.clone()).collect()
    }

    /// Whether a session has offline turns that somebody else asked for.
    pub fn others_wait(&self, session: &ConversationId, person: &str) -> bool {
        let waiting = self.journal.of_session(session.as_str());
        waiting
            .iter()
            .any(|it| it.turn.author != person && !it.turn.is_message())
    }

    /// The sessions of an audience with offline turns, or with turns that were set aside.
    pub fn waiting_sessions(&self, audience: &AudienceId) -> Vec<ConversationId> {
        self.journal.sessions_of(audience)
    }

    /// The same of a place and everything below it, with their audiences.
    pub fn waiting_sessions_under(&self, place: &str) -> Vec<(ConversationId, AudienceId)> {
        self.journal.sessions_under(place)
    }

    /// The messages of an audience whose turns are offline.
    pub fn waiting_in(&self, audience: &AudienceId) -> Vec<KeptMessage> {
        let all = self.journal.all().into_iter();
        let here = all.filter(|it| it.audience.id == *audience);
        let kept = here.map(|it| KeptMessage {
            event: EventId::new(&it.turn.event),
            conversation: ConversationId::new(&it.turn.session),
        });
        kept.collect()
    }

    /// Returns which turns were forgotten or changed since they were read. Offline turns count as unchanged. Turns that
    /// are about to be deleted are not recalled again.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn find_changed_turns(&self, turns: &[ReadTurn]) -> Result<ChangedTurns, StoreError> {
        let asked = self.not_waiting(turns);
        let gone = self.store.find_changed_turns(&asked).await?;
        self.leaving.add(gone.forgotten.iter().copied());
        Ok(gone)
    }

    /// The same, with the epochs of the audiences of those in the graph.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn find_changed_turns_and_epochs(
        &self,
        turns: &[ReadTurn],
    ) -> Result<(ChangedTurns, HashMap<AudienceId, i64>), StoreError> {
        let asked = self.not_waiting(turns);
        let (gone, epochs) = self.store.find_changed_turns_and_epochs(&asked).await?;
        self.leaving.add(gone.forgotten.iter().copied());
        Ok((gone, epochs))
    }

    /// To be called before the graph is asked: turns that are saved in between are then found there.
    fn not_waiting(&self, turns: &[ReadTurn]) -> Vec<ReadTurn> {
        let asked = turns.iter().filter(|turn| !self.journal.waits(turn.id));
        asked.cloned().collect()
    }

    /// Turns that are being forgotten, as far as this process knows.
    pub fn turns_being_forgotten(&self) -> Vec<ResponseId> {
        self.leaving.all()
    }

    /// The last turns of those of some sessions that have any, in the graph or still waiting for it.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn ends_of(
        &self,
        sessions: &[ConversationId],
    ) -> Result<HashMap<ConversationId, ResponseId>, StoreError> {
        // Read first: what is saved in between is then found in the graph.
        let waiting = sessions.iter().filter_map(|session| {
            let last = self.journal.of_session(session.as_str()).pop()?;
            Some((session.clone(), last.turn.id))
        });
        let waiting: Vec<(ConversationId, ResponseId)> = waiting.collect();
        let mut last = self.store.ends_of(sessions).await?;
        last.extend(waiting);
        Ok(last)
    }

    /// A session's turns up to one of them, in the graph or still waiting for it; if that is gone, those that were made before
    /// it.
    ///
    /// # Errors
    /// Fails when the graph cannot be read, or does not accept what waits before it.
    pub async fn turns_until(
        &self,
        guard: &SessionGuard,
        last: ResponseId,
    ) -> Result<Vec<ResponseId>, StoreError> {
        self.save_before_forgetting(guard, last).await?;
        let session = guard.session();
        let waiting = self.journal.of_session(session.as_str()).into_iter();
        let waiting: Vec<ResponseId> = waiting.map(|it| it.turn.id).collect();
        let Some(at) = waiting.iter().position(|id| *id == last) else {
            return self.store.turns_until(session, last).await;
        };
        // The graph does not accept it. What is in the graph was said before.
        let mut turns = self.store.turns_of(session.as_str()).await?;
        turns.extend(&waiting[..=at]);
        Ok(turns)
    }

    /// The delivered messages of those offline turns of a session that are meant.
    pub fn offline_deliveries(
        &self,
        session: &ConversationId,
        is_meant: impl Fn(ResponseId) -> bool,
    ) -> Vec<DeliveredAnswer> {
        let waiting = self.journal.of_session(session.as_str()).into_iter();
        let sought = waiting.filter(|it| is_meant(it.turn.id));
        let spoken = sought.map(|it| {
            let messages = it.turn.delivered.clone().unwrap_or_default();
            DeliveredAnswer::new(session.clone(), messages)
        });
        spoken.collect()
    }
}

/// Looks several times, because people see an answer a moment before its message ID is known.
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
