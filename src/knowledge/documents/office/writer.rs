//! Writes the Markdown of Office files.

use super::super::table;

/// Maximum cells kept per table row.
const CELLS: usize = 200;

/// Writes Markdown paragraph by paragraph.
#[derive(Debug, Default)]
pub(super) struct MarkdownWriter {
    pub(super) markdown: String,
    pub(super) paragraph: String,
    /// The texts of the paragraphs around the open one, as far as they were written: a text box stands
    /// in a paragraph.
    outer: Vec<String>,
    /// Footnotes of the open paragraph or table.
    notes: Vec<String>,
    /// The rows of the open table, and the nesting depth of tables.
    rows: Vec<Vec<String>>,
    tables: usize,
}

impl MarkdownWriter {
    pub(super) fn say(&mut self, text: &str) {
        self.paragraph.push_str(text);
    }

    /// Begins a paragraph, perhaps within another one.
    pub(super) fn open_paragraph(&mut self) {
        self.outer.push(std::mem::take(&mut self.paragraph));
    }

    /// Ends a paragraph. The one around it goes on.
    pub(super) fn close_paragraph(&mut self, level: Option<usize>, is_item: bool) {
        self.end(level, is_item);
        self.take_paragraph();
        self.write_notes();
    }

    /// Ends a paragraph without writing it; returns its text.
    pub(super) fn take_paragraph(&mut self) -> String {
        let outer = self.outer.pop().unwrap_or_default();
        std::mem::replace(&mut self.paragraph, outer)
    }

    /// Adds a footnote, which is written below its paragraph: within it, it would split a sentence.
    pub(super) fn note(&mut self, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            self.notes.push(text);
        }
    }

    fn write_notes(&mut self) {
        if self.tables == 0 && self.outer.is_empty() {
            for note in std::mem::take(&mut self.notes) {
                self.markdown.push_str(&format!("\nNote: {note}\n\n"));
            }
        }
    }

    /// Ends a paragraph; within a table it stays in its cell.
    pub(super) fn end(&mut self, level: Option<usize>, is_item: bool) {
        let text = std::mem::take(&mut self.paragraph);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if self.tables > 0 {
            if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
                let blank = if cell.is_empty() { "" } else { " " };
                cell.push_str(blank);
                cell.push_str(&text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            return;
        }
        match level {
            Some(level) => {
                let heading = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let marks = "#".repeat(level.clamp(1, 6));
                self.markdown.push_str(&format!("\n{marks} {heading}\n\n"));
            }
            None if is_item => self.markdown.push_str(&format!("- {text}\n")),
            None if text.starts_with('#') => self.markdown.push_str(&format!(" {text}\n\n")),
            None => self.markdown.push_str(&format!("{text}\n\n")),
        }
    }

    pub(super) fn open_table(&mut self) {
        self.tables += 1;
    }

    pub(super) fn open_row(&mut self) {
        if self.tables == 1 {
            self.rows.push(Vec::new());
        }
    }

    pub(super) fn open_cell(&mut self) {
        if self.tables == 1
            && let Some(row) = self.rows.last_mut().filter(|row| row.len() < CELLS)
        {
            row.push(String::new());
        }
    }

    pub(super) fn close_table(&mut self) {
        self.tables = self.tables.saturating_sub(1);
        if self.tables == 0 {
            let rows = std::mem::take(&mut self.rows);
            self.markdown.push_str(&table::markdown(&rows));
            self.write_notes();
        }
    }
}
