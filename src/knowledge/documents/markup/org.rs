//! Converts Org to Markdown.

use serde_json::{Map, Value, json};

use super::super::{about, table};
use super::{Marked, escaped};

/// A block of Org whose lines are not ordinary text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Source,
    Example,
    Comment,
}

impl Block {
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
fn links(line: &str) -> String {
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
fn parse_setting(setting: &str) -> Option<(String, Value)> {
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

/// Returns how many stars a heading has.
fn level_of(line: &str) -> Option<usize> {
    let level = line.bytes().take_while(|byte| *byte == b'*').count();
    (level > 0 && line[level..].starts_with(' ')).then_some(level)
}

/// Returns for each line whether a drawer that begins there ends: before the next heading. Others
/// are ordinary lines, such as `:smile:`.
fn ends_of_drawers(lines: &[&str]) -> Vec<bool> {
    let mut ends = vec![false; lines.len()];
    let mut is_end_below = false;
    for (line, end) in lines.iter().zip(&mut ends).rev() {
        *end = is_end_below;
        let is_end = line.trim().eq_ignore_ascii_case(":END:");
        is_end_below = is_end || (is_end_below && level_of(line).is_none());
    }
    ends
}

/// Converts Org; its settings (`#+TITLE:`) are its metadata.
pub(in crate::knowledge::documents) fn to_markdown(text: &str) -> Marked {
    let mut fields = Map::new();
    let mut markdown = String::new();
    let mut is_drawer = false;
    let mut block: Option<Block> = None;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (line, is_end_below) in lines.iter().copied().zip(ends_of_drawers(&lines)) {
        let trimmed = line.trim();
        if block.is_none() && !is_drawer && trimmed.starts_with('|') {
            rows.extend(table::row_of_org(&links(trimmed)));
            continue;
        }
        if !rows.is_empty() {
            markdown.push_str(&table::markdown(&std::mem::take(&mut rows)));
        }
        if let Some(open) = block {
            let is_end = trimmed.eq_ignore_ascii_case(open.end());
            match open {
                Block::Source | Block::Example if is_end => markdown.push_str("```\n"),
                Block::Source | Block::Example => {
                    markdown.push_str(&format!("{}\n", unescaped(line)));
                }
                Block::Comment => {}
            }
            block = block.filter(|_| !is_end);
            continue;
        }
        if is_drawer {
            is_drawer = !trimmed.eq_ignore_ascii_case(":END:");
            continue;
        }
        if let Some(setting) = trimmed.strip_prefix("#+") {
            block = Block::begun(setting);
            match block {
                Some(Block::Source | Block::Example) => markdown.push_str("```\n"),
                Some(Block::Comment) => {}
                None => fields.extend(parse_setting(setting)),
            }
            continue;
        }
        is_drawer = trimmed.len() > 2
            && trimmed.starts_with(':')
            && trimmed.ends_with(':')
            && !trimmed.contains(' ')
            && is_end_below;
        if is_drawer || trimmed.starts_with("# ") {
            continue;
        }
        if let Some(level) = level_of(line) {
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
            let heading = links(heading);
            markdown.push_str(&format!("\n{} {heading}\n\n", "#".repeat(level.min(6))));
        } else {
            markdown.push_str(&format!("{}\n", escaped(&links(line))));
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
    fn headings_and_text_are_kept() {
        let (about, text) = to_markdown(
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
    fn a_line_between_colons_hides_nothing_unless_it_opens_a_drawer() {
        let (_, text) = to_markdown(
            "* Smileys\n:smile:\nThe secret word.\n* More\n:LOGBOOK:\nHidden.\n:end:\nAnd :END: too.\n:wave:\n",
        );
        assert_eq!(
            text,
            "\n# Smileys\n\n:smile:\nThe secret word.\n\n# More\n\nAnd :END: too.\n:wave:\n"
        );
    }

    #[test]
    fn links_of_org_read_as_their_texts() {
        let (_, text) = to_markdown(
            "* The [[https://a.b][harbour]]\nSee [[file:x.org][the list]] and [[https://c.d]], not [[this.\n",
        );
        assert_eq!(
            text,
            "\n# The harbour\n\nSee the list and https://c.d, not [[this.\n"
        );
    }

    #[test]
    fn code_of_org_keeps_its_comments() {
        let (about, text) = to_markdown(
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
