//! Classifies the speech act of a text: it asks, it states, both or neither. It uses punctuation, the words of the
//! language, and their position in the sentence: "the one who bakes" asks nothing, and "we open at nine, ok?" states
//! something.

mod act;
mod clause;
mod decisions;
mod forgetting;
mod framing;
mod phrases;
mod requests;
mod sought;

pub use self::act::{Act, QUESTION};
pub use self::decisions::subject_of_decision;
pub use self::forgetting::asks_to_forget;
pub use self::framing::{Unframed, strip_framing, without_framing};
pub use self::phrases::{
    asks_how_one_is, asks_of_the_world, asks_to_forget_this, asks_what_it_does, asks_whether,
    names_saying, thanks,
};
pub use self::sought::is_numbered_record;
use crate::language::{self, Guess, Language, WordList};
use crate::text::{GUESSED_BY, lower, lowercase_words, spoken};
use clause::{LEADING, WHO_DOES, in_full};

/// Whether a text asks for something.
pub fn asks_something(text: &str) -> bool {
    speech_act(text).asks
}

/// Whether a text has a question word of any language anywhere, or a question mark: a loose sign that it is more than a
/// statement.
pub fn has_word_that_asks(text: &str) -> bool {
    let lower = lower(text);
    let mut words = spoken(&lower);
    text.contains(['?', '？', '؟', '¿'])
        || spoken(&lower).any(language::is_asking)
        || words.next().is_some_and(language::begins_question)
}

/// Whether a text states something, even if it also asks.
pub fn states_something(text: &str) -> bool {
    speech_act(text).states
}

/// Whether a text is only politeness ("thanks!", "how are you today?"), or has no words at all.
pub fn is_small_talk(text: &str) -> bool {
    speech_act(text) == Act::default() || lowercase_words(text).is_empty() || asks_how_one_is(text)
}

/// Whether nothing that was said can help with a text: politeness, a calculation, "forget it", or a question about the bot
/// itself or about the world. A wish to have something named forgotten is not among these: what is meant may be looked up.
pub fn needs_no_recall(text: &str) -> bool {
    is_small_talk(text)
        || is_sum(text)
        || asks_what_it_does(text)
        || asks_to_forget_this(text)
        || asks_of_the_world(text)
}

/// "What is 38 times 7?"
fn is_sum(text: &str) -> bool {
    let words = lowercase_words(text);
    let guess = Guess::of(words.iter().map(String::as_str));
    let is_number = |word: &&String| word.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = words.iter().filter(is_number).count();
    let says_nothing =
        |word: &String| is_number(&word) || guess.is_stop_word(word) || language::calculates(word);
    numbers >= 2
        && words.iter().all(says_nothing)
        && (words.iter().any(|word| language::calculates(word))
            || text.contains(['+', '*', '/', '×', '÷']))
}

/// The same for languages with one-letter words that mean something else in English.
const LEADING_ELSEWHERE: WordList = WordList::of("y e o mas ma en i a и а но");

/// Words that may precede the question word: "until when", "in which room".
const BEFORE_ASKING: WordList = WordList::of(
    "at by in on for from of to until till since with about under near after before \
    ab an auf aus bei bis für in im mit nach seit um von vor zu à avec chez d dans de depuis en jusqu jusque par pour sur \
    a con de desde en hasta para por sobre até com desde em da di fino per su bij met naar op sinds tot uit van voor \
    do dla na od o po pod przez w we z za в во для до за из к на о от по с со у",
);
/// Question words that join a clause if no verb follows: "when the oven is cold, open it".
const JOINING: WordList = WordList::of(
    "when where whenever wherever wo wie quand comme cuando quando come onde gdzie kiedy jak когда где как wanneer waar",
);

