//! The file `.env`.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use uuid::Uuid;

/// Reads the text of `.env` as at the start, when `environment` held these names. The environment of this process also
/// holds what the file said then, which must not stand behind `${NAME}` any more.
///
/// Since `dotenvy` looks in the environment first, each name that only the file has gets another one while it is read.
pub(super) fn read(
    text: &str,
    is_in_environment: impl Fn(&str) -> bool,
) -> Result<Vec<(String, String)>, dotenvy::Error> {
    let (first, again) = (
        format!("A{}", Uuid::new_v4().simple()),
        format!("B{}", Uuid::new_v4().simple()),
    );
    let mut seen = HashSet::new();
    let text = DEFINED.replace_all(text, |line: &Captures<'_>| {
        // The first of several lines with a name counts.
        let mark = if seen.insert(line["name"].to_owned()) {
            &first
        } else {
            &again
        };
        format!(
            "{}{mark}{}{}",
            &line["before"], &line["name"], &line["after"]
        )
    });
    let text = DOLLAR.replace_all(&text, |used: &Captures<'_>| {
        let (before, name) = match (used.name("braced"), used.name("bare")) {
            (Some(name), _) => ("${", name.as_str()),
            (None, Some(name)) => ("$", name.as_str()),
            (None, None) => return "$".to_owned(),
        };
        let mark = if is_in_environment(name) { "" } else { &first };
        format!("{before}{mark}{name}")
    });
    let unmarked = |text: &str| text.replace(&first, "").replace(&again, "");
    let lines = dotenvy::from_read_iter(text.as_bytes()).map(|line| match line {
        Ok((name, value)) => Ok((unmarked(&name), unmarked(&value))),
        Err(dotenvy::Error::LineParse(line, at)) => {
            Err(dotenvy::Error::LineParse(unmarked(&line), at))
        }
        Err(error) => Err(error),
    });
    lines.collect()
}

/// Returns the variables of `.env` with a `$` that stands for nothing, as no name is behind it or one
/// of a variable that does not exist. Nothing else is returned: it may be part of a secret.
pub(super) fn with_lost_dollars(
    text: &str,
    is_in_environment: impl Fn(&str) -> bool,
) -> Vec<String> {
    let defined: HashSet<&str> = DEFINED
        .captures_iter(text)
        .filter_map(|line| Some(line.name("name")?.as_str()))
        .collect();
    // `dotenvy` decides which of them it replaces: in these values the mark appears.
    let name = format!("A{}", Uuid::new_v4().simple());
    let mark = Uuid::new_v4().simple().to_string();
    let marked = DOLLAR.replace_all(text, |used: &Captures<'_>| {
        let is_known = |name: &str| defined.contains(name) || is_in_environment(name);
        match (used.name("braced"), used.name("bare")) {
            (Some(braced), _) if !is_known(braced.as_str()) => format!("${{{name}"),
            (None, Some(bare)) if !is_known(bare.as_str()) => format!("${{{name}}}"),
            (None, None) => format!("${{{name}}}"),
            (Some(_), _) | (None, Some(_)) => used[0].to_owned(),
        }
    });
    let text = format!("{name}={mark}\n{marked}");
    let mut found: Vec<String> = Vec::new();
    for (variable, value) in dotenvy::from_read_iter(text.as_bytes()).flatten() {
        if variable != name && value.contains(&mark) && !found.contains(&variable) {
            found.push(variable);
        }
    }
    found
}

/// A line that may define a variable. What only looks like one, within a value, is the same again after reading.
static DEFINED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern =
        r"(?m)^(?<before>[ \t]*(?:export[ \t]+)?)(?<name>[A-Za-z_][A-Za-z0-9_.]*)(?<after>[ \t]*=)";
    Regex::new(pattern).expect("a pattern")
});

/// `${NAME}`, `$NAME`, or a `$` without a name.
static DOLLAR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$\{(?<braced>[^}\n]+)|\$(?<bare>[A-Za-z0-9]+)|\$").expect("a pattern")
});

/// Why `.env` cannot be read. The line may hold a secret, so it is named and not shown.
pub(crate) fn unread_env_file(error: &dotenvy::Error) -> String {
    match error {
        dotenvy::Error::LineParse(line, _) => format!(
            "cannot read .env: {} is no NAME=value; put quotes around a value with blanks",
            place_of(line)
        ),
        error => format!("cannot read .env: {error}"),
    }
}

/// Where a line stands in `.env`.
fn place_of(line: &str) -> String {
    let file = std::fs::read_to_string(".env").unwrap_or_default();
    let number = file.lines().position(|read| read.contains(line.trim()));
    number.map_or("a line".to_owned(), |number| format!("line {}", number + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_value_stands_for_what_the_file_says_now() {
        // It is in the environment of this test, as what `.env` said at the start is in that of a bot.
        let name = "CARGO_MANIFEST_DIR";
        assert!(std::env::var(name).is_ok());
        for (text, is_set, expected) in [
            ("X=U1\nALLOW=${X}", false, "U1"),
            ("X=U1\nALLOW=\"${X},U2\"", false, "U1,U2"),
            ("export X = U1 # ours\n ALLOW=${X}", false, "U1"),
            ("X=U1\nX=U1,U2\nALLOW=${X}", false, "U1"),
            ("ALLOW=${X}\nX=U1", false, ""),
            ("X=U1\nALLOW='${X}'", false, "${X}"),
            ("X=U1\nALLOW=\\${X}", false, "${X}"),
            ("X=U1\nALLOW=${X}", true, env!("CARGO_MANIFEST_DIR")),
        ] {
            let text = text.replace('X', name);
            let read = read(&text, |used| is_set && used == name).unwrap();
            let (_, value) = read.iter().find(|(name, _)| name == "ALLOW").unwrap();
            assert_eq!(*value, expected.replace('X', name), "{text}");
        }
        let told = read("NOTE='a\nX=U2'", |_| false).unwrap();
        assert_eq!(told, [("NOTE".to_owned(), "a\nX=U2".to_owned())]);
        let refused = read("X=U1\nALLOW=two words", |_| false).unwrap_err();
        assert!(matches!(refused, dotenvy::Error::LineParse(line, _) if line == "two words"));
    }

    #[test]
    fn a_dollar_that_stands_for_nothing_is_found() {
        for (value, is_lost) in [
            ("pa$word", true),
            ("pa${word}x", true),
            ("\"pa$word\"", true),
            ("pa$$", true),
            ("$", true),
            ("pa$-", true),
            // Only the letters and digits behind it are the name.
            ("$HOST_NAME", true),
            ("'pa$word'", false),
            ("pa\\$word", false),
            ("\"pa\\$word\"", false),
            ("$HOME/x", false),
            ("${SERVER_NAME}", false),
            ("$SERVER", false),
            ("word # $5 a month", false),
        ] {
            let text = format!("# $nobody\nSERVER=a\nSERVER_NAME=b\nKEY={value}\nOTHER=c\n");
            let found = with_lost_dollars(&text, |name| name == "HOME");
            let expected: &[&str] = if is_lost { &["KEY"] } else { &[] };
            assert_eq!(found, expected, "{value}");
        }
    }
}
