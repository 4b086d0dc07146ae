//! What the people of a platform call things.

/// The words for what the bot talks about itself with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// An audience: "channel", "room".
    pub channel: &'static str,
    /// One conversation of it: "thread", "conversation".
    pub conversation: &'static str,
    /// Who may have forgotten what others said, as the texts name it: `administrator`, `workspace-admin`,
    /// `message-manager`.
    pub moderator: &'static str,
    /// How the last turn is forgotten.
    pub forget_last: &'static str,
    /// How somebody has all of theirs forgotten for good, once they know what that means.
    pub forget_me_for_good: &'static str,
    /// Commands begin with a slash, and are the platform's own.
    pub has_slash_commands: bool,
}

impl Vocabulary {
    /// Where a platform has no words of its own.
    pub const PLAIN: Self = Self {
        channel: "room",
        conversation: "conversation",
        moderator: "administrator",
        forget_last: "forget last",
        forget_me_for_good: "forget me yes",
        has_slash_commands: false,
    };
}
