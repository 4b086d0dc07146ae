//! A conversation, as its owner handles it.

use std::sync::Arc;

use serde_json::json;

use crate::ids::{BOT_USER, TEAM};
use crate::state::Shared;
use crate::workspace::Room;

/// A conversation of any kind.
#[derive(Clone, Debug)]
pub struct Channel {
    shared: Arc<Shared>,
    id: String,
}

impl Channel {
    pub(crate) fn new(shared: Arc<Shared>, id: String) -> Self {
        Self { shared, id }
    }

    /// `C…` or `D…`.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn change(&self, change: impl FnOnce(&mut Room)) {
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

    /// Nobody can write any more.
    pub fn archive(&self) {
        self.change(|room| room.is_archived = true);
    }

    /// They can again.
    pub fn unarchive(&self) {
        self.change(|room| room.is_archived = false);
    }

    /// Shares it with another team (Slack Connect).
    pub fn share(&self) {
        self.change(|room| room.is_shared = true);
    }

    /// Takes the bot out, without a word to it.
    pub fn remove_bot(&self) {
        self.change(|room| room.members.retain(|member| member != BOT_USER));
    }

    /// Takes the bot in: it is told by `member_joined_channel`, if it subscribed to that.
    pub fn invite_bot(&self) {
        self.shared.change(|state| {
            let room = state.workspace.rooms.get_mut(&self.id).expect("this channel");
            if !room.has(BOT_USER) {
                room.members.push(BOT_USER.to_owned());
            }
            let kind = room.kind.name().chars().next().unwrap_or('C').to_ascii_uppercase();
            let event = json!({ "type": "member_joined_channel", "user": BOT_USER, "channel": self.id,
                "channel_type": kind.to_string(), "team": TEAM });
            state.workspace.tell("member_joined_channel", &self.id, event);
        });
    }
}
