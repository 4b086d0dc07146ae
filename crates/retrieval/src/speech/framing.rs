//! Removes the phrases around a question: "sorry, me again, can anyone remind me …". What remains is the question itself.

use std::ops::Range;

use crate::language::{self, Guess, WordList};
use crate::text::{bare, lower};

/// Fillers before a text that are not part of it, word by word. `|` separates alternatives, `?` after a word makes it optional,
/// and `@` stands for a question word, which is not part of the filler.
const FILLING: &[&str] = &[
    "ugh|um|umm|uh|hm|hmm|so|ok|okay|hey|heya|hi|hiya|hello|yo|sorry|pls|please|plz|oh|ah|also|btw|lol|muninn|\
     guys|folks",
    "me|us again",
    "its|it me again",
    "good morning|afternoon|evening|day",
    "hallo|servus|moin|guten morgen|tag|abend?",
    "sag|sagt mal",
    "bonjour|bonsoir|salut|coucou|dis|dites",
    "hola|buenas|oye|perdona|perdón",
    "ciao|scusa|scusate",
];
/// Phrases that announce a question.
const ANNOUNCING: &[&str] = &[
    "quick|silly|dumb|stupid question|q",
    "can|could|would|will|may someone|somebody|anyone|anybody|you|u|i please|pls|quickly? remind|tell|ask me|\
     us|you? again? about|of?",
    "please|pls? remind|tell me|us again? about|of?",
    "please|pls? tell|show|give me|us everything|all|more? that|what? you|we know|remember|have about|of|on",
    "do|does|did you|u|we|anyone|anybody|someone|somebody|i here|still? happen? to? know|remember|recall",
    "anyone|anybody|someone|somebody here? still? know|knows|remember|remembers|recall",
    "got? any|no idea|clue|chance about|of?",
    "i|we always|keep? forget|forgot|forgetting again? @",
    "i|we do|ca|can? not remember|recall|know @",
    "i|we need|want|would|like|have like? to know|ask about?",
    "i|we was|am|are|were? just? wonder|wondering|curious about?",
    "just|only? wondering|checking|asking about?",
    "a|the|my|our|this|that|one|some? customer|client|lady|guy|man|woman|guest|parent|visitor|caller|\
     neighbour|neighbor|someone|somebody|people|person|boss here|on? the? phone|line|desk|door? is|are|was|were|just|keeps? asks|asking|asked|ask for|about|me?",
    "someone|somebody|they|he|she|boss|people wants|want|wanted to know",
    "weiß|weiss|wissen jemand|wer|einer|noch? noch|zufällig?",
    "weißt|wisst|weisst du|ihr noch|zufällig?",
    "kann|könnte mir|uns? jemand|wer|einer mir|uns? noch? sagen",
    "kannst|könntest|könnt du|ihr mir|uns noch? sagen",
    "ich habe|hab? vergessen|weiß nicht? mehr? @",
    "kurze? frage",
    "ein|eine|der|die kunde|kundin|gast|jemand|patient|patientin|mandant|mandantin|chef|chefin hier? fragt|\
     will wissen?",
    "jemand fragt",
    "quelqu|qqn sait|souvient",
    "tu|vous sais|savez encore?",
    "rappelle|rappelez|dis|dites moi",
    "une idée de|du?",
    "je ne? sais plus @",
    "un|une client|cliente demande",
    "alguien|alguno sabe|recuerda",
    "sabes|sabéis|recuerdas|recuérdame|dime|dinos",
    "me|nos preguntan|pregunta|preguntaron",
    "un|una cliente|clienta pregunta",
    "no me? acuerdo|recuerdo @",
    "alguém sabe|lembra",
    "você sabe|lembra",
    "me lembra|lembre|diz|diga",
    "qualcuno sa|ricorda",
    "mi ricordi|ricordate|dici|dite",
    "weet iemand|jij|je|u|jullie nog?",
    "kan iemand|je|jij me|mij? vertellen|zeggen",
    "czy? ktoś wie|pamięta",
    "powiedz|przypomnij mi?",
    "кто|кто-нибудь знает|помнит",
    "подскажи|подскажите|скажи|скажите|напомни|напомните мне?",
];
/// Phrases after a question.
const BEHIND: &[&str] = &[
    "please|pls|plz|thx|thanks|lol|rn|btw|ugh|haha|hm|hmm|muninn|asap|anyone|anybody|right|again|then|actually|exactly",
    "right now",
    "thank you",
    "do you|we|u happen? to? know|reckon|think|remember",
    "d'you|you know|reckon|think",
    "i always|keep? forget|forgot|forgetting",
    "does anyone|anybody|someone know|remember",
    "bitte|nochmal|eigentlich|denn|danke|gleich",
    "noch mal|einmal",
    "weiß das? jemand|wer|einer",
    "déjà|svp|stp|merci",
    "s'il te|vous plaît|plait",
    "por favor",
    "gracias|obrigado|obrigada|grazie",
    "per favore|piacere",
    "alsjeblieft|alstublieft|graag",
    "proszę|dzięki",
    "пожалуйста|спасибо",
];

