//! The notes about files at the end of a message's text.
//!
//! They are kept with the text, so that the model and whoever reads the turn later knows what came with it. Nobody said
//! them: what searches or compares texts leaves them out.

/// Start of a note; it ends with a bracket.
pub(in crate::graph) const NOTE: &str = "[file: ";

/// The line of a note.
pub fn file_note(note: &str) -> String {
    format!("{NOTE}{note}]")
}

/// The notes of a text, in order.
pub fn file_notes(text: &str) -> Vec<&str> {
    let mut notes: Vec<&str> = text.lines().rev().map_while(note).collect();
    notes.reverse();
    notes
}

/// What the person wrote, without the notes; all of it if there is nothing else.
pub fn without_file_notes(text: &str) -> &str {
    let mut said = text;
    while let Some((before, last)) = said.rsplit_once('\n')
        && note(last).is_some()
    {
        said = before;
    }
    match note(said) {
        Some(_) => text,
        None => said,
    }
}

fn note(line: &str) -> Option<&str> {
    line.strip_prefix(NOTE)?.strip_suffix(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notes_at_the_end_are_told_from_what_was_said() {
        for (text, said, notes) in [
            ("Look:", "Look:", vec![]),
            ("Look:\n[file: a.txt]", "Look:", vec!["a.txt"]),
            (
                "Look\nat it:\n[file: a.txt]\n[file: b.zip, which was not read: no]",
                "Look\nat it:",
                vec!["a.txt", "b.zip, which was not read: no"],
            ),
            ("[file: a.txt]\nis empty", "[file: a.txt]\nis empty", vec![]),
            ("Look:\n[file: a] b", "Look:\n[file: a] b", vec![]),
            ("[file: a.txt]", "[file: a.txt]", vec!["a.txt"]),
            (
                "[file: a.txt]\n[file: b.txt]",
                "[file: a.txt]\n[file: b.txt]",
                vec!["a.txt", "b.txt"],
            ),
            ("", "", vec![]),
        ] {
            assert_eq!(without_file_notes(text), said, "{text:?}");
            assert_eq!(file_notes(text), notes, "{text:?}");
        }
        assert_eq!(file_notes(&file_note("a")), ["a"]);
    }
}
