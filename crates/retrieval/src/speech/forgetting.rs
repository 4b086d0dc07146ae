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
/// Words that begin a clause about what is to be forgotten: "vergiss, was ich gesagt habe".
const WHAT: WordList = WordList::of("what that was dass das ce que");
/// In a longer text there is more than the wish.
const MOST_WORDS: usize = 12;
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

/// Whether a text asks a bot to forget something, or means "never mind". What also states something asks for nothing: "Forget
/// the Monday plan, we meet on Tuesday".
pub fn asks_to_forget(text: &str) -> bool {
    asks_to_forget_this(text) || is_wish(&lower(text))
}

fn is_wish(lower: &str) -> bool {
    let trimmed = lower.trim_end_matches(['。', '！', '.', '!', ' ']);
    if JAPANESE.iter().any(|end| trimmed.ends_with(end)) {
        return true;
    }
    let all: Vec<&str> = tokens(lower).collect();
    let is_denied = |word: &&str| NOT.has(word) || word.ends_with("n't");
    if all.len() > MOST_WORDS || all.iter().any(is_denied) {
        return false;
    }
    let clauses = lower.split([',', '.', '!', '?', ';', ':', '–', '—', '\n']);
    let mut clauses = clauses
        .map(|clause| tokens(clause).collect::<Vec<&str>>())
        .filter(|clause| !clause.iter().all(says_nothing));
    let is_begun = clauses.next().is_some_and(|first| begins(&first, &all));
    is_begun && clauses.all(|clause| WHAT.has(clause[0]))
}

/// Whether a word in a clause of its own adds nothing to a wish: politeness, or a number as in "forget 1, 2".
fn says_nothing(word: &&str) -> bool {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    is_number || LEADING.has(word) || COURTEOUS.has(word) || only_closes(word)
}

/// Whether a clause begins with the wish; `all` are the words of the whole text.
fn begins(clause: &[&str], all: &[&str]) -> bool {
    let leads =
        |word: &&&str| language::is_polite(word) || LEADING.has(word) || COURTEOUS.has(word);
    let without = |words: &[&str]| words.iter().take_while(leads).count();
    let clause = &clause[without(clause)..];
    let clause = match clause {
        [can, "you", rest @ ..] if CAN.has(can) => &rest[without(rest)..],
        clause => clause,
    };
    let is_own = |pair: &[&str]| {
        (MY.has(pair[0]) && OWN.has(pair[1])) || (ABOUT.has(pair[0]) && ME.has(pair[1]))
    };
    match clause {
        ["forget", "to", ..] | [] => false,
        [verb, ..] if FORGET.has(verb) => true,
        [verb, ..] => {
            DELETE.has(verb)
                && (all.iter().any(|word| SAID.has(word)) || all.windows(2).any(is_own))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "金庫の番号を忘れてください。",
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
            "forget to lock the door and the alarm rings",
            "Forget the Monday plan, we meet on Tuesday",
            "Vergiss nicht, die Tür zu schließen",
            "N'oublie pas la clé",
            "J'oublie toujours la clé",
            "no olvides la llave",
            "傘を忘れて帰りました",
        ] {
            assert!(!asks_to_forget(text), "{text}");
        }
    }
}
