//! Looks up the roles of authors, which only the gateway includes with a message.

use std::collections::HashMap;

use serenity::model::id::{GuildId, RoleId, UserId};

use crate::hub::DiscordHub;
use crate::inbound::DiscordEventHandler;
use crate::intent::{MessageContext, MessageIntent, intent};
use crate::message::DiscordMessage;
use crate::read_stopped::ReadStopped;

/// Looks up roles.
pub(crate) struct AuthorRoles<'a> {
    hub: &'a DiscordHub,
    guild: GuildId,
    known: HashMap<UserId, Vec<RoleId>>,
}

impl<'a> AuthorRoles<'a> {
    pub(crate) fn new(hub: &'a DiscordHub, guild: GuildId) -> Self {
        Self {
            hub,
            guild,
            known: HashMap::new(),
        }
    }

    /// Returns somebody's roles; none for those who left.
    ///
    /// # Errors
    /// Fails while Discord is away: without roles, somebody might count as not allowed.
    pub(crate) async fn roles_of(&mut self, person: UserId) -> Result<Vec<RoleId>, ReadStopped> {
        if let Some(known) = self.known.get(&person) {
            return Ok(known.clone());
        }
        let DiscordHub { api, outbox, .. } = self.hub;
        let asked = outbox.retry(|| api.roles_of(self.guild, person));
        let roles = match asked.await {
            Ok(roles) => roles,
            Err(failure) if failure.request_failure().is_temporary() => {
                tracing::info!(%failure, guild = %self.guild, "the roles of somebody are not given");
                return Err(ReadStopped::Away);
            }
            Err(_) => Vec::new(),
        };
        self.known.insert(person, roles.clone());
        Ok(roles)
    }
}

impl DiscordEventHandler {
    /// Whether a message is for the bot, or heard by it, if its author is allowed.
    pub(crate) async fn may_concern_bot(&self, said: &DiscordMessage) -> bool {
        let Some(facts) = self.facts(said).await else {
            return false;
        };
        let facts = MessageContext {
            is_allowed: true,
            ..facts
        };
        matches!(intent(said, &facts), MessageIntent::Said { .. })
    }
}
