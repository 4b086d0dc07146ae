//! Tells by its verbs whether a question is about something that has happened, or about how things are or will be.

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
const GERMAN: WordList = WordList::of("war waren wurde wurden hatte hatten gab ging kam");
/// Beside "wird" they are about the future: "was wird am Montag beschlossen".
const GERMAN_PARTICIPLES: WordList = WordList::of(
    "passiert geschehen gewesen gesagt gemacht geworden gegeben gekommen gegangen beschlossen entschieden besprochen",
);
const GERMAN_PASSIVE: WordList = WordList::of("wird werden");
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
        Language::German => has(GERMAN) || (has(GERMAN_PARTICIPLES) && !has(GERMAN_PASSIVE)),
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

/// Verbs of the present and the future: those that form no perfect tense, and those that do so beside a participle ("wer
/// hat angerufen").
fn present_verbs(language: Language) -> (WordList, WordList) {
    let (sure, beside_participle) = match language {
        Language::English => (
            "am are be is",
            "can could do does going has have may might must shall should will would",
        ),
        Language::German => (
            "beginnt darf dürfen findet fängt gibt kann kannst kommt können könnt muss müssen soll sollen treffen trifft \
            werden wird",
            "hab habt haben hat ist sind",
        ),
        Language::French => (
            "commence doit doivent fait faut peut peuvent sera seront travaille va vont",
            "est sont",
        ),
        Language::Spanish => (
            "debe empieza es están está hay puede pueden será son tiene tienen toca trabaja va van",
            "",
        ),
        Language::Portuguese => (
            "começa deve estão está há pode podem será são trabalha vai vão é",
            "",
        ),
        Language::Italian => (
            "comincia deve devono inizia lavora possono può saranno sarà",
            "sono è",
        ),
        Language::Dutch => (
            "begint gaan gaat kan komt kunnen moet moeten werkt worden wordt zal",
            "hebben heeft is zijn",
        ),
        Language::Polish => ("będzie będą jest ma mają mogą może pracuje są zaczyna", ""),
        Language::Russian => ("будет будут есть могут может начинается работает", ""),
        Language::Chinese | Language::Japanese | Language::Korean => ("", ""),
    };
    (WordList::of(sure), WordList::of(beside_participle))
}

/// Whether lower-case words of a language ask how things are or will be.
pub(super) fn is_of_present(words: &[String], language: Language) -> bool {
    let (sure, beside_participle) = present_verbs(language);
    let has = |list: WordList| words.iter().any(|word| list.has(word));
    let has_participle = || words.iter().any(|word| may_be_participle(word, language));
    let is_of_past = is_of_past(words, language) || has_verb_of_past(words, language);
    !is_of_past && (has(sure) || (has(beside_participle) && !has_participle()))
}

const BE: WordList = WordList::of("am are be is");
const DETERMINERS: WordList =
    WordList::of("a an her his my our that the their these this those your");
const SUBJECTS: WordList = WordList::of("he i she they we you");
/// Participles of what is still to come: "the tasks planned for Monday".
const PLANNED: WordList = WordList::of(
    "assigned booked expected invited needed planned proposed required reserved scheduled supposed",
);

/// Whether a part of a question tells what somebody has done, whatever the other verbs are: "who is the man we met on
/// Monday". A participle may also tell how something is: "is the shop closed on Monday".
pub(super) fn has_verb_of_past(words: &[String], language: Language) -> bool {
    if language != Language::English {
        let have = verbs_of_perfect(language);
        let is_perfect = |a: &str, b: &str| have.has(a) && may_be_participle(b, language);
        // In a subordinate clause the verb is last.
        let is_turned = matches!(language, Language::German | Language::Dutch);
        return words.windows(2).any(|pair| {
            is_perfect(&pair[0], &pair[1]) || (is_turned && is_perfect(&pair[1], &pair[0]))
        });
    }
    let asks_for_one = words.windows(3).any(|it| {
        matches!(it[0].as_str(), "what" | "which" | "who")
            && BE.has(&it[1])
            && DETERMINERS.has(&it[2])
    });
    words.windows(3).any(|it| {
        let (first, before, word) = (&it[0], &it[1], &it[2]);
        let has_subject = SUBJECTS.has(before) && !BE.has(first);
        let is_of_one = asks_for_one && !PLANNED.has(word);
        may_be_participle(word, language)
            && !BE.has(before)
            && !DETERMINERS.has(before)
            && (has_subject || is_of_one)
    })
}

