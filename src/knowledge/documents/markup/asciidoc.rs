//! Converts `AsciiDoc` to Markdown.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::super::{about, table};
use super::{Marked, Replacements, escaped};

/// The marks below a title in two lines, highest first.
const UNDERLINES: [char; 5] = ['=', '-', '~', '^', '+'];

/// The marks around code, and around a comment.
const CODE: [&str; 3] = ["----", "....", COMMENT];
const COMMENT: &str = "////";

/// Maximum number of examples, sidebars and quotations in one another; in deeper ones a title of two
/// lines may be seen where there is none.
const DEPTH: usize = 16;

/// Lines that only tell a tool what to do.
const SETTINGS: [&str; 9] = [
    "//",
    "include::",
    "toc::",
    "ifdef::",
    "ifndef::",
    "endif::",
    "image::",
    "'''",
    "<<<",
];

/// Converts `AsciiDoc`; its header's author and attributes (`:keywords: a, b`) are its metadata.
pub(in crate::knowledge::documents) fn to_markdown(text: &str) -> Marked {
    let lines: Vec<&str> = text.lines().collect();
    let mut converter = Converter::new(&lines);
    let mut at = 0;
    while at < lines.len() {
        at += converter.line(&lines, at);
    }
    converter.finish()
}

/// The state of a conversion.
struct Converter<'a> {
    fields: Map<String, Value>,
    attributes: Replacements,
    markdown: String,
    /// The line that opened the code or the comment, and that ends it.
    code: Option<&'a str>,
    /// The lines that opened examples, sidebars and quotations.
    blocks: Vec<&'a str>,
    /// The last line of each of these forms: a block that is not closed contains nothing.
    last: HashMap<&'a str, usize>,
    table: Option<Vec<&'a str>>,
    /// The line in brackets above a block.
    style: &'a str,
    is_header: bool,
    lines_of_header: usize,
    /// No paragraph is open, so that a title may follow.
    is_start: bool,
}

