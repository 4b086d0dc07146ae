//! Wishes to have something forgotten: "please forget everything I said", "vergiss den Tresorcode".

use super::clause::LEADING;
use super::phrases::{asks_to_forget_this, only_closes};
use crate::language::{self, WordList};
use crate::text::{lower, tokens};

/// Imperatives of forgetting.
const FORGET: WordList = WordList::of(
    "forget vergiss vergesst oublie oubliez olvida olvide olvídate esquece esqueça esqueçam",
);
/// Imperatives of deleting. Files and branches are deleted, too, so these need a word of [`SAID`], or what is one's own.
const DELETE: WordList = WordList::of(
    "delete erase remove lösch lösche löscht entferne efface effacez supprime supprimez borra borre elimina elimine apaga \
    apague exclui exclua",
);
const SAID: WordList = WordList::of(
    "said told wrote asked mentioned gesagt erzählt geschrieben gefragt erwähnt dit raconté écrit demandé dije dicho \
    escribí conté pregunté disse falei escrevi contei perguntei",
);
const MY: WordList = WordList::of("my mein meine meinen mon mes mi mis minha minhas meu meus");
const OWN: WordList = WordList::of(
    "message messages note notes data nachricht nachrichten notiz notizen daten données mensaje mensajes nota notas datos \
    mensagem mensagens dados",
);
const ABOUT: WordList = WordList::of("about of über von sur de sobre");
const ME: WordList = WordList::of("me mich mir moi mí mim");
/// Words of requests before the verb: "can you", "könntest du".
const CAN: WordList = WordList::of("can could would will");
/// Words of politeness besides those of [`LEADING`].
const COURTEOUS: WordList =
    WordList::of("please pls kindly s'il te vous plaît plait svp stp por favor");
const NOT: WordList =
    WordList::of("not no never dont nicht nie niemals pas jamais nunca jamás não");
/// Maximum number of words of an object without one of [`OBJECTS`] before it: "forget Bergen", "vergiss Anna Weber".
const MAX_NAME: usize = 2;
/// Words that begin a clause about what is to be forgotten: "vergiss, was ich gesagt habe".
const WHAT: WordList = WordList::of("what that was dass das ce que");
/// Words that may follow an imperative of forgetting, besides numbers. Other words mostly begin a statement: "forget password
/// tickets go to Bob".
const OBJECTS: WordList = WordList::of(
    "it that this these those them everything anything all what whatever the a an any every about number our your his her \
    their es das dies dieses diese diesen alles was dass die den dem der ein eine einen über nummer unser unsere unseren \
    ça cela tout toutes ce le la les l un une notre nos eso esto todo lo el los las una nuestro nuestra que sobre isso isto \
    tudo o os as um uma do da dos das nosso nossa",
);
/// Words behind which there is often more than a wish: "forget that and tell me who has the key".
const JOINING: WordList = WordList::of("and but und aber et mais y pero e mas");
/// Words behind which something is to be done: "forget to lock up".
const TO: WordList = WordList::of("to zu de d a que not nicht");
/// In a longer text there is more than the wish.
const MOST_WORDS: usize = 12;
/// What ends a clause in Japanese.
const JAPANESE_CLAUSE_ENDS: [char; 9] = ['。', '、', '，', '！', '？', '!', '?', ',', '\n'];
/// Endings of wishes in Japanese. "忘れて" alone also continues a sentence.
const JAPANESE: [&str; 7] = [
    "忘れてください",
    "忘れて下さい",
    "忘れてね",
    "は忘れて",
    "ことを忘れて",
    "ことを消してください",
    "ことを削除してください",
];

/// Whether a text asks a bot to forget something, or means "never mind". What also states or asks something is no wish alone:
/// "Forget the Monday plan, we meet on Tuesday". In doubt it is none, as a wish is neither answered nor remembered.
pub fn asks_to_forget(text: &str) -> bool {
    asks_to_forget_this(text) || is_wish(&lower(text))
}

fn is_wish(lower: &str) -> bool {
    let trimmed = lower.trim_end_matches(['。', '！', '.', '!', ' ']);
    if JAPANESE.iter().any(|end| trimmed.ends_with(end)) {
        return !trimmed.contains(JAPANESE_CLAUSE_ENDS);
    }
    let all: Vec<&str> = tokens(lower).collect();
    let is_denied = |word: &&str| NOT.has(word) || word.ends_with("n't");
    let is_joined = all.iter().skip(1).any(|word| JOINING.has(word));
    if all.len() > MOST_WORDS || is_joined || all.iter().any(is_denied) {
        return false;
    }
    let clauses = lower.split([',', '.', '!', '?', ';', ':', '–', '—', '\n']);
    let clauses: Vec<Vec<&str>> = clauses
        .map(|clause| tokens(clause).collect::<Vec<&str>>())
        .filter(|clause| !clause.iter().all(says_nothing))
        .collect();
    let is_about_it =
        |clause: &Vec<&str>| WHAT.has(clause[0]) && clause.iter().any(|word| SAID.has(word));
    let is_imperative = !lower.contains(['?', '？', '¿']);
    begins(&clauses.concat(), is_imperative) && clauses.iter().skip(1).all(is_about_it)
}

