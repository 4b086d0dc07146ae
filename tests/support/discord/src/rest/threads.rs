//! Threads: opening them, and adding people.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Call;
use super::messages::drafted;
use crate::Id;
use crate::error::{ApiError, Wrong};
use crate::permissions::Permissions;
use crate::rules::{self, MessageForm};
use crate::world::{
    ChannelType, EventScope, MessageDraft, StoredChannel, ThreadMetadata, World, intents, kinds,
    thread_member_json,
};

/// Allowed times of inactivity until a thread is archived, in minutes.
const ARCHIVES: [u64; 4] = [60, 1_440, 4_320, 10_080];

/// What to do with threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadOperation {
    OpenFrom,
    Open,
    Add,
    /// Somebody's membership.
    Member,
    /// Archived public threads.
    Archived,
}

pub(super) fn answer(
    world: &mut World,
    call: &Call<'_>,
    wants: ThreadOperation,
) -> Result<Value, ApiError> {
    let channel = world.channel_for(call.app, call.id(0)?)?.clone();
    match wants {
        ThreadOperation::OpenFrom => open_from(world, call, &channel),
        ThreadOperation::Open => open(world, call, &channel),
        ThreadOperation::Add => add(world, &channel, call.id(1)?),
        ThreadOperation::Member => member(&channel, call.id(1)?),
        ThreadOperation::Archived => archived(world, call, &channel),
    }
}

/// Lists archived threads, most recently archived first, up to a limit and optionally only those
/// archived before a time.
fn archived(
    world: &mut World,
    call: &Call<'_>,
    channel: &StoredChannel,
) -> Result<Value, ApiError> {
    needs(world, call.app, channel, Permissions::READ_MESSAGE_HISTORY)?;
    let limit: usize = call.asked("limit").map_or(Ok(50), str::parse).unwrap_or(0);
    if !(2..=100).contains(&limit) {
        let wrong = Wrong::new(
            "limit",
            "NUMBER_TYPE_MAX",
            "int value should be between 2 and 100.",
        );
        return Err(ApiError::invalid_form(vec![wrong]));
    }
    let before = call.asked("before").unwrap_or("9999");
    let mut found: Vec<(String, Value)> = Vec::new();
    for thread in world.channels.values() {
        let is_archived = thread.thread.as_ref().is_some_and(|it| it.archived);
        if thread.parent != Some(channel.id)
            || thread.kind != ChannelType::PublicThread
            || !is_archived
        {
            continue;
        }
        let json = world.channel_json(thread, Some(call.app));
        let at = json["thread_metadata"]["archive_timestamp"]
            .as_str()
            .unwrap_or_default();
        if at < before {
            found.push((at.to_owned(), json));
        }
    }
    found.sort_by(|one, other| other.0.cmp(&one.0));
    let has_more = found.len() > limit;
    let threads: Vec<Value> = found
        .into_iter()
        .take(limit)
        .map(|(_, json)| json)
        .collect();
    Ok(json!({ "threads": threads, "members": [], "has_more": has_more }))
}

fn open_from(
    world: &mut World,
    call: &Call<'_>,
    channel: &StoredChannel,
) -> Result<Value, ApiError> {
    check(call)?;
    let message = call.id(1)?;
    let found = world
        .message(channel.id, message)
        .filter(|message| !message.is_ephemeral());
    let found = found.ok_or_else(ApiError::unknown_message)?;
    if found.thread.is_some() {
        return Err(ApiError::thread_exists());
    }
    let kind = match channel.kind {
        ChannelType::Text => ChannelType::PublicThread,
        ChannelType::Announcement => ChannelType::AnnouncementThread,
        ChannelType::Direct
        | ChannelType::Voice
        | ChannelType::AnnouncementThread
        | ChannelType::PublicThread
        | ChannelType::PrivateThread
        | ChannelType::Forum => {
            return Err(ApiError::wrong_channel_kind());
        }
    };
    needs(world, call.app, channel, Permissions::CREATE_PUBLIC_THREADS)?;
    has_room(world, channel)?;
    let name = call.body["name"].as_str().unwrap_or_default();
    world.open_thread_from(channel.id, message, call.app, name, kind);
    Ok(world.channel_json(&world.channels[&message], Some(call.app)))
}

fn open(world: &mut World, call: &Call<'_>, channel: &StoredChannel) -> Result<Value, ApiError> {
    check(call)?;
    let name = call.body["name"].as_str().unwrap_or_default().to_owned();
    if channel.kind == ChannelType::Forum {
        let body = &call.body["message"];
        world.quiet_body(call, body);
        let id = world.new_id();
        let draft = drafted(body, MessageForm::Create)?;
        needs(world, call.app, channel, Permissions::SEND_MESSAGES)?;
        world.open_post(id, channel.id, call.app, &name, draft);
        let mut json = world.channel_json(&world.channels[&id], Some(call.app));
        json["message"] = world.message_for(call.app, id, id);
        return Ok(json);
    }
    let (kind, needed) = match (channel.kind, call.body["type"].as_u64()) {
        (ChannelType::Text, Some(11)) => (
            ChannelType::PublicThread,
            Permissions::CREATE_PUBLIC_THREADS,
        ),
        (ChannelType::Announcement, Some(10)) => (
            ChannelType::AnnouncementThread,
            Permissions::CREATE_PUBLIC_THREADS,
        ),
        // Discord's default type is a private thread.
        (ChannelType::Text, Some(12) | None) => (
            ChannelType::PrivateThread,
            Permissions::CREATE_PRIVATE_THREADS,
        ),
        _ => return Err(ApiError::wrong_channel_kind()),
    };
    needs(world, call.app, channel, needed)?;
    has_room(world, channel)?;
    let id = world.new_id();
    world.open_thread(id, channel.id, call.app, &name, kind);
    if kind != ChannelType::PrivateThread {
        let notice = MessageDraft {
            kind: kinds::THREAD_CREATED,
            ..MessageDraft::text(&name)
        };
        let notice = world.post(channel.id, call.app, notice);
        if let Some(notice) = world.message_mut(channel.id, notice) {
            notice.thread = Some(id);
        }
    }
    Ok(world.channel_json(&world.channels[&id], Some(call.app)))
}

