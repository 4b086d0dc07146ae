//! Messages: posting, reading, editing and deleting.

use serde_json::{Value, json};

use super::Call;
use crate::Id;
use crate::error::{ApiError, Wrong};
use crate::permissions::Permissions;
use crate::rules::{self, MessageForm};
use crate::world::{Attached, MessageDraft, StoredChannel, StoredMessage, World, flags};

/// Maximum number of messages per page.
const PAGE: usize = 100;

/// For this long a message with a known nonce is not posted again, if that was requested ("past few
/// minutes").
const NONCE_KEPT: std::time::Duration = std::time::Duration::from_mins(3);

/// What to do with messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageOperation {
    List,
    Post,
    Look,
    Edit,
    Remove,
}

pub(super) fn answer(
    world: &mut World,
    call: &Call<'_>,
    wants: MessageOperation,
) -> Result<Value, ApiError> {
    let channel = world.channel_for(call.app, call.id(0)?)?.clone();
    match wants {
        MessageOperation::Post => post(world, call, &channel),
        MessageOperation::List => list(world, call, &channel),
        MessageOperation::Look => {
            let id = known(world, &channel, call.id(1)?)?.id;
            Ok(world.message_for(call.app, channel.id, id))
        }
        MessageOperation::Edit => edit(world, call, &channel),
        MessageOperation::Remove => remove(world, call, &channel),
    }
}

/// Returns a message that everybody can see: ephemeral messages do not belong to the channel.
fn known<'a>(
    world: &'a World,
    channel: &StoredChannel,
    id: Id,
) -> Result<&'a StoredMessage, ApiError> {
    let message = world
        .message(channel.id, id)
        .filter(|message| !message.is_ephemeral());
    message.ok_or_else(ApiError::unknown_message)
}

fn post(world: &mut World, call: &Call<'_>, channel: &StoredChannel) -> Result<Value, ApiError> {
    world.quiet(call);
    let mut draft = drafted(call.body, MessageForm::Create)?;
    world.may_write(call.app, channel)?;
    let permissions = world.permissions(call.app, channel);
    let earlier = draft
        .reference
        .map(|earlier| world.message(channel.id, earlier).is_some());
    if earlier.is_some() && !permissions.contains(Permissions::READ_MESSAGE_HISTORY) {
        return Err(ApiError::no_history());
    }
    if earlier == Some(false) {
        if call.body["message_reference"]["fail_if_not_exists"] != false {
            // A client cannot know whether the earlier message still exists.
            let wrong = Wrong::new(
                "message_reference",
                "MESSAGE_REFERENCE_UNKNOWN_MESSAGE",
                "Unknown message",
            );
            let mut error = ApiError::invalid_form(vec![wrong]);
            error.state = true;
            return Err(error);
        }
        draft.reference = None;
    }
    if call.body["enforce_nonce"] == true
        && let Some(id) = same_nonce(world, call.app, channel.id, &call.body["nonce"])
    {
        return Ok(world.message_for(call.app, channel.id, id));
    }
    draft.attachments = world.attach(call, channel.id)?;
    let id = world.post(channel.id, call.app, draft);
    Ok(world.message_for(call.app, channel.id, id))
}

fn same_nonce(world: &World, app: Id, channel: Id, nonce: &Value) -> Option<Id> {
    let now = world.clock.elapsed();
    let recent = world.messages.get(&channel)?.values().rev();
    let mut same = recent.filter(|message| {
        message.author == app
            && message.draft.nonce.as_ref() == Some(nonce)
            && now - message.created < NONCE_KEPT
    });
    same.next().map(|message| message.id)
}

