//! Decides what a message asks for, and whether it is for the bot at all. Pure.

use crate::{Addressed, AnswerMode, Body, Command};

/// What a message to the bot asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A question, or any other text that gets an answer.
    Text(String),
    Command(Command),
}

impl Request {
    /// Parses what follows a command prefix (`!muninn …`, `/muninn …`): nothing means help, and
    /// several words that are not a command are a question.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let is_sentence = text.split_whitespace().nth(1).is_some();
        match Command::parse(text) {
            Command::Unknown(nothing) if nothing.is_empty() => Self::Command(Command::Help),
            // "forget" with a wrong word is not a question.
            Command::Unknown(_) if is_sentence && !is_forget(text) => Self::Text(text.to_owned()),
            known => Self::Command(known),
        }
    }
}

impl From<Request> for Body {
    fn from(request: Request) -> Self {
        match request {
            Request::Text(text) => Self::Text(text),
            Request::Command(command) => Self::Command(command),
        }
    }
}

/// "forget" and one more word.
fn is_forget(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    first.eq_ignore_ascii_case("forget") && words.count() == 1
}

/// Why a message is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnoreReason {
    /// The bot wrote it itself.
    Own,
    Bot,
    /// The allow list does not admit them.
    NotAllowed,
    /// The channel is set to never answer.
    Never,
    /// It is said to others.
    NotAddressed,
    /// An event that concerns no chat bot, or that it may not read.
    Irrelevant,
}

impl IgnoreReason {
    /// Whether the operator wants to know, because somebody waits for an answer.
    pub fn is_worth_telling(self) -> bool {
        match self {
            Self::NotAllowed => true,
            Self::Own | Self::Bot | Self::Never | Self::NotAddressed | Self::Irrelevant => false,
        }
    }
}

impl AnswerMode {
    /// Returns how a message is addressed to the bot, or `None`. `names_bot`: it mentions the bot,
    /// replies to it, or nobody else is there.
    pub fn addressed(self, names_bot: bool, is_in_thread: bool) -> Option<Addressed> {
        match self {
            Self::Never => None,
            Self::Always => Some(Addressed::Directly),
            Self::Mentions | Self::Threads if names_bot => Some(Addressed::Directly),
            Self::Threads if is_in_thread => Some(Addressed::InConversation),
            Self::Mentions | Self::Threads => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ForgetWhat;

    #[test]
    fn what_follows_a_prefix_is_a_command_or_a_question() {
        let text = |text: &str| Request::Text(text.to_owned());
        let unknown = |text: &str| Request::Command(Command::Unknown(text.to_owned()));
        for (written, request) in [
            ("", Request::Command(Command::Help)),
            ("  \n", Request::Command(Command::Help)),
            (" Why ", Request::Command(Command::Why)),
            ("why not?", text("why not?")),
            (
                "forget last",
                Request::Command(Command::Forget(ForgetWhat::Last)),
            ),
            ("forget everything", unknown("forget everything")),
            ("forget what Bo said", text("forget what Bo said")),
            ("forget", unknown("forget")),
            ("hello", unknown("hello")),
        ] {
            assert_eq!(Request::parse(written), request, "{written:?}");
        }
    }

    proptest! {
        #[test]
        fn no_words_are_lost(text in "\\PC{0,40}") {
            match Request::parse(&text) {
                Request::Text(asked) | Request::Command(Command::Unknown(asked)) => {
                    prop_assert_eq!(asked, text.trim());
                }
                Request::Command(_) => {}
            }
        }
    }

    #[test]
    fn modes_say_what_is_meant_for_the_bot() {
        use Addressed::{Directly, InConversation};
        for (mode, named, in_thread, neither) in [
            (AnswerMode::Never, None, None, None),
            (
                AnswerMode::Always,
                Some(Directly),
                Some(Directly),
                Some(Directly),
            ),
            (AnswerMode::Mentions, Some(Directly), None, None),
            (
                AnswerMode::Threads,
                Some(Directly),
                Some(InConversation),
                None,
            ),
        ] {
            let found = [(true, false), (false, true), (false, false)];
            let found = found.map(|(named, thread)| mode.addressed(named, thread));
            assert_eq!(found, [named, in_thread, neither], "{mode:?}");
            assert_eq!(mode.addressed(true, true), named, "{mode:?}");
        }
    }
}
