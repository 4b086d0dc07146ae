//! Requests to be told something: "list what was said about the cat", "give me the number of the plumber". They ask without a
//! question word or a question mark, and state nothing.

use super::framing::{begins_with, longest};

/// How such requests begin, word by word, as in [`super::framing`]. Other wishes ("write me a rhyme", "remind me to call Bob") are
/// not among them: they state what somebody wants.
const REQUESTS: &[&str] = &[
    "tell|show me|us about|all|everything|more|the|our|his|her|their|its|my|your|which|whether",
    "give me|us all|everything|more|a|an|the? full|whole|short|current|latest? list|name|names|number|numbers|date|dates|\
     address|code|password|details|summary|overview|status|price|prices|reason|reasons|email|phone|link",
    "list what|who|which|where|all|every|everyone|everybody|everything",
    "name the|our|all|everyone|everybody who|of|that|in|on|for?",
    "summarise|summarize|describe|explain the|our|his|her|their|what|who|how|why|everything",
    "sag|sagt|nenn|nenne|zeig|zeige|erzähl|erzähle mir|uns alles|etwas|mehr|den|die|das|von|über|unsere|unseren",
    "gib|gebt mir|uns alle|alles|den|die|das|eine? namen|nummer|adresse|code|liste|übersicht|zusammenfassung|preis|termin",
    "nenne|nenn|liste den|die|das|alle|alles",
    "dis|dites|dis-moi|dites-moi moi? tout|le|la|les",
    "parle|parlez|parle-moi|parlez-moi|raconte|raconte-moi moi? de|du|des|tout",
    "donne|donnez|donne-moi|donnez-moi moi? le|la|les|une nom|noms|numéro|adresse|code|liste|date|dates|prix|résumé",
    "dime|cuéntame|muéstrame|háblame todo|el|la|los|las|de|del",
    "dame el|la|los|las|una nombre|nombres|número|dirección|código|lista|fecha|fechas|precio|resumen",
    "me? diz|diga|diga-me|conte|conte-me|fala|fale|fale-me tudo|o|a|os|as|do|da|sobre",
    "dimmi|raccontami|parlami|mostrami tutto|il|lo|la|i|gli|le|di|del|della",
    "vertel|zeg|toon me|mij|ons alles|de|het|over|meer",
    "opowiedz|powiedz|pokaż mi? wszystko|o",
    "расскажи|расскажите|скажи|скажите|назови|перечисли мне? всё|все|о|об|про|имя|номер|адрес|код",
];

/// Whether the words of a clause begin with a request to be told something.
pub(super) fn ask_to_be_told(words: &[&str]) -> bool {
    longest(REQUESTS, words, words.first(), begins_with).is_some_and(|length| length < words.len())
}

#[cfg(test)]
mod tests {
    use crate::speech::{Act, QUESTION, speech_act};

    #[test]
    fn who_wants_to_be_told_asks_and_who_wants_something_done_states() {
        for text in [
            "tell me everything you know about Gustavo",
            "Tell me about Gustavo.",
            "please tell me about the boathouse",
            "Give me the name of our cat",
            "give us a short summary of the week",
            "List what was said about the cat.",
            "list all open invoices",
            "Name the harbour pilot",
            "explain how the pump is started",
            "Nenn mir den Namen der Katze",
            "Erzähl mir alles über die Katze",
            "Parle-moi de Gustavo",
            "dis-moi tout sur le chat",
            "dime todo sobre el gato",
            "расскажи о кошке",
        ] {
            assert_eq!(speech_act(text), QUESTION, "{text}");
        }
        let statement = Act {
            asks: false,
            states: true,
        };
        for text in [
            "write me a rhyme",
            "Remind me to call Bob at five",
            "Give me a lift tomorrow",
            "Give me the keys tomorrow",
            "name is Gustavo",
            "Name tags are in the blue box",
            "List price is 40 euros",
            "Der Code der Katze ist 12",
            "tell Bob the gate is open",
            "Explain it to Bob on Friday",
        ] {
            assert_eq!(speech_act(text), statement, "{text}");
        }
    }
}
