//! Notices about tokens.

use chrono::{DateTime, Utc};
use muninn_texts::{Language, Text, Value, text};

use super::sentences::sentences;
use crate::conversation::tokens::MOST_TOKENS;
use crate::graph::tokens::KeptToken;

/// A notice about the tokens of programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenNotice {
    /// A new token, which is shown once.
    Made {
        token: String,
        /// The address at which the program asks.
        address: String,
        is_everywhere: bool,
        until: Option<DateTime<Utc>>,
    },
    /// The tokens of a person.
    List(Vec<KeptToken>),
    Revoked(usize),
    NoSuchToken(u32),
    TooMany,
    /// The words do not name a duration.
    NoSuchLife(String),
    /// Programs cannot ask here.
    NoMcp,
    /// The platform does not tell who may read what, so a token would read nothing.
    NoTokenHere,
}

impl TokenNotice {
    /// The sentences of the notice.
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
            Self::NoTokenHere => text!("no-token-here"),
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

/// One line per token.
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
