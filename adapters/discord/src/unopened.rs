//! Remembers conversations whose thread could not be opened, so that their answers stand in the
//! channel. A conversation is named after its thread; one without is not taken for one whose thread
//! was deleted, and forgotten, unless its channel was.

use std::collections::BTreeMap;

use muninn_platform::Missed;
use parking_lot::Mutex;
use serenity::model::id::ChannelId;

use crate::ids::number;
use crate::kept_lines::KeptLines;

/// Maximum number of remembered conversations: more of the newest are not checked at a start.
const MOST: usize = 4_096;

/// The threads that could not be opened, and the channels of their questions. Kept in a file: on each
/// line a thread and its channel.
#[derive(Debug)]
pub(crate) struct UnopenedThreads {
    kept: KeptLines,
    /// Ordered by age, as their ids are.
    threads: Mutex<BTreeMap<ChannelId, ChannelId>>,
}

impl UnopenedThreads {
    /// Opens the file beside that of the time. Where it is absent or cannot be read, every thread
    /// was opened.
    pub(crate) fn open(missed: &Missed) -> Self {
        let kept = KeptLines::beside(missed, "unopened");
        let threads = kept.read(pair).unwrap_or_else(|error| {
            tracing::warn!(%error, "which threads could not be opened cannot be read; what was answered beside them may be forgotten");
            BTreeMap::new()
        });
        Self {
            kept,
            threads: Mutex::new(threads),
        }
    }

    /// Records that a thread could not be opened at a question in this channel.
    pub(crate) fn add(&self, thread: ChannelId, channel: ChannelId) {
        let mut threads = self.threads.lock();
        if threads.insert(thread, channel) != Some(channel) {
            if threads.len() > MOST {
                threads.pop_first();
            }
            self.write(&threads);
        }
    }

    /// Records that it exists after all.
    pub(crate) fn remove(&self, thread: ChannelId) {
        let mut threads = self.threads.lock();
        if threads.remove(&thread).is_some() {
            self.write(&threads);
        }
    }

    /// Returns the channel in which the answers stand; `None` if nothing is known of a thread that
    /// could not be opened.
    pub(crate) fn channel_of(&self, thread: ChannelId) -> Option<ChannelId> {
        self.threads.lock().get(&thread).copied()
    }

    fn write(&self, threads: &BTreeMap<ChannelId, ChannelId>) {
        let lines = threads.iter();
        let lines = lines.map(|(thread, channel)| format!("{thread} {channel}"));
        if let Err(error) = self.kept.replace(lines) {
            tracing::error!(%error, file = ?self.kept.file(), "which threads could not be opened could not be kept");
        }
    }
}

fn pair(line: &str) -> Option<(ChannelId, ChannelId)> {
    let (thread, channel) = line.split_once(' ')?;
    Some((
        ChannelId::new(number(thread)?),
        ChannelId::new(number(channel.trim())?),
    ))
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
        let [one, two, three, channel] = [1, 2, 3, 9].map(ChannelId::new);
        let unopened = UnopenedThreads::open(&missed);
        unopened.add(one, channel);
        unopened.add(two, channel);
        unopened.remove(one);
        unopened.remove(three);
        let unopened = UnopenedThreads::open(&missed);
        let known = [one, two, three].map(|thread| unopened.channel_of(thread));
        assert_eq!(known, [None, Some(channel), None]);
    }
}
