//! A recorded call of the Web API, with its response.

use serde_json::Value;
use tokio::time::Instant;

/// One call of the Web API.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: String,
    /// The arguments as they were sent, without the token.
    pub arguments: Value,
    /// Null if the method did not answer (a fault, a closed connection).
    pub answer: Value,
    /// The response's HTTP status; 0 if there was none.
    pub status: u16,
    pub at: Instant,
}

impl Call {
    /// Whether the response has `ok: true`.
    pub fn is_ok(&self) -> bool {
        self.answer["ok"] == true
    }

    /// Returns the error of the response.
    pub fn error(&self) -> Option<&str> {
        self.answer["error"].as_str()
    }
}
