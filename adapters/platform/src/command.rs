//! What can be asked of the bot itself, the same on every platform.

use serde::{Deserialize, Serialize};

use crate::{ChannelMemory, MessageId};

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
    /// Keep this as a note of the audience.
    Note(String),
    /// What is kept here of the one who asks, for them alone.
    Memory(Listing),
    /// Another text in the place of what the last listing shows under this number.
    Correct {
        number: u32,
        text: String,
    },
    /// Which messages are answered from now on.
    Attend(Attention, Scope),
    /// What is remembered of this audience from now on.
    Remember(ChannelMemory),
    /// From now on nothing is kept of what the one who says it tells others here, and what was kept is forgotten.
    OptOut,
    /// The opposite, from now on.
    OptIn,
    /// What people say to one another from now on is not kept.
    OffTheRecord(Scope),
    /// It is kept again.
    OnTheRecord(Scope),
    /// What was decided, answered and left open here since the one who asks said something last, or since a day: in
    /// their words. For them alone.
    CatchUp(Option<String>),
    /// Read what people said to one another here from a day on, in the words of the one who asks, before the bot
    /// listened. None: tell how far that is.
    Backfill(Option<String>),
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
    /// What the last listing shows under this number.
    Item(u32),
}

/// What of a person's memory is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Listing {
    /// The newest.
    Newest,
    /// What follows what was listed last.
    More,
    /// What has these words.
    Search(String),
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
        if let Some(command) = Self::in_a_sentence(text) {
            return command;
        }
        match words.as_slice() {
            ["help"] => Self::Help,
            ["history"] => Self::History,
            ["why"] => Self::Why,
            ["about"] => Self::About,
            ["usage"] => Self::Usage,
            ["backfill"] => Self::Backfill(None),
            ["backfill", "since", day @ ..] if !day.is_empty() => {
                Self::Backfill(Some(day.join(" ")))
            }
            ["forget", "last"] => Self::Forget(ForgetWhat::Last),
            ["forget", "session" | "thread" | "conversation"] => Self::Forget(ForgetWhat::Session),
            ["forget", "room" | "channel"] => Self::Forget(ForgetWhat::Audience),
            ["off", rest @ ..] if scope(rest).is_some() => {
                Self::OffTheRecord(scope(rest).unwrap_or(Scope::Conversation))
            }
            ["on", rest @ ..] if scope(rest).is_some() => {
                Self::OnTheRecord(scope(rest).unwrap_or(Scope::Conversation))
            }
            [rest @ .., "thread" | "session" | "conversation"] => {
                Self::attend(rest, Scope::Conversation, text)
            }
            [rest @ .., "room" | "channel"] => Self::attend(rest, Scope::Audience, text),
            all => Self::attend(all, Scope::Conversation, text),
        }
    }

    /// What people say to the bot as a sentence, wherever they talk to it: what it may remember here, what it is to
    /// remember, list, correct and forget, and that they want to be caught up.
    pub fn in_a_sentence(text: &str) -> Option<Self> {
        if let Some(own) = about_items(text) {
            return Some(own);
        }
        let plain = text.to_lowercase().replace(['’', 'ʼ', '‘', '´', '`'], "'");
        let words: Vec<&str> = plain.split_whitespace().collect();
        let sentence = words.join(" ");
        match sentence.trim_end_matches(['.', '!', ' ']) {
            "don't remember me here" | "dont remember me here" | "do not remember me here" => {
                Some(Self::OptOut)
            }
            "remember me here" => Some(Self::OptIn),
            "remember channel"
            | "remember room"
            | "remember this channel"
            | "remember this room" => Some(Self::Remember(ChannelMemory::Channel)),
            "remember only what is asked" | "remember only what you are asked" => {
                Some(Self::Remember(ChannelMemory::Asked))
            }
            other => Self::catch_up(other.trim_end_matches(['.', '!', '?', ' '])),
        }
    }

    /// Whether it is about single things that are kept, which are listed for the one who asks alone, with what they asked
    /// privately in the same place.
    pub fn is_about_items(&self) -> bool {
        match self {
            Self::Memory(_) | Self::Correct { .. } | Self::Forget(ForgetWhat::Item(_)) => true,
            Self::Help
            | Self::History
            | Self::Why
            | Self::WhyOf(_)
            | Self::Again(_)
            | Self::About
            | Self::Usage
            | Self::Forget(ForgetWhat::Last | ForgetWhat::Session | ForgetWhat::Audience)
            | Self::Note(_)
            | Self::Attend(..)
            | Self::Remember(_)
            | Self::OptOut
            | Self::OptIn
            | Self::OffTheRecord(_)
            | Self::OnTheRecord(_)
            | Self::CatchUp(_)
            | Self::Backfill(_)
            | Self::PlaceGone
            | Self::Unknown(_) => false,
        }
    }

    /// As it is meant where each message begins a conversation of its own: what is off the record beside threads is
    /// the channel.
    #[must_use]
    pub fn beside_threads(self) -> Self {
        match self {
            Self::OffTheRecord(_) => Self::OffTheRecord(Scope::Audience),
            Self::OnTheRecord(_) => Self::OnTheRecord(Scope::Audience),
            other => other,
        }
    }

    /// Reads a sentence in small letters, without the mark at its end.
    fn catch_up(sentence: &str) -> Option<Self> {
        let wordings = [
            "catch me up",
            "catch up",
            "what did i miss",
            "what have i missed",
        ];
        let since = wordings.iter().find_map(|it| sentence.strip_prefix(it))?;
        let day = match since.trim_start() {
            "" => None,
            since => {
                let day = since
                    .strip_prefix("since ")
                    .or(since.strip_prefix("from "))?;
                Some(day.trim().to_owned())
            }
        };
        Some(Self::CatchUp(day))
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

/// What is said of single things that are remembered: `remember that …`, `memory`, `correct 2: …`, `forget 2`.
fn about_items(text: &str) -> Option<Command> {
    let asked = after_words(text, &["please"]).unwrap_or(text);
    if let Some(note) = after_words(asked, &["remember", "that"]) {
        // "Remember that evening in Oslo?" asks.
        let asks = note.ends_with(['?', '？', '؟']);
        return (!asks).then(|| Command::Note(note.to_owned()));
    }
    if let Some(note) = after_words(text, &["note:"]) {
        return Some(Command::Note(note.to_owned()));
    }
    if let Some(sought) = after_words(text, &["memory", "search"]) {
        return Some(Command::Memory(Listing::Search(sought.to_owned())));
    }
    if let Some(correction) = correction(text) {
        return Some(correction);
    }
    let plain = text.trim().trim_end_matches(['.', '!', '?', ' ']);
    let words: Vec<String> = plain.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["memory"] | ["what", "do", "you", "remember", "of" | "about", "me"] => {
            Some(Command::Memory(Listing::Newest))
        }
        ["memory", "more"] => Some(Command::Memory(Listing::More)),
        ["forget", number] => Some(Command::Forget(ForgetWhat::Item(item(number)?))),
        _ => None,
    }
}

