//! Tables for platforms without tables, in monospaced columns.

/// How the columns of a table look.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// The separator of two cells.
    pub between: &'static str,
    /// The same in the rule below the column names.
    pub crossing: &'static str,
    /// Measures the displayed width of a text.
    pub width: fn(&str) -> usize,
}

impl Columns {
    /// Returns the lines of a table whose first row names the columns. `is_right`: whether a column
    /// is right-aligned.
    pub fn lines(&self, rows: &[Vec<String>], is_right: impl Fn(usize) -> bool) -> Vec<String> {
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let width_of = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell| (self.width)(cell))
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(width_of).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let blanks = " ".repeat(widths[column].saturating_sub((self.width)(cell)));
                if is_right(column) {
                    format!("{blanks}{cell}")
                } else {
                    format!("{cell}{blanks}")
                }
            });
            let cells: Vec<String> = cells.collect();
            cells.join(self.between).trim_end().to_owned()
        };
        let mut lines: Vec<String> = rows.iter().map(line).collect();
        if !lines.is_empty() {
            let rule = widths.iter().map(|width| "-".repeat((*width).max(1)));
            let rule: Vec<String> = rule.collect();
            lines.insert(1, rule.join(self.crossing));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_below_each_other() {
        let columns = Columns {
            between: " | ",
            crossing: "-+-",
            width: |cell| cell.chars().count(),
        };
        let row =
            |cells: &[&str]| -> Vec<String> { cells.iter().map(ToString::to_string).collect() };
        let rows = [row(&["name", "n", ""]), row(&["ä", "12"]), row(&[])];
        let lines = columns.lines(&rows, |column| column == 1);
        assert_eq!(lines, ["name |  n |", "-----+----+--", "ä    | 12", ""]);
        assert_eq!(columns.lines(&[], |_| false), [""; 0]);
    }
}
