//! Whether a message may need the team's knowledge, told from its words alone. Pure.
//!
//! For models that call no tools: a model that does decides by itself. What is searched for although nothing was needed
//! costs a few milliseconds; passages that have nothing to do with a message make a weak model answer something else. So what
//! reads as a question, a request or a query is answered from what it finds, mere politeness is not searched for, and of the
//! rest it depends on how sure the find is.

use crate::knowledge::search::rank::Scores;
use crate::retrieval::language::{Guess, WordList};
use crate::retrieval::speech::{asks, asks_for_nothing};
use crate::retrieval::text::written;

/// Words with which something is requested without a question.
const REQUESTS: WordList = WordList::of(
    "show list tell give find explain describe compare summarise summarize search look need know wonder \
    wondering remind help zeig zeige nenne liste gib such suche finde erkläre erklär beschreibe vergleiche brauche wissen sag \
    montre donne explique cherche trouve liste dis besoin savoir décris compare muestra dame dime busca explica necesito \
    enumera describe saber mostra mostrami dammi dimmi cerca trova spiega elenca descrivi mostre diga procure explique preciso \
    liste toon geef zoek vind leg vertel nodig weten pokaż podaj znajdź wyjaśnij opisz powiedz potrzebuję wiedzieć покажи \
    найди расскажи объясни опиши перечисли скажи нужно нужен знать",
);
/// Words of a query that is no sentence, at most.
const QUERY: usize = 6;

/// A find that is so much alike, or has such a part of a message's words, has to do with it, however that is put. Chosen on
/// the questions of the manual that read as none, and what people tell one another in `tests/data/talk`.
const SURE_COSINE: f32 = 0.4;
const SURE_COVERAGE: f32 = 0.5;

/// Whether a message needs the team's knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// It asks for nothing.
    Nothing,
    /// Where a find is [sure](is_sure).
    Perhaps,
    Knowledge,
}

/// Whether a message needs knowledge before a model without tools answers it.
pub fn need(message: &str) -> Need {
    if asks_for_nothing(message) {
        return Need::Nothing;
    }
    let words = written(message);
    let is_asked = asks(message) || words.iter().any(|word| REQUESTS.has(word)) || is_query(&words);
    if is_asked {
        Need::Knowledge
    } else {
        Need::Perhaps
    }
}

/// Whether a find surely has to do with a message.
pub fn is_sure(scores: &Scores) -> bool {
    scores.cosine >= SURE_COSINE
        || scores.coverage >= SURE_COVERAGE
        || scores.graph >= 1.0
        || scores.policy > 0.0
}

/// "ferry times": words that all tell something.
fn is_query(words: &[String]) -> bool {
    let guess = Guess::of(words.iter().map(String::as_str));
    words.len() <= QUERY && !words.iter().any(|word| guess.says_nothing(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_requests_and_queries_are_told_from_what_asks_for_nothing() {
        for (message, expected) in [
            ("What does a ferry pay?", Need::Knowledge),
            ("Show me the records on dues.", Need::Knowledge),
            ("I need the times of the ferry.", Need::Knowledge),
            ("ferry times", Need::Knowledge),
            ("Ich brauche die Fahrzeiten der Fähre.", Need::Knowledge),
            ("camera window is all misty", Need::Perhaps),
            ("My cat is called Miso.", Need::Perhaps),
            ("The code of the coffee machine is 4711.", Need::Perhaps),
            ("Wir treffen uns um neun am Kai.", Need::Perhaps),
            ("Good morning!", Need::Nothing),
            ("Thanks a lot, that is great", Need::Nothing),
            ("hahaha", Need::Nothing),
            ("", Need::Nothing),
        ] {
            assert_eq!(need(message), expected, "{message}");
        }
    }
}
