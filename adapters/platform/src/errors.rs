//! Errors as a single line, for a log, a terminal or a sentence.

use std::error::Error;

use crate::suggest::meant_in;

/// Returns an error with its causes. A cause that the error before it already contains is not
/// repeated. For an unknown name in a file it adds the name that was probably meant.
pub fn in_one_line(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let words = source.to_string();
        if !line.contains(&words) {
            line = format!("{line}: {words}");
        }
        cause = source.source();
    }
    let meant = meant_in(&line).map(|meant| format!("; did you mean `{meant}`?"));
    match meant {
        // An error that wraps another one may already contain it.
        Some(meant) if !line.ends_with(&meant) => line + &meant,
        Some(_) | None => line,
    }
}

/// The configuration cannot work; the sentence says what to change.
pub fn misconfigured(sentence: impl Into<String>) -> PlatformError {
    PlatformError::Misconfigured(sentence.into())
}

impl PlatformError {
    /// The connection to a platform was lost.
    pub fn disconnected(
        platform: &'static str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Disconnected {
            platform,
            source: source.into(),
        }
    }

    /// Whether the platform was only away, so that the same may succeed later.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Disconnected { .. } => true,
            Self::Misconfigured(_) | Self::BadInput(_) => false,
        }
    }
}

/// Why a platform failed.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// The connection was lost, or reading or writing failed. An answer that was not delivered is delivered again later.
    #[error("lost the connection to {platform}")]
    Disconnected {
        platform: &'static str,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The platform's configuration cannot work; the text says what to change.
    #[error("{0}")]
    Misconfigured(String),
    /// Part of what was sent was rejected, the rest was accepted; the text says which.
    #[error("{0}")]
    BadInput(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Because(&'static str, #[source] Option<Box<Self>>);

    #[test]
    fn causes_follow_and_are_not_repeated() {
        let refused = || Box::new(Because("refused", None));
        let error = Because("cannot connect", Some(refused()));
        assert_eq!(in_one_line(&error), "cannot connect: refused");
        let error = Because("cannot connect: refused", Some(refused()));
        assert_eq!(in_one_line(&error), "cannot connect: refused");
        let unknown = Because("unknown field `answr`, expected `answer`", None);
        let told = "unknown field `answr`, expected `answer`; did you mean `answer`?";
        assert_eq!(in_one_line(&unknown), told);
        assert_eq!(in_one_line(&Because(told, None)), told);
    }
}
