//! The words of a clause.

use crate::language;
use crate::language::WordList;
use crate::text::{bare, tokens};

/// Words that may precede a question without being part of it.
pub(super) const LEADING: WordList = WordList::of(
    "and or but so also ok okay hey hi hello please sorry well muninn then und oder aber bitte hallo dann et ou mais \
    alors pero allora maar dus",
);

const WITHOUT_APOSTROPHE: WordList = WordList::of("hows whats whens wheres whos");

/// Pronouns as subjects: after a question word they make a clause ("what I need"), after a verb a question ("can I").
pub(super) const WHO_DOES: WordList = WordList::of(
    "i you he she it we they ich du er es wir ihr je tu il elle nous vous ils elles yo ella nosotros ellos eu ele \
    ela nós eles io lui lei noi loro ik jij je hij zij wij ze we ja ty ona oni я ты он она мы вы они",
);

/// The words of a clause, with the verb of "what's" and "we're" separated.
pub(super) fn in_full(clause: &str) -> Vec<&str> {
    let verb = |token: &str| match token.split_once('\'') {
        Some((head, "s")) if language::is_asking(head) || WHO_DOES.has(head) => Some("is"),
        Some((_, "re")) => Some("are"),
        Some((_, "ll")) => Some("will"),
        Some((_, "ve")) => Some("have"),
        Some((_, "m")) => Some("am"),
        Some((_, "d")) => Some("would"),
        Some(_) => None,
        None => WITHOUT_APOSTROPHE.has(token).then_some("is"),
    };
    let words = |token| std::iter::once(bare(token)).chain(verb(token));
    tokens(clause).flat_map(words).collect()
}