/// Whether a word in a clause of its own adds nothing to a wish: politeness, or a number as in "forget 1, 2".
fn says_nothing(word: &&str) -> bool {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    is_number || LEADING.has(word) || COURTEOUS.has(word) || only_closes(word)
}

/// Whether words begin with a wish. `is_imperative`: they have no question mark, which only "can you" may have.
fn begins(words: &[&str], is_imperative: bool) -> bool {
    let words = past_politeness(words);
    let wish = match words {
        [can, "you", rest @ ..] if CAN.has(can) => past_politeness(rest),
        words if is_imperative => words,
        _question => return false,
    };
    let is_own = |pair: &[&str]| {
        (MY.has(pair[0]) && OWN.has(pair[1])) || (ABOUT.has(pair[0]) && ME.has(pair[1]))
    };
    match wish {
        [] => false,
        [verb, object @ ..] if FORGET.has(verb) => begins_object(object),
        [verb, ..] => {
            DELETE.has(verb)
                && (words.iter().any(|word| SAID.has(word)) || words.windows(2).any(is_own))
        }
    }
}

fn past_politeness<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    let leads =
        |word: &&&str| language::is_polite(word) || LEADING.has(word) || COURTEOUS.has(word);
    &words[words.iter().take_while(leads).count()..]
}

/// Whether words name what is to be forgotten.
fn begins_object(words: &[&str]) -> bool {
    let words = past_politeness(words);
    // "Olvídate de la clave".
    let words = words.strip_prefix(&["de"]).unwrap_or(words);
    // Two words after the verb are no statement: "forget password tickets go to Bob" has more.
    let is_name = |first: &str| words.len() <= MAX_NAME && !TO.has(first);
    words.first().is_some_and(|first| {
        let head = first.split('\'').next().unwrap_or(first);
        let is_number = head.bytes().all(|byte| byte.is_ascii_digit());
        is_number || OBJECTS.has(head) || MY.has(head) || ME.has(head) || is_name(head)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speech::needs_no_recall;

    #[test]
    fn who_wants_something_forgotten_is_told_from_who_states_something() {
        for text in [
            "forget it",
            "forget the vault code",
            "please forget everything I said",
            "Please forget everything I said, thanks!",
            "delete what I said about the vault",
            "delete my messages",
            "delete everything about me",
            "Can you please forget the vault code?",
            "forget 1,2",
            "forget -1",
            "forget number 1",
            "Vergiss den Tresorcode",
            "Vergiss bitte alles, was ich gesagt habe.",
            "Lösche alles, was ich gesagt habe",
            "oublie le code du coffre, s'il te plaît",
            "olvida lo que dije",
            "esquece o que eu disse",
            "Vergiss, was ich gesagt habe",
            "oublie l'adresse",
            "olvídate de la clave",
            "金庫の番号を忘れてください。",
            "forget Bergen",
            "Forget Bergen please",
            "oublie Gustavo",
            "vergiss Anna Weber",
        ] {
            assert!(asks_to_forget(text), "{text}");
        }
        for text in [
            "remember to delete the old branch",
            "Delete the old branch after the release.",
            "how do I delete a message?",
            "did you forget it?",
            "I forget the code",
            "You forget everything I said",
            "Don't forget the vault code",
            "forget to lock",
            "forget to lock the door and the alarm rings",
            "Forget the Monday plan, we meet on Tuesday",
            "Vergiss nicht, die Tür zu schließen",
            "N'oublie pas la clé",
            "J'oublie toujours la clé",
            "no olvides la llave",
            "傘を忘れて帰りました",
            "Forget the other one, what is the door code of the boathouse?",
            "Forget about the cat and tell me the door code of the boathouse",
            "Forget that and tell me who does password resets?",
            "Forget the vault code, that is the door code",
            "Vergiss es, was ist der door code of the boathouse?",
            "Forget password tickets go to Bob in Lagos",
            "forget the vault code?",
            "oublie de fermer la porte",
            "会議は金曜の15時に変わりました。前の予定は忘れてください。",
            "会議は金曜に変わったので、前の予定は忘れてください",
        ] {
            assert!(!asks_to_forget(text), "{text}");
        }
    }

    #[test]
    fn what_is_to_be_forgotten_may_be_looked_up() {
        for (text, needs_none) in [
            ("forget it", true),
            ("forget the vault code", false),
            ("delete what I said about the vault", false),
        ] {
            assert_eq!(needs_no_recall(text), needs_none, "{text}");
        }
    }
}