const NAMED: WordList = WordList::of(
    "the my your our his her their this that these those there any anyone anybody someone somebody everyone everybody \
    der die das dein deine unser unsere mein meine jemand ce",
);
/// Words after a verb at the beginning of a text that is not a question: "have a nice weekend", "is at the bank".
const NO_SUBJECT: WordList = WordList::of(
    "a an at on in to for from with off out up not no so very just now back here been being like going about by",
);
/// Verbs at the beginning of statements without a subject: "had the keys yesterday".
const DROPPING: WordList = WordList::of("have had did has");
/// Verbs that begin a question in German.
const GERMAN_BEGINNING: WordList = WordList::of(
    "ist sind hat habt haben kann kannst könnt können könnte könnten gibt soll sollen wird werden darf dürfen muss müssen \
    weiß bist seid war waren",
);
/// Verbs that ask somebody to tell something.
const TELLING: WordList = WordList::of(
    "tell remind show explain wonder wondering sag sagt erinnere dis dites dime diga diz dimmi zeg vertel powiedz скажи",
);
/// Words that ask for agreement after a statement.
const TAGS: WordList = WordList::of(
    "ok okay right correct yes yeah no not agreed deal oder nicht ne gell stimmt richtig klar ja einverstanden non hein \
    verdad vale cierto né certo vero giusto toch hè hé akkoord nie prawda tak да нет верно правда хорошо",
);
/// Maximum words of a tag: "isn't it", "ok for everybody".
const TAG: usize = 3;
/// Minimum words of a sentence that states something before a tag without a comma.
const TAGGED: usize = 4;
/// Words that begin a clause which states nothing by itself.
const SUBORDINATE: WordList = WordList::of(
    "if when while because since as although unless once in wenn falls weil da obwohl sobald si quand lorsque parce puisque \
    cuando porque aunque se quando perché als omdat terwijl jeśli gdy ponieważ если когда потому",
);
/// Words that announce a question and state nothing.
const ANNOUNCING: WordList = WordList::of(
    "question quick curious help wondering forgot idea dumb silly frage kurze hilfe question pregunta domanda pergunta vraag \
    pytanie вопрос",
);
/// Abbreviations that end in a dot in the middle of a sentence.
const SHORTENED: WordList =
    WordList::of("dr mr mrs ms st no nr prof hr fr approx ca z b e g i usw etc vs mme sra sr");

/// How certain it is that words ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum QuestionCertainty {
    No,
    Perhaps,
    Surely,
}

/// How a sentence ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SentenceEnding {
    Asked,
    Exclaimed,
    Plain,
}

/// The speech act of a text.
pub fn speech_act(text: &str) -> Act {
    let act = act_as_written(text);
    Act {
        asks: act.asks || strip_framing(text).is_announced,
        ..act
    }
}

fn act_as_written(text: &str) -> Act {
    let lower = lower(text);
    let words: Vec<&str> = spoken(&lower).collect();
    let guess = Guess::of(words.iter().copied().take(GUESSED_BY));
    if let Some(act) = act_of_search(guess, text, &lower) {
        return act;
    }
    let mut act = Act::default();
    for (sentence, end) in sentences(&lower, guess.language()) {
        let clauses = clauses(sentence);
        let of_sentence = of_sentence(guess, &clauses, end);
        act.asks |= of_sentence.asks;
        act.states |= of_sentence.states;
    }
    if !act.asks {
        // A text that asks nothing states something, even if it is only "me".
        act.states = !words.is_empty()
            && !language::are_polite(words.iter().copied())
            && !phrases::only_thank(&words);
    }
    act
}

/// The act of a text that is a single clause and seems to only name what is sought. Without a mark at its end: "opening hours at
/// Christmas!" is the heading of what is told.
fn act_of_search(guess: Guess, text: &str, lower: &str) -> Option<Act> {
    let lower = lower.trim().trim_end_matches('.');
    if lower.contains(['?', '？', '؟', '!', '！', '\n', '。']) || lower.contains(". ") {
        return None;
    }
    let clauses = clauses(lower);
    let [clause] = clauses.as_slice() else {
        return None;
    };
    sought::act_of_search(guess, text, clause)
}

/// The clauses of a sentence in lower case that have words.
fn clauses(sentence: &str) -> Vec<Vec<&str>> {
    sentence
        .split([',', ';', ':', '–', '—', '、', '，'])
        .map(in_full)
        .filter(|clause| !clause.is_empty())
        .collect()
}

