//! Converts reStructuredText to Markdown.

mod inline;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use self::inline::inline;
use super::super::{about, table};
use super::{Marked, Replacements, escaped};

/// Characters that underline a heading of reStructuredText.
const UNDERLINES: &str = "=-~^\"'`#*+:._";

/// Directives whose names say something to readers, with the words that replace them.
const LABELS: &[(&str, &str)] = &[
    ("note", "Note:"),
    ("warning", "Warning:"),
    ("tip", "Tip:"),
    ("important", "Important:"),
    ("caution", "Caution:"),
    ("danger", "Danger:"),
    ("hint", "Hint:"),
    ("seealso", "See also:"),
    ("versionadded", "Added in version"),
    ("versionchanged", "Changed in version"),
    ("deprecated", "Deprecated since version"),
];

/// Directives that contain code.
const CODE: &[&str] = &[
    "code",
    "code-block",
    "sourcecode",
    "literalinclude",
    "parsed-literal",
    "math",
    "productionlist",
    "doctest",
    "testcode",
    "testoutput",
];

/// Directives that only tell a tool what to do, with those that begin with `auto`.
const FOR_TOOLS: &[&str] = &[
    "bibliography",
    "codeauthor",
    "contents",
    "currentmodule",
    "default-domain",
    "default-role",
    "highlight",
    "image",
    "include",
    "index",
    "meta",
    "program",
    "raw",
    "role",
    "rst-class",
    "section-numbering",
    "sectionauthor",
    "sectnum",
    "tabularcolumns",
    "target-notes",
    "testcleanup",
    "testsetup",
    "title",
    "toctree",
];

/// Directives whose argument is for a tool, and whose text is for readers.
const TEXT_ONLY: &[&str] = &["container", "figure", "hlist", "ifconfig", "only"];

/// Maximum depth of directives in directives; deeper ones are kept as they are written.
const DEPTH: usize = 8;

/// Maximum lines of such a text below its first.
const REPLACEMENT_LINES: usize = 5;

/// Converts reStructuredText; the fields at its beginning (`:Author: Ada`) are its metadata.
pub(in crate::knowledge::documents) fn to_markdown(text: &str) -> Marked {
    let lines: Vec<&str> = text.lines().collect();
    let (mut fields, begin) = leading_fields(&lines);
    let mut text = lines[begin..].to_vec();
    if fields.is_empty() {
        (fields, text) = fields_below_title(&text);
    }
    let mut converter = Converter {
        levels: Vec::new(),
        replacements: Replacements::new(replacements(&lines)),
        markdown: String::new(),
    };
    converter.blocks(&text, 0);
    (about::of(&fields), converter.markdown)
}

/// Returns what `.. |name| replace:: text` defines.
fn replacements(lines: &[&str]) -> HashMap<String, String> {
    let mut all = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let rest = line.trim_start().strip_prefix(".. |");
        let Some((name, text)) = rest.and_then(|rest| rest.split_once("| replace::")) else {
            continue;
        };
        let more = lines[at + 1..].iter().take(REPLACEMENT_LINES);
        let more = more.take_while(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
        let whole = std::iter::once(text).chain(more.copied());
        let whole: Vec<&str> = whole.flat_map(str::split_whitespace).collect();
        all.insert(name.to_owned(), whole.join(" "));
    }
    all
}

/// The state of a conversion.
struct Converter {
    /// The marks of headings, highest first, with whether there is a line above too.
    levels: Vec<(char, bool)>,
    replacements: Replacements,
    markdown: String,
}

impl Converter {
    /// Converts a whole text, or the text of a directive, in which there are no headings.
    fn blocks(&mut self, lines: &[&str], depth: usize) {
        let mut tables = table::RstTables::of(lines);
        let mut at = 0;
        while at < lines.len() {
            let rest = &lines[at..];
            let explicit = rest[0].trim_start().strip_prefix(".. ");
            at += if let Some((text, mark, taken)) = heading(rest).filter(|_| depth == 0) {
                self.heading(text, mark);
                taken
            } else if let Some(text) = explicit.filter(|_| depth < DEPTH) {
                self.explicit(text.trim_start(), rest, depth)
            } else if let Some((rows, taken)) = tables.beginning_at(at) {
                let table = self.table(rows);
                self.markdown.push_str(&table);
                taken
            } else if depth == 0 && is_settings(rest[0]) {
                1
            } else {
                self.line(rest)
            };
        }
    }