impl<'a> Converter<'a> {
    fn new(lines: &[&'a str]) -> Self {
        // A title may name attributes that are below it.
        let mut values = HashMap::new();
        for (name, value) in lines.iter().filter_map(|line| attribute(line)) {
            values.entry(name.to_owned()).or_insert(value.to_owned());
        }
        let marks = lines.iter().map(|line| line.trim_end()).enumerate();
        let marks = marks.filter(|(_, mark)| is_delimiter(mark));
        Self {
            fields: Map::new(),
            attributes: Replacements::new(values),
            markdown: String::new(),
            code: None,
            blocks: Vec::new(),
            last: marks.map(|(at, mark)| (mark, at)).collect(),
            table: None,
            style: "",
            is_header: true,
            lines_of_header: 0,
            is_start: true,
        }
    }

    /// Converts the line at this place. Returns the number of lines.
    fn line(&mut self, lines: &[&'a str], at: usize) -> usize {
        let line = lines[at];
        let mark = line.trim_end();
        if self.is_table(line) || self.is_code(line) {
            self.is_start = true;
        } else if self.is_start
            && let Some((level, title)) = underlined(line, lines.get(at + 1))
            && !self.is_in_block(at)
        {
            self.heading(level, title);
            return 2;
        } else if is_delimiter(mark) {
            self.delimiter(mark, at);
        } else if let Some((name, value)) = attribute(line) {
            self.attribute(name, value);
        } else if let Some((level, title)) = heading(line) {
            self.heading(level, title);
        } else if !self.is_header_line(mark) {
            self.text(line);
        }
        1
    }

    /// Takes a line of a table, or the one that opens it.
    fn is_table(&mut self, line: &'a str) -> bool {
        let mark = line.trim_end();
        let is_mark = matches!(mark, "|===" | ",===" | ":===");
        match &mut self.table {
            Some(lines) if is_mark => {
                let lines = std::mem::take(lines);
                let mut rows = match mark.as_bytes()[0] {
                    b'|' => table::of_asciidoc(&lines, self.style),
                    delimiter => table::of_csv(&lines.join("\n"), delimiter),
                };
                for cell in rows.iter_mut().flatten() {
                    *cell = self.attributes.replaced(cell, ('{', '}')).into_owned();
                }
                self.markdown.push_str(&table::markdown(&rows));
                (self.table, self.style) = (None, "");
                true
            }
            Some(lines) => {
                lines.push(line);
                true
            }
            None if is_mark && self.code.is_none() => {
                self.table = Some(Vec::new());
                true
            }
            None => false,
        }
    }

    /// Takes a line of code or of a comment, or one around it.
    fn is_code(&mut self, line: &'a str) -> bool {
        let mark = line.trim_end();
        let is_mark = |form: &&str| {
            mark.len() >= 4 && mark.starts_with(*form) && mark.chars().all(|c| form.starts_with(c))
        };
        let (is_comment, is_border) = match self.code {
            Some(open) => (open.starts_with(COMMENT), mark == open),
            None if CODE.iter().any(is_mark) => (mark.starts_with(COMMENT), true),
            None => return false,
        };
        if is_border {
            self.code = self.code.is_none().then_some(mark);
        }
        if !is_comment {
            let line = if is_border { "```" } else { line };
            self.markdown.push_str(&format!("{line}\n"));
        }
        true
    }

    fn is_in_block(&mut self, at: usize) -> bool {
        let last = &self.last;
        self.blocks
            .retain(|mark| last.get(mark).is_some_and(|last| *last > at));
        !self.blocks.is_empty()
    }

    /// Opens or closes an example, a sidebar or a quotation. Its marks are not text, and Markdown
    /// would take them for the line below a title.
    fn delimiter(&mut self, mark: &'a str, at: usize) {
        let open = self.blocks.iter().position(|open| *open == mark);
        match open {
            Some(open) => self.blocks.truncate(open),
            None if self.blocks.len() < DEPTH => self.blocks.push(mark),
            None => {}
        }
        self.is_in_block(at);
        self.is_start = true;
    }

    fn attribute(&mut self, name: &str, value: &str) {
        let value = self.replaced(value);
        match name.strip_prefix('!').or(name.strip_suffix('!')) {
            Some(unset) => self.attributes.remove(unset),
            None => self.attributes.insert(name, &value),
        }
        let name = match name.trim_start_matches('!') {
            "revdate" => "date",
            name => name,
        };
        self.fields.insert(name.to_owned(), json!(value));
    }

    fn heading(&mut self, level: usize, title: &str) {
        let (marks, title) = ("#".repeat(level), self.replaced(title));
        self.markdown.push_str(&format!("\n{marks} {title}\n\n"));
        self.lines_of_header += 1;
        // Only the document's title has a header.
        self.is_header &= level == 1;
        self.is_start = true;
    }

    /// Takes a line of the header: below the title, before the first blank line.
    fn is_header_line(&mut self, mark: &str) -> bool {
        if !self.is_header || mark.is_empty() {
            return false;
        }
        match self.lines_of_header {
            1 => {
                let author = mark.split(['<', ';']).next().unwrap_or_default();
                let author = self.replaced(author.trim());
                self.fields.entry("author").or_insert(json!(author));
            }
            // The revision is below the authors.
            2 if !mark.starts_with("//") => {
                let date = revision_date(mark).map(|date| ("date".to_owned(), json!(date)));
                self.fields.extend(date);
            }
            _other => return false,
        }
        self.lines_of_header += 1;
        true
    }

    fn text(&mut self, line: &'a str) {
        let mark = line.trim_end();
        self.is_header &= !(mark.is_empty() && self.lines_of_header > 0);
        let is_style = mark.starts_with('[') && mark.ends_with(']');
        if is_style {
            self.style = mark;
        } else if !mark.starts_with('.') {
            self.style = "";
        }
        let is_setting = is_style || SETTINGS.iter().any(|it| line.starts_with(it));
        // A comment in a paragraph does not end it.
        if !line.starts_with("//") {
            self.is_start = is_setting || mark.is_empty();
        }
        let is_below_title = self.is_header && !mark.is_empty() && self.lines_of_header > 1;
        if !is_setting && !is_below_title {
            let line = escaped(&self.replaced(line));
            self.markdown.push_str(&format!("{line}\n"));
        }
    }

    fn replaced(&mut self, text: &str) -> String {
        self.attributes.replaced(text, ('{', '}')).into_owned()
    }

    fn finish(mut self) -> Marked {
        // A table that was never closed.
        for line in self.table.unwrap_or_default() {
            self.markdown.push_str(&format!("{}\n", escaped(line)));
        }
        (about::of(&self.fields), self.markdown)
    }
}

/// Parses `:name: value`.
fn attribute(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    (!name.contains(' ')).then(|| (name, value.trim()))
}

/// Parses `== Title`.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'=').count();
    let is_heading = (1..=6).contains(&level) && line[level..].starts_with(' ');
    is_heading.then(|| (level, line[level..].trim()))
}

/// Parses a title with a line of marks below it, which is as long, give or take one.
fn underlined<'a>(line: &'a str, next: Option<&&str>) -> Option<(usize, &'a str)> {
    let (title, under) = (line.trim_end(), next?.trim_end());
    let mark = under.chars().next()?;
    let level = UNDERLINES.iter().position(|known| *known == mark)? + 1;
    let is_line = under.len() >= 3 && under.chars().all(|c| c == mark);
    let is_title = !title.starts_with(['.', '[', ' ', '\t'])
        && title.contains(char::is_alphanumeric)
        && !SETTINGS.iter().any(|it| title.starts_with(it))
        && attribute(title).is_none();
    let is_as_long = title.chars().count().abs_diff(under.len()) <= 1;
    (is_line && is_title && is_as_long).then_some((level, title))
}