/// The sentences of a text in lower case, with their ends.
fn sentences(text: &str, language: Language) -> Vec<(&str, SentenceEnding)> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        let ends_word = next.is_none_or(|next| !next.is_alphanumeric());
        let end = match character {
            '?' | '؟' if ends_word => SentenceEnding::Asked,
            '？' => SentenceEnding::Asked,
            '!' if ends_word => SentenceEnding::Exclaimed,
            '！' => SentenceEnding::Exclaimed,
            '.' if ends_word && !is_inside(&text[start..at], language) => SentenceEnding::Plain,
            '。' | '\n' => SentenceEnding::Plain,
            _ => continue,
        };
        sentences.push((&text[start..at], end));
        start = at + character.len_utf8();
    }
    sentences.push((&text[start..], SentenceEnding::Plain));
    sentences
}

/// Whether a dot after a text does not end a sentence: after "Dr", and after ordinal numbers in German and Polish.
fn is_inside(before: &str, language: Language) -> bool {
    let last = spoken(before).last().unwrap_or_default();
    let counts = matches!(language, Language::German | Language::Polish);
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    SHORTENED.has(last) || (counts && is_number)
}

fn of_sentence(guess: Guess, clauses: &[Vec<&str>], end: SentenceEnding) -> Act {
    let Some((last, before)) = clauses.split_last() else {
        return Act {
            asks: end == SentenceEnding::Asked,
            states: false,
        };
    };
    let tells_before = before.iter().any(|clause| tells(guess, clause));
    let begins = begins(guess, &clauses[0], clauses.len() > 1);
    let ends = match before {
        [] => QuestionCertainty::No,
        // After a statement, only what cannot be part of it.
        [..] if tells_before && end != SentenceEnding::Asked && !asks_with_verb(guess, last) => {
            QuestionCertainty::No
        }
        [..] => self::begins(guess, last, false),
    };
    match end {
        SentenceEnding::Asked => Act {
            asks: true,
            states: begins < QuestionCertainty::Surely
                && (has_tag(guess, clauses) || (tells_before && ends > QuestionCertainty::No)),
        },
        // "Where is my key!" is as rare as "what a mess!" is common.
        SentenceEnding::Exclaimed => Act {
            asks: asks_with_verb(guess, &clauses[0]),
            states: !asks_with_verb(guess, &clauses[0]) && says_something(guess, clauses),
        },
        SentenceEnding::Plain => {
            let asking = begins.max(ends);
            Act {
                asks: asking > QuestionCertainty::No,
                states: (asking < QuestionCertainty::Surely
                    || (tells_before && begins < QuestionCertainty::Surely))
                    && says_something(guess, clauses),
            }
        }
    }
}

/// Whether clauses are more than a greeting or the announcement of a question.
fn says_something(guess: Guess, clauses: &[Vec<&str>]) -> bool {
    let words = || clauses.iter().flatten().copied();
    let first = words().next().unwrap_or_default();
    let is_greeting = language::is_polite(first) && words().count() <= TAG;
    let mut content =
        words().filter(|word| !guess.is_stop_word(word) && !language::is_polite(word));
    !is_greeting && words().count() > 1 && content.any(|word| !ANNOUNCING.has(word))
}

/// Whether a clause states something by itself: it has a verb, a subject, or a number.
fn tells(guess: Guess, clause: &[&str]) -> bool {
    let has_verb = |word: &&str| language::is_auxiliary(word) || WHO_DOES.has(word);
    let has_number = clause
        .iter()
        .any(|word| word.bytes().any(|byte| byte.is_ascii_digit()));
    let first = clause.first().copied().unwrap_or_default();
    clause.len() >= TAG
        && !SUBORDINATE.has(first)
        && (clause.iter().any(has_verb) || (has_number && !BEFORE_ASKING.has(first)))
        && begins(guess, clause, false) == QuestionCertainty::No
        && says_something(guess, &[clause.to_vec()])
}

/// Whether a sentence only asks for agreement with its statement: "we need 40 chairs, right".
fn has_tag(guess: Guess, clauses: &[Vec<&str>]) -> bool {
    let Some((last, before)) = clauses.split_last() else {
        return false;
    };
    let is_tag = |words: &[&str]| words.len() <= TAG && TAGS.has(words[0]);
    match before {
        [] => {
            let ends_so = last.last().is_some_and(|word| TAGS.has(word));
            ends_so && last.len() >= TAGGED && begins(guess, last, false) == QuestionCertainty::No
        }
        [..] => is_tag(last) && says_something(guess, before),
    }
}

