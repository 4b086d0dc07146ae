//! Plans an ingest by comparing the hashes of what is read with those of what is stored.
//!
//! Only hashes are kept in memory, 32 bytes per record or twice that.

use std::collections::HashMap;

use super::record::{Hash, key_hash};

/// What to do with a record that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordStatus {
    /// It is already served.
    Unchanged,
    /// An earlier run has staged it.
    Staged,
    /// It has to be embedded and staged. `stale`: it replaces another staged record.
    Fresh { stale: bool },
    /// Another record of this source has the same key.
    Duplicate,
}

/// What is known of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyStatus {
    Kept,
    New,
}

/// What to do with a stored record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordAction {
    Keep,
    /// A new one replaces it.
    Replace,
    Remove,
}

/// The number of records per fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub removed: u64,
}

impl Counts {
    /// Returns the number of records in the new version.
    pub fn records(self) -> u64 {
        self.new + self.changed + self.unchanged
    }
}

/// Compares the records that are read with the stored ones.
#[derive(Debug, Default)]
pub(super) struct Plan {
    served: HashMap<Hash, Hash>,
    staged: HashMap<Hash, Hash>,
    seen: HashMap<Hash, KeyStatus>,
    counts: Counts,
}

/// A hash that matches nothing: for a record that has to be made again in any case.
pub(super) const OUTDATED: Hash = [0; 16];

impl Plan {
    pub(super) fn add_served(&mut self, key: &str, hash: Hash) {
        self.served.insert(key_hash(key), hash);
    }

    pub(super) fn add_staged(&mut self, key: &str, hash: Hash) {
        self.staged.insert(key_hash(key), hash);
    }

    pub(super) fn was_served(&self, key: &str) -> bool {
        self.served.contains_key(&key_hash(key))
    }

    /// Adds a record that was read, and compares it with what is served and staged.
    pub(super) fn add_record(&mut self, key: &str, hash: Hash) -> RecordStatus {
        let key = key_hash(key);
        if self.seen.contains_key(&key) {
            return RecordStatus::Duplicate;
        }
        let served = self.served.get(&key);
        if served == Some(&hash) {
            self.seen.insert(key, KeyStatus::Kept);
            self.counts.unchanged += 1;
            return RecordStatus::Unchanged;
        }
        self.seen.insert(key, KeyStatus::New);
        if served.is_some() {
            self.counts.changed += 1;
        } else {
            self.counts.new += 1;
        }
        match self.staged.get(&key) {
            Some(staged) if *staged == hash => RecordStatus::Staged,
            staged => RecordStatus::Fresh {
                stale: staged.is_some(),
            },
        }
    }

    /// Whether anything is served.
    pub(super) fn serves_any(&self) -> bool {
        !self.served.is_empty()
    }

    /// Keeps what is served of a record that could not be read, unless it would have to be made
    /// again.
    pub(super) fn keep(&mut self, key: &str) {
        let key = key_hash(key);
        let is_good = self.served.get(&key).is_some_and(|hash| *hash != OUTDATED);
        if is_good && !self.seen.contains_key(&key) {
            self.seen.insert(key, KeyStatus::Kept);
            self.counts.unchanged += 1;
        }
    }

    /// Returns the counts, once everything was compared.
    pub(super) fn counts(&self) -> Counts {
        let gone = self
            .served
            .keys()
            .filter(|key| !self.seen.contains_key(*key));
        Counts {
            removed: gone.count() as u64,
            ..self.counts
        }
    }

    /// Whether the new version would equal the served one.
    pub(super) fn changes_nothing(&self) -> bool {
        let Counts {
            new,
            changed,
            unchanged: _,
            removed,
        } = self.counts();
        new + changed + removed == 0
    }

