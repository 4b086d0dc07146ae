//! The server's whole state, as plain data behind one lock, and the effects of changes.

mod channel;
mod guild;
mod message;
mod telling;
mod user;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use crate::Id;
use crate::clock::Clock;
use crate::error::ApiError;
use crate::fault::QueuedFault;
use crate::gateway::GatewaySession;
use crate::interaction::Interaction;
use crate::limits::Buckets;
use crate::permissions::{self, Permissions};

pub(crate) use channel::{ChannelType, StoredChannel, ThreadMetadata, thread_member_json};
pub(crate) use guild::{GuildMember, GuildRole, GuildState};
pub(crate) use message::{
    Attached, Forwarded, MessageDraft, StoredMessage, flags, kinds, with_guild,
};
pub(crate) use telling::{EventScope, Listener, intents, shard_of};
pub(crate) use user::{DiscordApplication, User, WebhookState};

/// Counts of gateway events since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatewayCounts {
    /// New sessions.
    pub identified: usize,
    /// Resumed sessions.
    pub resumed: usize,
    /// Connections that have ended.
    pub ended: usize,
    /// Heartbeats.
    pub beats: usize,
    /// Sessions that were refused.
    pub refused: usize,
}

/// A refusal by the server.
#[derive(Clone, Debug)]
pub struct RefusedRequest {
    pub method: String,
    pub path: String,
    pub status: u16,
    pub code: u32,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) clock: Clock,
    /// URLs of the gateway and of files, as clients get them.
    pub(crate) gateway_url: String,
    pub(crate) files_url: String,
    pub(crate) heartbeat: Duration,
    pub(crate) acknowledge_within: Duration,
    pub(crate) apps: BTreeMap<Id, DiscordApplication>,
    pub(crate) users: BTreeMap<Id, User>,
    pub(crate) guilds: BTreeMap<Id, GuildState>,
    pub(crate) channels: BTreeMap<Id, StoredChannel>,
    /// By channel, then by id.
    pub(crate) messages: BTreeMap<Id, BTreeMap<Id, StoredMessage>>,
    pub(crate) webhooks: BTreeMap<Id, WebhookState>,
    pub(crate) interactions: BTreeMap<Id, Interaction>,
    /// By Discord's own words: application, guild or none for global, command.
    pub(crate) commands: BTreeMap<(Id, Option<Id>), Vec<Value>>,
    pub(crate) files: BTreeMap<Id, Attached>,
    /// Forms that interactions were answered with.
    pub(crate) forms: BTreeMap<Id, serde_json::Value>,
    /// Who began to type where, and when by the server's clock.
    pub(crate) typed: Vec<(Id, Id, Duration)>,
    pub(crate) sessions: Vec<GatewaySession>,
    pub(crate) counts: GatewayCounts,
    /// Refuses every connection.
    pub(crate) gateway_is_down: bool,
    /// Refuses every identify: the connection is closed with this code.
    pub(crate) refuses_with: Option<u16>,
    /// How many additional times each message and interaction is delivered.
    pub(crate) repeats: usize,
    /// Events have only the fields that Discord's examples have.
    pub(crate) leaves_fields_out: bool,
    pub(crate) buckets: Buckets,
    pub(crate) faults: Vec<QueuedFault>,
    pub(crate) violations: Vec<String>,
    pub(crate) excuses: Vec<Excuse>,
    pub(crate) refusals: Vec<RefusedRequest>,
    /// Every request's method and route, in order.
    pub(crate) requests: Vec<(String, &'static str)>,
    pub(crate) changed: watch::Sender<u64>,
    last_id: Id,
    last_guild: Id,
}

/// A violation that a test excuses.
#[derive(Debug)]
pub(crate) struct Excuse {
    pub(crate) part: String,
    pub(crate) used: bool,
}

impl World {
    pub(crate) fn new(base_url: &str, gateway_url: &str, heartbeat: Duration) -> Self {
        Self {
            clock: Clock::start(),
            gateway_url: gateway_url.to_owned(),
            files_url: base_url.to_owned(),
            heartbeat,
            acknowledge_within: Duration::from_secs(3),
            apps: BTreeMap::new(),
            users: BTreeMap::new(),
            guilds: BTreeMap::new(),
            channels: BTreeMap::new(),
            messages: BTreeMap::new(),
            webhooks: BTreeMap::new(),
            interactions: BTreeMap::new(),
            commands: BTreeMap::new(),
            files: BTreeMap::new(),
            forms: BTreeMap::new(),
            typed: Vec::new(),
            sessions: Vec::new(),
            counts: GatewayCounts::default(),
            gateway_is_down: false,
            refuses_with: None,
            repeats: 0,
            leaves_fields_out: false,
            buckets: Buckets::default(),
            faults: Vec::new(),
            violations: Vec::new(),
            excuses: Vec::new(),
            refusals: Vec::new(),
            requests: Vec::new(),
            changed: watch::Sender::new(0),
            last_id: Id::default(),
            // Servers are older than anything in them.
            last_guild: Id::first_of(chrono::Utc::now() - chrono::Duration::days(365)),
        }
    }

