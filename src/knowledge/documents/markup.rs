//! Converts headings and text of reStructuredText, `AsciiDoc` and Org to Markdown.
//!
//! Other markup stays as it is written, which is readable enough; instructions for tools are left
//! out.

use serde_json::{Map, Value, json};

use super::{about, table};

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

type Marked = (Map<String, Value>, String);

/// Converts reStructuredText; the fields at its beginning (`:Author: Ada`) are its metadata.
pub(super) fn of_rst(text: &str) -> Marked {
    let lines: Vec<&str> = text.lines().collect();
    let (fields, mut at) = rst_fields(&lines);
    let mut levels: Vec<(char, bool)> = Vec::new();
    let mut markdown = String::new();
    while at < lines.len() {
        if let Some((heading, mark, taken)) = rst_heading(&lines[at..]) {
            let level = levels
                .iter()
                .position(|known| *known == mark)
                .unwrap_or_else(|| {
                    levels.push(mark);
                    levels.len() - 1
                });
            let marks = "#".repeat((level + 1).min(6));
            markdown.push_str(&format!("\n{marks} {}\n\n", rst_inline(heading)));
            at += taken;
        } else if let Some(rest) = lines[at].trim_start().strip_prefix(".. ") {
            at += rst_directive(rest, &lines[at..], &mut markdown);
        } else if let Some((rows, taken)) = table::of_rst(&lines[at..]) {
            markdown.push_str(&rst_table(rows));
            at += taken;
        } else if is_rst_settings(lines[at]) {
            at += 1;
        } else {
            markdown.push_str(&escaped(&rst_inline(lines[at])));
            markdown.push('\n');
            at += 1;
        }
    }
    (about::of(&fields), markdown)
}

/// Escapes a line that is not a heading.
fn escaped(line: &str) -> String {
    if line.starts_with('#') {
        format!(" {line}")
    } else {
        line.to_owned()
    }
}

/// Parses `:Author: Ada` and the like at the beginning, as in PEPs: `PEP: 8`.
fn rst_fields(lines: &[&str]) -> (Map<String, Value>, usize) {
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
fn rst_heading<'a>(lines: &[&'a str]) -> Option<(&'a str, (char, bool), usize)> {
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
fn rst_directive(rest: &str, lines: &[&str], markdown: &mut String) -> usize {
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
        markdown.push_str(&format!("{}\n{}", rst_inline(argument), rst_table(rows)));
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
        let text = rst_text(&text);
        markdown.push_str(&format!("{}\n{}\n\n", head.trim(), text.trim_matches('\n')));
    }
    1 + body.len()
}

/// Converts running text and tables.
fn rst_text(lines: &[&str]) -> String {
    let (mut text, mut at) = (String::new(), 0);
    while at < lines.len() {
        if let Some((rows, taken)) = table::of_rst(&lines[at..]) {
            text.push_str(&rst_table(rows));
            at += taken;
        } else {
            text.push_str(&escaped(&rst_inline(lines[at])));
            text.push('\n');
            at += 1;
        }
    }
    text
}

fn rst_table(mut rows: Vec<Vec<String>>) -> String {
    for cell in rows.iter_mut().flatten() {
        *cell = rst_inline(cell);
    }
    table::markdown(&rows)
}

/// Whether a field line within the text is an instruction for a tool.
fn is_rst_settings(line: &str) -> bool {
    [":orphan:", ":tocdepth:", ":nosearch:"]
        .iter()
        .any(|field| line.trim().starts_with(field))
}

