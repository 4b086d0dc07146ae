//! The results of an adapter's self-check.

/// The result for one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub verdict: Verdict,
    /// One sentence; if something is wrong, it says what to do.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    /// Worth knowing.
    Warning,
    Error,
}

impl Finding {
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(Verdict::Ok, text)
    }

    pub fn warning(text: impl Into<String>) -> Self {
        Self::new(Verdict::Warning, text)
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self::new(Verdict::Error, text)
    }

    pub fn new(verdict: Verdict, text: impl Into<String>) -> Self {
        Self {
            verdict,
            text: text.into(),
        }
    }
}
