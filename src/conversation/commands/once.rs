//! Makes commands take effect once, however often their event is delivered.
//!
//! The targets of a command are stored before it does anything, and its reply afterwards. When the same event is delivered
//! again, after a kill at any moment, it has the same targets and gets the same reply.

use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::{ConversationId, IncomingMessage};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use super::Commands;
use super::meant_turn::TurnDescription;
use crate::conversation::notice::KeptOfPerson;
use crate::graph::{ResponseId, StoreError};

/// What is stored for a command's event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CommandOutcome {
    /// The command forgets this turn.
    Turn(
        ConversationId,
        ResponseId,
        #[serde(default)] Option<TurnDescription>,
    ),
    /// The command forgets its conversation, whose last turn this was.
    Session(Option<ResponseId>),
    /// The command forgets these conversations.
    Sessions(Vec<SessionTarget>),
    /// The command forgets everything that these accounts said until a moment, of which so much was kept.
    Person {
        accounts: Vec<String>,
        kept: KeptOfPerson,
        /// Earlier versions stored none.
        #[serde(default)]
        until: Option<DateTime<Utc>>,
    },
    /// The command is done, and this was its reply.
    Said(String),
}

/// A conversation that a command forgets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum SessionTarget {
    /// Its last turn was this, if it had any. What was said since stays.
    Until(ConversationId, Option<ResponseId>),
    /// Stored by an earlier version.
    Whole(ConversationId),
}

/// How long a command that has begun waits for a graph that became unavailable meanwhile.
const GRAPH_WAIT_TIMEOUT: Duration = Duration::from_mins(10);
/// First pause before it is retried then, doubling up to [`MAX_RETRY_DELAY`].
const FIRST_RETRY: Duration = Duration::from_millis(250);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(15);

/// Repeats an operation until it succeeds. Forgetting must not stop half-way, because a second command could not tell what
/// is left.
///
/// # Errors
/// Fails when the graph stays unavailable for [`GRAPH_WAIT_TIMEOUT`] or refuses the operation.
pub(super) async fn retry_until_done<T, E, F>(
    doing: impl Fn() -> F,
    is_transient: fn(&E) -> bool,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    let deadline = Instant::now() + GRAPH_WAIT_TIMEOUT;
    let mut pause = FIRST_RETRY;
    loop {
        match doing().await {
            Err(error) if is_transient(&error) && Instant::now() < deadline => {}
            over => return over,
        }
        tracing::debug!("the graph went away while something was forgotten: it is tried again");
        sleep(pause).await;
        pause = (pause * 2).min(MAX_RETRY_DELAY);
    }
}

impl Commands {
    /// The stored targets or reply of an earlier delivery of the command's event.
    pub(super) async fn outcome(
        &self,
        message: &IncomingMessage,
    ) -> Result<Option<CommandOutcome>, StoreError> {
        let outcome = self.archive.store().outcome(&message.event).await?;
        // An unreadable one was written by another version of this program.
        Ok(outcome.and_then(|outcome| serde_json::from_str(&outcome).ok()))
    }

    /// The same, but `None` while the graph is away: turns that only wait for the graph can be forgotten then.
    pub(super) async fn outcome_if_reachable(
        &self,
        message: &IncomingMessage,
    ) -> Result<Option<CommandOutcome>, StoreError> {
        match self.outcome(message).await {
            Err(error) if error.is_outage() => Ok(None),
            outcome => outcome,
        }
    }

    pub(super) async fn keep_outcome(
        &self,
        message: &IncomingMessage,
        outcome: &CommandOutcome,
    ) -> Result<(), StoreError> {
        let outcome = serde_json::to_string(outcome)
            .map_err(|error| StoreError::Unexpected(error.to_string()))?;
        // A message that was missed may be read again until it is too old to be carried out.
        let store = self.archive.store();
        store
            .set_lasting_outcome(&message.event, &outcome, self.missed_age)
            .await
    }

    /// Stores the reply to a command that took effect.
    pub(super) async fn save_reply(
        &self,
        message: &IncomingMessage,
        said: String,
    ) -> Result<String, StoreError> {
        if let Err(error) = self
            .keep_outcome(message, &CommandOutcome::Said(said.clone()))
            .await
        {
            // It did take effect; a repetition has the same targets.
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "what a command said could not be kept");
        }
        Ok(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_of_earlier_versions_are_read() {
        let session = ConversationId::new("test/a/1");
        let last = ResponseId(uuid::Uuid::nil());
        let kept = KeptOfPerson::default();
        let counts = serde_json::to_string(&kept).unwrap();
        for (stored, expected) in [
            (
                r#"{"Sessions":["test/a/1"]}"#.to_owned(),
                CommandOutcome::Sessions(vec![SessionTarget::Whole(session.clone())]),
            ),
            (
                format!(r#"{{"Sessions":[["test/a/1","{last}"],["test/a/1",null]]}}"#),
                CommandOutcome::Sessions(vec![
                    SessionTarget::Until(session.clone(), Some(last)),
                    SessionTarget::Until(session, None),
                ]),
            ),
            (
                format!(r#"{{"Person":{{"accounts":["ada"],"kept":{counts}}}}}"#),
                CommandOutcome::Person {
                    accounts: vec!["ada".to_owned()],
                    kept,
                    until: None,
                },
            ),
        ] {
            let read: CommandOutcome = serde_json::from_str(&stored).unwrap();
            assert_eq!(read, expected, "{stored}");
        }
    }
}
