//! Converts Markdown from a model to what Discord renders. Pure.
//!
//! Discord has three sizes of headings, no tables, no rules, no HTML, no indented code, and only
//! fences of three backticks. On the other hand it reads mentions, times, emoji and spoilers in
//! text that means none, and hides addresses behind words. The conversion works line by line, so
//! that a growing answer is stable.

mod fence;
mod inline;
mod line_kind;
mod paragraph;
mod table;

use fence::{CodeFence, FENCE, unfenced};
use line_kind::{heading, is_rule, item};

const RULE: &str = "──────────";

/// Converts a text for Discord.
pub(crate) fn convert(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut converted: Vec<String> = Vec::with_capacity(lines.len());
    let mut rest = lines.as_slice();
    let mut indentation = Indentation::default();
    while let Some((line, after)) = rest.split_first() {
        let (block, used) = if let Some(lines) = indentation.code(rest) {
            (indented(&rest[..lines]), lines - 1)
        } else if let Some(opening) = CodeFence::of(line) {
            fenced(opening, after)
        } else if let Some((table, used)) = table::read(rest) {
            (table.aligned(), used - 1)
        } else {
            let lines = paragraph::lines_of_spans(rest);
            (vec![self::line(&rest[..lines].join("\n"))], lines - 1)
        };
        converted.extend(block);
        indentation.pass(line);
        rest = &after[used..];
    }
    converted.join("\n")
}

/// Tracks whether four spaces before a line make it code.
struct Indentation {
    after_blank: bool,
    /// In a list they belong to the list.
    has_list: bool,
}

impl Default for Indentation {
    fn default() -> Self {
        Self {
            after_blank: true,
            has_list: false,
        }
    }
}

impl Indentation {
    /// Returns how many of the next lines are indented code.
    fn code(&self, lines: &[&str]) -> Option<usize> {
        if !self.after_blank || self.has_list {
            return None;
        }
        let is_blank = |line: &&str| line.trim().is_empty();
        let code = lines
            .iter()
            .take_while(|line| is_blank(line) || dedented(line).is_some());
        let end = code
            .enumerate()
            .filter(|(_, line)| !is_blank(line))
            .map(|(at, _)| at + 1);
        let end = end.last()?;
        // A blank line before the code is not part of it.
        (!is_blank(&lines[0])).then_some(end)
    }

    fn pass(&mut self, line: &str) {
        let content = line.trim();
        let is_numbered = content
            .split_once(['.', ')'])
            .is_some_and(|(number, rest)| {
                !number.is_empty()
                    && number.chars().all(|c| c.is_ascii_digit())
                    && rest.starts_with(' ')
            });
        self.has_list |= is_numbered || item(content).is_some();
        self.after_blank = content.is_empty();
    }
}

fn dedented(line: &str) -> Option<&str> {
    line.strip_prefix("    ")
        .or_else(|| line.strip_prefix('\t'))
}

/// Puts indented code between fences.
fn indented(lines: &[&str]) -> Vec<String> {
    let code = lines
        .iter()
        .map(|line| unfenced(dedented(line).unwrap_or_default()));
    let fence = || std::iter::once(FENCE.to_owned());
    fence().chain(code).chain(fence()).collect()
}

/// Converts a fenced code block to fences of three backticks; also returns how many lines it took.
fn fenced(opening: CodeFence<'_>, after: &[&str]) -> (Vec<String>, usize) {
    let end = after.iter().position(|line| opening.is_closed_by(line));
    let body = &after[..end.unwrap_or(after.len())];
    let mut lines = vec![format!("{FENCE}{}", opening.language)];
    lines.extend(body.iter().map(|line| code(line, opening.indent)));
    lines.push(FENCE.to_owned());
    (lines, end.map_or(after.len(), |end| end + 1))
}

/// Converts a line of code: without the fence's indentation, and with nothing that would end the
/// block.
fn code(line: &str, indent: usize) -> String {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    unfenced(&line[blanks.min(indent)..])
}

fn line(line: &str) -> String {
    inline::defused(&rendered(line))
}

fn rendered(line: &str) -> String {
    let line = line.trim_end();
    let content = line.trim_start();
    let indent = &line[..line.len() - content.len()];
    if is_rule(content) {
        return RULE.to_owned();
    }
    if let Some(heading) = heading(content) {
        return heading;
    }
    if content.starts_with('>') {
        let quoted = content.trim_start_matches(['>', ' ']);
        return format!("> {}", rendered(quoted));
    }
    if let Some((marker, item)) = item(content) {
        return format!("{indent}{marker} {}", inline::convert(item));
    }
    // Discord's own syntax for small print.
    let shown = inline::convert(content);
    if shown.starts_with("-# ") {
        return format!("{indent}\\{shown}");
    }
    format!("{indent}{shown}")
}

#[cfg(test)]
mod tests;
