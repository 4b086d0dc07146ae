//! Joins lines whose inline code continues in the next line, as Discord does too.

use muninn_platform::{backticks, closing_backticks};

use super::fence::CodeFence;
use super::line_kind::{heading, is_rule, item};

/// Maximum number of lines to search for the end of inline code.
const MAX_SEARCHED_LINES: usize = 20;

/// Returns how many lines to convert together, so that inline code of the first ends in the last;
/// one if there is none.
pub(super) fn lines_of_spans(lines: &[&str]) -> usize {
    let Some((first, rest)) = lines.split_first() else {
        return 1;
    };
    if !has_open_span(first) || is_block(first) && item(first.trim()).is_none() {
        return 1;
    }
    let mut text = (*first).to_owned();
    let following = rest
        .iter()
        .take(MAX_SEARCHED_LINES)
        .take_while(|line| !is_block(line));
    for (number, line) in following.enumerate() {
        text.push('\n');
        text.push_str(line);
        if !has_open_span(&text) {
            return number + 2;
        }
    }
    1
}

/// Whether a line is not part of a paragraph, or begins another.
fn is_block(line: &str) -> bool {
    let content = line.trim();
    content.is_empty()
        || content.starts_with(['>', '|'])
        || is_rule(content)
        || heading(content).is_some()
        || item(content).is_some()
        || CodeFence::of(line).is_some()
}

/// Whether a run of backticks is not closed.
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
