//! Whether turns reach the graph, for whoever watches the bot.

use std::sync::atomic::Ordering;

use muninn_platform::count_with_noun;

use super::{Archive, TurnSaveOutcome};

impl Archive {
    /// Why turns do not reach the graph, as a sentence; `None` while they do.
    pub fn trouble(&self) -> Option<String> {
        if self.loses_turns.load(Ordering::Relaxed) {
            let lost = "the last turn could be saved neither in the graph nor in the journal; the log says why, such as a full disk";
            return Some(lost.to_owned());
        }
        self.is_away().then(|| {
            let waiting = count_with_noun(self.waiting(), "turn");
            format!("the graph is away; waiting in the journal: {waiting}")
        })
    }

    /// Records whether a turn was lost. A graph on this machine is never away, so nothing else tells of a full disk.
    pub(super) fn note_outcome(&self, kept: &TurnSaveOutcome) {
        match kept {
            TurnSaveOutcome::Graph | TurnSaveOutcome::Journal => {
                self.loses_turns.store(false, Ordering::Relaxed)
            }
            TurnSaveOutcome::Nowhere => self.loses_turns.store(true, Ordering::Relaxed),
            TurnSaveOutcome::Duplicate(_)
            | TurnSaveOutcome::Forgotten
            | TurnSaveOutcome::Unknown => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::graph::StoreError;
    use crate::graph::session::Sessions;
    use crate::graph::testing::failing_store;
    use crate::memory::keeping::journal::Journal;

    #[test]
    fn a_lost_turn_is_told_until_one_is_kept_again() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let store = failing_store(|| StoreError::Invalid("full".to_owned()));
        let archive = Archive::new(Arc::new(store), journal, Arc::new(Sessions::default()), 10);
        assert_eq!(archive.trouble(), None);
        for kept in [TurnSaveOutcome::Graph, TurnSaveOutcome::Journal] {
            archive.note_outcome(&TurnSaveOutcome::Nowhere);
            archive.note_outcome(&TurnSaveOutcome::Unknown);
            let told = archive.trouble().unwrap();
            assert!(
                told.contains("neither in the graph nor in the journal"),
                "{told}"
            );
            archive.note_outcome(&kept);
            assert_eq!(archive.trouble(), None, "{kept:?}");
        }
    }
}
