//! Breaks lines between words, at the width of the terminal, while an answer grows. Otherwise the
//! terminal breaks them within words.

use std::{env, io};

use rustix::termios;
use unicode_width::UnicodeWidthChar as _;

/// Narrower terminals break lines themselves.
const MIN_COLUMNS: usize = 10;
/// Minimum marks of a code fence.
const FENCE: usize = 3;

/// Returns the number of columns of the terminal; `None` if there is none, or if it cannot move its
/// cursor.
pub(crate) fn columns() -> Option<usize> {
    let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
    let size = termios::tcgetwinsize(io::stdout()).ok()?;
    let columns = usize::from(size.ws_col);
    (!is_dumb && columns >= MIN_COLUMNS).then_some(columns)
}

/// What is known of the last line of a text on the screen.
#[derive(Debug, Default)]
pub(crate) struct LineBreaker {
    /// The line as it was written, without breaks.
    line: String,
    /// The word at its end, which may go on.
    word: String,
    /// The column behind it on the screen.
    column: usize,
    /// The mark of the code block in which it is.
    code: Option<char>,
}

impl LineBreaker {
    /// Returns what to print for the next piece of a text; `columns` is the width of the terminal.
    pub(crate) fn push(&mut self, new: &str, columns: Option<usize>) -> String {
        let Some(columns) = columns else {
            return new.to_owned();
        };
        let mut shown = String::with_capacity(new.len());
        for character in new.chars() {
            if character == '\n' {
                self.end_line();
                shown.push('\n');
                continue;
            }
            self.line.push(character);
            if self.code.is_some() || fence(&self.line).is_some() {
                shown.push(character);
            } else if character.is_whitespace() {
                self.push_blank(character, columns, &mut shown);
            } else {
                self.push_letter(character, columns, &mut shown);
            }
        }
        shown
    }

    fn end_line(&mut self) {
        let fence = fence(&self.line);
        self.code = match self.code {
            None => fence,
            Some(mark) => (fence != Some(mark)).then_some(mark),
        };
        self.line.clear();
        self.word.clear();
        self.column = 0;
    }

    fn push_blank(&mut self, blank: char, columns: usize, shown: &mut String) {
        self.word.clear();
        // The terminal broke a word that is longer than a line.
        self.column %= columns;
        // At the end of a line it would be at the beginning of the next one.
        if self.column + 1 < columns {
            shown.push(blank);
            self.column += 1;
        }
    }

    fn push_letter(&mut self, letter: char, columns: usize, shown: &mut String) {
        let width = letter.width().unwrap_or(0);
        let of_word = width_of(&self.word);
        // The last column stays empty: behind it, terminals differ in where the cursor is.
        if self.column + width >= columns && of_word < self.column && self.take_back(shown) {
            shown.push('\n');
            shown.push_str(&self.word);
            self.column = of_word;
        }
        shown.push(letter);
        self.word.push(letter);
        self.column += width;
    }

    /// Removes the word from what is shown, and from the screen; returns whether it could.
    fn take_back(&self, shown: &mut String) -> bool {
        if shown.ends_with(&self.word) {
            shown.truncate(shown.len() - self.word.len());
            return true;
        }
        // It began in an earlier piece, so all of this one belongs to it. Terminals do not agree on
        // the width of composed characters.
        if self.word.chars().any(|it| it.width() != Some(1)) {
            return false;
        }
        let printed = width_of(&self.word) - width_of(shown);
        *shown = format!("\x1b[{printed}D\x1b[K");
        true
    }
}

/// Returns the mark of the code fence that a line is.
fn fence(line: &str) -> Option<char> {
    let line = line.trim_start();
    let is_fence = |mark: &char| line.chars().take_while(|it| it == mark).count() >= FENCE;
    ['`', '~'].into_iter().find(is_fence)
}

fn width_of(text: &str) -> usize {
    text.chars().map(|it| it.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: Option<usize> = Some(12);

    fn shown(pieces: &[&str]) -> String {
        let mut breaker = LineBreaker::default();
        pieces
            .iter()
            .map(|piece| breaker.push(piece, COLUMNS))
            .collect()
    }

    #[test]
    fn lines_break_between_words() {
        for (text, expected) in [
            ("one two", "one two"),
            ("one two three", "one two \nthree"),
            // The blank behind a full line is left out.
            ("eleven char sixteen", "eleven char\nsixteen"),
            ("one\ntwo three four", "one\ntwo three \nfour"),
            ("東京 大阪 横浜", "東京 大阪 \n横浜"),
            // The terminal breaks what is longer than a line.
            ("see https://a.example/b c", "see \nhttps://a.example/b c"),
        ] {
            assert_eq!(shown(&[text]), expected, "{text:?}");
        }
    }

    #[test]
    fn a_word_that_grows_over_the_edge_moves_to_the_next_line() {
        let pieces = ["one two th", "ree", " four"];
        assert_eq!(shown(&pieces), "one two th\x1b[2D\x1b[K\nthree four");
        assert_eq!(shown(&["one two", " three"]), "one two \nthree");
    }

    #[test]
    fn code_keeps_its_lines() {
        for code in [
            "```rust\nlet answer = 6 * 7; // long\n```",
            "~~~\nlet answer = 6 * 7;\n```\nlet answer = 6 * 7;\n~~~",
        ] {
            let text = format!("{code}\none two three");
            assert_eq!(shown(&[text.as_str()]), format!("{code}\none two \nthree"));
        }
    }

    #[test]
    fn without_a_width_nothing_breaks() {
        let text = "one two three four five six";
        assert_eq!(LineBreaker::default().push(text, None), text);
    }
}