/// States of the past: verbs that tell how something was, and do not also tell what has just been done.
fn state_verbs(language: Language) -> WordList {
    WordList::of(match language {
        Language::English => "was were had",
        Language::German => "war waren hatte hatten kostete kosteten galt galten",
        Language::French => "était étaient avait avaient coûtait coûtaient",
        Language::Spanish => "fue fueron era eran estaba estaban tenía tenían había costaba",
        Language::Portuguese => "foi foram era eram estava estavam tinha tinham havia custava",
        Language::Italian => "era erano aveva avevano costava",
        Language::Dutch => "was waren had hadden kostte",
        Language::Polish => "był była było były miał miała kosztował kosztowała kosztowało",
        Language::Russian => "был была было были стоил стоила стоило",
        Language::Chinese | Language::Japanese | Language::Korean => "",
    })
}
/// Words that tell of the past, whatever the verb.
const FORMERLY: WordList = WordList::of(
    "originally formerly previously früher damals ursprünglich autrefois auparavant originalmente antiguamente antigamente \
    originariamente vroeger destijds oorspronkelijk dawniej pierwotnie раньше изначально",
);
/// Words between "was" and its participle.
const BETWEEN: WordList = WordList::of("also already just only still then");

/// Whether lower-case words of a statement tell how something was, and not what has just been done: "the fair was on 3 May", but
/// not "the fair was moved to 3 May" and not "we had to move it".
pub(super) fn tells_state_of_past(words: &[String], language: Language) -> bool {
    let verbs = state_verbs(language);
    let is_state = |at: usize| {
        let mut after = words[at + 1..].iter().skip_while(|word| BETWEEN.has(word));
        let after = after.next().map_or("", String::as_str);
        let is_english = language == Language::English;
        // In other languages a participle is often at the end.
        let makes_participle =
            is_english && words[at] != "had" && may_be_participle(after, language);
        verbs.has(&words[at])
            && !makes_participle
            && !(is_english && matches!(after, "to" | "going"))
    };
    let used_to = words
        .windows(2)
        .any(|pair| pair[0] == "used" && pair[1] == "to");
    used_to || words.iter().any(|word| FORMERLY.has(word)) || (0..words.len()).any(is_state)
}

/// Verbs that make a perfect tense of the participle beside them. Not "to be", which may also tell how something is:
/// "geschlossen ist".
fn verbs_of_perfect(language: Language) -> WordList {
    WordList::of(match language {
        Language::German => "hab habe haben habt hat",
        Language::French => "a ai as avez avons ont",
        Language::Italian => "abbiamo avete ha hai hanno ho",
        Language::Dutch => "heb hebben hebt heeft",
        Language::English
        | Language::Spanish
        | Language::Portuguese
        | Language::Polish
        | Language::Russian
        | Language::Chinese
        | Language::Japanese
        | Language::Korean => "",
    })
}

