//! Removes characters that control a terminal or reverse the reading order.

use super::undecided::TextCompleteness;

/// Maximum length of a control string (a window title, a clipboard). A longer one is not treated as
/// one: the text after it matters more than the escape.
const LONGEST_SEQUENCE: usize = 256;

enum Sequence {
    /// It ends after so many bytes of the text after its introducer.
    Ends(usize),
    /// Not a sequence; only the introducer is removed.
    None,
    Undecided,
}

/// Removes every control character except newline and tab, with the escape sequences they
/// introduce, and every override and isolate of the reading order. A lone carriage return is
/// removed too, so that a line ending of both keeps its newline and nothing is overwritten.
pub(super) fn remove(text: &str, end: TextCompleteness) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match sequence_after(c, rest) {
            Sequence::Ends(length) => rest = &rest[length..],
            Sequence::None if is_harmful(c) => {}
            Sequence::None => safe.push(c),
            // At the end of a whole text only the introducer is removed, and the rest is text.
            Sequence::Undecided if end == TextCompleteness::Final => {}
            Sequence::Undecided => break,
        }
    }
    safe
}

fn is_harmful(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => true,
        _ => c.is_control(),
    }
}

fn sequence_after(introducer: char, rest: &str) -> Sequence {
    match introducer {
        '\u{9B}' => control_sequence(rest, 0),
        '\u{90}' | '\u{98}' | '\u{9D}' | '\u{9E}' | '\u{9F}' => control_string(rest, 0),
        '\u{1B}' => match rest.as_bytes().first() {
            Some(b'[') => control_sequence(rest, 1),
            Some(b'P' | b'X' | b']' | b'^' | b'_') => control_string(rest, 1),
            Some(_) => Sequence::None,
            None => Sequence::Undecided,
        },
        _ => Sequence::None,
    }
}

/// Colours, cursor movement: parameters, then one final letter.
fn control_sequence(rest: &str, start: usize) -> Sequence {
    for (index, byte) in rest.bytes().enumerate().skip(start).take(LONGEST_SEQUENCE) {
        match byte {
            0x20..=0x3F => {}
            0x40..=0x7E => return Sequence::Ends(index + 1),
            _ => return Sequence::None,
        }
    }
    undecided_unless_longest(rest, start)
}

/// Titles, links, clipboards: anything up to a bell or a string terminator, within the line.
fn control_string(rest: &str, start: usize) -> Sequence {
    let mut after_escape = false;
    for (index, c) in rest.char_indices() {
        if index < start {
            continue;
        }
        if index >= start + LONGEST_SEQUENCE {
            return Sequence::None;
        }
        match c {
            '\u{7}' | '\u{9C}' => return Sequence::Ends(index + c.len_utf8()),
            '\\' if after_escape => return Sequence::Ends(index + 1),
            '\n' => return Sequence::None,
            _ => after_escape = c == '\u{1B}',
        }
    }
    undecided_unless_longest(rest, start)
}

fn undecided_unless_longest(rest: &str, start: usize) -> Sequence {
    if rest.len() >= start + LONGEST_SEQUENCE {
        Sequence::None
    } else {
        Sequence::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_go_and_text_stays() {
        for (text, safe) in [
            ("a\0b\u{8}c\u{7f}\u{85}", "abc"),
            ("a\tb\r\nc\rd\n", "a\tb\ncd\n"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{9b}2Jclear", "clear"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]52;c;never ended\nnext", "]52;c;never ended\nnext"),
            ("\u{1b}creset", "creset"),
            ("\u{1b}\u{1b}[31m", ""),
            ("end\u{1b}", "end"),
            ("end\u{1b}[3", "end[3"),
            ("\u{202e}gpj.exe\u{202c} \u{2066}x\u{2069}", "gpj.exe x"),
            ("שלום \u{200f}עולם", "שלום \u{200f}עולם"),
        ] {
            assert_eq!(remove(text, TextCompleteness::Final), safe, "{text:?}");
        }
    }

    #[test]
    fn a_control_string_without_end_swallows_nothing() {
        let text = format!("\u{1b}]0;{}", "é".repeat(1000));
        assert_eq!(remove(&text, TextCompleteness::Final), text[1..]);
        assert_eq!(remove(&text, TextCompleteness::Open), text[1..]);
    }
}
