//! Splits a question into the parts that ask for something each: "who runs the bakery and when does it open?"

use crate::retrieval::language::{Guess, WordList, asks_in};

const JOINING: WordList = WordList::of("and und et y e en i и");
/// Minimum number of words of a part. One that is shorter goes on with the part before it: "what did I promise and until when".
const LEAST_WORDS: usize = 3;

/// The parts of a question's lower-case words; all of them as one part if nothing tells that there are two.
pub(super) fn parts_of(words: &[String], told: Option<Guess>) -> Vec<&[String]> {
    let guess = told.unwrap_or_default();
    let asks = |word: &String| asks_in(guess, word);
    let is_between = |at: &usize| {
        let (before, after) = (&words[..*at], &words[*at + 1..]);
        JOINING.has(&words[*at])
            && before.len().min(after.len()) >= LEAST_WORDS
            && before.iter().any(asks)
            && after.first().is_some_and(asks)
    };
    match (0..words.len()).find(is_between) {
        Some(at) => vec![&words[..at], &words[at + 1..]],
        None => vec![words],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::text::lowercase_words;

    #[test]
    fn a_question_has_two_parts_if_each_asks_by_itself() {
        for (question, second) in [
            (
                "Who runs the bakery and when does it open?",
                Some("when does it open"),
            ),
            (
                "Wer leitet die Bäckerei und wann öffnet sie?",
                Some("wann öffnet sie"),
            ),
            (
                "Qui tient la boulangerie et quand est-ce qu'elle ouvre ?",
                Some("quand est ce elle ouvre"),
            ),
            ("What did I promise for the show, and until when?", None),
            ("Who turned us down last week and why?", None),
            ("Who can bake and come on Monday?", None),
            ("Who bakes bread and cake on Monday?", None),
            ("And when does the bakery open?", None),
            ("Ana runs the bakery and when does it open?", None),
        ] {
            let words = lowercase_words(question);
            let told = Guess::told(words.iter().map(String::as_str));
            let parts = parts_of(&words, told);
            let found = parts.get(1).map(|part| part.join(" "));
            assert_eq!(found.as_deref(), second, "{question}");
        }
    }
}