    /// Returns a new id, later than every other one.
    pub(crate) fn new_id(&mut self) -> Id {
        let now = Id::first_of(self.clock.now());
        self.last_id = now.max(Id::new(self.last_id.get() + 1));
        self.last_id
    }

    /// Servers are a millisecond apart, as shards go by that part of the id.
    pub(crate) fn new_guild_id(&mut self) -> Id {
        self.last_guild = Id::new(self.last_guild.get() + (1 << 22));
        self.last_guild
    }

    /// Records a violation by a client.
    pub(crate) fn blame(&mut self, what: impl Into<String>) {
        let what = what.into();
        let fitting = || {
            self.excuses
                .iter()
                .enumerate()
                .filter(|(_, excuse)| what.contains(&excuse.part))
        };
        // A used excuse may be used again, but unused ones come first.
        let excuse = fitting()
            .find(|(_, excuse)| !excuse.used)
            .or_else(|| fitting().next());
        match excuse.map(|(number, _)| number) {
            Some(number) => self.excuses[number].used = true,
            None => self.violations.push(what),
        }
    }

    /// Returns somebody's permissions in a channel; a thread has those of its parent.
    pub(crate) fn permissions(&self, user: Id, channel: &StoredChannel) -> Permissions {
        let Some(guild) = channel.guild.and_then(|guild| self.guilds.get(&guild)) else {
            let is_there = channel.recipients.contains(&user);
            return if is_there {
                Permissions::EVERYONE
            } else {
                Permissions::NONE
            };
        };
        let Some(base) = guild.permissions(user) else {
            return Permissions::NONE;
        };
        let ruling = match (&channel.thread, channel.parent) {
            (Some(_), Some(parent)) => self.channels.get(&parent).unwrap_or(channel),
            _ => channel,
        };
        let member = &guild.members[&user];
        let roles: Vec<_> = member
            .roles
            .iter()
            .filter_map(|role| ruling.overwrites.get(role).copied())
            .collect();
        let everyone = ruling.overwrites.get(&guild.id).copied();
        permissions::in_channel(
            base,
            everyone,
            &roles,
            ruling.overwrites.get(&user).copied(),
        )
    }

    /// Whether somebody sees a channel. A private thread is visible to its members and to those who
    /// manage threads.
    pub(crate) fn sees(&self, user: Id, channel: &StoredChannel) -> bool {
        let permissions = self.permissions(user, channel);
        let is_in = match (&channel.thread, channel.kind) {
            (Some(thread), ChannelType::PrivateThread) => {
                thread.members.contains_key(&user)
                    || permissions.contains(Permissions::MANAGE_THREADS)
            }
            _ => true,
        };
        is_in && permissions.contains(Permissions::VIEW_CHANNEL)
    }

    /// A channel that somebody sees.
    pub(crate) fn channel_for(&self, user: Id, channel: Id) -> Result<&StoredChannel, ApiError> {
        let found = self
            .channels
            .get(&channel)
            .ok_or_else(ApiError::unknown_channel)?;
        if self.sees(user, found) {
            Ok(found)
        } else {
            Err(ApiError::missing_access())
        }
    }

    /// Where the parent counts: the channel itself, or that of a thread.
    pub(crate) fn message(&self, channel: Id, message: Id) -> Option<&StoredMessage> {
        let found = self.messages.get(&channel)?.get(&message)?;
        (!found.deleted).then_some(found)
    }

    pub(crate) fn message_mut(&mut self, channel: Id, message: Id) -> Option<&mut StoredMessage> {
        let found = self.messages.get_mut(&channel)?.get_mut(&message)?;
        (!found.deleted).then_some(found)
    }

    /// The application of a token.
    pub(crate) fn app_of(&self, token: &str) -> Option<&DiscordApplication> {
        self.apps.values().find(|app| app.token == token)
    }
}
