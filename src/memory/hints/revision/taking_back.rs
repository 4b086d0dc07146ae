//! Finds phrases that take back what was said without a word of change: "scrap that", "das stimmt nicht mehr", "forget what I said
//! about the blue boxes".

use super::changes::{DENYING, clauses};
use crate::retrieval::language::WordList;
use crate::retrieval::text::lowercase_words;

/// Clauses that take back what was said just before.
const TAKING_BACK: [&str; 42] = [
    "scrap that",
    "scratch that",
    "strike that",
    "ignore that",
    "disregard that",
    "forget that",
    "i take that back",
    "i take it back",
    "not anymore",
    "not any more",
    "doch nicht",
    "jetzt doch nicht",
    "nun doch nicht",
    "dann doch nicht",
    "kommando zurück",
    "vergiss das",
    "vergesst das",
    "streich das",
    "streicht das",
    "ich nehme das zurück",
    "finalement non",
    "finalement pas",
    "oublie ça",
    "oubliez ça",
    "al final no",
    "olvida eso",
    "retiro lo dicho",
    "afinal não",
    "esquece isso",
    "esqueça isso",
    "retiro o que disse",
    "alla fine no",
    "come non detto",
    "toch niet",
    "vergeet dat",
    "ik neem dat terug",
    "jednak nie",
    "zapomnij o tym",
    "cofam to",
    "забудь об этом",
    "забудьте об этом",
    "беру свои слова обратно",
];
/// Ends of clauses that say that something is no longer true. "N'est plus" is read as "est plus".
const NO_LONGER_TRUE: [&str; 20] = [
    "no longer true",
    "no longer correct",
    "no longer the case",
    "no longer right",
    "not true anymore",
    "not true any more",
    "not the case anymore",
    "not the case any more",
    "stimmt nicht mehr",
    "stimmen nicht mehr",
    "est plus vrai",
    "est plus le cas",
    "ya no es cierto",
    "ya no es verdad",
    "já não é verdade",
    "non è più vero",
    "klopt niet meer",
    "is niet meer waar",
    "już nieprawda",
    "уже не так",
];
/// Ends of clauses that say that something was wrong. They may be about what was done ("we sold it, that was a mistake"), so
/// they take back only what was said.
const WRONG: [&str; 17] = [
    "wrong",
    "a mistake",
    "falsch",
    "ein fehler",
    "ein irrtum",
    "stimmt nicht",
    "faux",
    "une erreur",
    "falso",
    "un error",
    "errado",
    "um erro",
    "sbagliato",
    "un errore",
    "fout",
    "klopt niet",
    "ошибка",
];
/// Words that add nothing at the beginning of a clause.
const LEADING: WordList = WordList::of(
    "no oh ah ok okay sorry actually wait please well but and so nein ach halt bitte aber und also non pardon désolé mais et \
    perdón pero y desculpa mas e scusa ma nee maar en nie przepraszam ale нет извини но а",
);
/// Words for what was said before.
const POINTING: WordList = WordList::of(
    "that this it all is das dies es alles ist ce ça cela tout c eso esto todo isso isto tudo questo ciò tutto dat dit het \
    to jest это всё",
);
const WAS: WordList = WordList::of(
    "i was war est était es fue estaba era é foi estava è stato stata to był była была",
);
const FORGET: WordList = WordList::of(
    "forget ignore disregard scrap scratch vergiss vergesst vergesset ignoriere ignoriert oublie oubliez ignorez olvida olviden \
    ignora ignoren esquece esqueça esqueçam ignorem dimentica dimenticate ignorate vergeet negeer zapomnij zapomnijcie \
    забудь забудьте",
);
const WHAT: WordList = WordList::of("what was ce que quello ciò wat co что");
/// "Please say whether what I said was wrong."
const WHETHER: WordList = WordList::of("if whether ob czy ли если");
const SAID: WordList = WordList::of(
    "said told wrote mentioned posted gesagt erzählt geschrieben erwähnt dit écrit dije dicho escribí falei escrevi disse detto \
    scritto zei gezegd schreef geschreven powiedziałem powiedziałam mówiłem mówiłam napisałem napisałam сказал сказала говорил \
    говорила писал писала написал написала",
);
const I: WordList = WordList::of("i ich yo eu io ik ja я");
/// Verbs that say "I" themselves.
const I_SAID: WordList = WordList::of(
    "dije escribí falei escrevi powiedziałem powiedziałam mówiłem mówiłam napisałem napisałam",
);
/// "I have", before "said".
const I_HAVE: WordList = WordList::of("ai he ho");
/// Words beside what something was said about: "the thing with the boxes", "what I said yesterday".
const BESIDE: WordList = WordList::of(
    "thing part bit yesterday earlier before just sache ding gestern vorhin eben chose hier cosa ayer antes coisa ontem ieri \
    prima zaak gisteren net sprawa tym wczoraj дело вчера",
);

/// Maximum length of a text in bytes: in a longer one, such a phrase is one of many things that it says.
const MOST_BYTES: usize = 400;

/// Minimum number of words that name what a phrase takes back: with fewer, it may be about much else.
pub(super) const LEAST_NAMED: usize = 2;

