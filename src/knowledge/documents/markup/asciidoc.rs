//! Converts `AsciiDoc` to Markdown.

use serde_json::{Map, json};

use super::super::{about, table};
use super::{Marked, escaped};

/// Converts `AsciiDoc`; its header's author and attributes (`:keywords: a, b`) are its metadata.
pub(in crate::knowledge::documents) fn to_markdown(text: &str) -> Marked {
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