/// Words that begin an indirect question, besides question words.
const WHETHER: WordList = WordList::of("if whether ob si se of czy ли");

/// The question in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unframed<'a> {
    /// Without the phrases around it; the whole text if nothing else remains.
    pub text: &'a str,
    /// Whether it was announced as a question and begins like one.
    pub is_announced: bool,
}

/// The question of a text, without the phrases around it.
pub fn without_framing(text: &str) -> &str {
    strip_framing(text).text
}

/// The question of a text without the phrases around it, and whether it was announced.
pub fn strip_framing(text: &str) -> Unframed<'_> {
    let places = places(text);
    let lowered: Vec<String> = places
        .iter()
        .map(|place| lower(&text[place.clone()]))
        .collect();
    let words: Vec<&str> = lowered.iter().map(|word| bare(word)).collect();
    let (mut from, mut to) = (0, words.len());
    let mut is_announced = false;
    loop {
        let rest = &words[from..to];
        let announcing = longest(ANNOUNCING, rest, rest.first(), begins_with);
        let Some(length) = announcing.max(longest(FILLING, rest, rest.first(), begins_with)) else {
            break;
        };
        is_announced |= announcing == Some(length);
        from += length;
    }
    loop {
        let rest = &words[from..to];
        let Some(length) = longest(BEHIND, rest, rest.last(), ends_with) else {
            break;
        };
        to -= length;
    }
    let guess = Guess::of(words.iter().copied());
    let left = &words[from..to];
    if !left.iter().any(|word| !guess.is_stop_word(word)) {
        return Unframed {
            text,
            is_announced: false,
        };
    }
    let begins = |word: &&str| {
        language::is_asking(word) || language::is_auxiliary(word) || WHETHER.has(word)
    };
    // With what follows it, such as a question mark.
    let end = if to == words.len() {
        text.len()
    } else {
        places[to - 1].end
    };
    Unframed {
        text: &text[places[from].start..end],
        is_announced: is_announced && left.first().is_some_and(begins),
    }
}

/// The positions of a text's words, including the part after an apostrophe.
fn places(text: &str) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-');
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        match places.last_mut() {
            Some(last) if last.end == at && is_of_word(character) => last.end = end,
            Some(_) | None if character.is_alphanumeric() => places.push(at..end),
            Some(_) | None => {}
        }
    }
    places
}

/// The number of words that the longest matching phrase takes. `edge` is a word that a matching phrase must contain: most phrases
/// do not, and every indexed text is checked.
pub(super) fn longest(
    phrases: &[&str],
    words: &[&str],
    edge: Option<&&str>,
    matched: impl Fn(&[&str], &[&str]) -> Option<usize>,
) -> Option<usize> {
    let of = |phrase: &&str| matched(&phrase.split_whitespace().collect::<Vec<_>>(), words);
    let edge = edge?;
    phrases
        .iter()
        .filter(|phrase| phrase.contains(edge))
        .filter_map(of)
        .filter(|length| *length > 0)
        .max()
}

