//! Objects of Discord's API, as far as the adapter reads them.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serenity::model::Permissions;
use serenity::model::channel::GuildChannel;
use serenity::model::id::{
    ApplicationId, ChannelId, GuildId, InteractionId, MessageId, RoleId, UserId,
};

/// A message that was sent.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Sent {
    pub(crate) id: MessageId,
    pub(crate) channel_id: ChannelId,
    #[serde(default)]
    pub(crate) content: String,
}

/// A message in a channel.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ExistingMessage {
    pub(crate) id: MessageId,
    pub(crate) author: StandingAuthor,
    #[serde(default)]
    pub(crate) content: String,
    #[serde(default)]
    pub(crate) flags: u64,
    #[serde(default)]
    pub(crate) message_reference: Option<Reference>,
    #[serde(default)]
    pub(crate) interaction_metadata: Option<OfInteraction>,
    #[serde(default, rename = "type")]
    pub(crate) kind: u8,
    pub(crate) timestamp: DateTime<Utc>,
    #[serde(default)]
    pub(crate) edited_timestamp: Option<DateTime<Utc>>,
    #[serde(default)]
    pub(crate) components: Vec<ExistingRow>,
}

/// A row of buttons below a message, or another component.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ExistingRow {
    #[serde(default)]
    pub(crate) components: Vec<ExistingButton>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ExistingButton {
    #[serde(default)]
    pub(crate) custom_id: Option<String>,
}

impl ExistingMessage {
    /// Whether it represents, in a thread, the message at which the thread began.
    pub(crate) fn is_thread_starter(&self) -> bool {
        self.kind == 21
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct StandingAuthor {
    pub(crate) id: UserId,
    pub(crate) username: String,
    #[serde(default)]
    pub(crate) global_name: Option<String>,
    #[serde(default)]
    pub(crate) bot: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Reference {
    #[serde(default)]
    pub(crate) message_id: Option<MessageId>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct OfInteraction {
    pub(crate) id: InteractionId,
}

/// The application, as its owner configured it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Application {
    pub(crate) id: ApplicationId,
    pub(crate) flags: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CurrentApplication {
    pub(crate) id: UserId,
    pub(crate) username: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct MyGuild {
    pub(crate) id: GuildId,
    pub(crate) name: String,
    /// The bot's permissions there, before channel overwrites.
    pub(crate) permissions: Permissions,
}

/// Permissions in a server, before channel overwrites.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct GuildRights {
    pub(crate) id: GuildId,
    pub(crate) owner_id: UserId,
    pub(crate) roles: Vec<RoleRights>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RoleRights {
    pub(crate) id: RoleId,
    pub(crate) permissions: Permissions,
}

/// A page of archived threads.
#[derive(Debug, Deserialize)]
pub(crate) struct ArchivedThreads {
    pub(crate) threads: Vec<GuildChannel>,
    #[serde(default)]
    pub(crate) has_more: bool,
}

/// The gateway's URL, and the number of connections.
#[derive(Debug, Deserialize)]
pub(crate) struct GatewayAt {
    pub(crate) url: String,
    /// The number that Discord recommends.
    pub(crate) shards: u32,
}
