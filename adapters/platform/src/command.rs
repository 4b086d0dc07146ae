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
    /// Which messages are answered from now on.
    Attend(Attention, Scope),
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

/// Which messages are answered in a conversation or an audience, beside what its settings say. The later ones are the
/// stricter.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Attention {
    /// Those that the settings and the rules find meant for the bot.
    #[default]
    Open,
    /// Those that mention the bot or answer it.
    Mentioned,
    /// None, until it is unmuted.
    Muted,
}

impl Attention {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Mentioned => "mentioned",
            Self::Muted => "muted",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Open, Self::Mentioned, Self::Muted]
            .into_iter()
            .find(|it| it.name() == name)
    }
}

/// How far a command reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// The conversation it is given in.
    Conversation,
    /// The channel, the room, with all its conversations.
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
            [rest @ .., "thread" | "session" | "conversation"] => {
                Self::attend(rest, Scope::Conversation, text)
            }
            [rest @ .., "room" | "channel"] => Self::attend(rest, Scope::Audience, text),
            all => Self::attend(all, Scope::Conversation, text),
        }
    }

    fn attend(words: &[&str], scope: Scope, text: &str) -> Self {
        let attention = match words {
            ["mute"] => Attention::Muted,
            ["unmute"] => Attention::Open,
            ["only", "when", "mentioned"] => Attention::Mentioned,
            _ => return Self::Unknown(text.trim().to_owned()),
        };
        Self::Attend(attention, scope)
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
            (
                "Mute",
                Command::Attend(Attention::Muted, Scope::Conversation),
            ),
            (
                "mute thread",
                Command::Attend(Attention::Muted, Scope::Conversation),
            ),
            (
                "mute room",
                Command::Attend(Attention::Muted, Scope::Audience),
            ),
            (
                "unmute",
                Command::Attend(Attention::Open, Scope::Conversation),
            ),
            (
                "unmute channel",
                Command::Attend(Attention::Open, Scope::Audience),
            ),
            (
                "only when mentioned",
                Command::Attend(Attention::Mentioned, Scope::Conversation),
            ),
            (
                "only when mentioned channel",
                Command::Attend(Attention::Mentioned, Scope::Audience),
            ),
            (
                "mute everybody",
                Command::Unknown("mute everybody".to_owned()),
            ),
            ("channel", Command::Unknown("channel".to_owned())),
            ("forget", Command::Unknown("forget".to_owned())),
            ("why not", Command::Unknown("why not".to_owned())),
            ("", Command::Unknown(String::new())),
        ] {
            assert_eq!(Command::parse(text), command, "{text:?}");
        }
    }
}
