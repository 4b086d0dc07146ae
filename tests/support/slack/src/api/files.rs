//! Files that people attached.

use serde_json::{Value, json};

use super::{Arguments, Refusal};
use crate::state::State;

pub(crate) fn info(state: &mut State, call: &Arguments) -> Result<Value, Refusal> {
    let file = state.workspace.files.get(call.text("file"));
    let (file, _) = file.ok_or_else(|| Refusal::new("file_not_found"))?;
    Ok(json!({ "file": file, "comments": [], "response_metadata": { "next_cursor": "" } }))
}
