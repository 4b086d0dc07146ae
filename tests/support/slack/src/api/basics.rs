//! `auth.test`, `apps.connections.open`

use serde_json::{Value, json};

use super::{Arguments, MethodError};
use crate::ids::{BOT, BOT_USER, TEAM};
use crate::state::State;

#[expect(clippy::unnecessary_wraps, reason = "every method has this form")]
pub(crate) fn auth_test(_state: &mut State, _call: &Arguments) -> Result<Value, MethodError> {
    Ok(
        json!({ "url": "https://ravens.slack.com/", "team": "Ravens", "user": "muninn", "team_id": TEAM,
        "user_id": BOT_USER, "bot_id": BOT, "is_enterprise_install": false }),
    )
}

/// Returns a URL that opens one connection.
pub(crate) fn open_connection(state: &mut State, _call: &Arguments) -> Result<Value, MethodError> {
    if !state.workspace.app.socket_mode {
        return Err(MethodError::new("no_permission"));
    }
    let ticket = format!("ticket-{}", state.workspace.number());
    let address = match state.sockets.front {
        Some(front) => format!("ws://{front}"),
        None => state.workspace.base_url.replacen("http", "ws", 1),
    };
    let url = format!("{address}/link/?ticket={ticket}&app_id={}", crate::ids::APP);
    state.sockets.tickets.push(ticket);
    Ok(json!({ "url": url }))
}