    fn heading(&mut self, text: &str, mark: (char, bool)) {
        let known = self.levels.iter().position(|known| *known == mark);
        let level = known.unwrap_or_else(|| {
            self.levels.push(mark);
            self.levels.len() - 1
        });
        let marks = "#".repeat((level + 1).min(6));
        let text = self.inline(text);
        self.markdown.push_str(&format!("\n{marks} {text}\n\n"));
    }

    /// Converts a line, with the literal block that it announces. Returns the number of lines.
    fn line(&mut self, lines: &[&str]) -> usize {
        let Some((code, taken)) = literal_block(lines) else {
            let line = escaped(&self.inline(lines[0]));
            self.markdown.push_str(&line);
            self.markdown.push('\n');
            return 1;
        };
        // "So::" is shown as "So:", and a "::" alone is not shown.
        let line = lines[0].trim_end();
        let line = line[..line.len() - 1].trim_end_matches(" :");
        if line.trim() != ":" {
            let line = escaped(&self.inline(line));
            self.markdown.push_str(&line);
        }
        self.markdown.push_str("\n\n");
        self.markdown.push_str(&fenced("", &code));
        taken
    }

    /// Converts what begins with two dots. Returns the number of lines. `rest` is the text after the
    /// dots.
    fn explicit(&mut self, rest: &str, lines: &[&str], depth: usize) -> usize {
        let own = indent(lines[0]);
        let body = lines[1..]
            .iter()
            .take_while(|line| line.trim().is_empty() || indent(line) > own);
        let body: Vec<&str> = body.copied().collect();
        if is_note(rest) {
            self.shown(rest, &dedented(&body), depth);
        } else if let Some((name, argument)) = rest.split_once("::")
            && is_name(name.trim())
        {
            self.directive(name.trim(), argument.trim(), &body, depth);
        }
        // Anything else is a comment, a link target, or a replacement.
        1 + body.len()
    }

    fn directive(&mut self, name: &str, argument: &str, body: &[&str], depth: usize) {
        // `py:function` is `function` of a domain.
        let name = name.rsplit(':').next().unwrap_or(name);
        if FOR_TOOLS.contains(&name) || name.starts_with("auto") {
            return;
        }
        let options = body.iter().take_while(|line| is_option(line));
        let (options, text) = body.split_at(options.count());
        let text = dedented(text);
        let rows = match name {
            "list-table" => Some(table::of_list(&text)),
            "csv-table" => Some(csv_rows(options, &text)),
            _other => None,
        };
        if let Some(rows) = rows {
            let (title, table) = (self.inline(argument), self.table(rows));
            self.markdown.push_str(&format!("{title}\n{table}"));
        } else if CODE.contains(&name) {
            self.markdown.push_str(&fenced(argument, &text));
        } else {
            let label = LABELS.iter().find(|(known, _)| *known == name);
            let label = label.map_or("", |(_, label)| label);
            let is_shown = !TEXT_ONLY.contains(&name);
            let argument = if is_shown { argument } else { "" };
            self.shown(&format!("{label} {argument}"), &text, depth);
        }
    }

    /// Writes a line and the text below it.
    fn shown(&mut self, head: &str, text: &[&str], depth: usize) {
        let before = std::mem::take(&mut self.markdown);
        self.blocks(text, depth + 1);
        let text = std::mem::replace(&mut self.markdown, before);
        let head = escaped(&self.inline(head.trim()));
        let parts = [head.as_str(), text.trim_matches('\n')];
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            self.markdown.push_str(part);
            self.markdown.push('\n');
        }
        self.markdown.push('\n');
    }

    fn table(&mut self, mut rows: Vec<Vec<String>>) -> String {
        for cell in rows.iter_mut().flatten() {
            *cell = self.inline(cell);
        }
        table::markdown(&rows)
    }

    fn inline(&mut self, line: &str) -> String {
        inline(&self.replacements.replaced(line, ('|', '|')))
    }
}

