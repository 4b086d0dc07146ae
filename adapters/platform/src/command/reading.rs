//! Parses commands from the words that people write.

use super::{Attention, Command, ForgetWhat, Listing, Scope, TokenDeed};
use crate::ChannelMemory;

impl Command {
    /// Parses a command; case and surrounding blanks do not matter.
    pub fn parse(text: &str) -> Self {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let Some(command) = Self::parse_sentence(text) {
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

    /// Parses commands that people write as a sentence in any conversation: what the bot may
    /// remember here; what to remember, list, correct and forget; and requests to catch up.
    pub fn parse_sentence(text: &str) -> Option<Self> {
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

    /// Parses a sentence in lower case, without its closing punctuation.
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

/// Parses commands about single items: `remember that …`, `memory`, `correct 2: …`, `forget 2`.
fn about_items(text: &str) -> Option<Command> {
    let asked = after_words(text, &["please"]).unwrap_or(text);
    if let Some(note) = after_words(asked, &["remember", "that"]) {
        // "Remember that evening in Oslo?" is a question.
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
    // "Forget that?" may only be a question, and what is forgotten does not come back.
    let asks = text.trim_end().ends_with(['?', '？', '؟']);
    let plain = text.trim().trim_end_matches(['.', '!', '?', ' ']);
    let words: Vec<String> = plain.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["memory"]
        | [
            "what",
            "do",
            "you",
            "remember" | "know",
            "of" | "about",
            "me",
        ] => Some(Command::Memory(Listing::Newest)),
        ["memory", "more"] => Some(Command::Memory(Listing::More)),
        ["forget", "me"] => Some(Command::Forget(ForgetWhat::Me {
            is_confirmed: false,
        })),
        ["forget", "me", "yes"] | ["yes,", "forget", "me"] if !asks => {
            Some(Command::Forget(ForgetWhat::Me { is_confirmed: true }))
        }
        ["export", "mine"] | ["export", "my", "data"] => Some(Command::ExportMine),
        // Not "forget it", which is said to mean "never mind".
        ["please", "forget" | "delete", what @ ..] | ["forget" | "delete", what @ ..]
            if !asks && is_last_message(what) =>
        {
            Some(Command::Forget(ForgetWhat::Last))
        }
        ["forget", number] if !asks => Some(Command::Forget(ForgetWhat::Item(item(number)?))),
        _ => None,
    }
}

/// `forget that`, `delete my last message`, `forget what I just said`
fn is_last_message(words: &[&str]) -> bool {
    match words {
        ["that" | "this"] | ["my" | "the", "last", "message" | "question"] => true,
        ["what", "i", verb]
        | ["what", "i", "just", verb]
        | ["what", "i", verb, "you"]
        | ["what", "i", "just", verb, "you"] => {
            matches!(*verb, "said" | "wrote" | "told" | "asked")
        }
        _ => false,
    }
}

/// Parses commands about accounts: `link my accounts`, `link K7QF-92MX`, `unlink my account`,
/// `web`, `mcp token`.
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

/// Parses the words after `mcp`: `token`, `token everywhere for 30 days`, `tokens`, `revoke 2`,
/// `revoke all`.
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

/// Whether a word looks like a code for linking accounts: two groups of four.
fn is_code(word: &str) -> bool {
    let is_group = |it: &str| it.len() == 4 && it.bytes().all(|it| it.is_ascii_alphanumeric());
    word.split_once('-')
        .is_some_and(|(one, two)| is_group(one) && is_group(two))
}

/// `correct 2: new text`, or only `correct 2`, which is told what it lacks
fn correction(text: &str) -> Option<Command> {
    let correction = after_words(text, &["correct"])?;
    let (number, text) = correction.split_once(':').unwrap_or((correction, ""));
    Some(Command::Correct {
        number: item(number.trim())?,
        text: text.trim().to_owned(),
    })
}

/// Parses the number of an item in a listing: `2`, `#2`.
fn item(word: &str) -> Option<u32> {
    let number = word.strip_prefix('#').unwrap_or(word);
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| number.parse().unwrap_or(u32::MAX))
}

/// Returns the text after these words, in any case and with any punctuation after them; `None` when
/// nothing follows.
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

/// Parses the scope from the last words of a command; `None` for other words.
fn scope(words: &[&str]) -> Option<Scope> {
    match words {
        [] | ["thread" | "session" | "conversation"] => Some(Scope::Conversation),
        ["room" | "channel"] => Some(Scope::Audience),
        _ => None,
    }
}
