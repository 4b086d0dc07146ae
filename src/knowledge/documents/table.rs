//! Converts tables of reStructuredText, `AsciiDoc` and Org to Markdown.

/// Maximum cells of a row.
const CELLS: usize = 1_000;

/// Writes rows as a Markdown table; the first row with text is the header.
pub(super) fn markdown(rows: &[Vec<String>]) -> String {
    let filled = rows
        .iter()
        .filter(|row| row.iter().any(|it| !it.is_empty()));
    let mut text = String::from("\n");
    for (at, row) in filled.enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
        if at == 0 {
            text.push_str(&format!("|{}\n", " --- |".repeat(cells.len())));
        }
    }
    text.push('\n');
    text
}

/// Parses comma-separated values into rows.
pub(super) fn of_csv(text: &str, delimiter: u8) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new();
    reader
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .trim(csv::Trim::All);
    let text = without_leading_blanks(text, delimiter);
    let records = reader.from_reader(text.as_bytes());
    let records = records.into_records().map_while(Result::ok);
    let row = |record: csv::StringRecord| record.iter().take(CELLS).map(joined).collect();
    records.map(row).collect()
}

/// Removes the blanks after delimiters, so that quotes begin their cells.
fn without_leading_blanks(text: &str, delimiter: u8) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut is_quoted, mut is_begin, mut is_closed) = (false, true, false);
    for c in text.chars() {
        if is_begin && c == ' ' && delimiter != b' ' {
            continue;
        }
        // Two quotes within quotes are one of the text.
        let turns = c == '"' && (is_quoted || is_begin || is_closed);
        is_quoted ^= turns;
        is_closed = turns && !is_quoted;
        is_begin = !is_quoted && (c == '\n' || c == char::from(delimiter));
        kept.push(c);
    }
    kept
}

/// Joins a text into one line.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Finds the tables of reStructuredText in lines, drawn as a grid or with lines of `=`.
pub(super) struct RstTables<'a> {
    lines: &'a [&'a str],
    /// The next line that ends a table of `=`, as far as it was looked for; the number of lines if
    /// there is none.
    end: usize,
}

impl<'a> RstTables<'a> {
    pub(super) fn of(lines: &'a [&'a str]) -> Self {
        Self { lines, end: 0 }
    }

    /// Returns the rows of the table that begins at a line, and its number of lines. To be asked
    /// from the first line on: what was looked through is not looked through again.
    pub(super) fn beginning_at(&mut self, at: usize) -> Option<(Vec<Vec<String>>, usize)> {
        let lines = self.lines;
        grid(&lines[at..]).or_else(|| {
            is_line_of(lines[at], '=').then_some(())?;
            let end = self.end_after(at)?;
            simple(&lines[at..=end])
        })
    }

    /// The last of two or three lines of `=` is followed by a blank line or by nothing.
    fn end_after(&mut self, at: usize) -> Option<usize> {
        if self.end <= at {
            let is_blank = |line: &&str| line.trim().is_empty();
            let is_end = |end: &usize| {
                is_line_of(self.lines[*end], '=') && self.lines.get(end + 1).is_none_or(is_blank)
            };
            let found = (at + 1..self.lines.len()).find(is_end);
            self.end = found.unwrap_or(self.lines.len());
        }
        (self.end < self.lines.len()).then_some(self.end)
    }
}

/// Whether a line consists of a mark, in at least two columns.
fn is_line_of(line: &str, mark: char) -> bool {
    let line = line.trim();
    line.len() > 2 && line.contains(' ') && line.chars().all(|c| c == mark || c == ' ')
}