/// Converts ``:ref:`text <target>` `` to `text`.
fn rst_inline(line: &str) -> String {
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

/// Converts `AsciiDoc`; its header's author and attributes (`:keywords: a, b`) are its metadata.
pub(super) fn of_asciidoc(text: &str) -> Marked {
    let mut fields = Map::new();
    let mut markdown = String::new();
    let mut block: Option<&str> = None;
    let (mut is_header, mut lines_of_header) = (true, 0);
    let mut table: Option<Vec<&str>> = None;
    // The attributes in brackets above a block.
    let mut attributes = "";
    for line in text.lines() {
        let mark = line.trim_end();
        let is_table = matches!(mark, "|===" | ",===" | ":===");
        match &mut table {
            Some(lines) if is_table => {
                let lines = std::mem::take(lines);
                let rows = match mark.as_bytes()[0] {
                    b'|' => table::of_asciidoc(&lines, attributes),
                    delimiter => table::of_csv(&lines.join("\n"), delimiter),
                };
                markdown.push_str(&table::markdown(&rows));
                (table, attributes) = (None, "");
                continue;
            }
            Some(lines) => {
                lines.push(line);
                continue;
            }
            None if is_table && block.is_none() => {
                table = Some(Vec::new());
                continue;
            }
            None => {}
        }
        if let Some(open) = block {
            if mark == open {
                block = None;
                markdown.push_str(if open == "////" { "" } else { "```\n" });
            } else if open != "////" {
                markdown.push_str(&format!("{line}\n"));
            }
            continue;
        }
        let is_block = ["----", "....", "////"].iter().find(|it| {
            mark.len() >= 4 && mark.starts_with(**it) && mark.chars().all(|c| it.starts_with(c))
        });
        if is_block.is_some() {
            block = Some(mark);
            markdown.push_str(if mark.starts_with("////") {
                ""
            } else {
                "```\n"
            });
            continue;
        }
        let attribute = line.strip_prefix(':').and_then(|rest| rest.split_once(':'));
        if let Some((name, value)) = attribute.filter(|(name, _)| !name.contains(' ')) {
            let name = match name.trim_start_matches('!') {
                "revdate" => "date",
                name => name,
            };
            fields.insert(name.to_owned(), json!(value.trim()));
            continue;
        }
        let level = line.bytes().take_while(|byte| *byte == b'=').count();
        if (1..=6).contains(&level) && line[level..].starts_with(' ') {
            markdown.push_str(&format!(
                "\n{} {}\n\n",
                "#".repeat(level),
                line[level..].trim()
            ));
            lines_of_header += 1;
            continue;
        }
        // The authors are below the title, before the first blank line.
        if is_header && lines_of_header == 1 && !mark.is_empty() {
            let author = line.split(['<', ';']).next().unwrap_or_default().trim();
            fields.entry("author").or_insert_with(|| json!(author));
            lines_of_header += 1;
            continue;
        }
        // The revision is below the authors.
        if is_header && lines_of_header == 2 && !mark.is_empty() && !mark.starts_with("//") {
            let date = revision_date(mark).map(|date| ("date".to_owned(), json!(date)));
            fields.extend(date);
            lines_of_header += 1;
            continue;
        }
        is_header &= !(mark.is_empty() && lines_of_header > 0);
        if mark.starts_with('[') && mark.ends_with(']') {
            attributes = mark;
        } else if !mark.starts_with('.') {
            attributes = "";
        }
        let is_setting = line.starts_with("//")
            || (mark.starts_with('[') && mark.ends_with(']'))
            || [
                "include::",
                "toc::",
                "ifdef::",
                "ifndef::",
                "endif::",
                "image::",
                "'''",
                "<<<",
            ]
            .iter()
            .any(|it| line.starts_with(it));
        let is_below_title = is_header && !mark.is_empty() && lines_of_header > 1;
        if !is_setting && !is_below_title {
            markdown.push_str(&format!("{}\n", escaped(line)));
        }
    }
    // A table that was never closed.
    for line in table.unwrap_or_default() {
        markdown.push_str(&format!("{}\n", escaped(line)));
    }
    (about::of(&fields), markdown)
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

/// A block of Org whose lines are not ordinary text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OrgBlock {
    Source,
    Example,
    Comment,
}

impl OrgBlock {
    /// Returns the block that `#+BEGIN_SRC sh` begins, given the text after `#+`. Other blocks,
    /// such as quotations, are read as text.
    fn begun(setting: &str) -> Option<Self> {
        let name = setting.split_whitespace().next()?.to_ascii_lowercase();
        match name.as_str() {
            "begin_src" => Some(Self::Source),
            "begin_example" => Some(Self::Example),
            "begin_comment" => Some(Self::Comment),
            _other => None,
        }
    }

    fn end(self) -> &'static str {
        match self {
            Self::Source => "#+end_src",
            Self::Example => "#+end_example",
            Self::Comment => "#+end_comment",
        }
    }
}

/// Unescapes a line of code: Org puts a comma before what would be a heading or a setting.
fn unescaped(line: &str) -> String {
    let start = line.len() - line.trim_start().len();
    let (indent, code) = line.split_at(start);
    let code = match code.strip_prefix(',') {
        Some(rest) if rest.trim_start_matches(',').starts_with(['*', '#']) => rest,
        Some(_) | None => code,
    };
    format!("{indent}{code}")
}

