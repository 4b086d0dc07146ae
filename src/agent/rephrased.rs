//! Checks that a model's text is the rephrased question and nothing else. Pure.

use std::collections::BTreeSet;

use crate::graph::without_file_notes;
use crate::llm::structured;
use crate::retrieval::language::WordList;
use crate::retrieval::speech::asks_something;
use crate::retrieval::text::{WordStemmer, is_same_language, lowercase_words};
use muninn_platform::one_line;

/// Maximum length of a rephrased question: in characters for a short message, and as a multiple of the length for a long
/// one.
const MAX_SHORT_CHARS: usize = 200;
const MAX_LENGTH_FACTOR: usize = 3;

/// Minimum number of content words of a question that cannot do without all of them.
const MIN_TELLING_WORDS: usize = 4;

/// The rephrased question on one line, without the text that the model wrote around it. `None` if it is not an equivalent
/// question: an essay, another language, an answer, or without a name or number of the message. The notes about files, with
/// which it was `asked`, are no part of the question.
pub(super) fn checked(written: &str, asked: &str) -> Option<String> {
    let message = without_file_notes(asked);
    let written = without_lines(written, &asked[message.len()..]);
    let text = without_preamble(structured::code_in(&written), asks_several(message));
    let line = one_line(text.trim_start_matches("> "));
    let line = line.trim_matches(['"', '“', '”', '*', ' ']);
    let line = without_answer(line, message).to_owned();
    let longest = MAX_SHORT_CHARS.max(MAX_LENGTH_FACTOR * message.chars().count());
    let is_short = !line.is_empty() && line.chars().count() <= longest;
    let is_it = is_short
        && keeps(&line, message)
        && is_same_language(&line, message)
        && says_the_same(&line, message);
    is_it.then_some(line)
}

/// The lines of a text that was cut off, up to one that is a whole question. `None` if there is none, or if the message
/// asks several things, of which the rest may be missing.
pub(super) fn before_cut<'a>(written: &'a str, asked: &str) -> Option<&'a str> {
    if asks_several(without_file_notes(asked)) {
        return None;
    }
    let mut end = 0;
    for line in written.split_inclusive('\n') {
        end += line.len();
        if line.ends_with('\n') && ends_asking(line) {
            return Some(&written[..end]);
        }
    }
    None
}

/// A text without the lines that another one has, wherever they stand in it.
fn without_lines(text: &str, lines: &str) -> String {
    let lines = lines.lines().filter(|line| !line.is_empty());
    lines.fold(text.to_owned(), |text, line| text.replace(line, ""))
}

/// A line up to its question, if the message ends with a question or has no mark of one.
fn without_answer<'a>(line: &'a str, message: &str) -> &'a str {
    let end = |text: &str| {
        let (at, mark) = text.rmatch_indices(['?', '？', '؟']).next()?;
        Some(at + mark.len())
    };
    let goes_on = end(message).is_some_and(|end| message[end..].contains(char::is_alphanumeric));
    match end(line) {
        Some(end) if asks_something(message) && !goes_on => &line[..end],
        Some(_) | None => line,
    }
}

/// Whether a line has enough of the message's content words: most of those of a statement, which has nothing else to be
/// found by, and one of a question that has several. A short question may refer to what was said before with all of its
/// words.
fn says_the_same(line: &str, message: &str) -> bool {
    let stems = WordStemmer::default();
    let words = |text: &str| stems.list(text).into_iter().collect::<BTreeSet<String>>();
    let (of_line, of_message) = (words(line), words(message));
    let kept = of_line.intersection(&of_message).count();
    if asks_something(message) {
        kept > 0 || of_message.len() < MIN_TELLING_WORDS
    } else {
        2 * kept > of_message.len() || of_message.is_empty()
    }
}

/// Whether a rephrased question differs so much that the search results of the message may be lost: they share fewer than
/// half of their words.
pub(super) fn differs_much(rephrased: &str, message: &str) -> bool {
    let words = |text: &str| {
        lowercase_words(text)
            .into_iter()
            .collect::<BTreeSet<String>>()
    };
    let (rephrased, message) = (words(rephrased), words(message));
    let shared = rephrased.intersection(&message).count();
    let all = rephrased.union(&message).count();
    2 * shared < all
}

/// Whether a message asks several things, judging by its punctuation and words.
pub(super) fn asks_several(message: &str) -> bool {
    const AND: WordList = WordList::of("and und et y e en i и och og");
    let marks = message.matches(['?', '？', '؟']).count();
    let words = lowercase_words(message);
    // At the beginning it joins the message to what was said before it.
    let joins = words.iter().skip(1).any(|word| AND.has(word));
    marks > 1 || (marks == 1 && joins) || (joins && asks_something(message))
}

