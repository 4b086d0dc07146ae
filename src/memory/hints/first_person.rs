//! Tells whether people speak of themselves: "my locker", "ich", "moi".

use crate::retrieval::language::{Guess, Language, WordList};
use crate::retrieval::rarity::{UNKNOWN, rarity};
use crate::retrieval::text::lowercase_words;

/// Words with which people refer to themselves, and that mean nothing else in another language.
const OWN: WordList = WordList::of(
    "me ich mein meine meinen meinem meiner mir mich moi meu minha mio miei ik mijn mij mój moja moje mnie я мой моя мое моё \
                   мне меня",
);
/// The same where nothing tells the language.
const OWN_UNTOLD: WordList = WordList::of("my ive");

/// Further words of a language with which people refer to themselves. In others they are a month ("mes"), "and" ("i"),
/// "yes" ("ja") or a name ("mia").
fn own_words_of(language: Language) -> WordList {
    match language {
        Language::English => WordList::of("i my mine im ive"),
        Language::French => WordList::of("je mon ma mes"),
        Language::Spanish => WordList::of("yo mi mis"),
        Language::Portuguese => WordList::of("eu"),
        Language::Italian => WordList::of("io mia mi"),
        Language::Polish => WordList::of("ja mi"),
        Language::German
        | Language::Dutch
        | Language::Russian
        | Language::Chinese
        | Language::Japanese
        | Language::Korean => WordList::of(""),
    }
}

/// Whether lower-case words refer to the person who says them.
pub(in crate::memory) fn speaks_of_self(words: &[String], told: Option<Guess>) -> bool {
    let further = told.map_or(OWN_UNTOLD, |guess| own_words_of(guess.language()));
    words.iter().any(|word| OWN.has(word) || further.has(word))
        || (told.is_none()
            && words
                .windows(2)
                .any(|pair| is_english_i(&pair[0], &pair[1])))
}

/// Whether it is "I" and an English word, where nothing tells the language: "I bring 12 bottles", but not "i costi".
fn is_english_i(word: &str, next: &str) -> bool {
    word == "i" && rarity(next) < UNKNOWN
}

/// Whether a text refers to the person who says it.
pub(in crate::memory) fn text_speaks_of_self(text: &str) -> bool {
    let words = lowercase_words(text);
    speaks_of_self(&words, Guess::told(words.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i_and_my_are_words_of_the_questions_language() {
        for (question, is_own) in [
            ("where did I park my bike?", true),
            ("my locker?", true),
            ("Wann ist meine Schicht?", true),
            ("mein Passwort?", true),
            ("Où est ma clé ?", true),
            ("où ai-je mis mes clés ?", true),
            ("¿Cuándo es mi turno?", true),
            ("Quando é o meu turno?", true),
            ("Quando è la mia riunione?", true),
            ("quanto costa il mio biglietto", true),
            ("Waar is mijn sleutel?", true),
            ("Gdzie ja mam klucz?", true),
            ("Gdzie jest mój klucz?", true),
            ("Где мой ключ?", true),
            ("Wer ist im Urlaub?", false),
            ("im Urlaub?", false),
            ("Ja, wann ist das Treffen?", false),
            ("Quali sono i costi?", false),
            ("i costi?", false),
            ("I bring 12 bottles", true),
            ("Ma quando arriva il treno?", false),
            ("Kto i kiedy dzwonił?", false),
            ("Kiedy my gramy?", false),
            ("Ja, waar is de sleutel?", false),
            ("Heb je de sleutel?", false),
            ("¿Qué pasó el mes pasado?", false),
            ("el mes pasado", false),
            ("What did Mia say?", false),
            ("who has the key?", false),
        ] {
            assert_eq!(text_speaks_of_self(question), is_own, "{question}");
        }
    }
}