/// `+-----+-----+`
fn grid(lines: &[&str]) -> Option<(Vec<Vec<String>>, usize)> {
    let is_border = |line: &str| {
        let line = line.trim();
        line.len() > 2
            && line.starts_with('+')
            && line.ends_with('+')
            && line.chars().all(|c| matches!(c, '+' | '-' | '='))
    };
    // Looked at first: this is asked at every line of a document.
    if !is_border(lines.first()?) {
        return None;
    }
    let is_drawn = |line: &&&str| {
        let line = line.trim();
        line.starts_with(['+', '|']) && line.ends_with(['+', '|'])
    };
    let drawn = lines.iter().take_while(is_drawn).count();
    let last = lines[..drawn].iter().rposition(|line| is_border(line))?;
    let table = &lines[..=last];
    if table.len() < 3 {
        return None;
    }
    let mut rows: Vec<Vec<String>> = vec![Vec::new()];
    for line in table {
        if is_border(line) {
            rows.push(Vec::new());
            continue;
        }
        let line = line.trim().trim_matches('|');
        // A line below only some of the cells is part of a cell that spans rows.
        let cells = line
            .split('|')
            .map(|cell| cell.trim_matches(['+', '-', ' ']));
        add(rows.last_mut()?, cells);
    }
    Some((rows, table.len()))
}

/// Appends a line to each cell.
fn add<'a>(row: &mut Vec<String>, cells: impl Iterator<Item = &'a str>) {
    for (at, cell) in cells.take(CELLS).enumerate() {
        match row.get_mut(at) {
            Some(before) => *before = joined(&format!("{before} {cell}")),
            None => row.push(joined(cell)),
        }
    }
}

/// `=====  =====`, from the first such line to the last.
fn simple(lines: &[&str]) -> Option<(Vec<Vec<String>>, usize)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let [first, inner @ .., _last] = lines else {
        return None;
    };
    let columns = columns(first);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut is_below_header = false;
    for line in inner {
        if is_line_of(line, '=') {
            if is_below_header {
                return None;
            }
            is_below_header = true;
            continue;
        }
        if line.trim().is_empty() || is_line_of(line, '-') {
            continue;
        }
        if indent(line) < indent(first) {
            return None;
        }
        let cells = cut(line, &columns);
        // A row with an empty first column continues the row above.
        match rows.last_mut().filter(|_| cells[0].is_empty()) {
            Some(row) => add(row, cells.iter().map(String::as_str)),
            None => rows.push(cells),
        }
    }
    (!rows.is_empty()).then_some((rows, lines.len()))
}

/// Returns the first character of each column of a line of `=`.
fn columns(line: &str) -> Vec<usize> {
    let mut before = ' ';
    let mut columns = Vec::new();
    for (at, mark) in line.chars().enumerate() {
        if mark != ' ' && before == ' ' && columns.len() < CELLS {
            columns.push(at);
        }
        before = mark;
    }
    columns
}

fn cut(line: &str, columns: &[usize]) -> Vec<String> {
    let letters: Vec<char> = line.chars().collect();
    let cell = |(at, from): (usize, &usize)| {
        let to = columns.get(at + 1).copied().unwrap_or(letters.len());
        let letters = letters.get(*from..to.min(letters.len()));
        joined(&letters.unwrap_or_default().iter().collect::<String>())
    };
    columns.iter().enumerate().map(cell).collect()
}

/// Parses a `list-table`: an item per row, with an item per cell.
pub(super) fn of_list(lines: &[&str]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in lines {
        let mut text = line.trim_start();
        let is_outermost = text.len() == line.len();
        if let Some(rest) = text
            .strip_prefix('*')
            .filter(|rest| is_outermost && (rest.is_empty() || rest.starts_with(' ')))
        {
            rows.push(Vec::new());
            text = rest.trim_start();
        }
        let Some(row) = rows.last_mut() else {
            continue;
        };
        match text
            .strip_prefix('-')
            .filter(|rest| rest.is_empty() || rest.starts_with(' '))
        {
            Some(cell) if row.len() < CELLS => row.push(joined(cell)),
            Some(_) | None => {
                if let Some(cell) = row.last_mut() {
                    *cell = joined(&format!("{cell} {text}"));
                }
            }
        }
    }
    rows
}