/// What a text takes back by a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Withdrawal {
    /// What was said just before it.
    OfLast,
    /// What it names.
    OfNamed,
    /// What its author said of what it names.
    OfOwnWords,
    /// What was said before, to say something else instead.
    ForAnother,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    TakesBack,
    NoLongerTrue,
    /// It names what is no longer true.
    Named,
    /// It names what its author said.
    OwnWords,
    Wrong,
    Other,
}

/// What a text takes back by a phrase, and the words of the phrase, which are not what it is about.
pub(super) fn withdrawal(text: &str) -> Option<(Withdrawal, Vec<String>)> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let clauses = read_clauses(text);
    let roles: Vec<Role> = clauses.iter().map(|clause| role(clause)).collect();
    let is_all = !roles.contains(&Role::Other);
    let withdrawal = match roles.as_slice() {
        [Role::TakesBack | Role::NoLongerTrue, ..] if is_all => Withdrawal::OfLast,
        [Role::Named, ..] if is_all => Withdrawal::OfNamed,
        [Role::OwnWords, ..] if is_all => Withdrawal::OfOwnWords,
        [
            Role::TakesBack | Role::NoLongerTrue | Role::Named | Role::OwnWords,
            ..,
        ] => Withdrawal::ForAnother,
        // "The boxes are in shed 3, that is no longer true."
        [Role::Other, Role::NoLongerTrue] => Withdrawal::OfNamed,
        [Role::Other | Role::Wrong, ..] | [] => return None,
    };
    let is_of_phrase = |role: Role, word: &String| match role {
        Role::TakesBack | Role::NoLongerTrue | Role::Wrong => true,
        Role::Named | Role::OwnWords => is_beside(word),
        Role::Other => false,
    };
    let read = clauses.into_iter().zip(roles);
    let phrase = read.flat_map(|(clause, role)| {
        let words = clause.into_iter();
        words.filter(move |word| is_of_phrase(role, word))
    });
    Some((withdrawal, phrase.collect()))
}

/// Whether a text only takes back what was said just before it.
pub(in crate::memory) fn only_takes_back(text: &str) -> bool {
    withdrawal(text).is_some_and(|(withdrawal, _)| withdrawal == Withdrawal::OfLast)
}

/// Whether a text begins with a phrase that takes back what was said just before it.
pub(in crate::memory) fn takes_back_the_last(text: &str) -> bool {
    if text.len() > MOST_BYTES {
        return false;
    }
    let first = read_clauses(text).first().map(|clause| role(clause));
    matches!(first, Some(Role::TakesBack | Role::NoLongerTrue))
}

/// The lower-case words of the clauses that say something.
fn read_clauses(text: &str) -> Vec<Vec<String>> {
    let text = [" - ", " – ", " — "]
        .iter()
        .fold(text.to_owned(), |text, dash| text.replace(*dash, ", "));
    let mut read: Vec<Vec<String>> = Vec::new();
    for clause in clauses(&text) {
        let words = lowercase_words(clause);
        if words.iter().all(|word| LEADING.has(word)) {
            continue;
        }
        // "Vergiss, was ich gesagt habe."
        let goes_on = words.first().is_some_and(|first| WHAT.has(first)) && i_said(&words);
        let may_go_on = |at: &usize| goes_on && is_wish(without_leading(&read[*at]));
        match read.len().checked_sub(1).filter(may_go_on) {
            Some(last) => read[last].extend(words),
            None => read.push(words),
        }
    }
    read
}

fn role(clause: &[String]) -> Role {
    let role = role_as_written(clause);
    match role {
        Role::Other => role_as_written(without_leading(clause)),
        Role::TakesBack | Role::NoLongerTrue | Role::Named | Role::OwnWords | Role::Wrong => role,
    }
}

fn role_as_written(words: &[String]) -> Role {
    let said = words.join(" ");
    let before = |ends: &[&str]| {
        let before = ends.iter().find_map(|end| {
            let before = said.strip_suffix(*end)?;
            (before.is_empty() || before.ends_with(' ')).then_some(before)
        })?;
        Some(&words[..before.split_whitespace().count()])
    };
    let names_own_words = |words: &[String]| {
        let has = |list: WordList| words.iter().any(|word| list.has(word));
        has(WHAT) && i_said(words) && !denies(words) && !has(WHETHER)
    };
    if TAKING_BACK.contains(&&*said) {
        Role::TakesBack
    } else if let Some(subject) = before(&NO_LONGER_TRUE) {
        match subject.iter().all(|word| POINTING.has(word)) {
            true => Role::NoLongerTrue,
            false if names_own_words(subject) => Role::OwnWords,
            false if denies(subject) => Role::Other,
            false => Role::Named,
        }
    } else if let Some(subject) = before(&WRONG) {
        let is_pointing = |word: &String| POINTING.has(word) || WAS.has(word);
        match subject.iter().all(is_pointing) {
            true => Role::Wrong,
            false if names_own_words(subject) => Role::OwnWords,
            false => Role::Other,
        }
    } else if is_wish(words) && names_own_words(words) {
        Role::OwnWords
    } else {
        Role::Other
    }
}

