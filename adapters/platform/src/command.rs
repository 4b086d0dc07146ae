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
    /// Make this account and another one of the same person one, by the code that the other one was given. None: give a
    /// code.
    Link(Option<String>),
    /// Undo that for this account.
    Unlink,
    /// What a list shows, with a button: the same as by its number.
    Shown(ShownItem, ItemDeed),
    /// Give the one who asks what is kept of them, in all places.
    ExportMine,
    /// Give the one who asks a link to the pages, for them alone.
    Web,
    /// Sign out whoever came to the pages by such a link of theirs.
    WebSignOut,
    /// Something about the tokens by which programs ask the bot for the one who says it, for them alone.
    Token(TokenDeed),
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

/// Something that a list of the bot's shows, as a button below it holds it: by its id, and without words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownItem {
    /// In that list; 0 where it stands in none, but asks whether something is to be done.
    pub number: u32,
    /// Its own, whatever the bot calls things by; of letters, digits and hyphens.
    pub id: String,
    /// Tells what it said then from what it says now.
    pub version: u64,
}

impl ShownItem {
    /// In at most 64 characters, where the id has 36.
    pub fn token(&self) -> String {
        let Self {
            number,
            id,
            version,
        } = self;
        format!("{number}.{version:016x}.{id}")
    }

    /// Whether it asks something, to be approved or declined, and is no item of a list, to be forgotten or corrected.
    pub fn is_question(&self) -> bool {
        self.number == 0
    }

    /// Reads a token; none where it is none.
    pub fn parse(token: &str) -> Option<Self> {
        let mut parts = token.splitn(3, '.');
        let number = parts.next()?.parse().ok()?;
        let version = u64::from_str_radix(parts.next()?, 16).ok()?;
        let id = parts.next()?;
        let is_id = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_whole = (1..=64).contains(&id.len()) && id.chars().all(is_id);
        is_whole.then(|| Self {
            number,
            id: id.to_owned(),
            version,
        })
    }
}

/// What is to become of something that a list shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ItemDeed {
    Forget,
    /// This holds in its place.
    Correct(String),
    /// Do what was asked about.
    Approve,
    /// Leave it.
    Decline,
}

/// What is to become of the tokens by which programs ask the bot for somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenDeed {
    Make {
        /// It reads what its owner may read in all places; otherwise only where it is made.
        everywhere: bool,
        /// How long it holds, in the words of the one who asks; until it is revoked, where they say nothing of it.
        life: Option<String>,
    },
    List,
    /// The one that the list has under this number; all without one.
    Revoke(Option<u32>),
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
    /// Everything of the one who asks, in all places. Nothing happens before they say so twice.
    Me { is_confirmed: bool },
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
            ["link"] => Self::Link(None),
            ["link", code] => Self::Link(Some((*code).to_owned())),
            ["unlink"] => Self::Unlink,
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
        if let Some(own) = about_items(text).or_else(|| about_accounts(text)) {
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
            Self::Memory(_)
            | Self::Correct { .. }
            | Self::Shown(..)
            | Self::Forget(ForgetWhat::Item(_)) => true,
            Self::Help
            | Self::History
            | Self::Why
            | Self::WhyOf(_)
            | Self::Again(_)
            | Self::About
            | Self::Usage
            | Self::Forget(
                ForgetWhat::Last
                | ForgetWhat::Session
                | ForgetWhat::Audience
                | ForgetWhat::Me { .. },
            )
            | Self::Note(_)
            | Self::Link(_)
            | Self::Unlink
            | Self::ExportMine
            | Self::Web
            | Self::WebSignOut
            | Self::Token(_)
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
        ["forget", "me"] => Some(Command::Forget(ForgetWhat::Me {
            is_confirmed: false,
        })),
        ["forget", "me", "yes"] | ["yes,", "forget", "me"] => {
            Some(Command::Forget(ForgetWhat::Me { is_confirmed: true }))
        }
        ["export", "mine"] | ["export", "my", "data"] => Some(Command::ExportMine),
        ["forget", number] => Some(Command::Forget(ForgetWhat::Item(item(number)?))),
        _ => None,
    }
}