/// Removes a line that announces the question, and the text after the question, or after the last of several.
fn without_preamble(text: &str, is_several: bool) -> String {
    let text = text.trim();
    let Some((first, rest)) = text.split_once('\n') else {
        let text = match text.split_once(": ") {
            Some((before, after)) if announces(before) => after.trim(),
            Some(_) | None => text,
        };
        return text.to_owned();
    };
    if first.trim_end().ends_with(':') && !rest.trim().is_empty() {
        return without_preamble(rest, is_several);
    }
    if is_several {
        return up_to_last_question(text);
    }
    let text = if ends_asking(first) {
        first.trim()
    } else {
        text
    };
    text.to_owned()
}

/// The lines up to the last one that ends with a question mark, without the marks of a list.
fn up_to_last_question(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(without_list_mark).collect();
    let last = lines.iter().rposition(|line| ends_asking(line));
    let end = last.map_or(lines.len(), |last| last + 1);
    lines[..end].join("\n")
}

/// A line without the number or the dash with which it is listed.
fn without_list_mark(line: &str) -> &str {
    let line = line.trim();
    let behind_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let listed = if behind_number.len() < line.len() {
        behind_number.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '•'])
    };
    let listed = listed.and_then(|listed| listed.strip_prefix(' '));
    listed.map_or(line, str::trim_start)
}

fn ends_asking(line: &str) -> bool {
    line.trim_end().ends_with(['?', '？', '؟'])
}

fn announces(words: &str) -> bool {
    let words = words.to_lowercase();
    let names = [
        "question",
        "rephrased",
        "rewritten",
        "standalone",
        "stand-alone",
    ];
    words.split_whitespace().count() <= 8 && names.iter().any(|name| words.contains(name))
}

/// Whether every name and number of the message is in it.
fn keeps(line: &str, message: &str) -> bool {
    let lower = line.to_lowercase();
    names_and_numbers(message)
        .iter()
        .all(|kept| lower.contains(&kept.to_lowercase()))
}

/// Words with a digit, and capitalised words within a sentence. Of text whose words no blanks separate, the parts in Latin
/// letters and digits.
fn names_and_numbers(text: &str) -> Vec<String> {
    let mut kept = Vec::new();
    let mut begins = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let bare = bare.strip_suffix("'s").unwrap_or(bare);
        let is_kept =
            |part: &&str| part.contains(|c: char| c.is_ascii_digit()) || (!begins && is_name(part));
        if bare.contains(is_unspaced) {
            let parts = bare.split(|c: char| !c.is_ascii_alphanumeric());
            kept.extend(parts.filter(is_kept).map(str::to_owned));
        } else if is_kept(&bare) {
            kept.push(bare.to_owned());
        }
        begins = word.ends_with(['.', '!', '?', ':', '…']);
    }
    kept
}

/// Whether a word within a sentence is a name by its letters.
fn is_name(word: &str) -> bool {
    /// German writes the pronouns of whom one addresses with a capital.
    const ADDRESS: WordList = WordList::of(
        "sie ihnen ihr ihre ihrem ihren ihrer ihres du dich dir dein deine deinem deinen deiner euch euer eure eurem euren",
    );
    word.chars().count() > 1
        && word.starts_with(char::is_uppercase)
        && word.chars().all(|c| c.is_alphanumeric() || c == '-')
        && !ADDRESS.has(&word.to_lowercase())
}

