//! Removes secrets from what people write, before it is embedded, kept, logged, shown as a title or
//! sent to a model.
//!
//! Two detectors read a text. `rules` finds keys by their form, with the rules of gitleaks and a
//! few of our own. `assignments` finds values by their name: `DB_PASSWORD=…`, `password: …`.

mod assignments;
mod mark;
mod rules;

use std::borrow::Cow;
use std::ops::Range;

pub use self::mark::MARK;

/// The text with [`MARK`] in the place of each secret.
pub fn without_secrets(text: &str) -> String {
    redacted(text).into_owned()
}

/// Maximum number of passes: a removed secret may have hidden another one.
const MAX_PASSES: usize = 4;

/// As [`without_secrets`]; borrowed when there is none.
pub fn redacted(text: &str) -> Cow<'_, str> {
    let mut safe = Cow::Borrowed(text);
    for _ in 0..MAX_PASSES {
        match without_those_seen(&safe) {
            Some(safer) => safe = Cow::Owned(safer),
            None => break,
        }
    }
    safe
}

/// Returns the text without the secrets that one pass finds; `None` when it finds none.
fn without_those_seen(text: &str) -> Option<String> {
    let mut secrets = rules::find(text);
    secrets.extend(assignments::find(text));
    if secrets.is_empty() {
        return None;
    }
    secrets.sort_by_key(|secret| secret.start);
    let mut safe = String::with_capacity(text.len());
    let mut rest = 0;
    for secret in joined(secrets) {
        safe.push_str(&text[rest..secret.start]);
        safe.push_str(MARK);
        rest = secret.end;
    }
    safe.push_str(&text[rest..]);
    Some(safe)
}

/// Whether a secret was taken out of this text.
pub fn is_redacted(text: &str) -> bool {
    text.contains(MARK)
}

/// Merges ranges that overlap or touch.
fn joined(sorted: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests;
