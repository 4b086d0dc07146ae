//! People.

use serde_json::{Value, json};

use super::{Arguments, MethodError};
use crate::state::State;

pub(crate) fn user(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let user = state.workspace.user_json(call.text("user"));
    let mut user = user.ok_or_else(|| MethodError::new("user_not_found"))?;
    if call.flag("include_locale") {
        user["locale"] = state.workspace.locale(call.text("user")).into();
    }
    Ok(json!({ "user": user }))
}
