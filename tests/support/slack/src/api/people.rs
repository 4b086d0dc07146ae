//! People.

use serde_json::{Value, json};

use super::{Arguments, Refusal};
use crate::state::State;

pub(crate) fn user(state: &mut State, call: &Arguments) -> Result<Value, Refusal> {
    let user = state.workspace.user_json(call.text("user"));
    let user = user.ok_or_else(|| Refusal::new("user_not_found"))?;
    Ok(json!({ "user": user }))
}