/// Parses `:Author: Ada` and the like at the beginning, as in PEPs: `PEP: 8`.
fn leading_fields(lines: &[&str]) -> (Map<String, Value>, usize) {
    let mut fields: Map<String, Value> = Map::new();
    let mut at = 0;
    let mut last: Option<String> = None;
    while let Some(line) = lines.get(at) {
        let field = line
            .strip_prefix(':')
            .and_then(|rest| rest.split_once(": "));
        let header = line.split_once(": ").filter(|(name, _)| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
                && name.starts_with(|c: char| c.is_ascii_uppercase())
        });
        if let Some((name, value)) = field.or(header) {
            fields.insert(name.to_owned(), json!(value.trim()));
            last = Some(name.to_owned());
        } else if line.starts_with([' ', '\t']) && !line.trim().is_empty() {
            let Some(Value::String(text)) = last.as_ref().and_then(|last| fields.get_mut(last))
            else {
                break;
            };
            text.push(' ');
            text.push_str(line.trim());
        } else if !(line.ends_with(':') && line.len() > 1 && !line.contains(' ')) {
            break;
        }
        at += 1;
    }
    // With fewer it is ordinary text that happens to begin like that.
    if fields.len() < 2 {
        (Map::new(), 0)
    } else {
        (fields, at)
    }
}

/// Parses the fields below the title, as far as they are metadata. Returns the other lines, too.
fn fields_below_title<'a>(lines: &[&'a str]) -> (Map<String, Value>, Vec<&'a str>) {
    let mut fields: Map<String, Value> = Map::new();
    let mut at = end_of_title(lines);
    let mut others = lines[..at].to_vec();
    while at > 0
        && let Some(line) = lines.get(at)
        && line.starts_with(':')
        && is_option(line)
    {
        let (name, value) = line[1..].split_once(':').unwrap_or_default();
        let more = lines[at + 1..].iter();
        let more = more.take_while(|line| indent(line) > 0 && !line.trim().is_empty());
        let more: Vec<&str> = more.copied().collect();
        if about::is_field(name) {
            let whole = std::iter::once(value).chain(more.iter().copied());
            let whole: Vec<&str> = whole.map(str::trim).collect();
            fields.insert(name.to_owned(), json!(whole.join(" ")));
        } else {
            others.push(line);
            others.extend(&more);
        }
        at += 1 + more.len();
    }
    others.extend(&lines[at..]);
    (fields, others)
}

/// Returns the line below the title and the subtitle, which may be below comments and link targets;
/// 0 without a title.
fn end_of_title(lines: &[&str]) -> usize {
    let is_blank = |line: &&&str| line.trim().is_empty();
    let is_explicit = |line: &&&str| is_blank(line) || line.starts_with("..") || indent(line) > 0;
    let mut at = lines.iter().take_while(is_blank).count();
    if lines.get(at).is_some_and(|line| line.starts_with("..")) {
        at += lines[at..].iter().take_while(is_explicit).count();
    }
    let mut end = 0;
    for _title_or_subtitle in 0..2 {
        if let Some((.., taken)) = heading(&lines[at..]) {
            at += taken;
            at += lines[at..].iter().take_while(is_blank).count();
            end = at;
        }
    }
    end
}

/// Parses a heading: its text, its mark (and whether there is a line above too), and its number of
/// lines.
fn heading<'a>(lines: &[&'a str]) -> Option<(&'a str, (char, bool), usize)> {
    let first = lines.first()?;
    let second = lines.get(1)?;
    if let (Some(over), Some(under)) = (underline(first), lines.get(2).and_then(|it| underline(it)))
        && over == under
        && !second.trim().is_empty()
        && first.trim_end().chars().count() >= second.trim().chars().count()
    {
        return Some((second.trim(), (over, true), 3));
    }
    let mark = underline(second)?;
    let is_text =
        !first.trim().is_empty() && !first.starts_with([' ', '\t']) && underline(first).is_none();
    let is_wide = second.trim_end().chars().count() >= first.trim().chars().count();
    (is_text && is_wide).then_some((first.trim(), (mark, false), 2))
}

