//! The bot's messages in a room, as people see them.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;

use crate::{
    Announce, Announced, AudienceId, ConversationId, Delivered, MessageId, SafeText, Withdraw,
    Withdrawn,
};

/// The bot's messages, in order of sending. Clones share one board.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    messages: Arc<Mutex<Vec<(MessageId, String)>>>,
    /// Those that only the person who asked sees.
    private: Arc<Mutex<Vec<(MessageId, String)>>>,
    /// Results of the next withdrawals; after them withdrawals succeed.
    refusals: Arc<Mutex<VecDeque<Withdrawn>>>,
}

impl Board {
    /// Puts the parts in place of the `earlier` messages, and posts new ones if there are not
    /// enough.
    pub(super) fn post(&self, earlier: &Delivered, parts: &[String]) -> Delivered {
        let mut messages = self.messages.lock();
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
            let id = MessageId::new(super::ids::next_event());
            messages.push((id.clone(), part.clone()));
            ids.push(id);
        }
        Delivered(ids)
    }

    /// Posts new messages that only the person who asked sees.
    pub(super) fn post_privately(&self, parts: &[String]) -> Delivered {
        let mut private = self.private.lock();
        let post = |part: &String| {
            let id = MessageId::new(super::ids::next_event());
            private.push((id.clone(), part.clone()));
            id
        };
        Delivered(parts.iter().map(post).collect())
    }

    /// Sets the result of the next withdrawal.
    pub(super) fn refuse(&self, outcome: Withdrawn) {
        self.refusals.lock().push_back(outcome);
    }

    pub(super) fn texts(&self) -> Vec<String> {
        texts(&self.messages.lock())
    }

    pub(super) fn private_texts(&self) -> Vec<String> {
        texts(&self.private.lock())
    }

    pub(super) fn last(&self) -> Option<MessageId> {
        self.messages.lock().last().map(|(id, _)| id.clone())
    }
}

fn texts(messages: &[(MessageId, String)]) -> Vec<String> {
    messages.iter().map(|(_, text)| text.clone()).collect()
}

#[async_trait]
impl Announce for Board {
    async fn announce(&self, _: &AudienceId, text: &SafeText) -> Announced {
        Announced::Said(self.post(&Delivered::default(), &[text.to_string()]))
    }
}

#[async_trait]
impl Withdraw for Board {
    async fn withdraw(&self, _: &ConversationId, message: &MessageId) -> Withdrawn {
        let refused = self.refusals.lock().pop_front();
        if let Some(refused) = refused {
            return refused;
        }
        self.messages.lock().retain(|(id, _)| id != message);
        self.private.lock().retain(|(id, _)| id != message);
        Withdrawn::Gone
    }
}
