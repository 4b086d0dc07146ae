//! Words that identify a text wherever it appears: each message and each answer has a unique one.

use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

/// The content of one version of a message; `run` is unique per run of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Token {
    pub(crate) run: String,
    pub(crate) channel: usize,
    pub(crate) number: u64,
    pub(crate) version: u64,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            channel,
            number,
            version,
        } = self;
        write!(f, "q{run}c{channel}m{number}v{version}z")
    }
}

/// Returns the tokens in a text, in order.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    static TOKEN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("q([a-p]{8})c([0-9]+)m([0-9]+)v([0-9]+)z").unwrap());
    let found = TOKEN.captures_iter(text);
    let read = found.filter_map(|found| {
        Some(Token {
            run: found[1].to_owned(),
            channel: found[2].parse().ok()?,
            number: found[3].parse().ok()?,
            version: found[4].parse().ok()?,
        })
    });
    read.collect()
}

/// Returns a word that no other answer of the model has.
pub(crate) fn nonce(run: &str, count: u64) -> String {
    format!("k{run}n{count}z")
}

/// Returns the word at the beginning of a text by the model, if there is one.
pub(crate) fn nonce_of(text: &str) -> Option<String> {
    static NONCE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("^Answer (k[a-p]{8}n[0-9]+z) ").unwrap());
    Some(NONCE.captures(text)?[1].to_owned())
}

/// Returns letters that no other run has.
pub(crate) fn fresh_run() -> String {
    let id = uuid::Uuid::new_v4();
    let letters = id.as_bytes()[..4]
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15]);
    letters.map(|half| char::from(b'a' + half)).collect()
}

#[test]
fn tokens_are_found_again() {
    let token = Token {
        run: fresh_run(),
        channel: 1,
        number: 12,
        version: 0,
    };
    let text = format!("{token}, and {}", nonce(&token.run, 3));
    assert_eq!(tokens(&text), std::slice::from_ref(&token));
    assert_eq!(nonce_of(&text), None);
    let answer = format!("Answer {} to {token}.", nonce(&token.run, 3));
    assert_eq!(nonce_of(&answer), Some(nonce(&token.run, 3)));
}
