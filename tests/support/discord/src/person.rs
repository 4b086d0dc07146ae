//! Somebody who talks to the bot.

use std::sync::Arc;

use crate::Id;
use crate::chat::Chat;
use crate::places::DiscordChannel;
use crate::server::SharedWorld;

/// Somebody's account.
#[derive(Clone, Debug)]
pub struct DiscordPerson {
    shared: Arc<SharedWorld>,
    bot: Id,
    id: Id,
}

impl DiscordPerson {
    pub(crate) fn new(shared: &Arc<SharedWorld>, bot: Id, id: Id) -> Self {
        Self {
            shared: Arc::clone(shared),
            bot,
            id,
        }
    }

    pub fn id(&self) -> Id {
        self.id
    }

    pub fn name(&self) -> String {
        self.shared.look(|world| world.users[&self.id].name.clone())
    }

    /// A channel as this person sees it.
    ///
    /// # Panics
    /// Panics when they do not see it.
    #[track_caller]
    pub fn at(&self, channel: &DiscordChannel) -> Chat {
        let sees = self
            .shared
            .look(|world| world.sees(self.id, &world.channels[&channel.id()]));
        assert!(sees, "{} does not see that channel", self.name());
        Chat::new(&self.shared, self.bot, self.id, channel.id())
    }

    /// The direct messages with the bot.
    pub fn direct(&self) -> Chat {
        let channel = self.shared.with(|world| world.direct(self.bot, self.id));
        Chat::new(&self.shared, self.bot, self.id, channel)
    }

    /// Takes no direct messages any more, or does again.
    pub fn closes_direct_messages(&self, closed: bool) {
        self.shared.with(|world| {
            if let Some(user) = world.users.get_mut(&self.id) {
                user.is_closed = closed;
            }
        });
    }
}
