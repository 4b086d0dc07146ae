//! Secrets known by the name they are given to: `DB_PASSWORD=…`, `"apiKey": "…"`, `password: …`,
//! "the password is …".
//!
//! A name alone says little: `password: required`, `token = next_token()` and `sort_key=name` hold no
//! secret. So three things are judged together: what the name ends in, how the value is given to it,
//! and what the value looks like.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::MARK;
use super::rules::entropy;

/// What the last part of a name says its value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// People choose it, so it may be a word.
    Password,
    /// A machine chose it.
    Token,
    Key,
}

/// How a name is given its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `DB_PASSWORD=…`, and the same with a colon.
    Environment,
    /// `password=…`
    Tight,
    /// `password = …`
    Spaced,
    /// `password: …`
    Colon,
    /// `the password is …`
    Sentence,
}

#[derive(Clone, Copy, Debug)]
struct Value<'a> {
    text: &'a str,
    is_quoted: bool,
    /// What follows it on its line.
    after: &'a str,
}

/// A name with a telling word in it, what may close it, and what gives it a value.
static ASSIGNMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let word = r"secret|token|passw(?:or)?d|passwort|kennwort|contraseña|senha|mot de passe|pwd|passphrase|passcode|pass|credentials?|key";
    let closing = r#"["'`*_\]]{0,4}"#;
    let typed = r":[ \t]*&?(?:'[a-z]+[ \t]+)?(?:str|string)[ \t]*=";
    let sentence =
        r"[ \t]+(?:is|was|ist|war|lautet|est|es|é)(?:[ \t]+(?:now|still|jetzt))?[ \t]*:?[ \t]";
    let operator = format!(r"[ \t]*{typed}|[ \t]*(?::=|=>|=|:)|{sentence}");
    let pattern = format!(
        r"(?i)(?P<name>[a-z0-9_.-]*(?:{word})[a-z0-9_-]*){closing}(?P<operator>{operator})[ \t]*\*{{0,2}}[ \t]*"
    );
    Regex::new(&pattern).ok()
});

/// Where secrets stand in a text, in order.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let Some(assignment) = &*ASSIGNMENT else {
        return Vec::new();
    };
    let captures = assignment.captures_iter(text);
    captures.filter_map(|found| secret(text, &found)).collect()
}

fn secret(text: &str, found: &Captures<'_>) -> Option<Range<usize>> {
    let (whole, name, operator) = (found.get(0)?, found.name("name")?, found.name("operator")?);
    // `${PASSWORD:-…}` is filled in by a shell.
    let kind = kind(name.as_str()).filter(|_| !text[..name.start()].ends_with("${"))?;
    let rest = &text[whole.end()..];
    let is_spaced = operator.as_str().starts_with([' ', '\t']) || whole.end() > operator.end();
    let form = form(name.as_str(), operator.as_str(), is_spaced);
    let (value, start) = value(rest, form)?;
    let is_secret = !is_placeholder(value.text) && !is_code(value, form) && fits(kind, form, value);
    let start = whole.end() + start;
    is_secret.then(|| start..start + value.text.len())
}

