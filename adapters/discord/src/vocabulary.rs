//! Discord's own terms.

use muninn_platform::PlatformVocabulary;

pub(crate) const VOCABULARY: PlatformVocabulary = PlatformVocabulary {
    channel: "channel",
    conversation: "thread",
    moderator: "message-manager",
    forget_last: "/forget last",
    forget_me_for_good: "/forget everything of mine, everywhere: yes, for good",
    has_slash_commands: true,
    refused: &[],
};