/// Whether a clause begins with a question word followed by a verb.
fn asks_with_verb(guess: Guess, clause: &[&str]) -> bool {
    let words = without_leading(guess, clause);
    let asks = words
        .first()
        .is_some_and(|word| language::asks_in(guess, word));
    asks && words
        .get(1)
        .is_some_and(|word| language::is_auxiliary(word))
}

/// The words without leading ones that are not part of the question; all of them if nothing would remain.
fn without_leading<'a, 'b>(guess: Guess, words: &'a [&'b str]) -> &'a [&'b str] {
    let elsewhere = guess.language() != Language::English;
    let leads = |word: &&&str| LEADING.has(word) || (elsewhere && LEADING_ELSEWHERE.has(word));
    let leading = words.iter().take_while(leads).count();
    &words[leading.min(words.len().saturating_sub(1))..]
}

/// Whether words begin like a question; `goes_on` if another clause follows them.
fn begins(guess: Guess, words: &[&str], goes_on: bool) -> QuestionCertainty {
    let in_it = |word: &&str| language::asks_in(guess, word);
    match guess.language() {
        // These languages put the question word in the position of the answer.
        Language::Chinese | Language::Japanese | Language::Korean => {
            return sure(words.iter().any(in_it));
        }
        Language::English
        | Language::German
        | Language::French
        | Language::Spanish
        | Language::Portuguese
        | Language::Italian
        | Language::Dutch
        | Language::Polish
        | Language::Russian => {}
    }
    let words = without_leading(guess, words);
    let Some(first) = words.first() else {
        return QuestionCertainty::No;
    };
    let before = words
        .iter()
        .take_while(|word| BEFORE_ASKING.has(word) && !in_it(word));
    let place = before.count();
    if words.get(place).is_some_and(in_it) {
        return sure(place > 0 || !joins(guess, words, goes_on));
    }
    if requests::ask_to_be_told(words) {
        return QuestionCertainty::Surely;
    }
    if TELLING.has(first) || words.get(1).is_some_and(|word| TELLING.has(word)) {
        return sure(words.iter().any(in_it));
    }
    begins_with_verb(guess, words)
}

fn sure(asks: bool) -> QuestionCertainty {
    if asks {
        QuestionCertainty::Surely
    } else {
        QuestionCertainty::No
    }
}

/// Whether the question word at the beginning joins a clause: "what I need", "when the oven is cold, …".
fn joins(guess: Guess, words: &[&str], goes_on: bool) -> bool {
    let next = words.get(1).copied().unwrap_or_default();
    if language::is_auxiliary(next) {
        return false;
    }
    let is_english = guess.language() == Language::English;
    let of_what = is_english
        && (WHO_DOES.has(next) || (words[0] == "what" && matches!(next, "a" | "an" | "the")));
    of_what || (JOINING.has(words[0]) && (goes_on || (is_english && NAMED.has(next))))
}