/// Whether words begin with a wish to forget something.
fn is_wish(words: &[String]) -> bool {
    words.first().is_some_and(|first| FORGET.has(first))
}

fn i_said(words: &[String]) -> bool {
    let has = |list: WordList| words.iter().any(|word| list.has(word));
    let have_said = |pair: &[String]| I_HAVE.has(&pair[0]) && SAID.has(&pair[1]);
    has(SAID) && (has(I) || has(I_SAID) || words.windows(2).any(have_said))
}

fn denies(words: &[String]) -> bool {
    words.iter().any(|word| DENYING.has(word))
}

/// Whether a word of a clause that names what is taken back says nothing of it.
fn is_beside(word: &str) -> bool {
    let is_of_end = |end: &&str| end.split(' ').any(|it| it == word);
    FORGET.has(word)
        || SAID.has(word)
        || BESIDE.has(word)
        || NO_LONGER_TRUE.iter().chain(&WRONG).any(is_of_end)
}

fn without_leading(words: &[String]) -> &[String] {
    let leading = words.iter().take_while(|word| LEADING.has(word)).count();
    let rest = &words[leading..];
    // "No olviden lo que dije": not to be forgotten.
    let is_denied = |last: &String| DENYING.has(last) || last == "nie";
    match words[..leading].last() {
        Some(last) if is_denied(last) && is_wish(rest) => words,
        Some(_) | None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_back_something_is_told_from_other_statements() {
        for (text, expected) in [
            ("Scrap that.", Some(Withdrawal::OfLast)),
            ("Sorry, scratch that", Some(Withdrawal::OfLast)),
            ("That's no longer true.", Some(Withdrawal::OfLast)),
            ("Not any more.", Some(Withdrawal::OfLast)),
            ("Doch nicht", Some(Withdrawal::OfLast)),
            ("das stimmt nicht mehr", Some(Withdrawal::OfLast)),
            ("Finalement non", Some(Withdrawal::OfLast)),
            ("Ce n'est plus vrai.", Some(Withdrawal::OfLast)),
            ("Al final no.", Some(Withdrawal::OfLast)),
            ("Eso ya no es cierto.", Some(Withdrawal::OfLast)),
            ("Afinal não.", Some(Withdrawal::OfLast)),
            ("Isso já não é verdade.", Some(Withdrawal::OfLast)),
            ("Come non detto.", Some(Withdrawal::OfLast)),
            ("Questo non è più vero.", Some(Withdrawal::OfLast)),
            ("Toch niet.", Some(Withdrawal::OfLast)),
            ("Dat klopt niet meer.", Some(Withdrawal::OfLast)),
            ("Jednak nie.", Some(Withdrawal::OfLast)),
            ("Беру свои слова обратно.", Some(Withdrawal::OfLast)),
            (
                "Scrap that, the supplier did not raise the price",
                Some(Withdrawal::ForAnother),
            ),
            (
                "Doch nicht - wir treffen uns am Freitag",
                Some(Withdrawal::ForAnother),
            ),
            (
                "Forget what I said about the blue boxes, that was wrong",
                Some(Withdrawal::OfOwnWords),
            ),
            (
                "What I said about the blue boxes was wrong.",
                Some(Withdrawal::OfOwnWords),
            ),
            (
                "Vergiss, was ich über die blauen Kisten gesagt habe.",
                Some(Withdrawal::OfOwnWords),
            ),
            (
                "Oublie ce que j'ai dit sur les boîtes bleues.",
                Some(Withdrawal::OfOwnWords),
            ),
            (
                "Olvida lo que dije sobre las cajas azules.",
                Some(Withdrawal::OfOwnWords),
            ),
            (
                "Forget what I said about the boxes. They go to Tom.",
                Some(Withdrawal::ForAnother),
            ),
            (
                "Das mit den blauen Kisten stimmt nicht mehr.",
                Some(Withdrawal::OfNamed),
            ),
            (
                "The blue boxes go to shed 3, that is no longer true.",
                Some(Withdrawal::OfNamed),
            ),
            // Other statements.
            ("We sold the van, that was a mistake.", None),
            ("That was wrong.", None),
            ("The price on the bill was wrong.", None),
            ("Don't forget what I said about the boxes.", None),
            ("Forget what Tom said about the boxes.", None),
            ("Please say if what I said about the boxes was wrong.", None),
            ("No olviden lo que dije sobre las cajas azules.", None),
            ("Non dimenticate quello che ho detto sulle scatole.", None),
            ("Nie zapomnij, co mówiłem o pudełkach.", None),
            ("Vergiss nicht, was ich gesagt habe.", None),
            ("Scrap metal goes to the yard.", None),
            ("Forget the Monday plan, we meet on Tuesday", None),
            ("Das kann doch nicht sein.", None),
            ("Ich komme doch nicht.", None),
            ("It is not the case that nothing is no longer true.", None),
            ("", None),
        ] {
            let found = withdrawal(text).map(|(withdrawal, _)| withdrawal);
            assert_eq!(found, expected, "{text}");
        }
    }
}
