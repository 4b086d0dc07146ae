//! Reads what a text says of changes for certain, and not what it denies ("has not moved"), supposes ("if QA fails, …") or
//! wishes ("Anna suggested to raise it").

#[cfg(test)]
mod tests;

use super::words::{WordRole, word_role};
use crate::retrieval::language::{Guess, Language, WordList, is_auxiliary};
use crate::retrieval::text::lowercase_words;

/// Words that deny the change that follows.
pub(super) const DENYING: WordList = WordList::of(
    "not never nothing no nicht nie nichts kein keine keinen pas jamais rien nunca nada não non mai niente niet nooit niets не \
    никогда",
);
/// Words of change that say it together with such a word: "no longer", "not allowed".
const BESIDE_DENYING: WordList = WordList::of(
    "longer anymore rather instead allowed forbidden banned mehr sondern doch erlaubt verboten interdit prohibido vietato \
    toegestaan zakazane запрещено больше",
);
/// Verbs to which "statt" belongs.
const HAPPENS: WordList = WordList::of("findet finden fand fanden");
/// Maximum number of function words between a word that denies and what it denies: "is not going to be moved".
const MOST_BETWEEN: usize = 3;

/// Marks behind which a sentence ends.
const SENTENCES: [char; 6] = ['.', '!', '?', ';', ':', '\n'];
/// Marks behind which a clause ends.
const CLAUSES: [char; 1] = [','];

/// Words of a language that make a sentence a condition, a wish, or something that somebody only said.
const fn supposing(language: Language) -> WordList {
    WordList::of(match language {
        Language::German => {
            "wenn falls vielleicht will wollen wollte wollten möchte möchten könnte könnten schlägt schlug vorgeschlagen \
            behauptet behauptete"
        }
        Language::French => {
            "si voudrait voudraient pourrait pourraient propose proposent suggère suggéré prétend"
        }
        Language::Spanish => {
            "si quizás quizá podría podrían quiere quieren quisiera propone propuso sugiere sugirió"
        }
        Language::Portuguese => "talvez poderia poderiam quer querem propõe propôs sugere sugeriu",
        Language::Italian => {
            "se forse potrebbe potrebbero vuole vogliono vorrebbe propone suggerisce"
        }
        Language::Dutch => "indien misschien wil willen zou zouden voorgesteld",
        Language::Polish => "jeśli jeżeli może mogłoby chce proponuje zaproponował zaproponowała",
        Language::Russian => "если возможно может хочет предлагает предложил предложила",
        Language::English | Language::Chinese | Language::Japanese | Language::Korean => {
            "if might maybe perhaps wonder wonders wondering suggest suggests suggested propose proposes proposed claimed"
        }
    })
}

/// Words that do so before a certain other: "may be" is no month, and "wants to" is about something to do.
fn suppose(pair: &[&str]) -> bool {
    matches!(
        pair,
        ["may", "be" | "have" | "get" | "move" | "change"] | ["want" | "wants" | "wanted", "to"]
    )
}

/// Whether a word of change says nothing of one where it stands: "takes place", "findet in der Aula statt", "a lieu", "vindt plaats",
/// "una vez", "open over Christmas", "mehr Kartons".
fn says_otherwise(words: &[String], at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |at| &*words[at]);
    let after = words.get(at + 1).map_or("", String::as_str);
    match &*words[at] {
        "takes" => after == "place",
        "statt" => words.iter().any(|word| HAPPENS.has(word)),
        "lieu" => before != "au",
        "plaats" => after != "van",
        "vez" => before != "en",
        "over" => !is_auxiliary(before) && before != "s",
        "mehr" => !words.iter().any(|word| DENYING.has(word)),
        _ => false,
    }
}

/// What a text says of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SaidChanges {
    /// It says that something has changed.
    pub(super) changes: bool,
    /// It withdraws something.
    pub(super) revokes: bool,
    /// It withdraws all that it is about.
    pub(super) withdraws: bool,
    /// It says something new that holds.
    is_certain: bool,
    /// It says something new that is denied or supposed.
    is_denied_or_supposed: bool,
}

impl From<WordRole> for SaidChanges {
    fn from(role: WordRole) -> Self {
        Self {
            changes: role.changes,
            revokes: role.revokes,
            withdraws: role.withdraws,
            ..Self::default()
        }
    }
}