/// The maximum number of words at the beginning that a phrase takes.
pub(super) fn begins_with(phrase: &[&str], words: &[&str]) -> Option<usize> {
    let Some((part, rest)) = phrase.split_first() else {
        return Some(0);
    };
    if *part == "@" {
        return words
            .first()
            .is_some_and(|word| language::is_asking(word))
            .then_some(0);
    }
    let (part, is_optional) = optional(part);
    let taken = || {
        let (word, behind) = words.split_first()?;
        let is_meant = part.split('|').any(|one| one == *word);
        is_meant
            .then(|| begins_with(rest, behind))
            .flatten()
            .map(|length| length + 1)
    };
    let left_out = || is_optional.then(|| begins_with(rest, words)).flatten();
    taken().max(left_out())
}

/// The maximum number of words at the end that a phrase takes.
fn ends_with(phrase: &[&str], words: &[&str]) -> Option<usize> {
    (1..=phrase.len().min(words.len()))
        .rev()
        .find(|&length| begins_with(phrase, &words[words.len() - length..]) == Some(length))
}

fn optional(part: &str) -> (&str, bool) {
    part.strip_suffix('?')
        .map_or((part, false), |part| (part, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_stands_without_how_people_wrap_it() {
        for (text, asked) in [
            (
                "Sorry, me again. Who do I call if an owner needs a taxi?",
                "Who do I call if an owner needs a taxi?",
            ),
            (
                "can someone remind me how heavy juno is",
                "how heavy juno is",
            ),
            (
                "hi muninn, whats first prize in the tombola",
                "whats first prize in the tombola",
            ),
            (
                "any idea what the health club costs",
                "what the health club costs",
            ),
            ("any idea where our sack went lol", "where our sack went"),
            (
                "customer here asking which shoe size is missing rn",
                "which shoe size is missing",
            ),
            (
                "lady asking do they need to bring anything",
                "do they need to bring anything",
            ),
            (
                "someone asks for the price to get her tom castrated",
                "the price to get her tom castrated",
            ),
            ("guest wifi pw pls", "guest wifi pw"),
            ("what time do we start, I forget", "what time do we start"),
            ("i always forget which key it is", "which key it is"),
            ("ugh what was my deadline", "what was my deadline"),
            (
                "weiß jemand noch, wann der Termin ist?",
                "wann der Termin ist?",
            ),
            ("was war nochmal der Beitrag", "was war nochmal der Beitrag"),
            ("me preguntan cuánto vale el bono", "cuánto vale el bono"),
            ("quelqu'un sait où est la clé ?", "où est la clé ?"),
            // Nothing else would be left, or there is no phrase around it.
            ("any idea?", "any idea?"),
            ("who can help", "who can help"),
            ("I forgot my password", "I forgot my password"),
            ("so who has the key", "who has the key"),
            ("whose idea was the mascot", "whose idea was the mascot"),
            (
                "The customer wants a new lamp",
                "The customer wants a new lamp",
            ),
            ("", ""),
            ("İİ?!", "İİ?!"),
        ] {
            assert_eq!(without_framing(text), asked);
        }
    }

    #[test]
    fn what_is_announced_and_begins_as_a_question_is_one() {
        for (text, is_announced) in [
            ("customer here asking when the beams come", true),
            ("any idea what the health club costs", true),
            ("lady asking do they need to bring anything", true),
            ("weiß jemand, ob der Maler kommt", true),
            ("the customer asked for a red lamp", false),
            ("so when the oven is cold, open the door", false),
            ("when the beams come, call me", false),
        ] {
            assert_eq!(strip_framing(text).is_announced, is_announced, "{text}");
        }
    }
}