/// What the name stands for, by its last part that says anything.
fn kind(name: &str) -> Option<Kind> {
    const SUFFIXES: [&str; 12] = [
        "base",
        "prod",
        "production",
        "dev",
        "test",
        "staging",
        "live",
        "old",
        "new",
        "value",
        "root",
        "raw",
    ];
    const NO_TOKEN: [&str; 18] = [
        "next",
        "page",
        "continuation",
        "sync",
        "pad",
        "eos",
        "bos",
        "unk",
        "sep",
        "cls",
        "mask",
        "stop",
        "max",
        "min",
        "num",
        "per",
        "type",
        "first",
    ];
    const NO_KEY: [&str; 24] = [
        "primary",
        "foreign",
        "public",
        "pub",
        "sort",
        "partition",
        "cache",
        "hot",
        "index",
        "idx",
        "natural",
        "row",
        "object",
        "map",
        "lookup",
        "group",
        "range",
        "shift",
        "arrow",
        "routing",
        "order",
        "translation",
        "issue",
        "registry",
    ];
    let parts = parts(name);
    let says = |part: &&String| {
        !SUFFIXES.contains(&part.as_str()) && !part.bytes().all(|b| b.is_ascii_digit())
    };
    let last = parts.iter().rev().find(says)?;
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(&part.as_str()));
    match last.as_str() {
        "password" | "passwd" | "pwd" | "passphrase" | "passcode" | "passwort" | "kennwort"
        | "contraseña" | "senha" | "passe" => Some(Kind::Password),
        // Alone it is a pass over the mountains.
        "pass" if parts.len() > 1 => Some(Kind::Password),
        "secret" | "token" | "apikey" | "credential" | "credentials" if !has(&NO_TOKEN) => {
            Some(Kind::Token)
        }
        "accesskey" | "secretkey" | "privatekey" | "authtoken" | "accesstoken" => Some(Kind::Token),
        "key" if parts.len() > 1 && !has(&NO_KEY) => Some(Kind::Key),
        last if last.ends_with("password") || last.ends_with("passwort") => Some(Kind::Password),
        last if (last.ends_with("secret") || last.ends_with("token")) && !has(&NO_TOKEN) => {
            Some(Kind::Token)
        }
        _other => None,
    }
}

/// `dbPassword`, `DB_PASSWORD` and `db-password` as `db`, `password`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before_is_lower = false;
    for c in name.chars() {
        let begins = c.is_uppercase() && before_is_lower;
        let is_part = c.is_alphanumeric();
        if begins || !is_part {
            parts.push(String::new());
        }
        if is_part && let Some(last) = parts.last_mut() {
            last.extend(c.to_lowercase());
        }
        before_is_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn form(name: &str, operator: &str, is_spaced: bool) -> Form {
    let is_environment = name.contains('_')
        && !name.contains(|c: char| c.is_lowercase())
        && name.starts_with(|c: char| c.is_ascii_uppercase());
    let operator = operator.trim();
    // "is", "is now:"; a colon with a type behind it ends in an equals sign.
    let is_sentence = operator.starts_with(char::is_alphabetic);
    match operator {
        _ if is_sentence => Form::Sentence,
        _ if is_environment => Form::Environment,
        "=" if !is_spaced => Form::Tight,
        ":" | "=>" => Form::Colon,
        _given => Form::Spaced,
    }
}

/// The value that the rest of a text begins with, and where it begins.
fn value(rest: &str, form: Form) -> Option<(Value<'_>, usize)> {
    let line = rest.split('\n').next()?;
    if line.starts_with(['=', '~']) || line.starts_with("[secret") {
        return None;
    }
    let first = line.chars().next()?;
    let closing = match first {
        '"' | '\'' | '`' => Some(first),
        '“' | '„' => Some('”'),
        '«' => Some('»'),
        _ => None,
    };
    if let Some(closing) = closing {
        let start = first.len_utf8();
        let inside = &line[start..];
        let end = inside.find(closing).or_else(|| inside.find('“'))?;
        let value = Value {
            text: &inside[..end],
            is_quoted: true,
            after: &inside[end..],
        };
        return Some((value, start));
    }
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    // A secret was taken out of it, so the whole of it was looked at before, and is none.
    if line.find(MARK).is_some_and(|mark| mark < end) {
        return None;
    }
    let word = up_to_next_pair(&line[..end]);
    let word = word.trim_end_matches(['"', '\'', '`', '*', '>', ']', '}']);
    let trimmed = match form {
        Form::Environment => word.trim_end_matches([',', ';']),
        Form::Tight | Form::Spaced => word.trim_end_matches([',', ';', ')', '.']),
        Form::Colon | Form::Sentence => word.trim_end_matches([',', ';', ')', '.', '!', '?', ':']),
    };
    let value = Value {
        text: trimmed,
        is_quoted: false,
        after: &line[trimmed.len()..],
    };
    Some((value, 0))
}

/// `a;user=b` and `a&user=b` are two pairs.
fn up_to_next_pair(word: &str) -> &str {
    let ends = |at: usize| {
        let next = &word[at + 1..];
        let name = next.find(['=', ':']).map(|end| &next[..end]);
        name.is_some_and(|name| {
            let name = name.trim_matches(['"', '\'']);
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
        })
    };
    let mut separators = word.match_indices([';', '&', ',']);
    let end = separators.find_map(|(at, _)| ends(at).then_some(at));
    &word[..end.unwrap_or(word.len())]
}

/// What stands for a value that the reader is to put in.
fn is_placeholder(value: &str) -> bool {
    const NOTHING: [&str; 16] = [
        "true",
        "false",
        "null",
        "none",
        "nil",
        "undefined",
        "empty",
        "yes",
        "no",
        "string",
        "str",
        "text",
        "optional",
        "required",
        "redacted",
        "hidden",
    ];
    let lower = value.to_lowercase();
    let mut characters = value.chars();
    let first = characters.next();
    let is_one_sign = first.is_some_and(|first| characters.all(|c| c == first));
    is_one_sign
        || NOTHING.contains(&lower.as_str())
        || value.starts_with(['$', '<', '{', '%', '[', '…', '&', '@', '|', '(', '?'])
        || value.contains('…')
        || value.contains("...")
        || value.contains("***")
        || lower.starts_with("your")
        || lower.starts_with("xxx")
        || lower.starts_with("http://")
        || lower.starts_with("https://")
        || value.contains(MARK)
        || is_path(value)
}

fn is_path(value: &str) -> bool {
    let is_rooted = ["/", "./", "../", "~/"]
        .iter()
        .any(|root| value.starts_with(root));
    let is_named = |c: char| c.is_ascii_lowercase() || matches!(c, '/' | '.' | '-' | '_' | '~');
    is_rooted && (value.chars().all(is_named) || value.rsplit('/').next().is_some_and(has_ending))
}

fn has_ending(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending
        .is_some_and(|it| (2..=5).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_lowercase()))
}

