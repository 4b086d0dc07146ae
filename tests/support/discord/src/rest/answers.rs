//! Responses to interactions: the callback, the original response, and follow-ups.

use serde_json::{Value, json};

use super::Call;
use super::messages::drafted;
use crate::Id;
use crate::error::{ApiError, Wrong};
use crate::interaction::{Doing, Interaction, ResponseState};
use crate::rules::{self, MessageForm};
use crate::world::{MessageDraft, World, flags, kinds};

/// What to do with an interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InteractionOperation {
    Callback,
    FollowUp,
    /// The original response.
    Original(Deed),
    /// The original response or a follow-up, by id.
    One(Deed),
}

/// What to do with a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Edit,
    Remove,
}

pub(super) fn answer(
    world: &mut World,
    call: &Call<'_>,
    wants: InteractionOperation,
) -> Result<Value, ApiError> {
    let interaction = |world: &World| {
        let app = call.id(0)?;
        world.by_token(app, call.text(1)).cloned()
    };
    match wants {
        InteractionOperation::Callback => callback(world, call),
        InteractionOperation::FollowUp => follow_up(world, call, &interaction(world)?),
        InteractionOperation::Original(deed) => {
            let interaction = interaction(world)?;
            let original = interaction.original.ok_or_else(ApiError::unknown_message)?;
            one(world, call, &interaction, original, deed)
        }
        InteractionOperation::One(deed) => {
            let (interaction, id) = (interaction(world)?, call.id(2)?);
            let is_its = interaction.original == Some(id) || interaction.follow_ups.contains(&id);
            if !is_its {
                return Err(ApiError::unknown_message());
            }
            one(world, call, &interaction, id, deed)
        }
    }
}

fn one(
    world: &mut World,
    call: &Call<'_>,
    interaction: &Interaction,
    id: Id,
    deed: Deed,
) -> Result<Value, ApiError> {
    let channel = interaction.channel;
    if world.message(channel, id).is_none() {
        return Err(ApiError::unknown_message());
    }
    match deed {
        Deed::Edit => {
            world.change(call, channel, id, MessageForm::Answer)?;
            world.answered(interaction.id);
            Ok(world.message_for(interaction.app, channel, id))
        }
        Deed::Remove => {
            world.erase(channel, id);
            Ok(Value::Null)
        }
    }
}

fn callback(world: &mut World, call: &Call<'_>) -> Result<Value, ApiError> {
    let id = call.id(0)?;
    let kind = call.body["type"].as_u64().unwrap_or_default();
    let data = &call.body["data"];
    let doing = world.interactions.get(&id).map(|known| known.doing);
    let wrongs = callback_wrongs(doing, kind, data);
    if !wrongs.is_empty() {
        return Err(ApiError::invalid_form(wrongs));
    }
    let interaction = world.acknowledge(id, call.text(1))?.clone();
    let answer = give(world, call, &interaction, kind, data)?;
    if let Some(known) = world.interactions.get_mut(&id) {
        known.answer = answer;
        if matches!(kind, 6 | 7) {
            known.original = known.source;
        }
    }
    let wants_answer = matches!(call.asked("with_response"), Some("true" | "1"));
    Ok(if wants_answer {
        callback_json(world, id, kind)
    } else {
        Value::Null
    })
}

fn callback_wrongs(doing: Option<Doing>, kind: u64, data: &Value) -> Vec<Wrong> {
    if let Some(doing) = doing
        && !fits(doing, kind)
    {
        let doing = doing as u8;
        let message = format!("An interaction of type {doing} is not answered by type {kind}");
        return vec![Wrong::new("type", "BASE_TYPE_CHOICES", message)];
    }
    match kind {
        4 | 7 => {
            let wrongs = rules::message(data, MessageForm::Answer);
            wrongs.into_iter().map(under_data).collect()
        }
        8 => rules::autocomplete(data),
        9 => rules::form(data),
        _ => Vec::new(),
    }
}

/// Executes a callback, and returns the state of the response.
fn give(
    world: &mut World,
    call: &Call<'_>,
    interaction: &Interaction,
    kind: u64,
    data: &Value,
) -> Result<ResponseState, ApiError> {
    let channel = interaction.channel;
    Ok(match kind {
        4 => {
            world.quiet_body(call, data);
            let draft = drafted(data, MessageForm::Answer)?;
            world.first_answer(interaction, draft);
            ResponseState::Answered
        }
        5 => {
            let wanted = data["flags"].as_u64().unwrap_or_default();
            let draft = MessageDraft {
                flags: flags::LOADING | (wanted & flags::EPHEMERAL),
                ..MessageDraft::default()
            };
            world.first_answer(interaction, draft);
            ResponseState::Deferred
        }
        6 => ResponseState::DeferredUpdate,
        7 => {
            let source = interaction.source.ok_or_else(ApiError::unknown_message)?;
            world.change_by(call, data, channel, source, MessageForm::Answer)?;
            ResponseState::Answered
        }
        9 => {
            world.forms.insert(interaction.id, data.clone());
            ResponseState::Form
        }
        // Of the accepted kinds only choices are left.
        _ => ResponseState::Choices(data["choices"].as_array().cloned().unwrap_or_default()),
    })
}