/// Converts `[[https://a.b][the text]]` to `the text`, and a link without text to its address.
fn org_links(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, from)) = rest.split_once("[[") {
        let Some((link, after)) = from.split_once("]]") else {
            break;
        };
        text.push_str(before);
        text.push_str(link.split_once("][").map_or(link, |(_, shown)| shown));
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Parses `TITLE: Tides` as a field.
fn org_setting(setting: &str) -> Option<(String, Value)> {
    let (name, value) = setting.split_once(':')?;
    let (name, value) = (name.to_ascii_lowercase(), value.trim());
    Some(match name.as_str() {
        // `:sea:moon:`
        "filetags" => {
            let tags = value.trim_matches(':').replace(':', ",");
            ("tags".to_owned(), json!(tags))
        }
        _other => (name, json!(value)),
    })
}

/// Converts Org; its settings (`#+TITLE:`) are its metadata.
pub(super) fn of_org(text: &str) -> Marked {
    let mut fields = Map::new();
    let mut markdown = String::new();
    let mut is_drawer = false;
    let mut block: Option<OrgBlock> = None;
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if block.is_none() && !is_drawer && trimmed.starts_with('|') {
            rows.extend(table::row_of_org(&org_links(trimmed)));
            continue;
        }
        if !rows.is_empty() {
            markdown.push_str(&table::markdown(&std::mem::take(&mut rows)));
        }
        if let Some(open) = block {
            let is_end = trimmed.eq_ignore_ascii_case(open.end());
            match open {
                OrgBlock::Source | OrgBlock::Example if is_end => markdown.push_str("```\n"),
                OrgBlock::Source | OrgBlock::Example => {
                    markdown.push_str(&format!("{}\n", unescaped(line)));
                }
                OrgBlock::Comment => {}
            }
            block = block.filter(|_| !is_end);
            continue;
        }
        if is_drawer {
            is_drawer = !trimmed.eq_ignore_ascii_case(":END:");
            continue;
        }
        if let Some(setting) = trimmed.strip_prefix("#+") {
            block = OrgBlock::begun(setting);
            match block {
                Some(OrgBlock::Source | OrgBlock::Example) => markdown.push_str("```\n"),
                Some(OrgBlock::Comment) => {}
                None => fields.extend(org_setting(setting)),
            }
            continue;
        }
        is_drawer = trimmed.len() > 2
            && trimmed.starts_with(':')
            && trimmed.ends_with(':')
            && !trimmed.contains(' ');
        if is_drawer || trimmed.starts_with("# ") {
            continue;
        }
        let level = line.bytes().take_while(|byte| *byte == b'*').count();
        if level > 0 && line[level..].starts_with(' ') {
            let heading = line[level..].trim();
            let heading = heading
                .strip_prefix("TODO ")
                .or(heading.strip_prefix("DONE "))
                .unwrap_or(heading);
            // Tags are at its end: `:a:b:`
            let tagged = heading
                .rsplit_once(' ')
                .filter(|(_, tags)| tags.len() > 2 && tags.starts_with(':') && tags.ends_with(':'));
            let heading = tagged.map_or(heading, |(heading, _)| heading.trim());
            let heading = org_links(heading);
            markdown.push_str(&format!("\n{} {heading}\n\n", "#".repeat(level.min(6))));
        } else {
            markdown.push_str(&format!("{}\n", escaped(&org_links(line))));
        }
    }
    if !rows.is_empty() {
        markdown.push_str(&table::markdown(&rows));
    }
    (about::of(&fields), markdown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_rst_are_ranked_by_their_marks() {
        let (about, text) = of_rst(
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

    #[test]
    fn asciidoc_and_org_keep_headings_and_text() {
        let (about, text) = of_asciidoc(
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
        let (about, text) = of_org(
            "#+TITLE: Notes\n#+FILETAGS: :a:b:\n* TODO First :x:\n:PROPERTIES:\n:ID: 1\n:END:\nText.\n** Second\n#+BEGIN_SRC sh\n* no heading\n#+END_SRC\n",
        );
        assert_eq!(
            (&about["title"], &about["tags"]),
            (&json!("Notes"), &json!(["a", "b"]))
        );
        assert!(
            text.contains("# First\n") && text.contains("## Second\n") && text.contains("Text."),
            "{text}"
        );
        assert!(
            !text.contains("PROPERTIES") && !text.contains(":x:"),
            "{text}"
        );
    }

    #[test]
    fn tables_are_tables_of_markdown() {
        let expected = "| Quay | Dues |\n| --- | --- |\n| North quay | 4 a day |\n| South | 2 |\n";
        for text in [
            "+-------+-------+\n| Quay  | Dues  |\n+=======+=======+\n| North | 4 a   |\n| quay  | day   |\n\
             +-------+-------+\n| South | 2     |\n+-------+-------+\n",
            "==========  =====\nQuay        Dues\n==========  =====\nNorth quay  4 a\n            day\n\
             South       2\n==========  =====\n",
            ".. list-table:: Dues\n   :header-rows: 1\n\n   * - Quay\n     - Dues\n   * - North quay\n     - 4 a\n\
             \x20      day\n   * - South\n     - 2\n",
            ".. csv-table:: Dues\n   :header: Quay, Dues\n\n   \"North quay\", 4 a day\n   South, 2\n",
            ".. table:: Dues\n\n   ==========  =======\n   Quay        Dues\n   ==========  =======\n\
             \x20  North quay  4 a day\n   South       2\n   ==========  =======\n",
        ] {
            let (_, read) = of_rst(&format!("Before.\n\n{text}\nAfter.\n"));
            assert!(read.contains(expected), "{text} is {read}");
            assert!(read.starts_with("Before.\n") && read.ends_with("After.\n"));
            assert!(!read.contains("===") && !read.contains("+--"), "{read}");
        }
        for text in [
            "|===\n|Quay |Dues\n\n|North quay\n|4 a\nday\n\n|South |2\n|===\n",
            "[%header,cols=\"2*\"]\n|===\n|Quay\n|Dues\n|North quay |4 a day\n|South\n|2\n|===\n",
            "[cols=\"1,2\"]\n.Dues\n|===\n|Quay ^|Dues\na|North quay .2+|4 a day |South |2\n|===\n",
            ",===\nQuay,Dues\nNorth quay,4 a day\nSouth,2\n,===\n",
        ] {
            let (_, read) = of_asciidoc(&format!("Before.\n\n{text}\nAfter.\n"));
            assert!(read.contains(expected), "{text} is {read}");
            assert!(
                read.ends_with("After.\n") && !read.contains("==="),
                "{read}"
            );
        }
        let (_, read) = of_org(
            "Before.\n| Quay | Dues |\n|------+------|\n| [[file:n.org][North quay]] | 4 a day |\n| South | 2 |\n\
             #+TBLFM: $2=1\nAfter.\n",
        );
        assert_eq!(read, format!("Before.\n\n{expected}\nAfter.\n"));
        // An example block contains no table.
        let (_, read) = of_asciidoc("----\n|===\n|a\n|===\n----\n");
        assert_eq!(read, "```\n|===\n|a\n|===\n```\n");
        let (_, read) = of_org("#+BEGIN_SRC\n| a |\n#+END_SRC\n");
        assert_eq!(read, "```\n| a |\n```\n");
        let (_, read) = of_asciidoc("|===\n|never closed\n");
        assert!(read.contains("|never closed\n"));
    }

    #[test]
    fn links_of_org_read_as_their_texts() {
        let (_, text) = of_org(
            "* The [[https://a.b][harbour]]\nSee [[file:x.org][the list]] and [[https://c.d]], not [[this.\n",
        );
        assert_eq!(
            text,
            "\n# The harbour\n\nSee the list and https://c.d, not [[this.\n"
        );
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
            let (about, text) = of_asciidoc(&format!(
                "= Guide\nAda Marsh <a@x>\n{revision}\n\nOpening.\n"
            ));
            let read = about.get("date").and_then(Value::as_str);
            assert_eq!((read, text.contains("2026")), (date, false), "{revision}");
            assert_eq!(about["author"], json!("Ada Marsh"));
        }
    }

    #[test]
    fn code_of_org_keeps_its_comments() {
        let (about, text) = of_org(
            "#+TITLE: Keel: the manual\n# A note of the writer\n#+BEGIN_SRC sh\n# Stop it first\nkeel stop\n:END:\n\
             #+TITLE: no setting\n,* no heading\n#+END_SRC\n#+begin_example\n  # as it is\n#+end_example\n\
             #+BEGIN_COMMENT\nNobody reads this.\n#+END_COMMENT\n#+BEGIN_QUOTE\nText.\n#+END_QUOTE\n",
        );
        assert_eq!(about["title"], json!("Keel: the manual"));
        assert_eq!(
            text,
            "```\n# Stop it first\nkeel stop\n:END:\n#+TITLE: no setting\n* no heading\n```\n\
             ```\n  # as it is\n```\nText.\n"
        );
    }
}
