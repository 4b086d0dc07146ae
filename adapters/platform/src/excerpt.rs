//! Texts in one line.

/// Maximum characters of a turn in a listing.
const EXCERPT: usize = 200;

/// A text in one line, with single blanks.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a text, in one line.
pub fn excerpt(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}
