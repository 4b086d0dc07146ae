//! A platform's words for its concepts.

/// The words that the bot uses when it speaks about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlatformVocabulary {
    /// An audience: "channel", "room".
    pub channel: &'static str,
    /// A conversation in it: "thread", "conversation".
    pub conversation: &'static str,
    /// Whoever may have others' messages forgotten, as the texts name the role: `administrator`,
    /// `workspace-admin`, `message-manager`.
    pub moderator: &'static str,
    /// The command to forget the last turn.
    pub forget_last: &'static str,
    /// The command to have everything of oneself forgotten for good, after the warning.
    pub forget_me_for_good: &'static str,
    /// Whether commands begin with a slash and are the platform's own.
    pub has_slash_commands: bool,
    /// Commands that are always refused there, as the lines of `help` about them begin.
    pub refused: &'static [&'static str],
}

impl PlatformVocabulary {
    /// For platforms without words of their own.
    pub const PLAIN: Self = Self {
        channel: "room",
        conversation: "conversation",
        moderator: "administrator",
        forget_last: "forget last",
        forget_me_for_good: "forget me yes",
        has_slash_commands: false,
        refused: &[],
    };
}
