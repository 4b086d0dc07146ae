//! What this platform is called in ids, settings and logs, and what it refuses.

use muninn_platform::PlatformVocabulary;

pub(crate) const NAME: &str = "webhook";

/// The program claims who asks, which is not enough for what is only theirs. It cannot be asked for earlier messages.
pub(crate) const VOCABULARY: PlatformVocabulary = PlatformVocabulary {
    refused: &[
        "link my accounts",
        "export mine",
        "web",
        "mcp token",
        "backfill since",
    ],
    ..PlatformVocabulary::PLAIN
};