/// `correct 2: new text`
fn correction(text: &str) -> Option<Command> {
    let (number, text) = after_words(text, &["correct"])?.split_once(':')?;
    Some(Command::Correct {
        number: item(number.trim())?,
        text: text.trim().to_owned(),
    })
}

/// The number of a thing in a listing: `2`, `#2`.
fn item(word: &str) -> Option<u32> {
    let number = word.strip_prefix('#').unwrap_or(word);
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| number.parse().unwrap_or(u32::MAX))
}

/// What a text says after these words, however they are written and whatever mark follows them; none where it says
/// nothing more.
fn after_words<'a>(text: &'a str, words: &[&str]) -> Option<&'a str> {
    let mut rest = text.trim();
    for expected in words {
        let (word, after) = rest.split_once(char::is_whitespace)?;
        let bare = word.trim_end_matches([':', ',']);
        let is_it = word.eq_ignore_ascii_case(expected) || bare.eq_ignore_ascii_case(expected);
        rest = is_it.then(|| after.trim_start())?;
    }
    (!rest.is_empty()).then_some(rest)
}

/// How far a command reaches that has these words at its end; none where they are others.
fn scope(words: &[&str]) -> Option<Scope> {
    match words {
        [] | ["thread" | "session" | "conversation"] => Some(Scope::Conversation),
        ["room" | "channel"] => Some(Scope::Audience),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> Command {
        Command::Note(text.to_owned())
    }

    fn corrected(number: u32, text: &str) -> Command {
        let text = text.to_owned();
        Command::Correct { number, text }
    }

    #[test]
    fn a_sentence_is_a_command_only_where_it_is_surely_meant_so() {
        for (text, command) in [
            ("remember that tea is at 4", Some(note("tea is at 4"))),
            ("Do you remember that tea is at 4?", None),
            ("note that the door is open", None),
            ("Notes: none", None),
            ("memories", None),
            ("correct 2: Friday", Some(corrected(2, "Friday"))),
            ("correct 2 of them", None),
            ("Forget 2", Some(Command::Forget(ForgetWhat::Item(2)))),
            ("forget it", None),
        ] {
            assert_eq!(Command::in_a_sentence(text), command, "{text:?}");
        }
    }

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
            ("backfill", Command::Backfill(None)),
            (
                "Backfill since 2026-01-31",
                Command::Backfill(Some("2026-01-31".to_owned())),
            ),
            (
                "backfill the wall",
                Command::Unknown("backfill the wall".to_owned()),
            ),
            ("catch me up", Command::CatchUp(None)),
            ("What did I miss?", Command::CatchUp(None)),
            (
                "catch up since last Monday",
                Command::CatchUp(Some("last monday".to_owned())),
            ),
            (
                "what did I miss in the film",
                Command::Unknown("what did I miss in the film".to_owned()),
            ),
            (
                "catch up since",
                Command::Unknown("catch up since".to_owned()),
            ),
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
            ("off", Command::OffTheRecord(Scope::Conversation)),
            ("off channel", Command::OffTheRecord(Scope::Audience)),
            ("On room", Command::OnTheRecord(Scope::Audience)),
            ("on thread", Command::OnTheRecord(Scope::Conversation)),
            ("off we go", Command::Unknown("off we go".to_owned())),
            ("Don’t remember me here.", Command::OptOut),
            ("do not  remember me here", Command::OptOut),
            ("remember me here", Command::OptIn),
            (
                "remember channel",
                Command::Remember(ChannelMemory::Channel),
            ),
            (
                "remember this room",
                Command::Remember(ChannelMemory::Channel),
            ),
            (
                "remember only what is asked",
                Command::Remember(ChannelMemory::Asked),
            ),
            (
                "remember me there",
                Command::Unknown("remember me there".to_owned()),
            ),
            (
                "Remember that the Boiler man comes\non Thursday.",
                note("the Boiler man comes\non Thursday."),
            ),
            ("please remember that: tea is at 4", note("tea is at 4")),
            ("remember that channel", note("channel")),
            ("note: tea is at 4", note("tea is at 4")),
            (
                "note tea is at 4",
                Command::Unknown("note tea is at 4".to_owned()),
            ),
            (
                "remember that",
                Command::Unknown("remember that".to_owned()),
            ),
            (
                "Remember that evening in Oslo?",
                Command::Unknown("Remember that evening in Oslo?".to_owned()),
            ),
            ("Memory", Command::Memory(Listing::Newest)),
            (
                "what do you remember about me?",
                Command::Memory(Listing::Newest),
            ),
            ("memory more", Command::Memory(Listing::More)),
            (
                "memory search Boiler man",
                Command::Memory(Listing::Search("Boiler man".to_owned())),
            ),
            ("memory lane", Command::Unknown("memory lane".to_owned())),
            ("forget 3", Command::Forget(ForgetWhat::Item(3))),
            ("forget #12.", Command::Forget(ForgetWhat::Item(12))),
            (
                "forget 99999999999",
                Command::Forget(ForgetWhat::Item(u32::MAX)),
            ),
            (
                "forget 3 of them",
                Command::Unknown("forget 3 of them".to_owned()),
            ),
            ("Correct 2: Friday: 9 am", corrected(2, "Friday: 9 am")),
            ("correct #2 : Friday", corrected(2, "Friday")),
            (
                "correct 2 Friday",
                Command::Unknown("correct 2 Friday".to_owned()),
            ),
            ("correct 2:", corrected(2, "")),
            ("correct me", Command::Unknown("correct me".to_owned())),
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
