//! Code within text may go on in the next line, as Discord reads it too.

use muninn_platform::{backticks, closing_backticks};

use super::{Opening, heading, is_rule, item};

/// Lines that one paragraph is looked through for the end of its code.
const MOST: usize = 20;

/// How many lines are one text, so that the code that begins in the first ends in the last; one where
/// there is none.
pub(super) fn lines_of_spans(lines: &[&str]) -> usize {
    let Some((first, rest)) = lines.split_first() else {
        return 1;
    };
    if !has_open_span(first) || is_block(first) && item(first.trim()).is_none() {
        return 1;
    }
    let mut text = (*first).to_owned();
    let following = rest.iter().take(MOST).take_while(|line| !is_block(line));
    for (number, line) in following.enumerate() {
        text.push('\n');
        text.push_str(line);
        if !has_open_span(&text) {
            return number + 2;
        }
    }
    1
}

/// Whether a line is no part of a paragraph, or begins another.
fn is_block(line: &str) -> bool {
    let content = line.trim();
    content.is_empty()
        || content.starts_with(['>', '|'])
        || is_rule(content)
        || heading(content).is_some()
        || item(content).is_some()
        || Opening::of(line).is_some()
}

/// Whether backticks wait for their partner.
fn has_open_span(text: &str) -> bool {
    let mut at = 0;
    while let Some(next) = text[at..].find('`') {
        let opening = at + next;
        let ticks = backticks(&text[opening..]);
        at = opening + ticks;
        if text[..opening].ends_with('\\') {
            continue;
        }
        match closing_backticks(&text[at..], ticks) {
            Some(end) => at += end,
            None => return true,
        }
    }
    false
}