/// A call, a field, a type, a variable: what a program puts there, not what a person keeps secret.
fn is_code(value: Value<'_>, form: Form) -> bool {
    let text = value.text;
    if value.is_quoted {
        return text.contains("${") || text.contains("{{") || text == "%s" || text.starts_with('{');
    }
    let word_end = text
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '?')))
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(word_end);
    let is_called = word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && rest.starts_with(['(', '[', '<', '{']);
    let is_field = rest.is_empty()
        && word.contains('.')
        && word.split('.').all(is_identifier)
        && !looks_random(word);
    let is_argument = form != Form::Environment
        && rest.is_empty()
        && is_identifier(word)
        && (value.after.starts_with([')', ',', ';']) && !looks_random(word));
    // `TOKEN: usize = 3`
    let is_type = value.after.trim_start().starts_with('=') && is_identifier(word);
    is_called || is_field || is_argument || is_type
}

fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_alphanumeric() || c == '_')
        && word.chars().filter(char::is_ascii_digit).count() <= 1
}

fn looks_random(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.len() >= 16 && digits >= 2 && entropy(word) > 3.5
}

/// Whether what is no placeholder and no code is a secret.
fn fits(kind: Kind, form: Form, value: Value<'_>) -> bool {
    let text = value.text;
    let length = text.chars().count();
    let has_digit = text.chars().any(|c| c.is_numeric());
    let has_letter = text.chars().any(char::is_alphabetic);
    let is_word = text.chars().all(|c| c.is_alphabetic() || c == '_');
    let is_mixed = !is_word && has_letter && !is_technical(text);
    let is_random = has_digit && has_letter && length >= 10 && entropy(text) >= 3.0;
    if text.contains(char::is_whitespace) {
        // A label, where it is no passphrase.
        return kind == Kind::Password && value.is_quoted && form != Form::Sentence && has_digit
            || form == Form::Environment && has_digit;
    }
    match (form, kind) {
        (Form::Environment, Kind::Password | Kind::Token) => length >= 3,
        (Form::Environment, Kind::Key) => length >= 6,
        (Form::Tight, Kind::Password) if is_word => length >= 6,
        (Form::Tight | Form::Spaced, Kind::Password) if value.is_quoted => length >= 4,
        (Form::Tight, Kind::Password) => length >= 4 && !is_technical(text),
        (Form::Spaced, Kind::Password) => length >= 6 && is_mixed,
        (Form::Tight | Form::Spaced, Kind::Token | Kind::Key) => {
            length >= 8
                && has_digit
                && has_letter
                && !is_technical(text)
                && (form == Form::Tight || value.is_quoted || is_random)
        }
        (Form::Colon, Kind::Password) if value.is_quoted => length >= 4 && !is_ordinary(text),
        (Form::Colon, Kind::Password) if is_word => is_lone_word(value),
        (Form::Colon | Form::Sentence, Kind::Password) if value.is_quoted => {
            length >= 4 && !is_ordinary(text)
        }
        (Form::Colon, Kind::Password) => length >= 6 && is_mixed && (has_digit || length >= 8),
        (Form::Sentence, Kind::Password) => length >= 6 && is_mixed && has_digit,
        (Form::Colon | Form::Sentence, Kind::Token | Kind::Key) => is_random && !is_technical(text),
    }
}

