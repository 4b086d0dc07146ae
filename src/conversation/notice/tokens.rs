//! What is said of tokens.

use chrono::{DateTime, Utc};
use muninn_texts::{Language, Text, Value, text};

use super::wording::sentences;
use crate::conversation::tokens::MOST_TOKENS;
use crate::graph::tokens::KeptToken;

/// What is said of the tokens by which programs ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenNotice {
    /// By which a program asks for somebody. Said once.
    Made {
        token: String,
        /// Where it asks.
        address: String,
        is_everywhere: bool,
        until: Option<DateTime<Utc>>,
    },
    /// What tokens somebody has.
    List(Vec<KeptToken>),
    Revoked(usize),
    NoSuchToken(u32),
    TooMany,
    /// Words that say no time.
    NoSuchLife(String),
    /// Programs cannot ask.
    NoMcp,
}

impl TokenNotice {
    /// Its sentences.
    pub(super) fn texts(&self) -> Vec<Text> {
        let text = match self {
            Self::Made {
                token,
                address,
                is_everywhere,
                until,
            } => return token_made((token, address), *is_everywhere, *until),
            Self::List(_) => text!("tokens"),
            Self::Revoked(count) => text!("tokens-revoked", count = *count),
            Self::NoSuchToken(number) => text!("no-such-token", number = *number),
            Self::TooMany => text!("too-many-tokens", most = MOST_TOKENS),
            Self::NoSuchLife(life) => text!("no-such-life", life),
            Self::NoMcp => text!("no-mcp"),
        };
        vec![text]
    }
}

fn token_made(
    (token, address): (&str, &str),
    is_everywhere: bool,
    until: Option<DateTime<Utc>>,
) -> Vec<Text> {
    let reads = match is_everywhere {
        true => text!("token-reads-everywhere"),
        false => text!("token-reads-here"),
    };
    let mut texts = vec![text!("token-made", token, address), reads];
    texts.extend(until.map(|until| text!("token-until", until = Value::moment(&until))));
    texts.push(text!("token-is-secret"));
    texts
}

/// A line each.
pub(super) fn token_list(tokens: &[KeptToken], language: Language) -> String {
    if tokens.is_empty() {
        return text!("no-tokens").in_language(language);
    }
    let mut lines = vec![text!("tokens").in_language(language)];
    for (token, number) in tokens.iter().zip(1_usize..) {
        let made = Value::date(&token.created_at);
        let first = match &token.places {
            None => text!("token-line-everywhere", number, made),
            Some(places) => {
                let places: Vec<String> = places.iter().map(|it| format!("`{it}`")).collect();
                text!("token-line", number, made, places = places.join(", "))
            }
        };
        let used = match token.used_at {
            Some(at) => text!("token-used", at = Value::date(&at)),
            None => text!("token-unused"),
        };
        let mut texts = vec![first, used];
        let until = token
            .until
            .map(|it| text!("token-until", until = Value::moment(&it)));
        texts.extend(until);
        lines.push(sentences(texts, language));
    }
    lines.push(text!("tokens-hint").in_language(language));
    lines.join("\n")
}
