//! Makes links show where they lead.
//!
//! A link is shown as its words and its target if its words are another address, or if it leads
//! anywhere except to the web or a mailbox, so that nobody follows it unknowingly. Links are parsed
//! as by `CommonMark` and the laxer parsers of chat clients: over line ends, with brackets and
//! entities in them.

use std::ops::Range;

use super::addresses::{decoded, host, looks_like_address, plain};
use super::code::{MarkdownSpan, Scan};
use super::hosts::LinkHosts;
use super::undecided::TextCompleteness;
use super::zero_width::ZERO_WIDTH_SPACE;
use crate::brackets::balanced;

/// Maximum bytes of a link; longer ones are shown as text.
const MAX_LINK_BYTES: usize = 4_000;

/// Schemes that are safe to click.
const SCHEMES: [&str; 3] = ["https:", "http:", "mailto:"];

/// What an opening bracket turned out to be.
enum Bracket<'a> {
    Link(MarkdownLink<'a>),
    /// Bracketed words that could be a reference to a definition elsewhere.
    Reference(&'a str),
    Text,
    Undecided,
}

struct MarkdownLink<'a> {
    words: &'a str,
    /// Decoded, as a browser would receive it.
    target: String,
    /// It is written in the plainest form.
    is_plain: bool,
    length: usize,
}

/// Makes every link show where it leads. Leaves code unchanged. With `hosts`, a link to any other
/// host becomes text.
pub(super) fn show_targets(text: &str, end: TextCompleteness, hosts: Option<&LinkHosts>) -> String {
    let scan = Scan::of(text, end);
    let mut safe = String::with_capacity(text.len());
    let mut from = 0;
    for part in scan.parts() {
        match part {
            MarkdownSpan::Code(range) if range.end <= from => {}
            MarkdownSpan::Code(range) => safe.push_str(&text[range.start.max(from)..range.end]),
            MarkdownSpan::Prose(range) => {
                let start = range.start.max(from).min(range.end);
                // Also at code that ends a range: a link continues after it.
                let stretch = (&text[..scan.decided], start..range.end);
                match prose(stretch, end, hosts, &mut safe) {
                    Some(next) => from = next,
                    None => return safe,
                }
            }
        }
    }
    safe
}

/// Processes a range. Returns its end, or `None` when the rest is undecided.
fn prose(
    (text, range): (&str, Range<usize>),
    end: TextCompleteness,
    hosts: Option<&LinkHosts>,
    safe: &mut String,
) -> Option<usize> {
    let mut at = range.start;
    while at < range.end {
        let Some(found) = text[at..range.end].find(['[', '<', '\\', 'h', 'H']) else {
            safe.push_str(&text[at..range.end]);
            return Some(range.end);
        };
        safe.push_str(&text[at..at + found]);
        at += found;
        let rest = &text[at..];
        let used = match rest.as_bytes()[0] {
            b'\\' => escaped(rest, end, safe),
            b'[' => bracket(rest, end, hosts, safe),
            b'<' => autolink(rest, end, safe),
            _ => address(rest, end, hosts, safe),
        };
        at += used?;
    }
    Some(at)
}

/// Copies an escaped character, which begins nothing.
fn escaped(rest: &str, end: TextCompleteness, safe: &mut String) -> Option<usize> {
    let Some(next) = rest[1..].chars().next() else {
        safe.push('\\');
        return (end == TextCompleteness::Final).then_some(1);
    };
    let length = if next.is_ascii_punctuation() { 2 } else { 1 };
    safe.push_str(&rest[..length]);
    Some(length)
}

fn bracket(
    rest: &str,
    end: TextCompleteness,
    hosts: Option<&LinkHosts>,
    safe: &mut String,
) -> Option<usize> {
    match read(rest, end) {
        Bracket::Undecided => None,
        Bracket::Text => {
            safe.push('[');
            Some(1)
        }
        Bracket::Reference(words) => {
            // Without its bracket it is no reference.
            if address_in(words).is_some() {
                safe.push('\\');
            }
            safe.push('[');
            Some(1)
        }
        Bracket::Link(link) => {
            let words = show_targets(link.words, TextCompleteness::Final, hosts);
            if !may_lead_to(hosts, &link.target) {
                let words = words.trim();
                let blank = if words.is_empty() { "" } else { " " };
                let target = link.target.replace('`', "%60");
                safe.push_str(&format!("{words}{blank}(`{target}`)"));
            } else if !is_harmless(&link.target)
                || !agrees(&words, &link.target)
                || words.contains("](")
            {
                let words = words.trim();
                safe.push_str(words);
                if !words.is_empty() {
                    safe.push(' ');
                }
                safe.push_str(&format!("({})", link.target));
            } else if link.is_plain {
                safe.push_str(&format!(
                    "[{words}{}",
                    &rest[1 + link.words.len()..link.length]
                ));
            } else {
                safe.push_str(&format!("[{words}](<{}>)", link.target));
            }
            Some(link.length)
        }
    }
}