impl SaidChanges {
    pub(super) fn of(text: &str) -> Self {
        let clauses = |sentence| parts(sentence, &CLAUSES).into_iter().map(lowercase_words);
        let sentences = parts(text, &SENTENCES).into_iter();
        let sentences: Vec<Vec<Vec<String>>> = sentences
            .map(|sentence| clauses(sentence).collect())
            .collect();
        let words = sentences.iter().flatten().flatten();
        let guess = Guess::of(words.map(String::as_str));
        let supposing = supposing(guess.language());
        let mut said = Self::default();
        for clauses in &sentences {
            let words: Vec<&str> = clauses.iter().flatten().map(String::as_str).collect();
            let is_supposed =
                words.iter().any(|word| supposing.has(word)) || words.windows(2).any(suppose);
            for clause in clauses {
                let clause = Self::of_clause(clause, guess);
                said = said.and(if is_supposed {
                    clause.supposed()
                } else {
                    clause
                });
            }
        }
        said
    }

    fn of_clause(words: &[String], guess: Guess) -> Self {
        let mut said = Self::default();
        // "No standup on Friday" revokes something; "no" in "no changes" and "no se ha cancelado" does not.
        let mut says_none = Self::default();
        let mut names_value = false;
        // Number of the following words that may be denied.
        let mut denied = 0;
        for (at, word) in words.iter().enumerate() {
            let role = if says_otherwise(words, at) {
                WordRole::default()
            } else {
                word_role(word)
            };
            names_value |= word.bytes().any(|byte| byte.is_ascii_digit());
            let tells_change = role.changes || role.revokes;
            if tells_change && denied > 0 && !BESIDE_DENYING.has(word) {
                said.is_denied_or_supposed = true;
            } else if DENYING.has(word) {
                says_none = says_none.and(role.into());
            } else {
                said = said.and(role.into());
            }
            denied = match &**word {
                // "No, it was moved" denies something else.
                "no" if guess.language() == Language::English => 1,
                word if DENYING.has(word) => MOST_BETWEEN + 1,
                word if guess.is_stop_word(word) || word == "going" => denied.saturating_sub(1),
                _ => 0,
            };
        }
        if !said.is_denied_or_supposed {
            said = said.and(says_none);
        }
        said.is_certain =
            said.changes || said.revokes || (names_value && !said.is_denied_or_supposed);
        said
    }

    /// The same, if it is only supposed.
    fn supposed(self) -> Self {
        Self {
            is_denied_or_supposed: self.is_certain || self.is_denied_or_supposed,
            ..Self::default()
        }
    }

    /// The same, if a phrase says that something else is so instead.
    pub(super) fn with_change(self) -> Self {
        Self {
            changes: true,
            is_certain: true,
            ..self
        }
    }

    /// The same, if a phrase takes back something.
    pub(super) fn with_withdrawal(self) -> Self {
        Self {
            revokes: true,
            withdraws: true,
            is_certain: true,
            ..self
        }
    }

    /// What two texts say together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            changes: self.changes || other.changes,
            revokes: self.revokes || other.revokes,
            withdraws: self.withdraws || other.withdraws,
            is_certain: self.is_certain || other.is_certain,
            is_denied_or_supposed: self.is_denied_or_supposed || other.is_denied_or_supposed,
        }
    }

    /// Whether nothing new that it says holds.
    pub(super) fn are_doubtful(self) -> bool {
        self.is_denied_or_supposed && !self.is_certain
    }
}

/// The clauses of a text.
pub(super) fn clauses(text: &str) -> Vec<&str> {
    let sentences = parts(text, &SENTENCES).into_iter();
    let clauses = sentences.flat_map(|sentence| parts(sentence, &CLAUSES));
    clauses.filter(|clause| !clause.trim().is_empty()).collect()
}

/// The parts of a text between marks that end in a blank. A point behind a digit ends no sentence: "on the 5. of March".
fn parts<'a>(text: &'a str, marks: &[char]) -> Vec<&'a str> {
    let (mut parts, mut start, mut before) = (Vec::new(), 0, ' ');
    let mut chars = text.char_indices().peekable();
    while let Some((at, mark)) = chars.next() {
        let is_last = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        let is_ordinal = mark == '.' && before.is_ascii_digit();
        if marks.contains(&mark) && (mark == '\n' || (is_last && !is_ordinal)) {
            parts.push(&text[start..at]);
            start = at + mark.len_utf8();
        }
        before = mark;
    }
    parts.push(&text[start..]);
    parts
}
