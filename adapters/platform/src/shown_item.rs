//! An item of one of the lists of the bot.

use serde::{Deserialize, Serialize};

/// An item of one of the bot's lists, as a button below the list holds it: by its id, without its
/// words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownItem {
    /// Its number in that list; 0 for a question that asks for approval and is in no list.
    pub number: u32,
    /// Its own id, of letters, digits and hyphens.
    pub id: String,
    /// Tells whether its text has changed since.
    pub version: u64,
}

impl ShownItem {
    /// Encodes it in at most 64 characters, for an id of 36.
    pub fn token(&self) -> String {
        let Self {
            number,
            id,
            version,
        } = self;
        format!("{number}.{version:016x}.{id}")
    }

    /// Whether it is a question to approve or decline, not an item to forget or correct.
    pub fn is_question(&self) -> bool {
        self.number == 0
    }

    /// Parses a token; `None` when it is invalid.
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
