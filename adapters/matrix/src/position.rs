//! The adapter's own reading position.
//!
//! The SDK stores its own token before the events are processed, so a process killed in between
//! would lose them. This position is written after the bot has the events; where the two differ,
//! the rooms are asked for the events in between. Events read twice are recognised by their ids.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;

use chrono::{DateTime, Utc};
use matrix_sdk::ruma::{OwnedEventId, OwnedRoomId, OwnedUserId};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::lineage::Replaced;

/// Maximum messages that wait for keys; beyond it the oldest is dropped.
const MOST_SEALED: usize = 500;

/// Maximum sessions that are remembered as reported unreadable.
const MOST_TOLD: usize = 500;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The token of the next sync; `None` before the first.
    pub(crate) since: Option<String>,
    /// When the homeserver gave it, or earlier; `None` in files of earlier versions.
    #[serde(default)]
    pub(crate) since_at: Option<DateTime<Utc>>,
    /// Messages that wait for their keys.
    #[serde(default)]
    pub(crate) sealed: VecDeque<SealedEvent>,
    /// Encryption sessions whose messages were reported unreadable.
    #[serde(default)]
    told: VecDeque<String>,
    /// The latest edits: a redacted edit does not say any more what it changed.
    #[serde(default)]
    pub(crate) edits: VecDeque<KnownEdit>,
    /// Edits, and redactions of them, whose messages the homeserver does not give now.
    #[serde(default)]
    pub(crate) held: VecDeque<HeldChange>,
    /// Rooms that replaced others.
    #[serde(default)]
    pub(crate) replaced: BTreeMap<OwnedRoomId, Replaced>,
}

/// An edit, or the redaction of one, whose message the homeserver does not give now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeldChange {
    pub(crate) room: OwnedRoomId,
    /// The edit or the redaction itself.
    pub(crate) event: OwnedEventId,
    /// The message that was edited.
    pub(crate) of: OwnedEventId,
    /// Who made or redacted the edit.
    pub(crate) sender: OwnedUserId,
    /// It is an edit, which counts only if it is by the author of the message.
    #[serde(default)]
    pub(crate) is_edit: bool,
    /// It was too old for an answer when it came.
    #[serde(default)]
    pub(crate) is_old: bool,
    pub(crate) sent_at: DateTime<Utc>,
    pub(crate) held_since: DateTime<Utc>,
}

/// An edit, and the message that it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownEdit {
    pub(crate) edit: OwnedEventId,
    pub(crate) of: OwnedEventId,
}

/// A message that waits for its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealedEvent {
    pub(crate) room: OwnedRoomId,
    pub(crate) event: OwnedEventId,
    pub(crate) session: String,
    /// The thread of the message.
    #[serde(default)]
    pub(crate) thread: Option<OwnedEventId>,
    pub(crate) sent_at: DateTime<Utc>,
    /// Since when it has waited for the key.
    pub(crate) waits_since: DateTime<Utc>,
    /// It was reported unreadable after its time, or needs no report.
    #[serde(default)]
    pub(crate) is_settled: bool,
}

impl Position {
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let Some(content) = files::read(path)? else {
            return Ok(Self::default());
        };
        // As after the first start: messages from the outage are not answered.
        Ok(serde_json::from_slice(&content).unwrap_or_else(|error| {
            tracing::warn!(%error, path = %path.display(), "damaged; begins with what is said from now on");
            Self::default()
        }))
    }

    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        files::write(path, &serde_json::to_vec(self)?)
    }

    pub(crate) fn wait_for_key(&mut self, sealed: SealedEvent) {
        if self.sealed.iter().any(|known| known.event == sealed.event) {
            return;
        }
        self.sealed.push_back(sealed);
        if self.sealed.len() > MOST_SEALED {
            self.sealed.pop_front();
        }
    }

    /// Whether this session has not been reported before; records it.
    pub(crate) fn mark_reported(&mut self, session: &str) -> bool {
        if self.told.iter().any(|told| told == session) {
            return false;
        }
        self.told.push_back(session.to_owned());
        if self.told.len() > MOST_TOLD {
            self.told.pop_front();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(number: usize) -> SealedEvent {
        SealedEvent {
            room: "!a:b".try_into().unwrap(),
            event: format!("$e{number}").as_str().try_into().unwrap(),
            session: "s".to_owned(),
            thread: None,
            sent_at: DateTime::UNIX_EPOCH,
            waits_since: DateTime::UNIX_EPOCH,
            is_settled: false,
        }
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("place.json");
        assert_eq!(Position::read(&path).unwrap(), Position::default());
        let mut position = Position {
            since: Some("s1".to_owned()),
            ..Position::default()
        };
        position.wait_for_key(sealed(1));
        assert!(position.mark_reported("s"));
        position.write(&path).unwrap();
        assert_eq!(Position::read(&path).unwrap(), position);
        std::fs::write(&path, "{").unwrap();
        assert_eq!(Position::read(&path).unwrap(), Position::default());
    }

    #[test]
    fn it_is_bounded_and_says_things_once() {
        let mut position = Position::default();
        for number in 0..MOST_SEALED + 10 {
            position.wait_for_key(sealed(number));
            position.wait_for_key(sealed(number));
            assert!(position.mark_reported(&number.to_string()));
            assert!(!position.mark_reported(&number.to_string()));
        }
        assert_eq!(position.sealed.len(), MOST_SEALED);
        assert_eq!(position.told.len(), MOST_TOLD);
    }
}
