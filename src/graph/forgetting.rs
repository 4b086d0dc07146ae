//! Forgetting: deleting turns with everything made from them, everywhere.

use muninn_platform::ConversationId;
use serde_json::{Value, json};

use super::engine::Engine;
use super::messages::counted;
use super::record::params;
use super::session::SessionGuard;
use super::{Forget, Forgotten, GraphStore, StoreError, statements};

/// What an answer says once what it quoted was forgotten.
pub(crate) const REDACTED_ANSWER: &str = "What this answer quoted was forgotten.";

impl GraphStore {
    /// Removes turns with their vectors, the summary that covered them and the quotes of them.
    pub async fn forget(
        &self,
        guard: &SessionGuard,
        what: Forget,
    ) -> Result<Forgotten, StoreError> {
        self.forget_in(guard.session(), what).await
    }

    pub(super) async fn forget_in(
        &self,
        session: &ConversationId,
        what: Forget,
    ) -> Result<Forgotten, StoreError> {
        let id = match what {
            Forget::Turn(id) => Some(id.to_string()),
            Forget::Session => None,
        };
        self.intended(json!({
            "session": session.as_str(), "id": id,
            // What was said within this millisecond was said before.
            "until": chrono::Utc::now().timestamp_millis() + 1,
        }))
        .await
    }

    /// Deletes what a wish names, everywhere.
    pub(super) async fn erase(&self, wish: Value) -> Result<Forgotten, StoreError> {
        if wish.get("author").is_some() {
            let forgotten = self.erase_said(&wish).await?;
            return Ok(self.scrubbed(forgotten).await);
        }
        let (mark, statement) = match wish.get("id") {
            None | Some(Value::Null) => (statements::MARK_SESSION, statements::FORGET_SESSION),
            Some(_) => (statements::MARK_TURN, statements::FORGET_TURN),
        };
        let mut bound = params(wish);
        bound.insert("blot".to_owned(), json!(REDACTED_ANSWER));
        // First: a mark too many hides a little, a mark too few brings back what was forgotten.
        self.engine.write(mark, bound.clone()).await?;
        let rows = self.engine.write(statement, bound).await?;
        let forgotten = Forgotten {
            turns: counted(rows.first(), "turns"),
            quotes: counted(rows.first(), "quotes"),
            is_in_file: false,
        };
        Ok(self.scrubbed(forgotten).await)
    }
}
