//! Whole phrases with which people greet or ask a bot about itself: no earlier message answers these.

use super::clause::{LEADING, in_full};
use super::framing::without_framing;
use crate::language::{self, Guess, Language, WordList};
use crate::text::{lower, lowercase_words};

/// Phrases that ask how somebody is.
const HOW_ONE_IS: [&str; 26] = [
    "how are you",
    "how are u",
    "how are things",
    "how are we",
    "how is it going",
    "how is life",
    "how is your day",
    "how is everyone",
    "how is everybody",
    "how do you do",
    "how have you been",
    "what is up",
    "what is new",
    "wie geht",
    "wie geht es",
    "wie gehts",
    "wie läuft",
    "wie läuft es",
    "comment ça va",
    "comment vas tu",
    "comment allez vous",
    "ça va",
    "cómo estás",
    "come stai",
    "tudo bem",
    "hoe gaat het",
];
/// Phrases that ask a bot what it can do. Japanese is in pairs of characters, as its words are.
const WHAT_IT_DOES: [&str; 54] = [
    "what can you do",
    "what do you do",
    "what are you",
    "what are you for",
    "what can i ask",
    "what can i ask you",
    "what is your job",
    "what is your name",
    "who are you",
    "how can you help",
    "how do you work",
    "how does this work",
    "are you a bot",
    "are you human",
    "are you an ai",
    "was kannst du",
    "was machst du",
    "was bist du",
    "wer bist du",
    "wie heißt du",
    "wie funktionierst du",
    "wie funktioniert das",
    "bist du ein bot",
    "que sais tu faire",
    "que peux tu faire",
    "qui es tu",
    "comment ça marche",
    "qué puedes hacer",
    "quién eres",
    "cómo funciona esto",
    "o que você faz",
    "o que você pode fazer",
    "quem é você",
    "cosa sai fare",
    "chi sei",
    "wie ben je",
    "what do you know",
    "what do you remember",
    "what else can you do",
    "can you do anything else",
    "can you help",
    "can you help me",
    "help me",
    "was weißt du",
    "kannst du mir helfen",
    "aide moi",
    "ayúdame",
    "me ajuda",
    "hilfe",
    "aide",
    "ayuda",
    "ajuda",
    "ヘル ルプ",
    "助け けて",
];
/// Phrases that ask a bot to forget what was said, or that mean "never mind".
const FORGETTING: [&str; 22] = [
    "forget it",
    "forget this",
    "forget that",
    "delete it",
    "delete this",
    "delete that",
    "vergiss es",
    "vergiss das",
    "lösch das",
    "lösche das",
    "oublie",
    "oublie ça",
    "oublie cela",
    "oubliez ça",
    "olvídalo",
    "olvida eso",
    "bórralo",
    "esquece",
    "esquece isso",
    "dimenticalo",
    "vergeet het",
    "vergeet dat",
];
/// Verbs with which one asks what somebody said.
const SAYING: WordList = WordList::of(
    "say said tell told write wrote written mention mentioned sagen sagt sagte gesagt erzählt erzählte geschrieben schrieb erwähnt \
    dit écrit raconté mentionné dijo dicho escribió escrito contó mencionó disse dito escreveu escrito contou mencionou detto \
    scritto raccontato zei gezegd schreef geschreven verteld vertelde powiedział powiedziała mówił mówiła napisał napisała \
    сказал сказала говорил говорила написал написала писал писала",
);
/// Words with which one asks whether something is so, or which of two it is. Dutch "of" is left out, as English has it.
const WHETHER: WordList = WordList::of("whether if or ob oder si ou o se czy lub albo ли или либо");
const THANKS: WordList = WordList::of(
    "thanks thank thx ty cheers kudos danke dankeschön merci gracias obrigada obrigado grazie bedankt dank dzięki dziękuję \
    спасибо 谢谢 多谢 感谢 りが 감사 고마",
);
/// Words that only say how much somebody thanks.
const BESIDE_THANKS: WordList = WordList::of(
    "vielen besten herzlichen herzliche lieben tausend schön schöne schönen sehr grand grande infiniment un mil muchísimas \
    muito muita molte tante mille hartelijk hartelijke heel erg bardzo serdecznie большое огромное \
    うご ござ ざい いま ます まし した",
);
/// Beginnings of questions that no earlier message answers; their subject may follow.
const OF_THE_WORLD: [&str; 24] = [
    "who invented",
    "what is the capital of",
    "what is the meaning of life",
    "tell me a joke",
    "tell us a joke",
    "tell me a story",
    "tell me a riddle",
    "tell a joke",
    "do you know a joke",
    "sing me",
    "sing us",
    "sing a song",
    "write me a poem",
    "write us a poem",
    "write a poem",
    "erzähl mir einen witz",
    "erzähl einen witz",
    "erzähl uns einen witz",
    "wer hat erfunden",
    "raconte moi une blague",
    "raconte une blague",
    "cuéntame un chiste",
    "conte me uma piada",
    "raccontami una barzelletta",
];
/// Beginnings of questions about how something is said in a language, which ends the question.
const HOW_ONE_SAYS: [&str; 6] = [
    "how do you say",
    "how do i say",
    "how do we say",
    "how does one say",
    "wie sagt man",
    "comment dit on",
];
const TRANSLATING: WordList = WordList::of(
    "translate übersetze übersetz traduis traduisez traduce traduz traduci vertaal przetłumacz переведи",
);
const LANGUAGES: WordList = WordList::of(
    "arabic basque catalan chinese croatian czech danish dutch english estonian finnish french gaelic german greek hebrew \
    hindi hungarian icelandic irish italian japanese korean latin latvian lithuanian norwegian persian polish portuguese romanian \
    russian serbian slovak slovenian spanish swedish turkish ukrainian vietnamese welsh deutsch englisch französisch italienisch \
    spanisch polnisch russisch anglais allemand espagnol italien",
);
/// Words that may follow either.
const CLOSING: WordList = WordList::of(
    "today tonight doing feeling going now so far muninn all everyone everybody guys folks team there this fine morning \
    afternoon evening for me us here exactly actually really even help with dir euch ihnen s heute so denn eigentlich hier \
    alles genau bitte please aujourd hui tu vous toi ici hoy todo aquí oggi hoje aqui vandaag je jou met",
);

