//! Parses HTML pages by others, within limits: the parser takes time by the square of the depth to which elements are
//! nested.

use std::io::{self, Read};
use std::rc::Rc;
use std::time::{Duration, Instant};

use html2text::{Handle, RcDom};

/// Maximum depth of nested elements, as in Chromium.
const MAX_DEPTH: usize = 512;
/// Time limit for parsing a page.
const PARSE_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes that are parsed between two looks at the clock.
const STEP: usize = 1024;

/// Elements that contain nothing, or that the next one of their kind ends, and code.
const NOT_NESTED: &[&str] = &[
    "a", "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link",
    "meta", "option", "p", "param", "script", "source", "style", "tbody", "td", "tfoot", "th",
    "thead", "tr", "track", "wbr",
];

/// Why a page was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HtmlError {
    #[error("its elements are nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("reading it took longer than {} s", PARSE_TIMEOUT.as_secs())]
    TimedOut,
    #[error("it is no HTML that can be read: {0}")]
    Refused(html2text::Error),
}

/// Parses a page. Blocks for at most [`PARSE_TIMEOUT`].
///
/// # Errors
/// Fails when it is nested too deeply, takes too long, or is no HTML.
pub(crate) fn parse(page: &[u8]) -> Result<RcDom, HtmlError> {
    if is_too_deep(page) {
        return Err(HtmlError::TooDeep);
    }
    let page = TimedPage {
        left: page,
        until: Instant::now() + PARSE_TIMEOUT,
    };
    let parsed = html2text::config::plain().parse_html(page);
    let dom = parsed.map_err(|error| match error {
        html2text::Error::IoError(error) if error.kind() == io::ErrorKind::TimedOut => {
            HtmlError::TimedOut
        }
        error => HtmlError::Refused(error),
    })?;
    // The count of tags is only an estimate: tags that end nothing hide what is nested.
    match has_depth(&dom.document, MAX_DEPTH) {
        true => Err(HtmlError::TooDeep),
        false => Ok(dom),
    }
}

/// Whether a page seems to have deeper elements than [`MAX_DEPTH`], by its tags alone.
fn is_too_deep(page: &[u8]) -> bool {
    let (mut depth, mut rest) = (0_usize, page);
    while let Some(at) = position(rest, b"<") {
        rest = &rest[at + 1..];
        if rest.starts_with(b"!--") {
            rest = position(rest, b"-->").map_or(&[], |at| &rest[at..]);
            continue;
        }
        let is_end = rest.first() == Some(&b'/');
        let named = &rest[usize::from(is_end)..];
        let length = named.iter().position(|byte| !byte.is_ascii_alphanumeric());
        let name = named[..length.unwrap_or(named.len())].to_ascii_lowercase();
        let is_one_of = |names: &[&str]| names.iter().any(|it| it.as_bytes() == name);
        // Code has comparisons that look like tags.
        if !is_end && is_one_of(&["script", "style"]) {
            let end = [b"</".as_slice(), &name].concat();
            rest = position(rest, &end).map_or(&[], |at| &rest[at..]);
        }
        let is_tag = name.first().is_some_and(u8::is_ascii_alphabetic);
        if !is_tag || is_one_of(NOT_NESTED) {
            continue;
        }
        if is_end {
            depth = depth.saturating_sub(1);
        } else if !is_self_closing(rest) {
            depth += 1;
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// Whether a tag, from its name on, ends with `/>`: in drawings and formulas it then contains nothing.
fn is_self_closing(tag: &[u8]) -> bool {
    let end = tag.iter().position(|byte| matches!(byte, b'<' | b'>'));
    end.is_some_and(|at| tag[at] == b'>' && tag[..at].ends_with(b"/"))
}

/// The first position of these lower-case letters.
fn position(text: &[u8], sought: &[u8]) -> Option<usize> {
    let mut all = text.windows(sought.len());
    all.position(|it| it.eq_ignore_ascii_case(sought))
}

/// Whether nodes are nested to more than this depth. Without recursion, as they may be nested deeper than the stack
/// allows.
fn has_depth(root: &Handle, most: usize) -> bool {
    let mut open = vec![(Rc::clone(root), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > most {
            return true;
        }
        let children = node.children.borrow();
        open.extend(children.iter().map(|child| (Rc::clone(child), depth + 1)));
    }
    false
}

/// A page that fails to be read when time is up.
struct TimedPage<'a> {
    left: &'a [u8],
    until: Instant,
}

impl Read for TimedPage<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if Instant::now() >= self.until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let length = buffer.len().min(STEP);
        self.left.read(&mut buffer[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_unless_its_elements_are_nested_too_deeply() {
        let many = |part: &str| part.repeat(MAX_DEPTH + 1);
        for page in [
            String::new(),
            "<".to_owned(),
            many("<div></div>"),
            many("<p>One<br>two<img src=x>"),
            format!("<ul>{}</ul>", many("<li><a name=x>One")),
            format!("<table>{}</table>", many("<tr><td>One<td>two")),
            format!("<svg>{}</svg>", many("<path d='M0'/>")),
            format!("<script>{}</SCRIPT><p>One</p>", many("if (a<b) {}")),
            format!("<!-- {} --><p>One</p>", many("<div>")),
            many("1 < 2 <3 </ <> "),
        ] {
            assert!(parse(page.as_bytes()).is_ok(), "{page}");
        }
        for page in [
            many("<div>"),
            many("<DIV class='a'>"),
            many("<b>"),
            "<div>".repeat(50_000),
            // Tags that only seem to end something.
            many("<div></x>"),
            many("<div/>"),
            many("<div title='</div>'>"),
            format!("<!-->{}", many("<div>")),
            format!("<svg><script>{}", many("<div>")),
        ] {
            let refused = parse(page.as_bytes()).err();
            assert!(matches!(refused, Some(HtmlError::TooDeep)), "{page}");
        }
    }

    #[test]
    fn a_page_is_not_read_on_when_time_is_up() {
        let page = TimedPage {
            left: b"<p>One</p>",
            until: Instant::now(),
        };
        let read = io::read_to_string(page);
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
