//! Tells whether a question is about something that has happened, by its verbs.

use super::vocabulary::PAST;
use crate::retrieval::language::{Language, WordList};

/// Past tenses that are no participles.
const ENGLISH: WordList = WordList::of(
    "began broke came chose drove fell flew gave grew ran saw spoke told took went wrote",
);
/// Participles that do not end in "ed". With a present tense they may be about a plan: "what is held on 3 April".
const ENGLISH_PARTICIPLES: WordList = WordList::of(
    "bought brought built felt found held kept left lost made meant met paid said sent sold spent won",
);
const ENGLISH_PRESENT: WordList = WordList::of(
    "am are be can could do does going has have is may might must shall should will would",
);
/// Words that end in "ed", but are no past tense.
const NO_PAST: WordList = WordList::of("exceed hundred indeed need proceed speed succeed");
const GERMAN: WordList = WordList::of(
    "war waren wurde wurden hatte hatten gab ging kam passiert geschehen gewesen gesagt gemacht geworden gegeben gekommen \
    gegangen beschlossen entschieden besprochen",
);
const FRENCH: WordList = WordList::of(
    "était étaient avait avaient fut passé dit décidé arrivé arrivée venu venue été eu",
);
const SPANISH: WordList = WordList::of(
    "fue fueron era eran estaba estaban hubo había pasó dijo dijeron dijimos hizo hicieron vino llegó ocurrió decidió \
    decidimos decidieron sido dicho hecho",
);
const PORTUGUESE: WordList = WordList::of(
    "foi foram era eram estava estavam houve havia tinha aconteceu disse disseram fez fizeram veio chegou decidiu decidimos \
    decidiram sido dito feito",
);
const ITALIAN: WordList = WordList::of(
    "era erano stato stata stati successo accaduto detto fatto deciso arrivato arrivata venuto venuta",
);
const DUTCH: WordList = WordList::of(
    "was waren had hadden werd werden gebeurd gezegd gedaan besloten geweest gekomen kwam ging zei",
);
const POLISH: WordList = WordList::of(
    "był była było były stało powiedział powiedziała powiedzieli zrobił zrobiła zrobili przyszedł przyszła przyszło \
    ustaliliśmy",
);
const RUSSIAN: WordList = WordList::of(
    "был была было были случилось произошло сказал сказала сказали сделал сделала сделали пришёл пришла пришло решил решили",
);

/// Whether lower-case words of a language ask about the past.
pub(super) fn is_of_past(words: &[String], language: Language) -> bool {
    let has = |list: WordList| words.iter().any(|word| list.has(word));
    match language {
        Language::English => {
            let may_be_past = || has(ENGLISH_PARTICIPLES) || words.iter().any(|it| is_regular(it));
            has(PAST) || has(ENGLISH) || (!has(ENGLISH_PRESENT) && may_be_past())
        }
        Language::German => has(GERMAN),
        Language::French => has(FRENCH),
        Language::Spanish => has(SPANISH),
        Language::Portuguese => has(PORTUGUESE),
        Language::Italian => has(ITALIAN),
        Language::Dutch => has(DUTCH),
        Language::Polish => has(POLISH),
        Language::Russian => has(RUSSIAN),
        Language::Chinese | Language::Japanese | Language::Korean => false,
    }
}

/// A regular past tense or participle of English: "worked".
fn is_regular(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed") && !NO_PAST.has(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::text::lowercase_words;

    #[test]
    fn what_happened_is_told_from_what_is_planned() {
        for (text, language, expected) in [
            ("what came on april 3rd", Language::English, true),
            ("who worked at christmas", Language::English, true),
            ("what did we do at easter", Language::English, true),
            ("who works at christmas", Language::English, false),
            ("what is planned for april 3rd", Language::English, false),
            ("who do we need at easter", Language::English, false),
            ("was ist an ostern passiert", Language::German, true),
            ("was mache ich an ostern", Language::German, false),
            ("qu'est-ce qui s'est passé à pâques", Language::French, true),
            ("que fait paul à pâques", Language::French, false),
        ] {
            assert_eq!(
                is_of_past(&lowercase_words(text), language),
                expected,
                "{text}"
            );
        }
    }
}
