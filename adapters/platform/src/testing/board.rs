//! What people see of the bot in a room.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Delivered, MessageId};

/// The bot's messages, in the order in which they were sent. Clones are the same board.
#[derive(Clone, Debug, Default)]
pub(super) struct Board(Arc<Mutex<Vec<(MessageId, String)>>>);

impl Board {
    /// Shows the parts in the place of `earlier` messages, new ones where there are not enough.
    pub(super) fn post(&self, earlier: &Delivered, parts: &[String]) -> Delivered {
        let mut messages = self.lock();
        let kept = parts.len().min(earlier.0.len());
        messages.retain(|(id, _)| !earlier.0[kept..].contains(id));
        let mut ids = earlier.0[..kept].to_vec();
        for (id, part) in ids.iter().zip(parts) {
            let (_, text) = messages
                .iter_mut()
                .find(|(shown, _)| shown == id)
                .expect("what is changed was shown");
            text.clone_from(part);
        }
        for part in &parts[kept..] {
            let id = MessageId::new(super::next_event());
            messages.push((id.clone(), part.clone()));
            ids.push(id);
        }
        Delivered(ids)
    }

    pub(super) fn remove(&self, gone: &Delivered) {
        self.lock().retain(|(id, _)| !gone.0.contains(id));
    }

    pub(super) fn texts(&self) -> Vec<String> {
        self.lock().iter().map(|(_, text)| text.clone()).collect()
    }

    pub(super) fn last(&self) -> Option<MessageId> {
        self.lock().last().map(|(id, _)| id.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(MessageId, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
