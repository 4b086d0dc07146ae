//! The results of an adapter's self-check.

/// The result for one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfCheckFinding {
    pub verdict: CheckStatus,
    /// One sentence; if something is wrong, it says what to do.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    Ok,
    /// Worth knowing.
    Warning,
    Error,
}

impl SelfCheckFinding {
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(CheckStatus::Ok, text)
    }

    pub fn warning(text: impl Into<String>) -> Self {
        Self::new(CheckStatus::Warning, text)
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self::new(CheckStatus::Error, text)
    }

    pub fn new(verdict: CheckStatus, text: impl Into<String>) -> Self {
        Self {
            verdict,
            text: text.into(),
        }
    }
}
