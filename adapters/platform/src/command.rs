//! What can be asked of the bot itself, the same on every platform.

use serde::{Deserialize, Serialize};

use crate::MessageId;

/// A command, without the platform's prefix (`/` in a terminal, `!muninn ` in a Matrix room).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// What can be asked.
    Help,
    /// The last turns of this conversation.
    History,
    /// What the last answer was made from.
    Why,
    /// What the answer was made from that went out as this message.
    WhyOf(MessageId),
    /// Answer once more what was answered by this message, in its place. Where that cannot be, the
    /// reply is not told to replace anything, and what is said is for the one who asked alone.
    Again(MessageId),
    /// What the bot is, what it remembers here, and how it forgets.
    About,
    /// What was spent, by the one who asks and here.
    Usage,
    Forget(ForgetWhat),
    /// The platform says that a place is gone, with all that was said in it: the conversation or audience that the
    /// message is in, and all whose ids begin with it and a slash. No person gives it.
    PlaceGone,
    /// None of these; the bot says so and names them.
    Unknown(String),
}

/// What to forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ForgetWhat {
    /// The last turn of the one who asks.
    Last,
    /// Everything said in this conversation.
    Session,
    /// Everything said in this audience: the channel, the room.
    Audience,
}

impl Command {
    /// Reads a command from its words; case and surrounding blanks do not matter.
    pub fn parse(text: &str) -> Self {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["help"] => Self::Help,
            ["history"] => Self::History,
            ["why"] => Self::Why,
            ["about"] => Self::About,
            ["usage"] => Self::Usage,
            ["forget", "last"] => Self::Forget(ForgetWhat::Last),
            ["forget", "session" | "thread" | "conversation"] => Self::Forget(ForgetWhat::Session),
            ["forget", "room" | "channel"] => Self::Forget(ForgetWhat::Audience),
            _ => Self::Unknown(text.trim().to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_make_commands() {
        for (text, command) in [
            ("help", Command::Help),
            (" WHY ", Command::Why),
            ("history", Command::History),
            ("forget  last", Command::Forget(ForgetWhat::Last)),
            ("forget session", Command::Forget(ForgetWhat::Session)),
            ("forget thread", Command::Forget(ForgetWhat::Session)),
            ("Forget Room", Command::Forget(ForgetWhat::Audience)),
            ("forget channel", Command::Forget(ForgetWhat::Audience)),
            ("usage", Command::Usage),
            ("about", Command::About),
            ("forget", Command::Unknown("forget".to_owned())),
            ("why not", Command::Unknown("why not".to_owned())),
            ("", Command::Unknown(String::new())),
        ] {
            assert_eq!(Command::parse(text), command, "{text:?}");
        }
    }
}
