//! Home tabs and modals.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Arguments, MethodError};
use crate::ids::{APP, BOT, TEAM, id};
use crate::state::State;

/// "Triggers expire in three seconds."
const TRIGGER_LIFE: Duration = Duration::from_secs(3);

/// Returns a view as Slack stores it, with what it adds.
fn kept(state: &mut State, view: &Value) -> Value {
    let mut kept = view.clone();
    let number = state.workspace.number();
    let beside = json!({ "id": id('V', number), "team_id": TEAM, "app_id": APP, "bot_id": BOT,
        "hash": format!("{number}.hash"), "state": { "values": {} } });
    for (name, value) in beside.as_object().into_iter().flatten() {
        kept[name] = value.clone();
    }
    kept
}

/// Opens a modal for the person of the trigger: once, and within three seconds.
pub(crate) fn open(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let trigger = state.triggers.remove(call.text("trigger_id"));
    let (user, at) = trigger.ok_or_else(|| MethodError::new("invalid_trigger_id"))?;
    if at.elapsed() > TRIGGER_LIFE {
        return Err(MethodError::new("expired_trigger_id"));
    }
    let view = kept(state, &call.value("view"));
    state.forms.insert(user, view.clone());
    Ok(json!({ "view": view }))
}

pub(crate) fn publish(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let user = call.text("user_id").to_owned();
    if !state.workspace.members.contains_key(&user) {
        return Err(MethodError::new("user_not_found"));
    }
    if !state.workspace.app.has_home {
        return Err(MethodError::new("not_enabled"));
    }
    let held = state.workspace.homes.get(&user);
    if let (Some(hash), Some(held)) = (call.optional("hash"), held)
        && held["hash"] != hash
    {
        return Err(MethodError::new("hash_conflict"));
    }
    let view = kept(state, &call.value("view"));
    state.workspace.homes.insert(user, view.clone());
    Ok(json!({ "view": view }))
}
