//! Reads the details of a plan's operator: which labels, types and indexes it names.

use std::collections::BTreeSet;

use crate::graph::confine::ConfinedCypher;

/// Labels and types at which a plan may begin, and along which it may continue.
pub(super) struct Names<'a> {
    pub(super) labels: &'a BTreeSet<String>,
    pub(super) types: &'a BTreeSet<String>,
}

impl<'a> Names<'a> {
    pub(super) fn of(cypher: &'a ConfinedCypher) -> Self {
        Self {
            labels: cypher.labels(),
            types: cypher.types(),
        }
    }
}

/// Whether a filter checks the labels before anything else: `n:Movie|Person AND n.title = $x`. Its
/// parts are evaluated in order, until one is not true.
pub(super) fn labels_first(tokens: &[PlanToken], variable: &str, names: &Names<'_>) -> bool {
    let mut depth = 0_i32;
    for token in tokens {
        match token {
            PlanToken::Sign('(' | '[' | '{') => depth += 1,
            PlanToken::Sign(')' | ']' | '}') => depth -= 1,
            word if depth == 0 && (is_word(word, "OR") || is_word(word, "XOR")) => return false,
            PlanToken::Name { .. } | PlanToken::Sign(_) | PlanToken::Text => {}
        }
    }
    let end = tokens.iter().position(|token| is_word(token, "AND"));
    let first = &tokens[..end.unwrap_or(tokens.len())];
    let is_of_it = matches!(first.first(), Some(PlanToken::Name { text, .. }) if text == variable);
    let is_alternative = first
        .iter()
        .all(|token| matches!(token, PlanToken::Name { .. } | PlanToken::Sign(':' | '|')));
    is_of_it && is_alternative && labels(first, names)
}

/// A token of the details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PlanToken {
    /// A word, or a name in backticks.
    Name {
        text: String,
        is_quoted: bool,
    },
    Sign(char),
    /// A string with any content.
    Text,
}

pub(super) fn tokens(details: &str) -> Vec<PlanToken> {
    let mut tokens = Vec::new();
    let mut rest = details.chars().peekable();
    while let Some(c) = rest.next() {
        let token = match c {
            '`' => PlanToken::Name {
                text: rest.by_ref().take_while(|c| *c != '`').collect(),
                is_quoted: true,
            },
            '"' | '\'' => {
                while let Some(inner) = rest.next() {
                    match inner {
                        '\\' => drop(rest.next()),
                        end if end == c => break,
                        _ => {}
                    }
                }
                PlanToken::Text
            }
            word if is_part(word) => {
                let mut text = String::from(word);
                while let Some(part) = rest.next_if(|c| is_part(*c)) {
                    text.push(part);
                }
                PlanToken::Name {
                    text,
                    is_quoted: false,
                }
            }
            blank if blank.is_whitespace() => continue,
            sign => PlanToken::Sign(sign),
        };
        tokens.push(token);
    }
    tokens
}

