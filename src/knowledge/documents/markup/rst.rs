//! Converts reStructuredText to Markdown.

use serde_json::{Map, Value, json};

use super::super::{about, table};
use super::{Marked, escaped};

/// Characters that underline a heading of reStructuredText.
const UNDERLINES: &str = "=-~^\"'`#*+:._";

/// Directives of reStructuredText whose text is for readers, with the words that replace their
/// names.
const SHOWN: &[(&str, &str)] = &[
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
    ("admonition", ""),
    ("topic", ""),
    ("rubric", ""),
    ("epigraph", ""),
    ("function", ""),
    ("class", ""),
    ("method", ""),
    ("attribute", ""),
    ("data", ""),
    ("module", ""),
    ("option", ""),
    ("envvar", ""),
    ("table", ""),
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
];

/// Converts reStructuredText; the fields at its beginning (`:Author: Ada`) are its metadata.
pub(in crate::knowledge::documents) fn to_markdown(text: &str) -> Marked {
    let lines: Vec<&str> = text.lines().collect();
    let (fields, mut at) = leading_fields(&lines);
    let mut levels: Vec<(char, bool)> = Vec::new();
    let mut markdown = String::new();
    while at < lines.len() {
        if let Some((heading, mark, taken)) = heading(&lines[at..]) {
            let level = levels
                .iter()
                .position(|known| *known == mark)
                .unwrap_or_else(|| {
                    levels.push(mark);
                    levels.len() - 1
                });
            let marks = "#".repeat((level + 1).min(6));
            markdown.push_str(&format!("\n{marks} {}\n\n", inline(heading)));
            at += taken;
        } else if let Some(rest) = lines[at].trim_start().strip_prefix(".. ") {
            at += directive(rest, &lines[at..], &mut markdown);
        } else if let Some((rows, taken)) = table::of_rst(&lines[at..]) {
            markdown.push_str(&table_block(rows));
            at += taken;
        } else if is_settings(lines[at]) {
            at += 1;
        } else {
            markdown.push_str(&escaped(&inline(lines[at])));
            markdown.push('\n');
            at += 1;
        }
    }
    (about::of(&fields), markdown)
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

/// Converts a directive and returns its number of lines. `rest` is the text after the two dots.
fn directive(rest: &str, lines: &[&str], markdown: &mut String) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(lines[0]);
    let body = lines[1..]
        .iter()
        .take_while(|line| line.trim().is_empty() || indent(line) > own);
    let body: Vec<&str> = body.copied().collect();
    let Some((name, argument)) = rest.split_once("::") else {
        // A comment, or a link target.
        return 1 + body.len();
    };
    let (name, argument) = (name.trim(), argument.trim());
    let options = body
        .iter()
        .take_while(|line| line.trim_start().starts_with(':'))
        .count();
    let text = body[options..].iter();
    let least = text
        .clone()
        .filter(|line| !line.trim().is_empty())
        .map(|line| indent(line))
        .min();
    let text: Vec<&str> = text
        .map(|line| line.get(least.unwrap_or(0)..).unwrap_or(""))
        .collect();
    let rows = match name {
        "list-table" => Some(table::of_list(&text)),
        "csv-table" => {
            let option = |name: &str| {
                let mut lines = body[..options].iter().map(|line| line.trim());
                lines
                    .find_map(|line| line.strip_prefix(name))
                    .map(str::trim)
            };
            // Delimiters named in words (`tab`, `space`) are rare.
            let delimiter = option(":delim:").and_then(|it| it.bytes().next());
            let delimiter = delimiter.unwrap_or(b',');
            let header = option(":header:").unwrap_or_default();
            let text = format!("{header}\n{}", text.join("\n"));
            Some(table::of_csv(&text, delimiter))
        }
        _other => None,
    };
    if let Some(rows) = rows {
        markdown.push_str(&format!("{}\n{}", inline(argument), table_block(rows)));
    } else if CODE.contains(&name) {
        markdown.push_str(&format!(
            "```{argument}\n{}\n```\n\n",
            text.join("\n").trim_matches('\n')
        ));
    } else if let Some((_, shown)) = SHOWN
        .iter()
        .find(|(known, _)| *known == name.rsplit(':').next().unwrap_or(name))
    {
        let head = format!("{shown} {argument}");
        let text = running_text(&text);
        markdown.push_str(&format!("{}\n{}\n\n", head.trim(), text.trim_matches('\n')));
    }
    1 + body.len()
}

/// Converts running text and tables.
fn running_text(lines: &[&str]) -> String {
    let (mut text, mut at) = (String::new(), 0);
    while at < lines.len() {
        if let Some((rows, taken)) = table::of_rst(&lines[at..]) {
            text.push_str(&table_block(rows));
            at += taken;
        } else {
            text.push_str(&escaped(&inline(lines[at])));
            text.push('\n');
            at += 1;
        }
    }
    text
}

fn table_block(mut rows: Vec<Vec<String>>) -> String {
    for cell in rows.iter_mut().flatten() {
        *cell = inline(cell);
    }
    table::markdown(&rows)
}

/// Whether a field line within the text is an instruction for a tool.
fn is_settings(line: &str) -> bool {
    [":orphan:", ":tocdepth:", ":nosearch:"]
        .iter()
        .any(|field| line.trim().starts_with(field))
}

/// Converts ``:ref:`text <target>` `` to `text`.
fn inline(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        if let Some(code) = from.strip_prefix("``") {
            let end = code.find("``").map_or(from.len(), |end| end + 4);
            text.push_str(before);
            text.push('`');
            text.push_str(from[..end].trim_matches('`'));
            text.push('`');
            rest = &from[end..];
            continue;
        }
        let Some(end) = from[1..].find('`') else {
            break;
        };
        let role = before.strip_suffix(':').and_then(|it| it.rfind(':'));
        text.push_str(role.map_or(before, |role| &before[..role]));
        let inside = &from[1..=end];
        let shown = inside
            .rsplit_once(" <")
            .filter(|(_, link)| link.ends_with('>'));
        text.push_str(
            shown
                .map_or(inside, |(shown, _)| shown)
                .trim_start_matches(['~', '!']),
        );
        rest = from[end + 2..].trim_start_matches('_');
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_rst_are_ranked_by_their_marks() {
        let (about, text) = to_markdown(
            "PEP: 8\nTitle: Style\nAuthor: Guido <g@x>,\n        Barry\nStatus: Active\n\n\
             =====\nIntro\n=====\n\nSee :ref:`the rest <rest>` and ``code``.\n\n.. note::\n   :class: x\n\n   Mind `this <u>`_.\n\n\
             .. _rest:\n\nRest\n====\n\n.. code-block:: python\n\n   # no heading\n   x = 1\n\nDeep\n----\n\n.. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\nEnd.\n",
        );
        assert_eq!(about["title"], json!("Style"));
        assert_eq!(about["author"], json!("Guido <g@x>, Barry"));
        for part in [
            "# Intro\n",
            "See the rest and `code`.",
            "Note:\nMind this.",
            "## Rest\n",
            "```python\n# no heading\nx = 1\n```",
            "### Deep\n",
            "End.",
        ] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
        for part in ["toctree", "_rest", ":class:", "maxdepth", "PEP:"] {
            assert!(!text.contains(part), "{part:?} in {text}");
        }
    }
}
