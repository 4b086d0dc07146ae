//! Puts other people's text safely into a line of our own Markdown.

use crate::one_line;

/// Returns a name as a link if the address is on the web, else the name with the address.
pub fn linked(name: &str, link: &str) -> String {
    let is_address = (link.starts_with("https://") || link.starts_with("http://"))
        && !link.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')'));
    if is_address {
        format!("[{}]({link})", escaped(name))
    } else {
        format!("{} ({})", escaped(name), escaped(link))
    }
}

/// Escapes a text in one line, so that nothing in it is Markdown.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in one_line(text).chars() {
        if is_escaped(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Whether [`escaped`] puts a backslash before a character.
pub(crate) fn is_escaped(character: char) -> bool {
    matches!(
        character,
        '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '~' | '|'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_no_markdown_of_ours() {
        assert_eq!(
            linked("A [b](c)", "https://a.b/c"),
            r"[A \[b\](c)](https://a.b/c)"
        );
        assert_eq!(linked("A\nB", "docs/a_b.md"), r"A B (docs/a\_b.md)");
        assert_eq!(linked("A", "https://a.b/ [x]"), r"A (https://a.b/ \[x\])");
        assert_eq!(linked("A", "javascript:alert"), "A (javascript:alert)");
    }
}
