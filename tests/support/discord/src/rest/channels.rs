//! Channels: reading, editing, typing.

use serde_json::Value;

use super::Call;
use crate::Id;
use crate::error::ApiError;
use crate::permissions::Permissions;
use crate::rules;
use crate::world::{EventScope, StoredChannel, World, intents, with_guild};

/// What to do with a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelOperation {
    Look,
    Edit,
    Type,
}

pub(super) fn answer(
    world: &mut World,
    call: &Call<'_>,
    wants: ChannelOperation,
) -> Result<Value, ApiError> {
    let channel = world.channel_for(call.app, call.id(0)?)?.clone();
    match wants {
        ChannelOperation::Look => Ok(world.channel_json(&channel, Some(call.app))),
        ChannelOperation::Edit => edit(world, call, &channel),
        ChannelOperation::Type => kind_of_typing(world, call.app, &channel),
    }
}

fn kind_of_typing(world: &mut World, user: Id, channel: &StoredChannel) -> Result<Value, ApiError> {
    world.may_write(user, channel)?;
    world.types(user, channel.id);
    Ok(Value::Null)
}

/// Edits a channel. A thread's state and name need the thread's permissions; everything else needs
/// the permission to manage channels.
fn edit(world: &mut World, call: &Call<'_>, channel: &StoredChannel) -> Result<Value, ApiError> {
    let permissions = world.permissions(call.app, channel);
    if !call.body["name"].is_null() {
        let wrongs = rules::thread_name(&call.body["name"]);
        if !wrongs.is_empty() {
            return Err(ApiError::invalid_form(wrongs));
        }
    }
    let Some(thread) = &channel.thread else {
        if !permissions.contains(Permissions::MANAGE_CHANNELS) {
            return Err(ApiError::missing_permissions());
        }
        return Ok(rename(world, call, channel.id, "CHANNEL_UPDATE"));
    };
    let manages = permissions.contains(Permissions::MANAGE_THREADS);
    let unarchives_only = call
        .body
        .as_object()
        .is_some_and(|fields| fields.len() == 1)
        && call.body["archived"] == false;
    if thread.archived && !unarchives_only && call.body["archived"] != false {
        return Err(ApiError::archived());
    }
    let may = manages || thread.owner == call.app || (unarchives_only && !thread.locked);
    if !may || (thread.locked && !manages) || (!call.body["locked"].is_null() && !manages) {
        return Err(ApiError::missing_permissions());
    }
    let now = world.clock.now();
    if let Some(thread) = world
        .channels
        .get_mut(&channel.id)
        .and_then(|channel| channel.thread.as_mut())
    {
        if let Some(archived) = call.body["archived"].as_bool() {
            thread.archived = archived;
            thread.archived_at = now;
        }
        if let Some(locked) = call.body["locked"].as_bool() {
            thread.locked = locked;
        }
        if let Some(minutes) = call.body["auto_archive_duration"].as_u64() {
            thread.auto_archive = minutes;
        }
    }
    Ok(rename(world, call, channel.id, "THREAD_UPDATE"))
}

fn rename(world: &mut World, call: &Call<'_>, channel: Id, event: &'static str) -> Value {
    if let Some(place) = world.channels.get_mut(&channel) {
        if let Some(name) = call.body["name"].as_str() {
            name.clone_into(&mut place.name);
        }
        if let Some(topic) = call.body["topic"].as_str() {
            place.topic = Some(topic.to_owned());
        }
    }
    world.tell_of_channel(event, channel);
    world.channel_json(&world.channels[&channel], Some(call.app))
}

impl World {
    /// Begins to type.
    pub(crate) fn types(&mut self, user: Id, channel: Id) {
        let now = self.clock.elapsed();
        self.typed.push((channel, user, now));
        let guild = self.channels[&channel].guild;
        let at = self.clock.now().timestamp();
        self.tell("TYPING_START", EventScope::Channel(channel), intents::TYPING, |world, _| {
            let mut typing = serde_json::json!({ "channel_id": channel.json(), "user_id": user.json(), "timestamp": at });
            if let Some(guild) = guild.and_then(|guild| world.guilds.get(&guild)) {
                typing["member"] = world.member_json(guild, user);
            }
            with_guild(typing, guild)
        });
    }

    /// Deletes a channel or thread, with its threads.
    pub(crate) fn delete_channel(&mut self, id: Id) {
        let threads: Vec<Id> = self
            .channels
            .values()
            .filter(|channel| channel.parent == Some(id) && channel.thread.is_some())
            .map(|thread| thread.id)
            .collect();
        for thread in threads {
            self.channels.remove(&thread);
            self.messages.remove(&thread);
        }
        let Some(channel) = self.channels.get(&id) else {
            return;
        };
        if channel.thread.is_some() {
            let gone = serde_json::json!({
                "id": id.json(), "guild_id": channel.guild.map(Id::json), "parent_id": channel.parent.map(Id::json),
                "type": channel.kind as u8,
            });
            self.tell(
                "THREAD_DELETE",
                EventScope::Channel(id),
                intents::GUILDS,
                |_, _| gone.clone(),
            );
        } else {
            self.tell_of_channel("CHANNEL_DELETE", id);
        }
        self.channels.remove(&id);
        self.messages.remove(&id);
    }

    /// Whether somebody may write in a channel in its current state.
    pub(crate) fn may_write(&self, user: Id, channel: &StoredChannel) -> Result<(), ApiError> {
        if !channel.kind.holds_messages() {
            return Err(ApiError::no_text_here());
        }
        let permissions = self.permissions(user, channel);
        let needed = if channel.thread.is_some() {
            Permissions::SEND_MESSAGES_IN_THREADS
        } else {
            Permissions::SEND_MESSAGES
        };
        if let Some(thread) = &channel.thread
            && thread.locked
            && !permissions.contains(Permissions::MANAGE_THREADS)
        {
            return Err(ApiError::locked());
        }
        if !permissions.contains(needed) {
            return Err(ApiError::missing_permissions());
        }
        let closed = channel
            .recipients
            .iter()
            .any(|other| *other != user && self.users[other].is_closed);
        if closed {
            Err(ApiError::cannot_message_user())
        } else {
            Ok(())
        }
    }
}