fn is_part(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn is_word(token: &PlanToken, word: &str) -> bool {
    matches!(token, PlanToken::Name { text, is_quoted: false } if text.eq_ignore_ascii_case(word))
}

/// `n:Movie|Person`, `n:Movie&!Person`
pub(super) fn labels(tokens: &[PlanToken], names: &Names<'_>) -> bool {
    let [PlanToken::Name { .. }, PlanToken::Sign(':'), rest @ ..] = tokens else {
        return false;
    };
    are_named(rest, names.labels)
}

/// Whether these are at least one name, all in the set, with signs between them.
fn are_named(tokens: &[PlanToken], known: &BTreeSet<String>) -> bool {
    let mut names = 0;
    let are_known = tokens.iter().all(|token| match token {
        PlanToken::Name { text, .. } => {
            names += 1;
            known.contains(text)
        }
        PlanToken::Sign('|' | '&' | '!' | ':' | '(' | ')') => true,
        PlanToken::Sign(_) | PlanToken::Text => false,
    });
    are_known && names > 0
}

/// The content of the first brackets: `r:ACTED_IN|FOLLOWS*..3`.
pub(super) fn bracketed(tokens: &[PlanToken]) -> Option<&[PlanToken]> {
    let first = tokens.iter().position(|t| *t == PlanToken::Sign('['))? + 1;
    let length = tokens[first..]
        .iter()
        .position(|t| *t == PlanToken::Sign(']'))?;
    Some(&tokens[first..first + length])
}

/// `r:ACTED_IN|FOLLOWS*..3`
pub(super) fn types(inside: &[PlanToken], names: &Names<'_>) -> bool {
    let colon = inside.iter().position(|t| *t == PlanToken::Sign(':'));
    let Some(colon) = colon.filter(|at| *at <= 1) else {
        return false;
    };
    let types = &inside[colon + 1..];
    let end = types.iter().position(|t| *t == PlanToken::Sign('*'));
    are_named(&types[..end.unwrap_or(types.len())], names.types)
}

/// `RANGE INDEX n:Movie(title) WHERE …`, `UNIQUE n:Movie(id) WHERE …, UNIQUE m:…`, `RANGE INDEX
/// (a)-[r:ACTED_IN(year)]->(b) WHERE …`: each named index must be of the knowledge.
pub(super) fn index(tokens: &[PlanToken], names: &Names<'_>) -> bool {
    let is_kind = |token: &PlanToken| {
        let kinds = ["RANGE", "UNIQUE", "TEXT", "POINT"];
        kinds.iter().any(|kind| is_word(token, kind))
    };
    if !tokens.first().is_some_and(is_kind) {
        return false;
    }
    let mut found = 0;
    for at in 0..tokens.len() {
        if !is_kind(&tokens[at]) {
            continue;
        }
        let mut rest = &tokens[at + 1..];
        if rest.first().is_some_and(|token| is_word(token, "INDEX")) {
            rest = &rest[1..];
        }
        let is_known = match rest {
            [
                PlanToken::Name { .. },
                PlanToken::Sign(':'),
                PlanToken::Name { text, .. },
                PlanToken::Sign('('),
                ..,
            ] => names.labels.contains(text),
            [PlanToken::Sign('('), ..] => match bracketed(rest) {
                Some(
                    [
                        PlanToken::Name { .. },
                        PlanToken::Sign(':'),
                        PlanToken::Name { text, .. },
                        ..,
                    ],
                ) => names.types.contains(text),
                _ => false,
            },
            // A property or variable of that name.
            _ if at > 0 => continue,
            _ => false,
        };
        if !is_known {
            return false;
        }
        found += 1;
    }
    found > 0
}

/// `count( (:Movie), (:Person) ) AS n`, `count( (:Movie)-[:ACTED_IN|FOLLOWS]->() ) AS n`
pub(super) fn counted(tokens: &[PlanToken], names: &Names<'_>) -> bool {
    let [count, PlanToken::Sign('('), rest @ ..] = tokens else {
        return false;
    };
    if !is_word(count, "count") {
        return false;
    }
    if let Some(inside) = bracketed(rest) {
        return types(inside, names);
    }
    let end = rest.iter().position(|token| is_word(token, "AS"));
    let counted = &rest[..end.unwrap_or(rest.len())];
    // Each node must have its label.
    let nodes = counted.iter().filter(|t| **t == PlanToken::Sign('('));
    let labelled = counted
        .windows(2)
        .filter(|pair| **pair == [PlanToken::Sign('('), PlanToken::Sign(':')]);
    let without_commas: Vec<PlanToken> = counted
        .iter()
        .filter(|token| **token != PlanToken::Sign(','))
        .cloned()
        .collect();
    nodes.count() == labelled.count() && are_named(&without_commas, names.labels)
}

/// Whether an ID is used anywhere but in `head([id(n)])`, where no planner can use it for a lookup.
pub(super) fn has_bare_id(tokens: &[PlanToken]) -> bool {
    let is_id = |at: usize| {
        (is_word(&tokens[at], "id") || is_word(&tokens[at], "elementId"))
            && tokens.get(at + 1) == Some(&PlanToken::Sign('('))
            && tokens.get(at.wrapping_sub(1)) != Some(&PlanToken::Sign('.'))
    };
    let is_hidden = |at: usize| {
        at >= 3
            && is_word(&tokens[at - 3], "head")
            && tokens[at - 2] == PlanToken::Sign('(')
            && tokens[at - 1] == PlanToken::Sign('[')
    };
    (0..tokens.len()).any(|at| is_id(at) && !is_hidden(at))
}
