//! Decides from its words whether a message may need the team's knowledge. Pure.
//!
//! It is used for models that call no tools; others decide by themselves. An unnecessary search costs only a few
//! milliseconds, but passages that have nothing to do with a message make a weak model answer something else. So a question,
//! a request or a query is answered from what the search finds. Mere politeness is not searched for. For other messages it
//! depends on how sure the match is.

use crate::knowledge::search::rank::Scores;
use crate::retrieval::language::{Guess, WordList};
use crate::retrieval::speech::{asks_something, needs_no_recall};
use crate::retrieval::text::lowercase_words;

/// Words with which something is requested without a question.
const REQUESTS: WordList = WordList::of(
    "show list tell give find explain describe compare summarise summarize search look need know wonder \
    wondering remind help zeig zeige nenne liste gib such suche finde erkläre erklär beschreibe vergleiche brauche wissen sag \
    montre donne explique cherche trouve liste dis besoin savoir décris compare muestra dame dime busca explica necesito \
    enumera describe saber mostra mostrami dammi dimmi cerca trova spiega elenca descrivi mostre diga procure explique preciso \
    liste toon geef zoek vind leg vertel nodig weten pokaż podaj znajdź wyjaśnij opisz powiedz potrzebuję wiedzieć покажи \
    найди расскажи объясни опиши перечисли скажи нужно нужен знать",
);
/// Maximum words of a query that is not a sentence.
const MAX_QUERY_WORDS: usize = 6;

/// A match with this similarity, or with this share of a message's words, is about the message, however that is phrased.
/// Chosen on the questions of the manual that do not read like questions, and on what people tell one another in
/// `tests/data/talk`.
const SURE_COSINE: f32 = 0.4;
const SURE_COVERAGE: f32 = 0.5;

/// Whether a message needs the team's knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnowledgeNeed {
    /// It asks for nothing.
    Nothing,
    /// If a match is [sure](is_sure).
    Perhaps,
    Knowledge,
}

/// Whether a message needs knowledge before a model without tools answers it.
pub fn need(message: &str) -> KnowledgeNeed {
    if needs_no_recall(message) {
        return KnowledgeNeed::Nothing;
    }
    let words = lowercase_words(message);
    let is_asked =
        asks_something(message) || words.iter().any(|word| REQUESTS.has(word)) || is_query(&words);
    if is_asked {
        KnowledgeNeed::Knowledge
    } else {
        KnowledgeNeed::Perhaps
    }
}

/// Whether a match is certainly about a message.
pub fn is_sure(scores: &Scores) -> bool {
    scores.cosine >= SURE_COSINE
        || scores.coverage >= SURE_COVERAGE
        || scores.graph >= 1.0
        || scores.policy > 0.0
}

/// Whether a match has the words of a message or what it names, and is not only similar to it.
pub fn has_what_is_asked(scores: &Scores) -> bool {
    scores.coverage >= SURE_COVERAGE || scores.graph >= 1.0
}

/// "ferry times": content words only.
fn is_query(words: &[String]) -> bool {
    let guess = Guess::of(words.iter().map(String::as_str));
    words.len() <= MAX_QUERY_WORDS && !words.iter().any(|word| guess.is_stop_word(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_requests_and_queries_are_told_from_what_asks_for_nothing() {
        for (message, expected) in [
            ("What does a ferry pay?", KnowledgeNeed::Knowledge),
            ("Show me the records on dues.", KnowledgeNeed::Knowledge),
            ("I need the times of the ferry.", KnowledgeNeed::Knowledge),
            ("ferry times", KnowledgeNeed::Knowledge),
            ("phone number of the harbour", KnowledgeNeed::Knowledge),
            ("Adresse vom neuen Büro", KnowledgeNeed::Knowledge),
            (
                "Ich brauche die Fahrzeiten der Fähre.",
                KnowledgeNeed::Knowledge,
            ),
            ("camera window is all misty", KnowledgeNeed::Perhaps),
            ("My cat is called Miso.", KnowledgeNeed::Perhaps),
            (
                "The code of the coffee machine is 4711.",
                KnowledgeNeed::Perhaps,
            ),
            ("Wir treffen uns um neun am Kai.", KnowledgeNeed::Perhaps),
            ("Good morning!", KnowledgeNeed::Nothing),
            ("Thanks a lot, that is great", KnowledgeNeed::Nothing),
            ("hahaha", KnowledgeNeed::Nothing),
            ("", KnowledgeNeed::Nothing),
        ] {
            assert_eq!(need(message), expected, "{message}");
        }
    }
}