/// What is said of the accounts of one person: `link my accounts`, `link K7QF-92MX`, `unlink my account`, `web`, `mcp token`.
fn about_accounts(text: &str) -> Option<Command> {
    let plain = text.trim().trim_end_matches(['.', '!', ' ']).to_lowercase();
    let words: Vec<&str> = plain.split_whitespace().collect();
    match words.as_slice() {
        ["link", "me"] | ["link", "my", "account" | "accounts"] => Some(Command::Link(None)),
        ["link", code] if is_code(code) => Some(Command::Link(Some((*code).to_owned()))),
        ["unlink", "me"] | ["unlink", "my", "account" | "accounts"] => Some(Command::Unlink),
        ["web"] => Some(Command::Web),
        ["web", "sign", "out"] => Some(Command::WebSignOut),
        ["mcp", deed @ ..] => about_tokens(deed).map(Command::Token),
        _ => None,
    }
}

/// What follows `mcp`: `token`, `token everywhere for 30 days`, `tokens`, `revoke 2`, `revoke all`.
fn about_tokens(words: &[&str]) -> Option<TokenDeed> {
    match words {
        ["token", rest @ ..] => {
            let (everywhere, rest) = match rest {
                ["everywhere", rest @ ..] => (true, rest),
                rest => (false, rest),
            };
            let life = match rest {
                [] => None,
                ["for", life @ ..] if !life.is_empty() => Some(life.join(" ")),
                _ => return None,
            };
            Some(TokenDeed::Make { everywhere, life })
        }
        [] | ["tokens"] => Some(TokenDeed::List),
        ["revoke", "all"] => Some(TokenDeed::Revoke(None)),
        ["revoke", number] => Some(TokenDeed::Revoke(Some(item(number)?))),
        _ => None,
    }
}

/// Whether a word looks like a code that the bot gave: two groups of four.
fn is_code(word: &str) -> bool {
    let is_group = |it: &str| it.len() == 4 && it.bytes().all(|it| it.is_ascii_alphanumeric());
    word.split_once('-')
        .is_some_and(|(one, two)| is_group(one) && is_group(two))
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

    fn made(everywhere: bool, life: Option<&str>) -> Command {
        let life = life.map(str::to_owned);
        Command::Token(TokenDeed::Make { everywhere, life })
    }

    fn forget_me(is_confirmed: bool) -> Command {
        Command::Forget(ForgetWhat::Me { is_confirmed })
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
            ("Forget me.", Some(forget_me(false))),
            ("forget me yes", Some(forget_me(true))),
            ("Yes, forget me!", Some(forget_me(true))),
            ("forget me not", None),
            ("Link my accounts.", Some(Command::Link(None))),
            (
                "link K7QF-92mx",
                Some(Command::Link(Some("k7qf-92mx".to_owned()))),
            ),
            ("link?", None),
            ("link please", None),
            ("link follow-up", None),
            ("unlink my account", Some(Command::Unlink)),
            ("Export mine", Some(Command::ExportMine)),
            ("export my data!", Some(Command::ExportMine)),
            ("export my data to the archive", None),
            ("export mines", None),
            ("Web", Some(Command::Web)),
            ("web sign out", Some(Command::WebSignOut)),
            ("web?", None),
            ("web page", None),
            ("mcp token", Some(made(false, None))),
            ("MCP token everywhere", Some(made(true, None))),
            ("mcp token for 30 days", Some(made(false, Some("30 days")))),
            (
                "mcp token everywhere for 12h.",
                Some(made(true, Some("12h"))),
            ),
            ("mcp token please", None),
            ("mcp", Some(Command::Token(TokenDeed::List))),
            ("mcp tokens", Some(Command::Token(TokenDeed::List))),
            (
                "mcp revoke 2",
                Some(Command::Token(TokenDeed::Revoke(Some(2)))),
            ),
            (
                "mcp revoke all",
                Some(Command::Token(TokenDeed::Revoke(None))),
            ),
            ("mcp revoke it", None),
            ("mcp is nice", None),
        ] {
            assert_eq!(Command::in_a_sentence(text), command, "{text:?}");
        }
    }

    #[test]
    fn a_button_holds_what_it_is_about() {
        let item = ShownItem {
            number: 10,
            id: "0192f0c4-3b5e-7c11-8f00-000000000001".to_owned(),
            version: u64::MAX,
        };
        assert!(item.token().len() <= 64);
        assert_eq!(ShownItem::parse(&item.token()), Some(item));
        for other in [
            "", "1", "1.ff", "1.ff.", "x.ff.a", "1.xx.a", "1.ff.a b", "1.ff.a.b",
        ] {
            assert_eq!(ShownItem::parse(other), None, "{other:?}");
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
            ("link", Command::Link(None)),
            ("link k7qf92mx", Command::Link(Some("k7qf92mx".to_owned()))),
            ("unlink", Command::Unlink),
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