/// Parses the lines between two `|===`. `attributes` are in brackets above it: `[cols="1,2",
/// options="header"]`.
pub(super) fn of_asciidoc(lines: &[&str], attributes: &str) -> Vec<Vec<String>> {
    let mut cells: Vec<String> = Vec::new();
    let mut in_first_line = 0;
    for line in lines {
        // An escaped mark stays within its cell.
        let line = line.replace("\\|", "\u{1}");
        let parts: Vec<&str> = line.split('|').collect();
        for (at, part) in parts.iter().enumerate() {
            let part = part.replace('\u{1}', "|");
            let is_last = at + 1 == parts.len();
            let part = if is_last {
                &part
            } else {
                without_format(&part)
            };
            match cells.last_mut().filter(|_| at == 0) {
                Some(cell) => *cell = joined(&format!("{cell} {part}")),
                // Before the first mark there is only the cell's format.
                None if at == 0 => {}
                None => cells.push(joined(part)),
            }
        }
        if in_first_line == 0 {
            in_first_line = cells.len();
        }
    }
    let width = width(attributes).unwrap_or(in_first_line).clamp(1, CELLS);
    cells.chunks(width).map(<[String]>::to_vec).collect()
}

/// Returns the number of columns of `cols="2*,1"`.
fn width(attributes: &str) -> Option<usize> {
    let (_, from) = attributes.split_once("cols=")?;
    let columns = match from.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => from.split([',', ']']).next()?,
    };
    let count = |column: &str| {
        let times = column.trim().split_once('*');
        times.map_or(Some(1), |(times, _)| times.parse().ok())
    };
    let counts: Option<Vec<usize>> = columns.split([',', ';']).map(count).collect();
    Some(counts?.into_iter().fold(0, usize::saturating_add))
}

/// Removes the format of the next cell: `2+^`, `.3+`, `a`.
fn without_format(part: &str) -> &str {
    let (before, last) = match part.trim_end().rsplit_once(char::is_whitespace) {
        // The last word of the cell itself is followed by a blank.
        Some((before, last)) if part.ends_with(last) => (before, last),
        None if !part.ends_with(char::is_whitespace) => ("", part),
        Some(_) | None => return part,
    };
    let marks = last.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let rest = marks.trim_start_matches(['+', '*', '<', '>', '^', '.']);
    let is_style = rest.is_empty() || matches!(rest, "a" | "d" | "e" | "h" | "l" | "m" | "s" | "v");
    let is_format = is_style && (marks.len() > rest.len() || (last.len() == 1 && rest == last));
    if is_format { before } else { part }
}

/// Parses a row of Org; `None` for a line between rows.
pub(super) fn row_of_org(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let inner = line.strip_prefix('|')?;
    if inner.starts_with('-') && inner.chars().all(|c| matches!(c, '-' | '+' | '|')) {
        return None;
    }
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    Some(inner.split('|').take(CELLS).map(joined).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_before_quotes_are_no_part_of_a_cell() {
        for (text, delimiter, expected) in [
            ("\"Name\", \"Size\"\n", b',', ["Name", "Size"]),
            ("\"a, b\",  2\n", b',', ["a, b", "2"]),
            ("\"a \"\"b\"\",  c\", 2\n", b',', ["a \"b\",  c", "2"]),
            ("5\" pipe; \"x\"\n", b';', ["5\" pipe", "x"]),
        ] {
            let expected = expected.map(joined).to_vec();
            assert_eq!(of_csv(text, delimiter), [expected], "{text}");
        }
    }

    #[test]
    fn tables_of_restructuredtext_end_where_they_do() {
        let table = |text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            RstTables::of(&lines).beginning_at(0)
        };
        let rows = |cells: &[[&str; 2]]| -> Vec<Vec<String>> {
            cells.iter().map(|row| row.map(joined).to_vec()).collect()
        };
        let drawn = "+---+---+\n| a | b |\n+---+---+\n";
        for (text, expected) in [
            (
                "= =\na b\n= =\n1 2\n= =\n\nx",
                Some((rows(&[["a", "b"], ["1", "2"]]), 5)),
            ),
            ("= =\na b\n= =", Some((rows(&[["a", "b"]]), 3))),
            ("= =\na b\n= =\nx", None),
            ("= =\na b\n= =\na b\n= =\na b\n= =\n\n", None),
            ("  = =\na b\n  = =\n", None),
            ("= =\n= =\n", None),
            ("| a | b |\n+---+---+\n", None),
        ] {
            assert_eq!(table(text), expected, "{text}");
        }
        let (_, taken) = table(drawn).unwrap();
        assert_eq!(taken, 3);
        // A line that is left over below it is no part of it.
        let (_, taken) = table(&format!("{drawn}| c | d |\n")).unwrap();
        assert_eq!(taken, 3);
    }
}