fn under_data(wrong: Wrong) -> Wrong {
    Wrong {
        at: format!("data.{}", wrong.at),
        ..wrong
    }
}

/// Whether a kind of callback may respond to an interaction.
fn fits(doing: Doing, kind: u64) -> bool {
    match doing {
        Doing::Command => matches!(kind, 4 | 5 | 9),
        Doing::Component => matches!(kind, 4..=7 | 9),
        Doing::Form => matches!(kind, 4..=7),
        Doing::Autocomplete => kind == 8,
    }
}

fn callback_json(world: &World, id: Id, kind: u64) -> Value {
    let interaction = &world.interactions[&id];
    let mut told = json!({ "id": id.json(), "type": interaction.doing as u8, "channel_id": interaction.channel.json() });
    let guild = world.channels[&interaction.channel].guild;
    if let Some(guild) = guild {
        told["guild_id"] = guild.json();
    }
    let original = interaction
        .original
        .and_then(|original| world.message(interaction.channel, original));
    let mut json = json!({});
    if let Some(original) = original {
        told["response_message_id"] = original.id.json();
        told["response_message_ephemeral"] = original.is_ephemeral().into();
        told["response_message_loading"] = (original.draft.flags & flags::LOADING != 0).into();
        // For a deferral the description has no message.
        if matches!(kind, 4 | 7) {
            let message = world.message_for(interaction.app, interaction.channel, original.id);
            json["resource"] = json!({ "type": kind, "message": message });
        }
    }
    json["interaction"] = told;
    json
}

fn follow_up(
    world: &mut World,
    call: &Call<'_>,
    interaction: &Interaction,
) -> Result<Value, ApiError> {
    world.quiet(call);
    let mut draft = drafted(call.body, MessageForm::Answer)?;
    // The first follow-up after a deferral replaces the "thinking" message.
    if interaction.answer == ResponseState::Deferred
        && let Some(original) = interaction.original
    {
        let files = world.attach(call, interaction.channel)?;
        world.change(call, interaction.channel, original, MessageForm::Answer)?;
        world.rewrite(interaction.channel, original, |message| {
            message.draft.attachments.extend(files)
        });
        world.answered(interaction.id);
        return Ok(world.message_for(interaction.app, interaction.channel, original));
    }
    draft.attachments = world.attach(call, interaction.channel)?;
    world.sign(&mut draft, interaction);
    draft.reference = interaction.original;
    let id = world.post(interaction.channel, interaction.app, draft);
    if let Some(known) = world.interactions.get_mut(&interaction.id) {
        known.follow_ups.push(id);
    }
    Ok(world.message_for(interaction.app, interaction.channel, id))
}

impl World {
    /// Records that the "thinking" message was edited into the response.
    fn answered(&mut self, id: Id) {
        if let Some(known) = self.interactions.get_mut(&id)
            && known.answer == ResponseState::Deferred
        {
            known.answer = ResponseState::Answered;
        }
    }

    fn sign(&self, draft: &mut MessageDraft, interaction: &Interaction) {
        draft.webhook = Some(interaction.app);
        draft.application = Some(interaction.app);
        draft.interaction = Some(interaction.metadata(self));
        if draft.flags & flags::EPHEMERAL != 0 {
            draft.ephemeral_for = Some(interaction.user);
        }
    }

    fn first_answer(&mut self, interaction: &Interaction, mut draft: MessageDraft) {
        self.sign(&mut draft, interaction);
        match (interaction.doing, interaction.is_menu) {
            (Doing::Component | Doing::Form, _) => draft.reference = interaction.source,
            (_, true) => draft.kind = kinds::MENU_COMMAND,
            (_, false) => draft.kind = kinds::SLASH_COMMAND,
        }
        let is_ephemeral = draft.flags & flags::EPHEMERAL != 0;
        let id = self.post(interaction.channel, interaction.app, draft);
        if let Some(known) = self.interactions.get_mut(&interaction.id) {
            known.original = Some(id);
            known.is_ephemeral = is_ephemeral;
        }
    }
}