fn check(call: &Call<'_>) -> Result<(), ApiError> {
    let mut wrongs = rules::thread_name(&call.body["name"]);
    let archive = &call.body["auto_archive_duration"];
    if !archive.is_null()
        && archive
            .as_u64()
            .is_none_or(|minutes| !ARCHIVES.contains(&minutes))
    {
        let message = "Value must be one of (60, 1440, 4320, 10080).";
        wrongs.push(Wrong::new(
            "auto_archive_duration",
            "BASE_TYPE_CHOICES",
            message,
        ));
    }
    if wrongs.is_empty() {
        Ok(())
    } else {
        Err(ApiError::invalid_form(wrongs))
    }
}

fn needs(
    world: &World,
    user: Id,
    channel: &StoredChannel,
    needed: Permissions,
) -> Result<(), ApiError> {
    let has = world.permissions(user, channel).contains(needed);
    if has {
        Ok(())
    } else {
        Err(ApiError::missing_permissions())
    }
}

fn has_room(world: &World, channel: &StoredChannel) -> Result<(), ApiError> {
    let guild = channel.guild.and_then(|guild| world.guilds.get(&guild));
    if guild.is_some_and(|guild| guild.is_full_of_threads) {
        Err(ApiError::too_many_threads())
    } else {
        Ok(())
    }
}

fn add(world: &mut World, channel: &StoredChannel, user: Id) -> Result<Value, ApiError> {
    let thread = channel
        .thread
        .as_ref()
        .ok_or_else(ApiError::wrong_channel_kind)?;
    if thread.archived {
        return Err(ApiError::archived());
    }
    if !world.users.contains_key(&user) {
        return Err(ApiError::unknown_user());
    }
    world.join_thread(channel.id, user);
    Ok(Value::Null)
}

fn member(channel: &StoredChannel, user: Id) -> Result<Value, ApiError> {
    let thread = channel
        .thread
        .as_ref()
        .ok_or_else(ApiError::wrong_channel_kind)?;
    let joined = thread.members.get(&user);
    let joined = joined.ok_or_else(ApiError::unknown_member)?;
    Ok(thread_member_json(channel.id, user, *joined))
}

impl World {
    /// Opens a thread of a channel.
    pub(crate) fn open_thread(
        &mut self,
        id: Id,
        parent: Id,
        owner: Id,
        name: &str,
        kind: ChannelType,
    ) {
        let now = self.clock.now();
        let thread = ThreadMetadata {
            owner,
            archived: false,
            locked: false,
            auto_archive: 1_440,
            archived_at: now,
            created_at: now,
            members: BTreeMap::from([(owner, now)]),
            invitable: true,
            tags: Vec::new(),
        };
        let channel = StoredChannel {
            parent: Some(parent),
            thread: Some(thread),
            ..StoredChannel::new(id, kind, self.channels[&parent].guild, name)
        };
        self.channels.insert(id, channel);
        self.tell(
            "THREAD_CREATE",
            EventScope::Channel(id),
            intents::GUILDS,
            |world, listener| {
                let mut json = world.channel_json(&world.channels[&id], Some(listener.app));
                json["newly_created"] = true.into();
                json
            },
        );
    }

    /// Opens a thread on a message; it has the message's id.
    pub(crate) fn open_thread_from(
        &mut self,
        channel: Id,
        message: Id,
        owner: Id,
        name: &str,
        kind: ChannelType,
    ) {
        self.open_thread(message, channel, owner, name, kind);
        let author = self.message(channel, message).map(|message| message.author);
        if let Some(found) = self.message_mut(channel, message) {
            found.thread = Some(message);
        }
        let starter = MessageDraft {
            kind: kinds::THREAD_STARTER,
            ..MessageDraft::default()
        };
        let id = self.new_id();
        self.post_as(id, message, author.unwrap_or(owner), starter);
        // The message itself now shows that it has a thread.
        self.tell(
            "MESSAGE_UPDATE",
            EventScope::Channel(channel),
            intents::MESSAGES,
            |world, listener| {
                let found = &world.messages[&channel][&message];
                world.message_event_json(found, listener.app, Self::hears_content(listener))
            },
        );
    }

    /// Opens a forum post: a thread whose first message has its id.
    pub(crate) fn open_post(
        &mut self,
        id: Id,
        forum: Id,
        owner: Id,
        name: &str,
        draft: MessageDraft,
    ) {
        self.open_thread(id, forum, owner, name, ChannelType::PublicThread);
        self.post_as(id, id, owner, draft);
    }
}
