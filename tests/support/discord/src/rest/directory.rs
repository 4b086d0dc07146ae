//! The application, its servers, and their channels and members.

use serde_json::{Value, json};

use super::Call;
use crate::Id;
use crate::error::{ApiError, Wrong};
use crate::world::{ChannelType, GuildState, StoredChannel, World};

/// Maximum number of sessions a bot may begin per day.
const STARTS: usize = 1_000;

/// What to look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryOperation {
    Gateway,
    GatewayBot,
    Me,
    MyGuilds,
    OpenDirect,
    Application,
    Guild,
    GuildChannels,
    GuildMember,
}

pub(super) fn answer(
    world: &mut World,
    call: &Call<'_>,
    wants: DirectoryOperation,
) -> Result<Value, ApiError> {
    match wants {
        DirectoryOperation::Gateway => Ok(json!({ "url": world.gateway_url })),
        DirectoryOperation::GatewayBot => Ok(gateway_bot(world, call)),
        DirectoryOperation::Me => Ok(world.users[&call.app].own_json()),
        DirectoryOperation::MyGuilds => Ok(my_guilds(world, call)),
        DirectoryOperation::OpenDirect => open_direct(world, call),
        DirectoryOperation::Application => Ok(application(world, call)),
        DirectoryOperation::Guild => Ok(guild(world, call)?.json()),
        DirectoryOperation::GuildChannels => channels(world, call),
        DirectoryOperation::GuildMember => {
            let (guild, user) = (guild(world, call)?, call.id(1)?);
            let is_in = guild.members.contains_key(&user);
            if is_in {
                Ok(world.member_json(guild, user))
            } else {
                Err(ApiError::unknown_member())
            }
        }
    }
}

fn gateway_bot(world: &World, call: &Call<'_>) -> Value {
    json!({
        "url": world.gateway_url, "shards": world.apps[&call.app].shards,
        "session_start_limit": { "total": STARTS, "remaining": STARTS.saturating_sub(world.counts.identified), "reset_after": 14_400_000, "max_concurrency": 1 },
    })
}

fn application(world: &World, call: &Call<'_>) -> Value {
    let app = &world.apps[&call.app];
    let guilds = world
        .guilds
        .values()
        .filter(|guild| guild.members.contains_key(&app.id))
        .count();
    app.json(&world.users[&app.id], &world.users[&app.owner], guilds)
}

fn my_guilds(world: &World, call: &Call<'_>) -> Value {
    let joined = world.guilds.values().filter_map(|guild| {
        let permissions = guild.permissions(call.app)?;
        Some(json!({
            "id": guild.id.json(), "name": guild.name, "icon": null, "banner": null, "owner": guild.owner == call.app,
            "permissions": permissions.json(), "features": [],
        }))
    });
    let after = call.asked("after").and_then(Id::parse).unwrap_or_default();
    let limit = call
        .asked("limit")
        .and_then(|limit| limit.parse().ok())
        .unwrap_or(200);
    joined
        .filter(|guild| Id::of(&guild["id"]) > Some(after))
        .take(limit)
        .collect()
}

/// Opens the direct channel with somebody, who need not have written before.
fn open_direct(world: &mut World, call: &Call<'_>) -> Result<Value, ApiError> {
    let Some(user) = Id::of(&call.body["recipient_id"]) else {
        let wrong = Wrong::new(
            "recipient_id",
            "BASE_TYPE_REQUIRED",
            "This field is required",
        );
        return Err(ApiError::invalid_form(vec![wrong]));
    };
    if !world.users.contains_key(&user) {
        return Err(ApiError::unknown_user());
    }
    if world.users[&user].is_bot {
        return Err(ApiError::cannot_message_user());
    }
    let channel = world.direct(call.app, user);
    Ok(world.channel_json(&world.channels[&channel], Some(call.app)))
}

fn guild<'a>(world: &'a World, call: &Call<'_>) -> Result<&'a GuildState, ApiError> {
    let guild = world.guilds.get(&call.id(0)?);
    let guild = guild.filter(|guild| guild.members.contains_key(&call.app));
    guild.ok_or_else(ApiError::unknown_guild)
}

fn channels(world: &World, call: &Call<'_>) -> Result<Value, ApiError> {
    let guild = guild(world, call)?;
    let here = world
        .channels
        .values()
        .filter(|channel| channel.guild == Some(guild.id) && channel.thread.is_none());
    Ok(here
        .map(|channel| world.channel_json(channel, None))
        .collect())
}

impl World {
    /// Returns the direct channel of two users; creates it on first use.
    pub(crate) fn direct(&mut self, one: Id, other: Id) -> Id {
        let is_theirs = |channel: &&StoredChannel| {
            channel.kind == ChannelType::Direct
                && channel.recipients.contains(&one)
                && channel.recipients.contains(&other)
        };
        if let Some(channel) = self.channels.values().find(is_theirs) {
            return channel.id;
        }
        let id = self.new_id();
        let channel = StoredChannel {
            recipients: vec![one, other],
            ..StoredChannel::new(id, ChannelType::Direct, None, "")
        };
        self.channels.insert(id, channel);
        id
    }
}