/// Whether a word has the form of a participle. Some other words have it, too.
fn may_be_participle(word: &str, language: Language) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| word.starts_with(start));
    let ends = |ends: &[&str]| ends.iter().any(|end| word.ends_with(end));
    match language {
        Language::English => is_regular(word) || ENGLISH_PARTICIPLES.has(word),
        Language::German => {
            // "Angerufen", but not "sagen" and not "Bereitschaft".
            let after = word.split_once("ge").map_or("", |(_, after)| after);
            (after.len() > 2 || begins(&["be", "ent", "er", "ver", "zer"]))
                && ends(&["en", "t"])
                && !ends(&["dienst", "heit", "keit", "schaft"])
        }
        Language::French => ends(&["é", "ée", "és", "ées"]) && word != "congé",
        Language::Italian => {
            let is_regular = |stem| matches!(stem, 'a' | 'i' | 'u');
            let stem = word.strip_suffix(['a', 'e', 'i', 'o']);
            let stem = stem.and_then(|it| it.strip_suffix('t'));
            stem.is_some_and(|it| it.ends_with(is_regular))
        }
        Language::Dutch => {
            begins(&["be", "ge", "ont", "ver"])
                && ends(&["d", "en", "t"])
                && !word.ends_with("dienst")
        }
        Language::Spanish
        | Language::Portuguese
        | Language::Polish
        | Language::Russian
        | Language::Chinese
        | Language::Japanese
        | Language::Korean => false,
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

    #[test]
    fn what_is_so_is_told_from_what_has_happened() {
        for (text, language, expected) in [
            (
                "what time is the standup on monday",
                Language::English,
                true,
            ),
            ("who has the rota in december", Language::English, true),
            ("what is planned for monday", Language::English, true),
            ("what have we decided on monday", Language::English, false),
            ("do you know who called on monday", Language::English, false),
            ("what broke on monday", Language::English, false),
            ("the bill in february", Language::English, false),
            (
                "what is the link tom posted on friday",
                Language::English,
                false,
            ),
            ("who is the guy we met on monday", Language::English, false),
            (
                "is there anything i missed on monday",
                Language::English,
                false,
            ),
            ("is the shop closed on monday", Language::English, true),
            ("are you invited on friday", Language::English, true),
            (
                "what is currently planned for monday",
                Language::English,
                true,
            ),
            (
                "what are the tasks planned for monday",
                Language::English,
                true,
            ),
            (
                "who is the assigned reviewer on monday",
                Language::English,
                true,
            ),
            (
                "um wie viel uhr ist das standup am montag",
                Language::German,
                true,
            ),
            ("wer hat am montag dienst", Language::German, true),
            ("wer hat am montag angerufen", Language::German, false),
            ("was ist am montag passiert", Language::German, false),
            (
                "kannst du mir sagen was tom am freitag geschickt hat",
                Language::German,
                false,
            ),
            (
                "kannst du mir sagen wer am montag bereitschaft hat",
                Language::German,
                true,
            ),
            (
                "kannst du mir sagen wer am montag den wagen hat",
                Language::German,
                true,
            ),
            ("was wird am montag beschlossen", Language::German, true),
            ("qui est de garde lundi", Language::French, true),
            ("qui est tombé lundi", Language::French, false),
            (
                "qui peut dire ce que tom a envoyé lundi",
                Language::French,
                false,
            ),
            ("quién tiene turno el lunes", Language::Spanish, true),
            ("quién ha llamado el lunes", Language::Spanish, false),
            (
                "qui peut dire si le marché a lieu lundi",
                Language::French,
                true,
            ),
            ("chi è di turno lunedì", Language::Italian, true),
            ("chi è caduto lunedì", Language::Italian, false),
            (
                "chi può dire cosa ha mandato tom venerdì",
                Language::Italian,
                false,
            ),
            ("wie heeft maandag dienst", Language::Dutch, true),
            ("wie heeft maandag gebeld", Language::Dutch, false),
            (
                "wie kan zeggen wat tom vrijdag heeft gestuurd",
                Language::Dutch,
                false,
            ),
            ("kto ma dyżur w poniedziałek", Language::Polish, true),
        ] {
            let words = lowercase_words(text);
            assert_eq!(is_of_present(&words, language), expected, "{text}");
        }
    }
}