/// Whether a line opens or closes an example (`====`), a sidebar or a quotation, or is one that only
/// Markdown takes for the mark of code.
fn is_delimiter(mark: &str) -> bool {
    let is_line_of = |c: char| mark.chars().all(|other| other == c);
    match mark.chars().next() {
        Some(c @ ('=' | '*' | '_')) => mark.len() >= 4 && is_line_of(c),
        Some('~') => mark.len() >= 3 && is_line_of('~'),
        Some(_) | None => false,
    }
}

/// Returns the date in `v2.1, 2026-01-02: Spring`; a version alone has none.
fn revision_date(line: &str) -> Option<&str> {
    let date = match line.split_once(',') {
        Some((_version, rest)) => rest,
        None if line.starts_with(['v', 'V']) => return None,
        None => line,
    };
    let date = date.split(": ").next().unwrap_or(date).trim();
    date.contains(|c: char| c.is_ascii_digit()).then_some(date)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn headings_and_text_are_kept() {
        let (about, text) = to_markdown(
            "= Guide\nAda Marsh <a@x>\n:keywords: sea, moon\n:toc:\n\nOpening.\n\n== One\n[source,rust]\n----\n== no heading\n----\n// comment\ninclude::x[]\nText.\n",
        );
        assert_eq!(
            (&about["author"], &about["tags"]),
            (&json!("Ada Marsh"), &json!(["sea", "moon"]))
        );
        assert!(
            text.contains("# Guide\n")
                && text.contains("## One\n")
                && text.contains("```\n== no heading\n```"),
            "{text}"
        );
        assert!(
            !text.contains("comment") && !text.contains("include") && !text.contains("source,rust"),
            "{text}"
        );
    }

    #[test]
    fn marks_around_blocks_are_no_headings_and_underlines_are() {
        for (text, expected) in [
            (
                "= Guide\n\n== Stopping\n\n[NOTE]\n====\nNever stop it.\n====\n\nAfter that.\n",
                "# Guide\n## Stopping\nNever stop it.\nAfter that.",
            ),
            ("[TIP]\n====\nWait.\n====\nOn.\n", "Wait.\nOn."),
            // Code below a short line in a block.
            (
                "[TIP]\n====\nWait.\n\nRun:\n----\nx\n----\n====\nOn.\n",
                "Wait.\nRun:\n```\nx\n```\nOn.",
            ),
            ("****\nSide\n____\nQuoted.\n____\n****\n", "Side\nQuoted."),
            (
                "keel(1)\n=======\n\nNAME\n----\nkeel - adds\n\nOPTIONS\n-------\n\n\
                 Deeper\n~~~~~~\nx\n\nDeepest\n^^^^^^^^\nLast.\n",
                "# keel(1)\n## NAME\nkeel - adds\n## OPTIONS\n### Deeper\nx\n#### Deepest\nLast.",
            ),
            // No titles: too short, too long, within a paragraph, and an example that never ends.
            ("Run this:\n----\nx\n----\n", "Run this:\n```\nx\n```"),
            ("One\nTwo.\n----\nx\n----\n", "One\nTwo.\n```\nx\n```"),
            ("====\n\nNAME\n----\nOn.\n", "## NAME\nOn."),
            ("One\n~~~~~~~~\nTwo.\n", "One\nTwo."),
        ] {
            let (_, read) = to_markdown(text);
            let lines: Vec<&str> = read.lines().filter(|line| !line.is_empty()).collect();
            assert_eq!(lines.join("\n"), expected, "{text}");
        }
        let (about, _) = to_markdown("Guide\n=====\nAda Marsh\n\nText.\n");
        assert_eq!(about["author"], json!("Ada Marsh"));
        let (about, read) = to_markdown("Notes\n-----\nText.\n");
        assert_eq!((about.get("author"), read.contains("Text.")), (None, true));
    }

    #[test]
    fn attributes_stand_for_their_values() {
        let (_, read) = to_markdown(
            "= {product} guide\n:product: Keelmaster\n:tool: {product}-ctl\n\n== {product}\n\
             Use {tool}, {unknown} or {.\n\n----\n{product}\n----\n|===\n|{product}\n|===\n\
             :!product:\n:tool: hands\n{product}, {tool}\n",
        );
        let lines: Vec<&str> = read.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(
            lines,
            [
                "# Keelmaster guide",
                "## Keelmaster",
                "Use Keelmaster-ctl, {unknown} or {.",
                "```",
                "{product}",
                "```",
                "| Keelmaster |",
                "| --- |",
                "{product}, hands",
            ],
        );
        let long = "word ".repeat(1_000);
        let many = format!(":a: {long}\n:b: {{a}}{{a}}\n:a: {{b}}{{b}}\n").repeat(50);
        let many = many + &"{a}\n".repeat(1_000);
        assert!(to_markdown(&many).1.len() < super::super::REPLACED + many.len());
    }

    #[test]
    fn a_revision_says_of_when_a_guide_is() {
        for (revision, date) in [
            ("v2.1, 2026-01-02: Spring", Some("2026-01-02")),
            ("2.1, January 2, 2026", Some("January 2, 2026")),
            ("2026-01-02", Some("2026-01-02")),
            ("v2.1", None),
            (":revdate: 2026-01-02", Some("2026-01-02")),
        ] {
            let (about, text) = to_markdown(&format!(
                "= Guide\nAda Marsh <a@x>\n{revision}\n\nOpening.\n"
            ));
            let read = about.get("date").and_then(Value::as_str);
            assert_eq!((read, text.contains("2026")), (date, false), "{revision}");
            assert_eq!(about["author"], json!("Ada Marsh"));
        }
    }
}
