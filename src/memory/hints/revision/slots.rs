//! Where the words of a statement stand, to tell another name in the same place from other words for the same thing.

use std::collections::HashMap;

use crate::retrieval::language::{WordList, is_auxiliary};

/// Function words before a verb, and not before the name of something.
const PRONOUNS: WordList = WordList::of(
    "i you he she it we they who that which ich du er sie es wir ihr man je tu il elle nous vous ils elles qui yo él ella \
    nosotros ellos ellas se eu ele ela nós eles elas io lui lei noi loro si ik jij hij zij wij ze ja ty ona oni я ты он \
    она мы вы они",
);

/// Where a name stands in a statement: the word on each side, if it may stand beside a name. "In Berlin", "the staging
/// database".
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    /// A preposition or an article; empty at the beginning of the text.
    before: Option<String>,
    /// An auxiliary verb or a word of content.
    after: Option<String>,
}

impl Slot {
    pub(super) fn is(&self, other: &Self) -> bool {
        let is_same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
        is_same(&self.before, &other.before) || is_same(&self.after, &other.after)
    }
}

/// Records the slots of a text's words, one after the other.
pub(super) struct SlotReader<'a> {
    slots: &'a mut HashMap<String, Slot>,
    before: Option<String>,
    /// The stem of the last word, if its slot lacks the word behind.
    last: Option<String>,
}

impl<'a> SlotReader<'a> {
    pub(super) fn new(slots: &'a mut HashMap<String, Slot>) -> Self {
        Self {
            slots,
            before: Some(String::new()),
            last: None,
        }
    }

    /// Goes on to a word, with its stem if it is of the subject.
    pub(super) fn read(&mut self, word: &str, stem: Option<&str>, is_stop_word: bool) {
        let is_auxiliary = is_auxiliary(word);
        let last = self.last.take().filter(|_| is_auxiliary || !is_stop_word);
        if let Some(slot) = last.and_then(|last| self.slots.get_mut(&last)) {
            slot.after = Some(word.to_owned());
        }
        let before = self.before.take();
        if let Some(stem) = stem.filter(|stem| !self.slots.contains_key(*stem)) {
            let slot = Slot {
                before,
                after: None,
            };
            self.slots.insert(stem.to_owned(), slot);
            self.last = Some(stem.to_owned());
        }
        let leads_to_name = is_stop_word && !is_auxiliary && !PRONOUNS.has(word);
        self.before = leads_to_name.then(|| word.to_owned());
    }
}
