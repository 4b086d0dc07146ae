//! One call of the Web API, as it came and as it was answered.

use serde_json::Value;
use tokio::time::Instant;

/// One call of the Web API.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: String,
    /// The arguments as they were sent, without the token.
    pub arguments: Value,
    /// Null where it was not answered by the method (a fault, a closed connection).
    pub answer: Value,
    /// HTTP status of the answer; 0 where there was none.
    pub status: u16,
    pub at: Instant,
}

impl Call {
    /// Whether it was answered with `ok: true`.
    pub fn is_ok(&self) -> bool {
        self.answer["ok"] == true
    }

    /// The error it was answered with.
    pub fn error(&self) -> Option<&str> {
        self.answer["error"].as_str()
    }
}
