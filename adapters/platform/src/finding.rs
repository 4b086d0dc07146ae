//! What an adapter finds when it is asked whether all is well.

/// What was found of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub verdict: Verdict,
    /// One sentence; where something is wrong, it says what to do.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Well,
    /// Worth knowing.
    Worth,
    Wrong,
}

impl Finding {
    pub fn well(text: impl Into<String>) -> Self {
        Self::new(Verdict::Well, text)
    }

    pub fn worth(text: impl Into<String>) -> Self {
        Self::new(Verdict::Worth, text)
    }

    pub fn wrong(text: impl Into<String>) -> Self {
        Self::new(Verdict::Wrong, text)
    }

    pub fn new(verdict: Verdict, text: impl Into<String>) -> Self {
        Self {
            verdict,
            text: text.into(),
        }
    }
}
