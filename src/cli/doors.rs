//! What lets people, and their programs, do from elsewhere what they do in chat.

use std::sync::Arc;

use muninn::conversation::readable::ReadablePlaces;
use muninn::conversation::to_bot::ToBot;
use muninn::wiring::Wired;
use muninn_platform::{Inbox, Memberships};

/// What the pages and the programs of people share.
pub(super) struct Doors {
    pub(super) readable: ReadablePlaces,
    /// Is closed when the bot is to end.
    pub(super) to_bot: Arc<ToBot>,
}

impl Doors {
    pub(super) fn of(wired: &Wired, inbox: &Inbox, memberships: &Memberships) -> Self {
        Self {
            readable: ReadablePlaces::new(Arc::clone(&wired.store), memberships.clone()),
            to_bot: Arc::new(ToBot::new(inbox.clone(), Arc::clone(&wired.bot))),
        }
    }
}
