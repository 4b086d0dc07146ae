//! The order of a result's columns. The driver loses it, because it keeps a row in a hash map; so
//! it is taken from the statement.

use std::collections::BTreeSet;

/// The columns in the order of the statement's last `RETURN`; alphabetical if that cannot be
/// determined (`RETURN *`).
pub(super) fn in_order(statement: &str, columns: BTreeSet<String>) -> Vec<String> {
    let named = named(statement);
    let is_all = named.len() == columns.len() && named.iter().all(|name| columns.contains(name));
    if is_all {
        named
    } else {
        columns.into_iter().collect()
    }
}

/// The columns that the statement's last `RETURN` names; `*` stands for all.
pub(super) fn named(statement: &str) -> Vec<String> {
    returned(statement).iter().map(|item| name(item)).collect()
}

/// The items of the last `RETURN` outside of all brackets and quotes.
fn returned(statement: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut is_over = true;
    for (token, depth) in tokens(statement) {
        let is_word = |word: &str| depth == 0 && token.eq_ignore_ascii_case(word);
        if is_word("RETURN") {
            items = vec![String::new()];
            is_over = false;
        } else if is_word("ORDER") || is_word("SKIP") || is_word("OFFSET") || is_word("LIMIT") {
            is_over = true;
        } else if is_over {
        } else if is_word(",") {
            items.push(String::new());
        } else if let Some(item) = items.last_mut()
            && !(is_word("DISTINCT") && item.trim().is_empty())
        {
            item.push_str(token);
        }
    }
    items
}

/// Words, quoted texts and single other characters, each with the depth of brackets around it.
fn tokens(statement: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut rest = statement;
    let mut depth = 0_usize;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match first {
            '\'' | '"' | '`' => quoted(rest, first),
            c if is_letter(c) => rest.find(|c| !is_letter(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        let around = depth;
        match first {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        // A closing bracket has the same depth as its opening one.
        Some((token, around))
    })
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length of the quoted text at the start of `text`. In backticks a backslash is an ordinary
/// character, and two backticks are one.
fn quoted(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let is_pair = if quote == '`' {
            c == quote && next == Some(quote)
        } else {
            c == '\\'
        };
        if is_pair {
            letters.next();
        } else if c == quote {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// The name of an item's column: its alias, or its own text.
fn name(item: &str) -> String {
    let mut alias = None;
    let mut after_as = false;
    for (token, depth) in tokens(item) {
        if after_as && !token.trim().is_empty() {
            alias = Some(token);
            after_as = false;
        } else if depth == 0 && token.eq_ignore_ascii_case("AS") {
            after_as = true;
        }
    }
    let raw = alias.unwrap_or(item.trim());
    let bare = raw.strip_prefix('`').and_then(|raw| raw.strip_suffix('`'));
    match bare {
        Some(bare) => bare.replace("``", "`"),
        None => raw.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_as_the_statement_names_them() {
        for (statement, columns) in [
            ("MATCH (n) RETURN n", vec!["n"]),
            (
                "MATCH (b) RETURN b.x, a AS `We ird`, count(*) AS A LIMIT 5",
                vec!["b.x", "We ird", "A"],
            ),
            (
                "return distinct z, {a: 1, b: [1, 2]} as m, 'x, RETURN y' AS t order by z, a",
                vec!["z", "m", "t"],
            ),
            (
                "RETURN COUNT { MATCH (n) RETURN n.x } AS n, 1 AS b",
                vec!["n", "b"],
            ),
            (
                "RETURN 1 AS b, 2 AS a UNION RETURN 3 AS b, 4 AS a",
                vec!["b", "a"],
            ),
            (
                "MATCH (`RETURN`) WITH * RETURN `RETURN`.x AS y, \"it's\" AS c",
                vec!["y", "c"],
            ),
            ("MATCH (n) RETURN n, n.`a``b` AS `a``b`", vec!["n", "a`b"]),
            // Cannot be determined, so alphabetical.
            ("MATCH (b)--(a) RETURN *", vec!["a", "b"]),
        ] {
            let unordered = columns.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(in_order(statement, unordered), columns, "{statement}");
        }
    }
}