/// A word alone at the end of its line, and none that people say of passwords.
fn is_lone_word(value: Value<'_>) -> bool {
    let is_capitalised_once = value.text.chars().skip(1).all(char::is_lowercase);
    value.text.chars().count() >= 6
        && is_capitalised_once
        && value
            .after
            .trim_matches(['"', '\'', '`', '*'])
            .trim()
            .is_empty()
        && !is_ordinary(value.text)
}

/// What people say of a password instead of telling it.
fn is_ordinary(text: &str) -> bool {
    const WORDS: [&str; 44] = [
        "required",
        "optional",
        "string",
        "wrong",
        "correct",
        "incorrect",
        "invalid",
        "missing",
        "unchanged",
        "expired",
        "changed",
        "forgotten",
        "forgot",
        "reset",
        "same",
        "unknown",
        "secret",
        "default",
        "standard",
        "hidden",
        "removed",
        "redacted",
        "rotated",
        "password",
        "passwort",
        "number",
        "boolean",
        "object",
        "please",
        "nothing",
        "whatever",
        "strong",
        "weak",
        "empty",
        "disabled",
        "enabled",
        "locked",
        "later",
        "public",
        "private",
        "shared",
        "falsch",
        "vergessen",
        "abgelaufen",
    ];
    WORDS.contains(&text.to_lowercase().as_str())
}

/// A date, a count, the name of an algorithm: it has a digit and tells nothing.
fn is_technical(text: &str) -> bool {
    static TECHNICAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?xi)^(?:
            [\d.,:/+%-]+[a-z]{0,3}                                # a number, a date, a size
            | \d+[-–]?(?:st|nd|rd|th|x|[a-z]{3,12})               # 12-characters, 30days
            | \d{4}-\d\d-\d\d t? [\d:.z+]*
            | (?:base|sha|md|utf|oauth|argon|pbkdf|ed|hs|rs|es|aes|rsa|x|rfc|http|ipv|fido|h|v|iso|p|u|i|f)-?\d{1,5}[a-z]{0,2}(?:[-_/].*)?
            | bcrypt.* | k8s.* | s3.* | [12]fa.* | [a-z]{1,3}\d
            )$",
        )
        .ok()
    });
    TECHNICAL.as_ref().is_some_and(|it| it.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_in_what_they_are() {
        for (name, expected) in [
            ("password", Some(Kind::Password)),
            ("dbPassword", Some(Kind::Password)),
            ("DB_PASS", Some(Kind::Password)),
            ("pass", None),
            ("AWS_SECRET_ACCESS_KEY", Some(Kind::Key)),
            ("SECRET_KEY_BASE", Some(Kind::Key)),
            ("X-Api-Key", Some(Kind::Key)),
            ("api_key_2", Some(Kind::Key)),
            ("key", None),
            ("sort_key", None),
            ("primaryKey", None),
            ("next_token", None),
            ("max_tokens", None),
            ("token_limit", None),
            ("clientSecret", Some(Kind::Token)),
            ("secretary", None),
        ] {
            assert_eq!(kind(name), expected, "{name}");
        }
    }
}