/// Whether a letter is of a script without blanks between words (Thai to Burmese, Khmer, kana, ideographs), or in which
/// endings follow numbers (Hangul).
fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_is_taken_out_of_what_was_written() {
        for (written, message, question) in [
            ("Who is Neo?", "who?", "Who is Neo?"),
            ("\"Who is\nNeo?\"\n", "who?", "Who is Neo?"),
            ("```\nWho?\n```", "who?", "Who?"),
            (
                "Here is the rephrased question:\n\nWho is Neo?",
                "who?",
                "Who is Neo?",
            ),
            ("Rephrased question: Who is Neo?", "who?", "Who is Neo?"),
            (
                "Who is Neo?\n\nThis question stands alone.",
                "who?",
                "Who is Neo?",
            ),
            ("Note: who is Neo?", "who?", "Note: who is Neo?"),
            (
                "When was Top Gun, with Tom, made?",
                "And when, with Tom?",
                "When was Top Gun, with Tom, made?",
            ),
            (
                "Who is Neo? The answer: Keanu Reeves.",
                "who?",
                "Who is Neo?",
            ),
            ("How old is Priya?", "And she?", "How old is Priya?"),
            (
                "When does the ferry to the island leave on Sundays?",
                "and when does it leave there on Sundays?",
                "When does the ferry to the island leave on Sundays?",
            ),
            (
                "Priya moved to the old lighthouse in May.",
                "She moved to the old lighthouse in May.",
                "Priya moved to the old lighthouse in May.",
            ),
            (
                "Who is Neo? I need it for the quiz.",
                "Who is he? I need it for the quiz.",
                "Who is Neo? I need it for the quiz.",
            ),
            (
                "定例会議は10時からですか？",
                "それは10時からですか？",
                "定例会議は10時からですか？",
            ),
            ("会议是10点开始吗？", "它10点开始吗？", "会议是10点开始吗？"),
            (
                "Wann schließt das Nordtor?",
                "Können Sie mir sagen, wann es schließt?",
                "Wann schließt das Nordtor?",
            ),
        ] {
            assert_eq!(checked(written, message).as_deref(), Some(question));
        }
    }

    #[test]
    fn of_several_questions_none_is_left_out() {
        let message =
            "Who's the main actor in the movie Matrix and what other movies is that person in?";
        let both = "Who is the main actor in the movie Matrix? What other movies is the main actor of Matrix in?";
        let (first, second) = both.split_at(42);
        for written in [
            both.to_owned(),
            format!("{first}\n{}", second.trim()),
            format!("These are the questions:\n\n1. {first}\n2.{second}\n\nEach stands alone."),
            format!("- {first}\n-{second}"),
        ] {
            assert_eq!(checked(&written, message).as_deref(), Some(both));
        }
    }

    #[test]
    fn of_what_was_cut_off_only_a_whole_question_is_read() {
        for (written, asked, question) in [
            (
                "Here it is:\nWho is Neo?\n\nThis question stands",
                "who?",
                Some("Here it is:\nWho is Neo?\n"),
            ),
            ("Who played the hacker in the", "who?", None),
            ("Who is Neo?", "who?", None),
            (
                "Who is Neo?\nWhen was The",
                "Who is he? When was it made?",
                None,
            ),
        ] {
            assert_eq!(before_cut(written, asked), question, "{written}");
        }
    }

    #[test]
    fn notes_about_files_are_no_part_of_the_question() {
        for (written, asked, question) in [
            (
                "Explain the second error of the log [file: stdin]",
                "Explain the second one\n[file: stdin]",
                Some("Explain the second error of the log"),
            ),
            (
                "What does apt-get do?\n[file: Log 7.png]",
                "what does it do?\n[file: Log 7.png]",
                Some("What does apt-get do?"),
            ),
            ("[file: stdin]", "and this?\n[file: stdin]", None),
        ] {
            assert_eq!(checked(written, asked).as_deref(), question, "{written}");
        }
    }

    #[test]
    fn a_question_differs_much_where_few_words_are_in_both() {
        for (rephrased, message, differs) in [
            ("Who is Neo?", "who is neo", false),
            ("Who played Neo in The Matrix?", "Who played Neo?", false),
            ("What is Bob's phone number?", "And his phone?", true),
            ("How old is Ada?", "And she?", true),
            ("会议是几点开始的?", "会议几点开始?", false),
            ("", "", false),
        ] {
            assert_eq!(differs_much(rephrased, message), differs, "{rephrased}");
        }
    }

    #[test]
    fn several_things_are_told_from_one() {
        for (message, several) in [
            (
                "Who's the main actor in the movie Matrix and what other movies is that person in?",
                true,
            ),
            ("Who is Neo? When was it made?", true),
            ("Wer spielt Neo und wann kam der Film?", true),
            ("Who played Neo?", false),
            ("And when was it made?", false),
            ("Good morning!", false),
        ] {
            assert_eq!(asks_several(message), several, "{message}");
        }
    }

    #[test]
    fn what_is_no_question_of_the_same_kind_is_not_taken() {
        let essay = "word ".repeat(200);
        for (written, message) in [
            (" ", "who?"),
            (essay.as_str(), "who?"),
            ("How many are there?", "How many of the 12 are left?"),
            ("Who was with her in Oslo?", "Who was with Priya in Oslo?"),
            ("会議は何時からですか？", "それは10時からですか？"),
            ("Когда был снят фильм?", "and when was it made?"),
            (
                "Congratulations!",
                "My sister will marry her fiance in the old lighthouse next summer.",
            ),
            (
                "My sister told me something.",
                "My sister will marry her fiance in the old lighthouse next summer.",
            ),
            (
                "I cannot help with that.",
                "Which paint did the crew choose for the hull last winter?",
            ),
            (
                "When was the film made by the team?",
                "und wann war das mit dem Film?",
            ),
        ] {
            assert_eq!(checked(written, message), None, "{written}");
        }
    }
}
