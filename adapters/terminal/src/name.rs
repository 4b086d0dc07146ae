//! What this platform is called in ids, settings and logs, and what it refuses.

use muninn_platform::PlatformVocabulary;

pub(crate) const NAME: &str = "terminal";

/// Who talks in a terminal is not known for sure, so accounts of it are not linked. It has no earlier messages.
pub(crate) const VOCABULARY: PlatformVocabulary = PlatformVocabulary {
    refused: &["link my accounts", "backfill since"],
    ..PlatformVocabulary::PLAIN
};

/// A connection has no folder for files either.
pub(crate) const CONNECTION_VOCABULARY: PlatformVocabulary = PlatformVocabulary {
    refused: &["link my accounts", "backfill since", "export mine"],
    ..PlatformVocabulary::PLAIN
};
