//! Dispatches events by server, channel, shard and intent.

use serde_json::Value;

use super::World;
use crate::Id;

/// The intents of a session, as Discord's bits.
pub(crate) mod intents {
    pub(crate) const GUILD: u64 = 1;
    pub(crate) const GUILD_MEMBERS: u64 = 1 << 1;
    pub(crate) const GUILD_PRESENCES: u64 = 1 << 8;
    pub(crate) const MESSAGE_CONTENT: u64 = 1 << 15;
    /// Intents that an owner has to enable.
    pub(crate) const PRIVILEGED: u64 = GUILD_MEMBERS | GUILD_PRESENCES | MESSAGE_CONTENT;
    /// Every bit that has a meaning.
    pub(crate) const KNOWN: u64 = 0x0331_FFFF;

    /// In a server and in direct messages; 0 is always heard.
    pub(crate) type Needed = (u64, u64);
    pub(crate) const ALWAYS: Needed = (0, 0);
    pub(crate) const GUILDS: Needed = (GUILD, GUILD);
    pub(crate) const MEMBERS: Needed = (GUILD_MEMBERS, GUILD_MEMBERS);
    pub(crate) const MESSAGES: Needed = (1 << 9, 1 << 12);
    pub(crate) const TYPING: Needed = (1 << 11, 1 << 14);
}

/// The place of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EventScope {
    Guild(Id),
    /// Only those who see the channel receive it.
    Channel(Id),
    /// Only one application receives it, in a server or not.
    App(Id, Option<Id>),
}

/// Who hears it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listener {
    pub(crate) app: Id,
    pub(crate) intents: u64,
}

/// Returns the shard of a server; direct messages belong to the first shard.
pub(crate) fn shard_of(guild: Option<Id>, shards: u64) -> u64 {
    guild.map_or(0, |guild| (guild.get() >> 22) % shards)
}

impl World {
    /// Sends an event to everyone who may receive it, with each one's version of the payload.
    pub(crate) fn tell(
        &mut self,
        event: &'static str,
        place: EventScope,
        needed: intents::Needed,
        payload: impl Fn(&Self, &Listener) -> Value,
    ) {
        let times = match event {
            "MESSAGE_CREATE" | "INTERACTION_CREATE" => 1 + self.repeats,
            _ => 1,
        };
        let guild = self.guild_of(place);
        let mut told = Vec::new();
        for (number, session) in self.sessions.iter().enumerate() {
            let listener = Listener {
                app: session.app,
                intents: session.intents,
            };
            let intent = if guild.is_some() { needed.0 } else { needed.1 };
            let wants = intent == 0 || session.intents & intent != 0;
            let is_shard = shard_of(guild, session.shard.1) == session.shard.0;
            if wants && is_shard && self.reaches(place, session.app) {
                told.push((number, self.as_told(event, payload(self, &listener))));
            }
        }
        for (number, payload) in told {
            for _ in 0..times {
                self.sessions[number].push(event, &payload);
            }
        }
    }

    /// Returns an event's payload, with fewer fields if a test wants that.
    pub(crate) fn as_told(&self, event: &str, mut payload: Value) -> Value {
        if self.leaves_fields_out {
            leave_out(event, &mut payload);
        }
        payload
    }

    fn guild_of(&self, place: EventScope) -> Option<Id> {
        match place {
            EventScope::Guild(guild) => Some(guild),
            EventScope::Channel(channel) => self
                .channels
                .get(&channel)
                .and_then(|channel| channel.guild),
            EventScope::App(_, guild) => guild,
        }
    }

    fn reaches(&self, place: EventScope, app: Id) -> bool {
        match place {
            EventScope::Guild(guild) => self
                .guilds
                .get(&guild)
                .is_some_and(|guild| guild.members.contains_key(&app)),
            EventScope::Channel(channel) => self
                .channels
                .get(&channel)
                .is_some_and(|channel| self.sees(app, channel)),
            EventScope::App(only, _) => only == app,
        }
    }
}

/// Removes what Discord documents as optional, added lately, or does not print in its examples.
fn leave_out(event: &str, payload: &mut Value) {
    match event {
        "INTERACTION_CREATE" => {
            let unprinted = [
                "application_id",
                "attachment_size_limit",
                "authorizing_integration_owners",
                "channel",
                "context",
                "entitlement_sku_ids",
                "entitlements",
                "guild",
                "version",
            ];
            remove(payload, &unprinted);
            if let Some(member) = payload.get_mut("member") {
                remove(member, &["flags"]);
            }
        }
        "GUILD_CREATE" => {
            let optional = [
                "guild_scheduled_events",
                "nsfw_level",
                "premium_progress_bar_enabled",
                "stage_instances",
                "stickers",
            ];
            remove(payload, &optional);
            for role in payload["roles"].as_array_mut().into_iter().flatten() {
                remove(role, &["colors", "flags"]);
            }
            for member in payload["members"].as_array_mut().into_iter().flatten() {
                remove(member, &["flags"]);
            }
        }
        "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" => {
            remove(&mut payload["role"], &["colors", "flags"]);
        }
        _ => {}
    }
}

fn remove(object: &mut Value, names: &[&str]) {
    if let Some(object) = object.as_object_mut() {
        object.retain(|name, _| !names.contains(&name.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_belongs_to_one_shard() {
        let table = [
            (None, 4, 0),
            (Some(Id::new(5 << 22)), 4, 1),
            (Some(Id::new((7 << 22) + 9)), 4, 3),
            (Some(Id::new(7 << 22)), 1, 0),
        ];
        for (guild, shards, expected) in table {
            assert_eq!(shard_of(guild, shards), expected);
        }
    }
}
