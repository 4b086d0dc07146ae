//! Remembers conversations whose thread could not be opened, so that their answers stand in the
//! channel. A conversation is named after its thread; one without is not taken for one whose thread
//! was deleted, and forgotten.

use std::collections::BTreeSet;

use muninn_platform::Missed;
use parking_lot::Mutex;
use serenity::model::id::ChannelId;

use crate::ids::number;
use crate::kept_lines::KeptLines;

/// Maximum number of remembered conversations: more of the newest are not checked at a start.
const MOST: usize = 4_096;

/// The threads that could not be opened. Kept in a file: one on each line.
#[derive(Debug)]
pub(crate) struct UnopenedThreads {
    kept: KeptLines,
    /// Ordered by age, as their ids are.
    threads: Mutex<BTreeSet<ChannelId>>,
}

impl UnopenedThreads {
    /// Opens the file beside that of the time. Where it is absent or cannot be read, every thread
    /// was opened.
    pub(crate) fn open(missed: &Missed) -> Self {
        let kept = KeptLines::beside(missed, "unopened");
        let threads = kept.read(|line| number(line).map(ChannelId::new));
        let threads = threads.unwrap_or_else(|error| {
            tracing::warn!(%error, "which threads could not be opened cannot be read; what was answered beside them may be forgotten");
            BTreeSet::new()
        });
        Self {
            kept,
            threads: Mutex::new(threads),
        }
    }

    /// Records that a thread could not be opened.
    pub(crate) fn add(&self, thread: ChannelId) {
        let mut threads = self.threads.lock();
        if threads.insert(thread) {
            if threads.len() > MOST {
                threads.pop_first();
            }
            self.write(&threads);
        }
    }

    /// Records that it exists after all.
    pub(crate) fn remove(&self, thread: ChannelId) {
        let mut threads = self.threads.lock();
        if threads.remove(&thread) {
            self.write(&threads);
        }
    }

    pub(crate) fn has(&self, thread: ChannelId) -> bool {
        self.threads.lock().contains(&thread)
    }

    fn write(&self, threads: &BTreeSet<ChannelId>) {
        let lines = threads.iter().map(ToString::to_string);
        if let Err(error) = self.kept.replace(lines) {
            tracing::error!(%error, file = ?self.kept.file(), "which threads could not be opened could not be kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_opened_is_known_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let missed = Missed {
            file: Some(folder.path().join("discord-seen")),
            ..Missed::default()
        };
        let [one, two, three] = [1, 2, 3].map(ChannelId::new);
        let unopened = UnopenedThreads::open(&missed);
        unopened.add(one);
        unopened.add(two);
        unopened.remove(one);
        unopened.remove(three);
        let unopened = UnopenedThreads::open(&missed);
        let known = [one, two, three].map(|thread| unopened.has(thread));
        assert_eq!(known, [false, true, false]);
    }
}