fn underline(line: &str) -> Option<char> {
    let line = line.trim_end();
    let mark = line.chars().next()?;
    let is_line = line.len() >= 3 && UNDERLINES.contains(mark) && line.chars().all(|c| c == mark);
    is_line.then_some(mark)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Removes the indentation that all lines have.
fn dedented<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    let least = filled.map(|line| indent(line)).min().unwrap_or(0);
    let cut = lines.iter().map(|line| line.get(least..).unwrap_or(""));
    cut.collect()
}

/// Whether it is a footnote or a citation: `[1] text`, `[#limit] text`, `[Knuth] text`
fn is_note(rest: &str) -> bool {
    let label = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    label.is_some_and(|(label, text)| {
        !label.is_empty() && (text.is_empty() || text.starts_with(' '))
    })
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '+'))
}

/// Returns the lines of the literal block below a line that ends with `::`, and the number of all
/// lines.
fn literal_block<'a>(lines: &[&'a str]) -> Option<(Vec<&'a str>, usize)> {
    let is_blank = |line: &&str| line.trim().is_empty();
    let is_announced = lines[0].trim_end().ends_with("::") && lines.get(1).is_some_and(is_blank);
    if !is_announced {
        return None;
    }
    let column = text_column(lines[0]);
    let body = lines[1..]
        .iter()
        .take_while(|line| is_blank(line) || indent(line) > column);
    let body: Vec<&str> = body.copied().collect();
    (!body.iter().all(is_blank)).then(|| (dedented(&body), 1 + body.len()))
}

/// Returns where the text of a line begins, which may be an item of a list.
fn text_column(line: &str) -> usize {
    let mark = line.split_whitespace().next().unwrap_or_default();
    let number = mark.strip_suffix(['.', ')']).unwrap_or_default();
    let is_number = number == "#" || number.parse::<u32>().is_ok();
    let is_item = is_number || matches!(mark, "*" | "-" | "+");
    indent(line) + if is_item { mark.len() + 1 } else { 0 }
}

/// Writes code between marks that it does not contain.
fn fenced(language: &str, lines: &[&str]) -> String {
    let text = lines.join("\n");
    let longest = text.split(|c| c != '`').map(str::len).max();
    let marks = "`".repeat((longest.unwrap_or_default() + 1).max(3));
    format!(
        "{marks}{language}\n{}\n{marks}\n\n",
        text.trim_matches('\n')
    )
}

/// Whether a line is `:name:` with a value or without one; text may begin with a role: ``:func:`x` ``.
fn is_option(line: &str) -> bool {
    let field = line.trim().strip_prefix(':');
    field
        .and_then(|rest| rest.split_once(':'))
        .is_some_and(|(name, value)| {
            let is_named = !name.is_empty() && !name.contains([' ', '\t', '`']);
            is_named && (value.is_empty() || value.starts_with([' ', '\t']))
        })
}

fn csv_rows(options: &[&str], text: &[&str]) -> Vec<Vec<String>> {
    let option = |name: &str| {
        let mut options = options.iter().map(|line| line.trim());
        options
            .find_map(|line| line.strip_prefix(name))
            .map(str::trim)
    };
    // Delimiters named in words (`tab`, `space`) are rare.
    let delimiter = option(":delim:").and_then(|it| it.bytes().next());
    let header = option(":header:").unwrap_or_default();
    let text = format!("{header}\n{}", text.join("\n"));
    table::of_csv(&text, delimiter.unwrap_or(b','))
}

/// Whether a field line within the text is an instruction for a tool.
fn is_settings(line: &str) -> bool {
    [":orphan:", ":tocdepth:", ":nosearch:"]
        .iter()
        .any(|field| line.trim().starts_with(field))
}

#[cfg(test)]
mod tests;
