//! Removes images, which load by themselves and so could leak data to their server.

use super::code::{MarkdownSpan, Scan};
use super::undecided::{Decision, TextCompleteness, begins_with};
use super::zero_width::ZERO_WIDTH_SPACE;

/// Maximum bytes of an `<img` tag; a longer one is shown as text.
const LONGEST_TAG: usize = 2_000;

/// What an `<img` is replaced with.
enum Tag {
    /// It is not an image tag.
    No,
    Undecided,
    /// This link replaces so many bytes after the `<`.
    Link {
        text: String,
        length: usize,
    },
    /// It cannot be parsed reliably; it is shown as text.
    Text,
}

/// Turns Markdown images and `<img` tags into plain links. Leaves code unchanged.
pub(super) fn unload(text: &str, end: TextCompleteness) -> String {
    let scan = Scan::of(text, end);
    let mut safe = String::with_capacity(text.len());
    for part in scan.parts() {
        let prose = match part {
            MarkdownSpan::Code(range) => {
                safe.push_str(&text[range]);
                continue;
            }
            MarkdownSpan::Prose(range) => range,
        };
        let end = if prose.end == text.len() {
            end
        } else {
            TextCompleteness::Final
        };
        for line in text[prose].split_inclusive('\n') {
            if unload_line(line, end, &mut safe) == LineOutcome::HeldBack {
                return safe;
            }
        }
    }
    safe
}

#[derive(PartialEq, Eq)]
enum LineOutcome {
    Done,
    HeldBack,
}

fn unload_line(line: &str, end: TextCompleteness, safe: &mut String) -> LineOutcome {
    let mut rest = line;
    while let Some(at) = rest.find(['!', '<']) {
        safe.push_str(&rest[..at]);
        rest = &rest[at..];
        let consumed = if rest.starts_with('!') {
            bangs(rest, end, safe)
        } else {
            tag(rest, end, safe)
        };
        let Some(consumed) = consumed else {
            return LineOutcome::HeldBack;
        };
        rest = &rest[consumed..];
    }
    safe.push_str(rest);
    LineOutcome::Done
}

/// Handles bangs before a bracket: one that begins an image is removed, others get a space after
/// them.
fn bangs(rest: &str, end: TextCompleteness, safe: &mut String) -> Option<usize> {
    let after = rest.trim_start_matches('!');
    let count = rest.len() - after.len();
    if after.is_empty() && end == TextCompleteness::Open {
        return None;
    }
    if !after.starts_with('[') {
        safe.push_str(&rest[..count]);
        return Some(count);
    }
    let before = safe.chars().next_back();
    // Without its bang, `\![a](b)` would be no link, and `vec![1]` no macro.
    let keep = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '\\'));
    if count > 1 || keep {
        safe.push_str(&rest[..count]);
        safe.push(ZERO_WIDTH_SPACE);
    }
    Some(count)
}

fn tag(rest: &str, end: TextCompleteness, safe: &mut String) -> Option<usize> {
    let consumed = match read_tag(&rest[1..]) {
        Tag::Undecided if end == TextCompleteness::Open => return None,
        Tag::No => {
            safe.push('<');
            0
        }
        Tag::Text | Tag::Undecided => {
            safe.push('<');
            // A lone `<` or `<im` at the end of a whole text is harmless, and must stay unchanged
            // when it is processed again.
            if matches!(begins_with(&rest[1..], "img"), Decision::Yes) {
                safe.push(ZERO_WIDTH_SPACE);
            }
            0
        }
        Tag::Link { text, length } => {
            if safe.ends_with('!') {
                safe.push(ZERO_WIDTH_SPACE);
            }
            safe.push_str(&text);
            length
        }
    };
    Some(1 + consumed)
}

fn read_tag(after: &str) -> Tag {
    match begins_with(after, "img") {
        Decision::No => return Tag::No,
        Decision::Undecided => return Tag::Undecided,
        Decision::Yes => {}
    }
    let attributes = &after["img".len()..];
    match attributes.chars().next() {
        None => return Tag::Undecided,
        Some(c) if c.is_alphanumeric() => return Tag::No,
        Some(_) => {}
    }
    let Some(close) = attributes
        .bytes()
        .take(LONGEST_TAG)
        .position(|b| matches!(b, b'>' | b'\n'))
    else {
        return if attributes.len() >= LONGEST_TAG {
            Tag::Text
        } else {
            Tag::Undecided
        };
    };
    let (inside, closing) = attributes.split_at(close);
    // A backtick decides whether a line is a fence, so a tag with one stays whole.
    if closing.starts_with('\n') || inside.contains('`') {
        return Tag::Text;
    }
    let Some(source) = attribute(inside, "src").filter(|source| is_plain_address(source)) else {
        return Tag::Text;
    };
    let alt: String = attribute(inside, "alt")
        .unwrap_or_default()
        .chars()
        .filter(|c| !matches!(c, '[' | ']' | '<' | '!' | '\\'))
        .collect();
    let alt = if alt.trim().is_empty() {
        "image"
    } else {
        alt.trim()
    };
    Tag::Link {
        text: format!("[{alt}]({source})"),
        length: "img".len() + close + 1,
    }
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let lower = tag.to_ascii_lowercase();
    let value = lower
        .match_indices(name)
        .filter(|(at, _)| tag[..*at].ends_with([' ', '\t', '"', '\'']))
        .find_map(|(at, _)| tag[at + name.len()..].trim_start().strip_prefix('='))?
        .trim_start();
    match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next(),
        _ => value.split([' ', '\t', '/']).next(),
    }
}

/// Whether nothing in it could end the link early or begin anything else.
fn is_plain_address(source: &str) -> bool {
    (source.starts_with("https://") || source.starts_with("http://"))
        && source
            .chars()
            .all(|c| c.is_alphanumeric() || "-._~:/?#@$&*+,;=%".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_become_links() {
        for (text, safe) in [
            ("![alt](https://x.y/z)", "[alt](https://x.y/z)"),
            ("a ![b][c] ![d]", "a [b][c] [d]"),
            ("vec![1, 2]", "vec!~[1, 2]"),
            ("`vec![1, 2]` and ![a](b)", "`vec![1, 2]` and [a](b)"),
            ("`a ![b](c)\n`![d](e)`", "`a [b](c)\n`[d](e)`"),
            ("!![a](b)", "!!~[a](b)"),
            (r"\![a](b)", r"\!~[a](b)"),
            ("wow! [a](b)!", "wow! [a](b)!"),
            (
                r#"<img src="https://x.y/z" alt="a [cat]">!"#,
                "[a cat](https://x.y/z)!",
            ),
            ("<IMG SRC='http://x.y'/>", "[image](http://x.y)"),
            ("!<img src='http://x.y'>", "!~[image](http://x.y)"),
            ("<img src=javascript:x>", "<~img src=javascript:x>"),
            ("<img\nsrc=x>", "<~img\nsrc=x>"),
            ("<img onerror=x", "<~img onerror=x"),
            ("<img", "<~img"),
            ("<imgx> <im", "<imgx> <im"),
            ("a<b", "a<b"),
            (
                "```html\n<img src=\"https://a\">\n![a](b)\n```\n![a](b)",
                "```html\n<img src=\"https://a\">\n![a](b)\n```\n[a](b)",
            ),
            ("- a\n  ```\n![a](b)", "- a\n  ```\n[a](b)"),
        ] {
            let safe = safe.replace('~', "\u{200B}");
            assert_eq!(unload(text, TextCompleteness::Final), safe, "{text:?}");
        }
    }
}
