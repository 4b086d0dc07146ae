//! A conversation, as a test controls it.

use std::sync::Arc;

use crate::ids::BOT_USER;
use crate::person::SlackPerson;
use crate::state::SharedState;
use crate::workspace::StoredConversation;

/// A conversation of any kind.
#[derive(Clone, Debug)]
pub struct SlackChannel {
    shared: Arc<SharedState>,
    id: String,
}

impl SlackChannel {
    pub(crate) fn new(shared: Arc<SharedState>, id: String) -> Self {
        Self { shared, id }
    }

    /// `C…` or `D…`.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn change(&self, change: impl FnOnce(&mut StoredConversation)) {
        self.shared.change(|state| {
            change(
                state
                    .workspace
                    .rooms
                    .get_mut(&self.id)
                    .expect("this channel"),
            );
        });
    }

    /// Archives it, so that nobody can write any more.
    pub fn archive(&self) {
        self.change(|room| room.is_archived = true);
    }

    /// Deletes it with its messages, as an administrator can.
    pub fn delete(&self) {
        self.shared
            .change(|state| state.workspace.remove_room(&self.id));
    }

    /// Shares it with another team (Slack Connect).
    pub fn share(&self) {
        self.change(|room| room.is_shared = true);
    }

    /// Removes somebody, without notifying the bot.
    pub fn remove(&self, person: &SlackPerson) {
        self.change(|room| room.members.retain(|member| member != person.id()));
    }

    /// Removes the bot, without notifying it.
    pub fn remove_bot(&self) {
        self.change(|room| room.members.retain(|member| member != BOT_USER));
    }
}