fn read(rest: &str, end: TextCompleteness) -> Bracket<'_> {
    let paragraph = paragraph(rest);
    let is_open = end == TextCompleteness::Open
        && paragraph.len() == rest.len()
        && rest.len() < MAX_LINK_BYTES;
    let undecided = || {
        if is_open {
            Bracket::Undecided
        } else {
            Bracket::Text
        }
    };
    let Some(close) = balanced(paragraph, '[', ']') else {
        return match (undecided(), paragraph.find(']')) {
            // One within it takes its end away, and gives it back when that is escaped.
            (Bracket::Text, Some(close)) => Bracket::Reference(&paragraph[1..close]),
            (other, _) => other,
        };
    };
    let words = &paragraph[1..close - 1];
    let behind = &paragraph[close..];
    if behind.is_empty() && is_open {
        return Bracket::Undecided;
    }
    if !behind.starts_with('(') {
        return Bracket::Reference(words);
    }
    let Some(target_end) = balanced_target(behind) else {
        return undecided();
    };
    let inside = &behind[1..target_end - 1];
    let written = inside.trim();
    let written = match written.strip_prefix('<') {
        Some(pointed) => pointed.split('>').next().unwrap_or_default(),
        None => written.split_whitespace().next().unwrap_or_default(),
    };
    let target = without_user(&decoded(written));
    if target.is_empty() {
        return Bracket::Text;
    }
    Bracket::Link(MarkdownLink {
        words,
        is_plain: target == written && !inside.starts_with(char::is_whitespace),
        target,
        length: close + target_end,
    })
}

/// Returns the text up to the next empty line; no link crosses it.
fn paragraph(rest: &str) -> &str {
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if end > 0 && line.ends_with('\n') && line.trim().is_empty() {
            break;
        }
        end += line.len();
    }
    let end = end.min(rest.floor_char_boundary(MAX_LINK_BYTES));
    &rest[..end]
}

/// As [`balanced`], for a target in parentheses; within angle brackets they need no balance.
fn balanced_target(text: &str) -> Option<usize> {
    let inside = text[1..].trim_start();
    if inside.starts_with('<') {
        let pointed = text.find('>')?;
        return Some(pointed + text[pointed..].find(')')? + 1);
    }
    balanced(text, '(', ')')
}

/// Handles `<scheme:…>` with a scheme that is not for people.
fn autolink(rest: &str, end: TextCompleteness, safe: &mut String) -> Option<usize> {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-');
    let after = &rest[1..];
    let length = after.find(|c| !is_scheme(c)).unwrap_or(after.len());
    if length == after.len() && length <= 32 && end == TextCompleteness::Open {
        return None;
    }
    safe.push('<');
    let is_link = (2..=32).contains(&length) && after[length..].starts_with(':');
    let scheme = after[..length].to_ascii_lowercase();
    if is_link
        && !SCHEMES
            .iter()
            .any(|known| known.strip_suffix(':') == Some(&scheme))
    {
        safe.push(ZERO_WIDTH_SPACE);
    }
    Some(1)
}

/// Handles a bare address; one with a name before an `@` leads elsewhere than it seems.
fn address(
    rest: &str,
    end: TextCompleteness,
    hosts: Option<&LinkHosts>,
    safe: &mut String,
) -> Option<usize> {
    let head = &rest.as_bytes()[..rest.len().min(8)];
    let is_address = ["https://", "http://"].iter().find(|scheme| {
        head.get(..scheme.len())
            .is_some_and(|said| said.eq_ignore_ascii_case(scheme.as_bytes()))
    });
    let Some(scheme) = is_address else {
        let could_be = |scheme: &&str| {
            head.len() < scheme.len() && scheme.as_bytes()[..head.len()].eq_ignore_ascii_case(head)
        };
        if end == TextCompleteness::Open
            && rest.len() < 8
            && ["https://", "http://"].iter().any(could_be)
        {
            return None;
        }
        safe.push_str(&rest[..1]);
        return Some(1);
    };
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | '(' | ')' | '[' | ']');
    let length = rest.find(ends).unwrap_or(rest.len());
    let host = &rest[scheme.len()..length];
    let host_end = host.find(['/', '?', '#', '\\']);
    if host_end.is_none()
        && length == rest.len()
        && length < MAX_LINK_BYTES
        && end == TextCompleteness::Open
    {
        return None;
    }
    let authority = &host[..host_end.unwrap_or(host.len())];
    let user = authority.rfind('@').map_or(0, |at| at + 1);
    let target = format!("{}{}", &rest[..scheme.len()], &host[user..]);
    if !may_lead_to(hosts, &target) {
        if length == rest.len() && length < MAX_LINK_BYTES && end == TextCompleteness::Open {
            return None;
        }
        // Punctuation that ends the sentence is not part of the address.
        let bare = target.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']);
        safe.push_str(&format!("`{bare}`{}", &target[bare.len()..]));
        return Some(length);
    }
    safe.push_str(&rest[..scheme.len()]);
    Some(scheme.len() + user)
}

