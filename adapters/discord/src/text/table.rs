//! Converts tables, which Discord does not have, to aligned columns in a code block.

use muninn_platform::Columns;
use unicode_width::UnicodeWidthStr as _;

use super::fence::{FENCE, unfenced};
use super::inline;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

/// A parsed table.
pub(super) struct MarkdownTable {
    aligns: Vec<Align>,
    /// The first row has the names of the columns.
    rows: Vec<Vec<String>>,
}

/// Parses a table at the beginning of these lines; also returns how many lines it takes.
pub(super) fn read(lines: &[&str]) -> Option<(MarkdownTable, usize)> {
    let (head, rest) = lines.split_first()?;
    let (under, rest) = rest.split_first()?;
    if !head.contains('|') {
        return None;
    }
    let names = cells(head);
    let aligns = aligns(under)?;
    if names.len() != aligns.len() {
        return None;
    }
    let is_row = |line: &&&str| line.contains('|') && !line.trim().is_empty();
    let body: Vec<Vec<String>> = rest
        .iter()
        .take_while(is_row)
        .map(|line| cells(line))
        .collect();
    let used = 2 + body.len();
    let mut rows = vec![names];
    rows.extend(body);
    for row in &mut rows {
        row.resize(aligns.len(), String::new());
    }
    Some((MarkdownTable { aligns, rows }, used))
}

fn aligns(line: &str) -> Option<Vec<Align>> {
    let cells = cells(line);
    let align = |cell: &String| {
        let dashes = cell.trim_start_matches(':').trim_end_matches(':');
        let is_one = !dashes.is_empty() && dashes.chars().all(|c| c == '-');
        is_one.then_some(if cell.ends_with(':') && !cell.starts_with(':') {
            Align::Right
        } else {
            Align::Left
        })
    };
    // One dash under one word is a list or a heading.
    let is_table = cells.len() > 1 || line.contains('|');
    cells
        .iter()
        .map(align)
        .collect::<Option<Vec<Align>>>()
        .filter(|_| is_table)
}

/// Returns the cells of a row, as plain text.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut is_code = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        let cell = cells.last_mut();
        match (c, cell) {
            ('\\', Some(cell)) if characters.peek() == Some(&'|') => {
                characters.next();
                cell.push('|');
            }
            ('|', _) if !is_code => cells.push(String::new()),
            (c, Some(cell)) => {
                is_code ^= c == '`';
                cell.push(c);
            }
            (_, None) => {}
        }
    }
    // There is no cell after the last bar.
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells
        .iter()
        .map(|cell| inline::plain(cell.trim()))
        .collect()
}

impl MarkdownTable {
    /// Returns the lines of a code block.
    pub(super) fn aligned(&self) -> Vec<String> {
        let columns = Columns {
            between: " | ",
            crossing: "-+-",
            width: |cell| cell.width(),
        };
        let lines = columns.lines(&self.rows, |column| self.aligns[column] == Align::Right);
        let lines = lines.iter().map(|line| unfenced(line));
        let fence = || std::iter::once(FENCE.to_owned());
        fence().chain(lines).chain(fence()).collect()
    }
}