/// Whether a text asks how somebody is, as a greeting.
pub fn asks_how_one_is(text: &str) -> bool {
    is_one_of(&HOW_ONE_IS, text)
}

/// Whether a text asks a bot who it is, or what it can do.
pub fn asks_what_it_does(text: &str) -> bool {
    is_one_of(&WHAT_IT_DOES, text)
}

/// Whether a text asks a bot to forget something, without saying what, or means "never mind".
pub fn asks_to_forget_this(text: &str) -> bool {
    is_one_of(&FORGETTING, text)
}

/// Whether a text has a verb with which one asks what somebody said: "what did Marta say yesterday?"
pub fn names_saying(text: &str) -> bool {
    lowercase_words(text).iter().any(|word| SAYING.has(word))
}

/// Whether a text asks whether something is so, or which of what it names it is: "tell me whether the printer is broken",
/// "which team won, Ajax or PSV?", "the printer is broken, right?" The answer may then have no word that the text does not have.
pub fn asks_whether(text: &str) -> bool {
    let words = lowercase_words(text);
    let is_dutch = || Guess::of(words.iter().map(String::as_str)).language() == Language::Dutch;
    let has_word = |word: &String| WHETHER.has(word) || (word == "of" && is_dutch());
    let asked = lowercase_words(without_framing(text));
    let is_sentence = || {
        !asked.iter().any(|word| language::is_asking(word))
            && asked.iter().any(|word| language::is_auxiliary(word))
    };
    words.iter().any(has_word) || (text.contains('?') && is_sentence())
}

/// Whether small talk thanks.
pub fn thanks(text: &str) -> bool {
    lowercase_words(text).iter().any(|word| THANKS.has(word))
}

/// Whether lower-case words only thank: "danke dir", "thanks everybody".
pub(super) fn only_thank(words: &[&str]) -> bool {
    let says_no_more = |word: &&str| only_closes(word) || BESIDE_THANKS.has(word);
    words.iter().any(|word| THANKS.has(word)) && words.iter().all(says_no_more)
}

/// Whether a lower-case word only closes a phrase: "today", "thanks".
pub(super) fn only_closes(word: &str) -> bool {
    CLOSING.has(word) || language::is_polite(word)
}

/// Whether a text asks for common knowledge or something to make up, which no team ever said: a joke, a translation,
/// who invented the wheel.
pub fn asks_of_the_world(text: &str) -> bool {
    let lower = lower(text);
    let words: Vec<&str> = in_full(&lower)
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect();
    let leads = |word: &&&str| language::is_polite(word) || LEADING.has(word);
    let asked = &words[words.iter().take_while(leads).count()..];
    let begins = |phrase: &str| {
        let mut asked = asked.iter();
        phrase.split(' ').all(|word| asked.next() == Some(&word))
    };
    let is_translated = || {
        let quotes = lower.matches(['"', '“', '”', '„', '«', '»']).count() >= 2;
        quotes && asked.first().is_some_and(|word| TRANSLATING.has(word))
    };
    let names_language = || asked.last().is_some_and(|word| LANGUAGES.has(word));
    OF_THE_WORLD.iter().any(|phrase| begins(phrase))
        || (HOW_ONE_SAYS.iter().any(|phrase| begins(phrase)) && names_language())
        || is_translated()
}

