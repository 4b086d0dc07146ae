//! Registered commands, global or of one server.

use serde_json::{Value, json};

use super::Call;
use crate::Id;
use crate::error::ApiError;
use crate::rules;
use crate::world::World;

/// What to do with commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandOperation {
    All,
    Set,
}

/// Whose commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandScope {
    Everywhere,
    Guild,
}

pub(super) fn answer(
    world: &mut World,
    call: &Call<'_>,
    wants: CommandOperation,
    scope: CommandScope,
) -> Result<Value, ApiError> {
    let guild = match scope {
        CommandScope::Everywhere => None,
        CommandScope::Guild => Some(call.id(1)?),
    };
    if call.id(0)? != call.app {
        return Err(ApiError::unknown_application());
    }
    let joined = guild.is_none_or(|guild| {
        let guild = world.guilds.get(&guild);
        guild.is_some_and(|guild| guild.members.contains_key(&call.app))
    });
    if !joined {
        return Err(ApiError::missing_access());
    }
    let kept = world.commands.get(&(call.app, guild));
    let kept = kept.cloned().unwrap_or_default();
    match wants {
        CommandOperation::All if call.asked("with_localizations") == Some("true") => {
            Ok(Value::Array(kept))
        }
        CommandOperation::All => Ok(kept.into_iter().map(without_localizations).collect()),
        CommandOperation::Set => set(world, call, guild, &kept),
    }
}

fn valid(commands: &Value) -> Result<(), ApiError> {
    let wrongs = rules::commands(commands);
    if wrongs.is_empty() {
        Ok(())
    } else {
        Err(ApiError::invalid_form(wrongs))
    }
}

fn set(
    world: &mut World,
    call: &Call<'_>,
    guild: Option<Id>,
    kept: &[Value],
) -> Result<Value, ApiError> {
    valid(call.body)?;
    let wanted = call.body.as_array().into_iter().flatten();
    let set: Vec<Value> = wanted
        .map(|command| register(world, call.app, guild, command, kept))
        .collect();
    world.commands.insert((call.app, guild), set.clone());
    Ok(Value::Array(set))
}

/// Registers a command like Discord: one of a known name and kind keeps its id.
fn register(
    world: &mut World,
    app: Id,
    guild: Option<Id>,
    command: &Value,
    kept: &[Value],
) -> Value {
    let kind = command["type"].as_u64().unwrap_or(1);
    let is_same = |known: &&Value| known["name"] == command["name"] && known["type"] == kind;
    let id = kept.iter().find(is_same).map(|known| known["id"].clone());
    let id = id.unwrap_or_else(|| world.new_id().json());
    let mut registered = json!({
        "id": id, "application_id": app.json(), "version": world.new_id().json(), "type": kind,
        "name": command["name"], "description": command["description"].as_str().unwrap_or_default(),
        "default_member_permissions": command["default_member_permissions"], "nsfw": command["nsfw"] == true,
        "name_localizations": null, "description_localizations": null,
    });
    for name in [
        "contexts",
        "integration_types",
        "name_localizations",
        "description_localizations",
    ] {
        if !command[name].is_null() {
            registered[name] = command[name].clone();
        }
    }
    if guild.is_none() {
        registered["dm_permission"] = Value::Bool(command["dm_permission"] != false);
        if registered["integration_types"].is_null() {
            registered["integration_types"] = json!([0]);
        }
    }
    let options = command["options"]
        .as_array()
        .filter(|options| !options.is_empty());
    if let Some(options) = options {
        registered["options"] = options.iter().map(kept_option).collect();
    }
    match guild {
        Some(guild) => crate::world::with_guild(registered, Some(guild)),
        None => registered,
    }
}

/// Removes translations, which Discord omits unless requested.
fn without_localizations(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let left = fields
                .into_iter()
                .filter(|(name, _)| !name.ends_with("_localizations"));
            let left = left.map(|(name, value)| (name, without_localizations(value)));
            Value::Object(left.collect())
        }
        Value::Array(items) => items.into_iter().map(without_localizations).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// Removes empty values, which Discord omits: nulls, `false` and empty lists.
fn kept_option(option: &Value) -> Value {
    let mut option = option.clone();
    if let Some(fields) = option.as_object_mut() {
        let says_nothing = |value: &Value| {
            value.is_null()
                || *value == false
                || value.as_array().is_some_and(Vec::is_empty)
                || value.as_object().is_some_and(serde_json::Map::is_empty)
        };
        fields.retain(|_, value| !says_nothing(value));
        if let Some(inner) = fields.get_mut("options").and_then(Value::as_array_mut) {
            *inner = inner.iter().map(kept_option).collect();
        }
    }
    option
}