fn list(world: &World, call: &Call<'_>, channel: &StoredChannel) -> Result<Value, ApiError> {
    if !world
        .permissions(call.app, channel)
        .contains(Permissions::READ_MESSAGE_HISTORY)
    {
        return Ok(json!([]));
    }
    let limit = call.asked("limit").map_or(Ok(50), str::parse).unwrap_or(0);
    if !(1..=PAGE).contains(&limit) {
        let message = "int value should be between 1 and 100.";
        return Err(ApiError::invalid_form(vec![Wrong::new(
            "limit",
            "NUMBER_TYPE_MAX",
            message,
        )]));
    }
    let bound = |name| call.asked(name).and_then(Id::parse);
    let (before, after, around) = (bound("before"), bound("after"), bound("around"));
    let all = world
        .messages
        .get(&channel.id)
        .into_iter()
        .flat_map(|messages| messages.values());
    let shown = all.filter(|message| !message.deleted && !message.is_ephemeral());
    let fits =
        |id: Id| before.is_none_or(|before| id < before) && after.is_none_or(|after| id > after);
    let mut ids: Vec<Id> = shown
        .map(|message| message.id)
        .filter(|id| fits(*id))
        .collect();
    if let Some(around) = around {
        let middle = ids.partition_point(|id| *id < around);
        ids = ids.split_off(middle.saturating_sub(limit / 2));
    }
    if after.is_some() || around.is_some() {
        ids.truncate(limit);
    }
    // Newest first.
    let newest = ids.iter().rev().take(limit);
    Ok(newest
        .map(|id| world.message_for(call.app, channel.id, *id))
        .collect())
}

fn edit(world: &mut World, call: &Call<'_>, channel: &StoredChannel) -> Result<Value, ApiError> {
    let message = known(world, channel, call.id(1)?)?;
    let (id, author) = (message.id, message.author);
    let manages = world
        .permissions(call.app, channel)
        .contains(Permissions::MANAGE_MESSAGES);
    if author != call.app {
        // A moderator may only hide embeds.
        let only_flags = call
            .body
            .as_object()
            .is_some_and(|fields| fields.keys().all(|name| name == "flags"));
        if !only_flags {
            return Err(ApiError::not_the_author());
        }
        if !manages {
            return Err(ApiError::missing_permissions());
        }
    }
    if let Some(thread) = &channel.thread
        && thread.archived
    {
        return Err(ApiError::archived());
    }
    world.change(call, channel.id, id, MessageForm::Edit)?;
    Ok(world.message_for(call.app, channel.id, id))
}

fn remove(world: &mut World, call: &Call<'_>, channel: &StoredChannel) -> Result<Value, ApiError> {
    let message = known(world, channel, call.id(1)?)?;
    let (id, is_own) = (message.id, message.author == call.app);
    let manages = world
        .permissions(call.app, channel)
        .contains(Permissions::MANAGE_MESSAGES);
    if !is_own && channel.guild.is_none() {
        return Err(ApiError::not_in_direct_messages());
    }
    if !is_own && !manages {
        return Err(ApiError::missing_permissions());
    }
    if channel
        .thread
        .as_ref()
        .is_some_and(|thread| thread.archived)
    {
        return Err(ApiError::archived());
    }
    world.erase(channel.id, id);
    Ok(Value::Null)
}

/// Parses a message from a body.
pub(super) fn drafted(body: &Value, form: MessageForm) -> Result<MessageDraft, ApiError> {
    let wrongs = rules::message(body, form);
    if !wrongs.is_empty() {
        return Err(ApiError::invalid_form(wrongs));
    }
    let list = |name: &str| body[name].as_array().cloned().unwrap_or_default();
    let content = body["content"]
        .as_str()
        .unwrap_or_default()
        .trim()
        .to_owned();
    let components = list("components");
    let is_empty = content.is_empty() && components.is_empty() && list("attachments").is_empty();
    if is_empty && form != MessageForm::Edit {
        return Err(ApiError::empty_message());
    }
    Ok(MessageDraft {
        content,
        components: number(components),
        flags: body["flags"].as_u64().unwrap_or_default(),
        reference: Id::of(&body["message_reference"]["message_id"]),
        nonce: Some(body["nonce"].clone()).filter(|nonce| !nonce.is_null()),
        allowed_mentions: Some(body["allowed_mentions"].clone())
            .filter(|allowed| !allowed.is_null()),
        ..MessageDraft::default()
    })
}

/// Maximum bytes of a bot's file in a server without boosts.
const LARGEST_FILE: usize = 10 * 1024 * 1024;