/// Whether words begin with the verb of a yes-or-no question.
fn begins_with_verb(guess: Guess, words: &[&str]) -> QuestionCertainty {
    let next = words.get(1).copied().unwrap_or_default();
    let is_subject = WHO_DOES.has(next) || NAMED.has(next);
    match guess.language() {
        Language::English if language::begins_question(words[0]) => {
            let is_told = NO_SUBJECT.has(next)
                || (words[0] == "do" && matches!(next, "it" | "that" | "this"))
                || language::is_auxiliary(next)
                || next.ends_with("ed")
                || next.is_empty();
            let is_named = NAMED.has(next) && DROPPING.has(words[0]);
            match (is_told, is_subject) {
                (true, _) => QuestionCertainty::No,
                (false, true) if !is_named => QuestionCertainty::Surely,
                (false, _) => QuestionCertainty::Perhaps,
            }
        }
        Language::German => sure(GERMAN_BEGINNING.has(words[0]) && is_subject),
        Language::French => sure(words[0] == "est" && next == "ce"),
        Language::English
        | Language::Spanish
        | Language::Portuguese
        | Language::Italian
        | Language::Dutch
        | Language::Polish
        | Language::Russian
        | Language::Chinese
        | Language::Japanese
        | Language::Korean => QuestionCertainty::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_asks_states_does_both_or_neither() {
        let (question, statement) = ((true, false), (false, true));
        let (both, neither) = ((true, true), (false, false));
        for (text, expected) in [
            ("when is the meeting with Bauer?", question),
            ("who is the boss here", question),
            ("how much money do we have", question),
            ("when is the hearing and what do I have to bring", question),
            ("which town am i from", question),
            ("may i deploy", question),
            ("at what time does it begin", question),
            ("ok so who has the key", question),
            ("hi Muninn, when is the premiere", question),
            ("Hello Muninn. When is the premiere?", question),
            ("Quick question. Who has the key?", question),
            ("tell me who has the key", question),
            ("I wonder who has the key", question),
            ("have they arrived", question),
            ("what's the name of the new waiter", question),
            ("whats our limit", question),
            ("is the autoclave fixed", question),
            ("is it on Monday, ok?", question),
            ("If I park there, do I get fined?", question),
            ("For the gala, how many chairs do we need?", question),
            ("and him?", question),
            ("was kostet das ticket", question),
            ("wie viele gäste kommen", question),
            ("ab wann ist die Küche auf", question),
            ("ist der Schlüssel da", question),
            ("qui a la clé", question),
            ("à quelle heure commence la réunion", question),
            ("a quale ora comincia la riunione", question),
            ("в котором часу и где", question),
            ("会议 什么 时候", question),
            ("https://example.org/?q=1 is down", statement),
            ("have a nice weekend!", statement),
            ("Will called, he is ill", statement),
            ("Is at the dentist until three", statement),
            ("will be late", statement),
            ("write me a rhyme", statement),
            ("the one who bakes is called Tom", statement),
            ("When the oven is cold, open the door", statement),
            ("What I need is a ladder", statement),
            (
                "The board meeting was moved to 10 March in Ghent",
                statement,
            ),
            (
                "Malt went up: Weyermann takes 94 cents a kilo, it was 81",
                statement,
            ),
            ("come to the party at nine", statement),
            (
                "Der Termin war am 12. Juni, das Haus was ganz voll",
                statement,
            ),
            ("Wie besprochen, kommt der Maler am Montag", statement),
            ("me", statement),
            ("do it, I'll talk to Brendan", statement),
            ("I do the screenshots by 3 June", statement),
            (
                "I'll do the night shift if somebody takes New Year's",
                statement,
            ),
            (
                "The meeting moves to Friday at 3 in the blue room, ok?",
                both,
            ),
            ("I'm off on Monday. Can someone take my shift?", both),
            ("we need 40 chairs for the gala, right?", both),
            ("we need 40 chairs for the gala right?", both),
            ("wir brauchen 40 Stühle, oder?", both),
            ("la réunion est vendredi, non?", both),
            ("The fridge is broken, who can fix it?", both),
            ("The fridge is broken, who can fix it", both),
            (
                "It makes a noise, they come tomorrow, could somebody be there?",
                both,
            ),
            ("shoe size 31 now, how do they do it", both),
            ("is Toni coming", both),
            ("thanks!", neither),
            ("haha ok good night", neither),
            ("hi", neither),
            ("🎉", neither),
        ] {
            let Act { asks, states } = speech_act(text);
            assert_eq!((asks, states), expected, "{text}");
        }
    }

    #[test]
    fn small_talk_is_told_from_questions_and_notes() {
        for (text, small_talk) in [
            ("thanks!", true),
            ("🎉", true),
            ("", true),
            ("Good morning, Muninn!", true),
            ("haha ok good night", true),
            ("ありがとう!", true),
            ("Danke dir!", true),
            ("danke für den Schlüssel", false),
            ("vielen Dank", true),
            ("Danke schön!", true),
            ("herzlichen Dank", true),
            ("vielen Dank für den Schlüssel", false),
            ("un grand merci", true),
            ("mil gracias", true),
            ("¡muchísimas gracias!", true),
            ("muito obrigado", true),
            ("ありがとうございました", true),
            ("how are you today?", true),
            ("谢谢", true),
            ("who's on call?", false),
            ("good?", false),
            ("and him?", false),
            ("the gateway is down", false),
        ] {
            assert_eq!(is_small_talk(text), small_talk, "{text}");
        }
    }
}
