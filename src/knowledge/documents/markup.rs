//! Converts headings, tables and text of reStructuredText, `AsciiDoc` and Org to Markdown.
//!
//! Other markup stays as it is written, which is readable enough; instructions for tools are left out.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

pub(super) mod asciidoc;
pub(super) mod org;
pub(super) mod rst;

/// What a document says of itself, and its text as Markdown.
pub(super) type Marked = (Map<String, Value>, String);

/// Maximum bytes of all texts that are put in place of names.
const REPLACED: usize = 1024 * 1024;

/// Maximum bytes of such a name with its marks.
const NAME: usize = 200;

/// Texts that a document puts in place of names.
struct Replacements {
    values: HashMap<String, String>,
    /// Bytes that may still be put in place of names.
    left: usize,
}

impl Replacements {
    fn new(values: HashMap<String, String>) -> Self {
        Self {
            values,
            left: REPLACED,
        }
    }

    fn insert(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
    }

    fn remove(&mut self, name: &str) {
        self.values.remove(name);
    }

    /// Puts texts in place of names between these marks, which are ASCII.
    fn replaced<'a>(&mut self, line: &'a str, (open, close): (char, char)) -> Cow<'a, str> {
        if self.values.is_empty() || !line.contains(open) {
            return Cow::Borrowed(line);
        }
        let (mut text, mut rest) = (String::new(), line);
        while let Some(at) = rest.find(open) {
            let (before, from) = rest.split_at(at);
            text.push_str(before);
            let name = from.bytes().take(NAME);
            let end = name.skip(1).position(|byte| char::from(byte) == close);
            let end = end.map_or(0, |end| end + 1);
            let value = from.get(1..end).and_then(|name| self.values.get(name));
            match value.filter(|value| value.len() <= self.left) {
                Some(value) => {
                    self.left -= value.len();
                    text.push_str(value);
                    rest = &from[end + 1..];
                }
                None => {
                    text.push(open);
                    rest = &from[1..];
                }
            }
        }
        text.push_str(rest);
        Cow::Owned(text)
    }
}

/// Escapes a line that is not a heading.
fn escaped(line: &str) -> String {
    if line.starts_with('#') {
        format!(" {line}")
    } else {
        line.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let (_, read) = rst::to_markdown(&format!("Before.\n\n{text}\nAfter.\n"));
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
            let (_, read) = asciidoc::to_markdown(&format!("Before.\n\n{text}\nAfter.\n"));
            assert!(read.contains(expected), "{text} is {read}");
            assert!(
                read.ends_with("After.\n") && !read.contains("==="),
                "{read}"
            );
        }
        let (_, read) = org::to_markdown(
            "Before.\n| Quay | Dues |\n|------+------|\n| [[file:n.org][North quay]] | 4 a day |\n| South | 2 |\n\
             #+TBLFM: $2=1\nAfter.\n",
        );
        assert_eq!(read, format!("Before.\n\n{expected}\nAfter.\n"));
        // An example block contains no table.
        let (_, read) = asciidoc::to_markdown("----\n|===\n|a\n|===\n----\n");
        assert_eq!(read, "```\n|===\n|a\n|===\n```\n");
        let (_, read) = org::to_markdown("#+BEGIN_SRC\n| a |\n#+END_SRC\n");
        assert_eq!(read, "```\n| a |\n```\n");
        let (_, read) = asciidoc::to_markdown("|===\n|never closed\n");
        assert!(read.contains("|never closed\n"));
    }
}
