//! Questions about what was decided: "what did we decide about the driver?" Minutes tell what holds from now on and seldom say
//! "we decided", so the subject alone finds them.

use super::framing::{begins_with, longest};
use crate::language::{self, WordList};
use crate::text::{lower, spoken};

/// How such questions begin, word by word, as in [`super::framing`].
const VERB_FIRST: &[&str] = &[
    "what did we|you|they|i decide|agree about|on|for|regarding|concerning",
    "what have|has|had we|you|they|been decided|agreed about|on|for|regarding|concerning",
    "what was|is|were decided|agreed about|on|for|regarding|concerning",
    "a|t? avons|a|avez nous|vous|on|il? décidé|convenu pour|sur|de|du|des|concernant",
    "est ce on|nous|vous|a|avons? a|avons|avez|été? décidé|convenu pour|sur|de|du|des|concernant",
    "qué hemos|se|ha? decidimos|acordamos|decidido|acordado|decidió|acordó sobre|para|de|con",
    "o? que nós|foi? decidimos|combinamos|decidido|combinado sobre|para|de|do|da",
    "cosa|che abbiamo|è|avete stato? deciso|concordato su|sul|sulla|sui|per|di|del|della",
    "co my? zdecydowaliśmy|ustaliliśmy|postanowiliśmy|ustalono|postanowiono o|w|co sprawie|do?",
    "что мы? решили|решено|договорились о|об|по|про|насчёт|насчет",
];
/// The same where the verb ends the question.
const VERB_LAST: &[&str] = &[
    "was haben|hat|habt|wurde|ist wir|ihr|sie|man|denn? zum|zur|zu|über|wegen|für|bezüglich|beim|bei|mit dem|der|den|die|das?",
    "wat hebben|is|werd we|wij|jullie|er? over|voor|met de|het?",
];
const VERBS: WordList =
    WordList::of("beschlossen entschieden vereinbart ausgemacht besloten afgesproken");

/// The subject of a question about what was decided, in lower case; `None` for other questions.
pub fn subject_of_decision(text: &str) -> Option<String> {
    let lower = lower(text);
    let words: Vec<&str> = spoken(&lower).collect();
    let length = |phrases| longest(phrases, &words, words.first(), begins_with);
    let behind = match (length(VERB_FIRST), words.split_last()) {
        (Some(length), _) => &words[length..],
        (None, Some((last, before))) if VERBS.has(last) => before.get(length(VERB_LAST)?..)?,
        (None, _) => return None,
    };
    let has_content = behind.iter().any(|word| !language::is_function_word(word));
    has_content.then(|| behind.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_of_what_was_decided_is_told_from_other_questions() {
        for (text, subject) in [
            ("What did we decide about the driver?", Some("the driver")),
            ("what was decided on 5 October", Some("5 october")),
            ("What have we agreed on for lunch?", Some("for lunch")),
            (
                "was haben wir zum Druckertreiber beschlossen?",
                Some("druckertreiber"),
            ),
            ("Qu'avons-nous décidé pour le bureau ?", Some("le bureau")),
            ("¿Qué decidimos sobre la impresora?", Some("la impresora")),
            ("O que decidimos sobre a impressora?", Some("a impressora")),
            (
                "Cosa abbiamo deciso per la stampante?",
                Some("la stampante"),
            ),
            ("Wat hebben we over de printer besloten?", Some("printer")),
            ("Co ustaliliśmy w sprawie drukarki?", Some("drukarki")),
            ("Что мы решили о принтере?", Some("принтере")),
            ("What did we decide?", None),
            ("What did we decide about it?", None),
            ("When did we decide about the driver?", None),
            ("Was haben wir zum Essen?", None),
            ("What did we eat on Monday?", None),
            ("We decided on the blue door.", None),
            ("thanks!", None),
        ] {
            assert_eq!(subject_of_decision(text).as_deref(), subject, "{text}");
        }
    }
}