/// Whether a text is one of the phrases, with at most a greeting before it and words of [`CLOSING`] after it.
fn is_one_of(phrases: &[&str], text: &str) -> bool {
    let lower = lower(text);
    let clauses = lower.split([',', '.', '!', '?', '¿']);
    let words: Vec<&str> = clauses.flat_map(in_full).collect();
    let leads = |word: &&&str| language::is_polite(word) || LEADING.has(word);
    let asked = &words[words.iter().take_while(leads).count()..];
    let behind = |phrase: &&str| {
        let mut asked = asked.iter();
        let is_said = phrase.split(' ').all(|word| asked.next() == Some(&word));
        is_said.then_some(asked.as_slice())
    };
    let mut rests = phrases.iter().filter_map(behind);
    rests.any(|rest| rest.iter().all(|word| only_closes(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_team_told_is_known_by_how_it_begins() {
        for (text, is_of_the_world) in [
            ("who invented croissants actually", true),
            ("How do you say good night in Polish?", true),
            (
                "Translate \"good evening\" into Finnish for me, please.",
                true,
            ),
            ("hey, tell me a joke about ferries", true),
            ("how do you say no to a client", false),
            ("translate the menu for Friday", false),
            ("who is the inventor of the mascot", false),
            ("tell me who has the key", false),
        ] {
            assert_eq!(asks_of_the_world(text), is_of_the_world, "{text}");
        }
    }

    #[test]
    fn who_asks_what_somebody_said_names_it() {
        for (text, is_named) in [
            ("what did Marta say yesterday?", true),
            ("Was hat Marta gestern gesagt?", true),
            ("Qu'a dit Marta hier ?", true),
            ("¿Qué dijo Marta ayer?", true),
            ("O que a Marta disse ontem?", true),
            ("Cosa ha detto Marta ieri?", true),
            ("Wat zei Marta gisteren?", true),
            ("Co Marta powiedziała wczoraj?", true),
            ("Что Марта сказала вчера?", true),
            ("what broke yesterday?", false),
            ("Who is on call today?", false),
            ("Wer hat heute Dienst?", false),
        ] {
            assert_eq!(names_saying(text), is_named, "{text}");
        }
    }

    #[test]
    fn who_asks_whether_something_is_so_is_told_from_who_asks_what_it_is() {
        for (text, asks) in [
            ("Do you know whether the printer is broken?", true),
            ("can someone tell me if the printer is broken", true),
            ("the printer is broken, right?", true),
            ("The printer is broken?", true),
            ("Which team won, Ajax or PSV?", true),
            ("Weiß jemand, ob der Drucker kaputt ist?", true),
            ("Weet je of de printer kapot is?", true),
            ("What are the ferry times?", false),
            ("What are the times of the ferry?", false),
            ("can you tell me the ferry times?", false),
            ("ferry times?", false),
        ] {
            assert_eq!(asks_whether(text), asks, "{text}");
        }
    }

    #[test]
    fn who_wants_something_forgotten_or_thanks_is_understood() {
        for (text, forgets) in [
            ("forget it", true),
            ("ok, forget that please", true),
            ("Vergiss das!", true),
            ("oublie ça", true),
            ("forget it in the car", false),
            ("did you forget it?", false),
        ] {
            assert_eq!(asks_to_forget_this(text), forgets, "{text}");
        }
        for (text, is_thanks) in [
            ("cool, thanks a lot", true),
            ("Danke!", true),
            ("ありがとう!", true),
            ("谢谢", true),
            ("good morning", false),
        ] {
            assert_eq!(thanks(text), is_thanks, "{text}");
        }
    }

    #[test]
    fn whole_phrases_are_told_from_what_begins_like_them() {
        for (text, how_one_is, what_it_does) in [
            ("how are you today?", true, false),
            ("hi Muninn, how's it going this morning?", true, false),
            ("What's up?", true, false),
            ("Wie geht's dir heute?", true, false),
            ("Hallo, wie geht es euch?", true, false),
            ("comment vas-tu aujourd'hui ?", true, false),
            ("ça va ?", true, false),
            ("how are you getting to the fair?", false, false),
            ("what is new in the menu?", false, false),
            ("how is it going with the roof?", false, false),
            ("what's up with the printer", false, false),
            ("what did we do today?", false, false),
            ("What can you do?", false, true),
            ("hello! who are you?", false, true),
            ("ok, what can you do for us here", false, true),
            ("How can you help me?", false, true),
            ("Was kannst du eigentlich alles?", false, true),
            ("¿Qué puedes hacer?", false, true),
            ("Qui es-tu ?", false, true),
            ("what can you do about the printer?", false, false),
            ("who are you meeting on Friday?", false, false),
            ("what do you do on Fridays?", false, false),
            ("please help me", false, true),
            ("what do you know?", false, true),
            ("what do you know about the boiler?", false, false),
            ("can you help me with the printer?", false, false),
            ("Hilfe!", false, true),
            ("ayuda", false, true),
            ("ヘルプ", false, true),
            ("Die Hilfe kommt am Montag", false, false),
        ] {
            let asked = (asks_how_one_is(text), asks_what_it_does(text));
            assert_eq!(asked, (how_one_is, what_it_does), "{text}");
        }
    }
}
