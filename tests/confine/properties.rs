//! For any input, the output is confined.
//!
//! `MUNINN_CONFINE_CASES` sets how many statements of each kind are tried (default 1,000).

use muninn::graph::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::grammar::{heap, mutation, statement};
use crate::graphs::confined;

const WRITES: &[&str] = &[
    "CREATE",
    "MERGE",
    "SET",
    "DELETE",
    "DETACH",
    "REMOVE",
    "FOREACH",
    "DROP",
    "LOAD",
    "INSERT",
    "SHOW",
    "TERMINATE",
    "USE",
];

#[test]
fn statements_from_a_grammar_come_out_confined() {
    let accepted = hold(statement(), is_confined);
    assert!(accepted * 40 > cases(), "only {accepted} were accepted");
}

#[test]
fn mutated_statements_come_out_confined() {
    hold(mutation(), is_confined);
}

#[test]
fn heaps_of_pieces_come_out_confined() {
    hold(heap(), is_confined);
}

#[test]
fn any_text_comes_out_confined() {
    hold(any::<String>(), is_confined);
}

fn cases() -> u32 {
    let asked = std::env::var("MUNINN_CONFINE_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(1_000)
}

/// Checks the property, and returns how many statements were accepted.
fn hold(
    strategy: impl Strategy<Value = String>,
    property: fn(&str) -> Result<bool, TestCaseError>,
) -> u32 {
    let config = Config {
        cases: cases(),
        failure_persistence: None,
        ..Config::default()
    };
    let accepted = std::cell::Cell::new(0);
    let result = TestRunner::new(config).run(&strategy, |text| {
        accepted.set(accepted.get() + u32::from(property(&text)?));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    accepted.get()
}

/// Whether a statement is accepted. If so, confining it again changes nothing, and it names no
/// memory and writes nothing.
fn is_confined(text: &str) -> Result<bool, TestCaseError> {
    let Ok(once) = confined(text) else {
        return Ok(false);
    };
    let once = once.as_str();
    let twice = confined(once);
    let twice = twice.map_err(|refusal| {
        TestCaseError::fail(format!(
            "{text:?} became {once:?}, which is refused: {refusal}"
        ))
    })?;
    prop_assert_eq!(twice.as_str(), once, "out of {:?}", text);
    for word in bare_words(once) {
        prop_assert!(!WRITES.contains(&word.as_str()), "{} in {:?}", word, once);
    }
    for name in names_after_colons(once) {
        let is_memory =
            MEMORY_LABELS.contains(&name.as_str()) || MEMORY_RELATIONSHIPS.contains(&name.as_str());
        prop_assert!(!is_memory, "{} in {:?}", name, once);
    }
    Ok(true)
}

/// Removes what is in quotes.
fn without_strings(text: &str) -> String {
    let mut rest = String::new();
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match quote {
            Some(_) if c == '\\' => {
                characters.next();
            }
            Some(end) if c == end => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None => rest.push(c),
        }
    }
    rest
}

/// Returns the words outside of strings and backticks.
fn bare_words(text: &str) -> Vec<String> {
    let text = without_strings(text);
    let outside = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let words = outside.split(|c: char| c != '_' && !c.is_alphanumeric());
    words.map(str::to_uppercase).collect()
}

/// Returns the names in places for labels or types: after `:`, `|`, `&`, `!`, `(`.
fn names_after_colons(text: &str) -> Vec<String> {
    let text = without_strings(text);
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    let mut names = Vec::new();
    for (at, sign) in text.char_indices() {
        if !matches!(sign, ':' | '|' | '&' | '!') {
            continue;
        }
        let after = &text[at + sign.len_utf8()..];
        let name = match after.strip_prefix('`') {
            Some(quoted) => quoted.split('`').next().unwrap_or_default(),
            None => after.split(|c| !is_part(c)).next().unwrap_or_default(),
        };
        names.push(name.to_owned());
    }
    names
}
