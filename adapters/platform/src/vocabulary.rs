//! What the people of a platform call things.

/// The words for what the bot talks about itself with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// An audience: "channel", "room".
    pub channel: &'static str,
    /// One conversation of it: "thread", "conversation".
    pub conversation: &'static str,
    /// Who may have forgotten what others said, with its article.
    pub moderator: &'static str,
    /// How the last turn is forgotten.
    pub forget_last: &'static str,
    /// What can be asked, where commands are more than words.
    pub help: Option<&'static str>,
}

impl Vocabulary {
    /// Where a platform has no words of its own.
    pub const PLAIN: Self = Self {
        channel: "room",
        conversation: "conversation",
        moderator: "an administrator",
        forget_last: "forget last",
        help: None,
    };
}
