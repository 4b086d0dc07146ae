//! Forgetting: deleting turns with everything made from them, everywhere.

use serde_json::{Value, json};

use super::engine::{Engine, Purge};
use super::record::{integer, params};
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
        let id = match what {
            Forget::Turn(id) => Some(id.to_string()),
            Forget::Session => None,
        };
        let wish = json!({
            "session": guard.session().as_str(), "id": id,
            // What was said within this millisecond was said before.
            "until": chrono::Utc::now().timestamp_millis() + 1,
        });
        let intent = self.engine.intend(&wish)?;
        // If this fails, the intent stays and the next start finishes it.
        let forgotten = self.erase(wish).await?;
        if let Some(intent) = intent.filter(|_| !forgotten.is_in_file) {
            intent.done()?;
        }
        Ok(forgotten)
    }

    /// Deletes what a wish names, everywhere.
    pub(super) async fn erase(&self, wish: Value) -> Result<Forgotten, StoreError> {
        let (mark, statement) = match wish.get("id") {
            None | Some(Value::Null) => (statements::MARK_SESSION, statements::FORGET_SESSION),
            Some(_) => (statements::MARK_TURN, statements::FORGET_TURN),
        };
        let mut bound = params(wish);
        bound.insert("blot".to_owned(), json!(REDACTED_ANSWER));
        // First: a mark too many hides a little, a mark too few brings back what was forgotten.
        self.engine.write(mark, bound.clone()).await?;
        let rows = self.engine.write(statement, bound).await?;
        // It is forgotten all the same, so that is what is said.
        let scrubbed = self.engine.purge(Purge::Forgotten).await;
        let is_in_file = scrubbed.is_err_and(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, "what was forgotten is still in a file of the graph");
            true
        });
        let count = |column| {
            let count = rows.first().map_or(0, |row| integer(row, column));
            usize::try_from(count).unwrap_or_default()
        };
        Ok(Forgotten {
            turns: count("turns"),
            quotes: count("quotes"),
            is_in_file,
        })
    }
}