impl World {
    /// Stores the files of a message, under the names it gives them.
    pub(crate) fn attach(&mut self, call: &Call<'_>, channel: Id) -> Result<Vec<Id>, ApiError> {
        let named = call.body["attachments"].as_array().map_or(0, Vec::len);
        let is_named = |file: &crate::server::multipart::Sent| {
            let mut named = call.body["attachments"].as_array().into_iter().flatten();
            named.any(|it| it["id"] == file.number && it["filename"] == file.name)
        };
        if named != call.files.len() || !call.files.iter().all(is_named) {
            let message = "Attachment data not found";
            let wrong = Wrong::new("attachments", "MESSAGE_ATTACHMENT_NOT_FOUND", message);
            return Err(ApiError::invalid_form(vec![wrong]));
        }
        if call
            .files
            .iter()
            .any(|file| file.content.len() > LARGEST_FILE)
        {
            return Err(ApiError::too_large());
        }
        let attach = |file: &crate::server::multipart::Sent| {
            let id = self.new_id();
            let file = Attached {
                id,
                channel,
                name: file.name.clone(),
                media_type: file.media_type.clone(),
                content: file.content.clone(),
                claimed_size: file.content.len() as u64,
            };
            self.files.insert(id, file);
            id
        };
        Ok(call.files.iter().map(attach).collect())
    }

    /// Records a violation if the body may ping somebody.
    pub(crate) fn quiet(&mut self, call: &Call<'_>) {
        self.quiet_body(call, call.body);
    }

    pub(crate) fn quiet_body(&mut self, call: &Call<'_>, body: &Value) {
        if let Some(how) = rules::pings(body) {
            self.blame(format!("{:?} {}: {how}", call.route, call.text(0)));
        }
    }

    /// Edits a message; the body contains only what changes.
    pub(crate) fn change(
        &mut self,
        call: &Call<'_>,
        channel: Id,
        id: Id,
        form: MessageForm,
    ) -> Result<(), ApiError> {
        self.change_by(call, call.body, channel, id, form)
    }

    pub(crate) fn change_by(
        &mut self,
        call: &Call<'_>,
        body: &Value,
        channel: Id,
        id: Id,
        form: MessageForm,
    ) -> Result<(), ApiError> {
        if !body["content"].is_null() {
            self.quiet_body(call, body);
        }
        let draft = drafted(body, MessageForm::Edit).or_else(|error| {
            // Editing a response may repeat the flags of its creation.
            if form == MessageForm::Answer {
                drafted(body, MessageForm::Answer)
            } else {
                Err(error)
            }
        })?;
        let message = self.message(channel, id);
        let message = message.ok_or_else(ApiError::unknown_message)?;
        if leaves_nothing(message, body, &draft) {
            return Err(ApiError::empty_message());
        }
        self.rewrite(channel, id, |message| put(message, body, draft));
        Ok(())
    }
}

/// Whether a message would be empty after an edit.
fn leaves_nothing(message: &StoredMessage, body: &Value, draft: &MessageDraft) -> bool {
    let old = &message.draft;
    let stays = |name: &str, old_is_empty: bool| body.get(name).is_none() && !old_is_empty;
    let has_text = !draft.content.is_empty() || stays("content", old.content.is_empty());
    let has_embeds = !old.embeds.is_empty();
    let has_rows = !draft.components.is_empty() || stays("components", old.components.is_empty());
    let has_files = !old.attachments.is_empty();
    // A "thinking" message has no text yet.
    let is_waiting = old.flags & flags::LOADING != 0 && body["content"].is_null();
    !(has_text || has_embeds || has_rows || has_files || is_waiting)
}

/// Applies the fields that a body contains.
fn put(message: &mut StoredMessage, body: &Value, new: MessageDraft) {
    let names = |name: &str| body.get(name).is_some();
    let old = &mut message.draft;
    if names("content") {
        old.content = new.content;
        old.allowed_mentions = new.allowed_mentions;
    }
    if names("components") {
        old.components = new.components;
    }
    if names("flags") {
        let settable = flags::SUPPRESS_EMBEDS;
        old.flags = (old.flags & !settable) | (new.flags & settable);
    }
    old.flags &= !flags::LOADING;
}

/// Numbers components, as Discord returns them.
fn number(mut rows: Vec<Value>) -> Vec<Value> {
    let mut next = 1;
    let mut give = |component: &mut Value| {
        component["id"] = next.into();
        next += 1;
    };
    for row in &mut rows {
        give(row);
        for component in row["components"].as_array_mut().into_iter().flatten() {
            give(component);
            if let Some(fields) = component.as_object_mut() {
                fields.retain(|_, value| !value.is_null());
            }
        }
    }
    rows
}