    pub(super) fn fate(&self, key: &str) -> RecordAction {
        match self.seen.get(&key_hash(key)) {
            Some(KeyStatus::Kept) => RecordAction::Keep,
            Some(KeyStatus::New) => RecordAction::Replace,
            None => RecordAction::Remove,
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.seen.contains_key(&key_hash(key))
    }

    pub(super) fn is_new(&self, key: &str) -> bool {
        self.seen.get(&key_hash(key)) == Some(&KeyStatus::New)
    }

    /// Whether it is new, or does not exist any more.
    pub(super) fn has_moved(&self, key: &str) -> bool {
        let key = key_hash(key);
        match self.seen.get(&key) {
            Some(KeyStatus::New) => true,
            Some(KeyStatus::Kept) => false,
            None => self.served.contains_key(&key),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hash(n: u8) -> Hash {
        [n; 16]
    }

    #[test]
    fn each_record_meets_its_fate() {
        let mut plan = Plan::default();
        for (key, n) in [("same", 1), ("other", 2), ("gone", 3)] {
            plan.add_served(key, hash(n));
        }
        plan.add_staged("half", hash(5));
        plan.add_staged("stale", hash(6));
        assert_eq!(plan.add_record("same", hash(1)), RecordStatus::Unchanged);
        assert_eq!(
            plan.add_record("other", hash(9)),
            RecordStatus::Fresh { stale: false }
        );
        assert_eq!(plan.add_record("half", hash(5)), RecordStatus::Staged);
        assert_eq!(
            plan.add_record("stale", hash(7)),
            RecordStatus::Fresh { stale: true }
        );
        assert_eq!(plan.add_record("half", hash(8)), RecordStatus::Duplicate);
        let fates = ["same", "other", "gone", "half"].map(|key| plan.fate(key));
        assert_eq!(
            fates,
            [
                RecordAction::Keep,
                RecordAction::Replace,
                RecordAction::Remove,
                RecordAction::Replace
            ]
        );
        let counts = Counts {
            new: 2,
            changed: 1,
            unchanged: 1,
            removed: 1,
        };
        assert_eq!((plan.counts(), plan.counts().records()), (counts, 4));
        assert!(plan.has_moved("gone") && !plan.has_moved("same") && !plan.has_moved("never"));
        assert!(!plan.changes_nothing());
    }

    #[test]
    fn what_could_not_be_read_is_kept_if_it_is_served_and_good() {
        let mut plan = Plan::default();
        plan.add_served("read", hash(1));
        plan.add_served("unread", hash(2));
        plan.add_served("outdated", OUTDATED);
        plan.add_staged("staged", hash(3));
        plan.add_record("read", hash(9));
        for key in ["read", "unread", "outdated", "staged", "never"] {
            plan.keep(key);
        }
        let fates = ["read", "unread", "outdated"].map(|key| plan.fate(key));
        assert_eq!(
            fates,
            [
                RecordAction::Replace,
                RecordAction::Keep,
                RecordAction::Remove
            ]
        );
        assert!(!plan.has("staged") && !plan.has("never"));
        let counts = Counts {
            new: 0,
            changed: 1,
            unchanged: 1,
            removed: 1,
        };
        assert_eq!(plan.counts(), counts);
    }

    proptest! {
        /// Whatever was stored, the exchange leads to what was read.
        #[test]
        fn the_fates_lead_to_what_was_read(
            before in prop::collection::hash_map("[a-e]", 1..4_u8, 0..5),
            staged in prop::collection::hash_map("[a-e]", 1..4_u8, 0..5),
            after in prop::collection::hash_map("[a-e]", 1..4_u8, 0..5),
        ) {
            let mut plan = Plan::default();
            before.iter().for_each(|(key, n)| plan.add_served(key, hash(*n)));
            staged.iter().for_each(|(key, n)| plan.add_staged(key, hash(*n)));
            let mut waiting = staged.clone();
            for (key, n) in &after {
                if let RecordStatus::Fresh { stale } = plan.add_record(key, hash(*n)) {
                    prop_assert_eq!(stale, staged.contains_key(key));
                    waiting.insert(key.clone(), *n);
                }
            }
            waiting.retain(|key, _| plan.is_new(key));
            let mut served = before.clone();
            served.retain(|key, _| plan.fate(key) == RecordAction::Keep);
            served.extend(waiting);
            prop_assert_eq!(&served, &after);
            prop_assert_eq!(plan.changes_nothing(), before == after);
        }
    }
}