/// Whether links to this target are allowed.
fn may_lead_to(hosts: Option<&LinkHosts>, target: &str) -> bool {
    hosts.is_none_or(|hosts| hosts.has(&host(target)))
}

/// The address without a name before its host.
fn without_user(target: &str) -> String {
    let Some((scheme, rest)) = target.split_once("://") else {
        return target.to_owned();
    };
    let host_end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    match rest[..host_end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => target.to_owned(),
    }
}

/// Whether it leads to the web, to a mailbox, or nowhere: no client links a target without a
/// scheme.
fn is_harmless(target: &str) -> bool {
    let lower = target.to_ascii_lowercase();
    let scheme_end = lower.find([':', '/', '?', '#']);
    let has_scheme = scheme_end.is_some_and(|at| lower[at..].starts_with(':'));
    !has_scheme && !lower.starts_with("//") || SCHEMES.iter().any(|known| lower.starts_with(known))
}

/// Whether the words of a link, if they are an address, match its target.
fn agrees(words: &str, target: &str) -> bool {
    let Some(shown) = address_in(words) else {
        return true;
    };
    let real = host(target);
    // `main.rs` is a file of the target.
    let path = target.to_lowercase();
    let is_file = !shown.contains('/') && path.split(['/', '#', '?']).skip(3).any(|it| it == shown);
    let shown_host = host(&shown);
    is_file || real == shown_host || real.ends_with(&format!(".{shown_host}"))
}

/// Returns the part of a link's words that looks like an address, in plain letters.
fn address_in(words: &str) -> Option<String> {
    let plain = plain(words);
    let trimmed = |word: &str| {
        word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/')
            .to_owned()
    };
    let mut words = plain.split_whitespace().map(trimmed);
    words.find(|word| looks_like_address(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_say_where_they_lead() {
        for (text, shown) in [
            ("[docs](https://a.b/c)", "[docs](https://a.b/c)"),
            ("[a.b](https://a.b/c)", "[a.b](https://a.b/c)"),
            ("[a.b](https://www.a.b/c)", "[a.b](https://www.a.b/c)"),
            (
                "[main.rs](https://git.example/x/main.rs)",
                "[main.rs](https://git.example/x/main.rs)",
            ),
            (
                "[https://good.com](https://evil.com)",
                "https://good.com (https://evil.com)",
            ),
            (
                "[good.com](https://evil.com/good)",
                "good.com (https://evil.com/good)",
            ),
            (
                "[www.good](https://evil.com)",
                "www.good (https://evil.com)",
            ),
            (
                "[good。com](https://evil.com)",
                "good。com (https://evil.com)",
            ),
            (
                "[**good&period;com**](https://evil.com)",
                "**good&period;com** (https://evil.com)",
            ),
            (
                "[see good.com now](https://evil.com)",
                "see good.com now (https://evil.com)",
            ),
            ("[good](\nhttps://evil.com)", "[good](<https://evil.com>)"),
            (
                "[good.com](\nhttps://evil.com \"t\")",
                "good.com (https://evil.com)",
            ),
            ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
            ("[x](&#106;avascript&colon;alert)", "x (javascript:alert)"),
            ("[x](<java\\script:y>)", "x (java\\script:y)"),
            (
                "[x](data:text/html,y) [z](file:///etc)",
                "x (data:text/html,y) z (file:///etc)",
            ),
            (
                "[x](https://good.com@evil.com/a)",
                "[x](<https://evil.com/a>)",
            ),
            (
                "https://good.com@evil.com/a <https://u:p@evil.com>",
                "https://evil.com/a <https://evil.com>",
            ),
            (
                "<javascript:alert(1)> <https://a.b>",
                "<~javascript:alert(1)> <https://a.b>",
            ),
            ("[good.com][1] and [1]", "\\[good.com][1] and [1]"),
            (
                "[good.com]: https://evil.com",
                "\\[good.com]: https://evil.com",
            ),
            (
                "[a [b](https://c.d) e](https://f.g)",
                "a [b](https://c.d) e (https://f.g)",
            ),
            (
                "`[good.com](https://evil.com)`",
                "`[good.com](https://evil.com)`",
            ),
            (
                r"\[good.com](https://evil.com)",
                r"\[good.com](https://evil.com)",
            ),
            (
                "[ ] task, [x] done, a[0], f(x)[1](2)",
                "[ ] task, [x] done, a[0], f(x)[1](2)",
            ),
            ("see https://a.b/c?d=e@f", "see https://a.b/c?d=e@f"),
        ] {
            let shown = shown.replace('~', "\u{200B}");
            assert_eq!(
                show_targets(text, TextCompleteness::Final, None),
                shown,
                "{text:?}"
            );
        }
    }
}
