//! Outside tools: the whole bot, services on loopback that check every request, and a scripted
//! model.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod asking;
mod http;
#[cfg(feature = "mcp")]
mod mcp;
#[path = "../support/mod.rs"]
mod support;

use support::model_server::ModelServerRequest;

/// Whether it is the first call of a turn: the message itself, with this tool among others.
fn offers(tool: &'static str, text: &'static str) -> impl Fn(&ModelServerRequest) -> bool {
    move |request| request.last_user().ends_with(text) && request.tools().contains(&tool)
}

/// Whether it is the last call of a turn: the message below what was found, without tools.
fn answers(
    text: &'static str,
    found: &'static [&'static str],
) -> impl Fn(&ModelServerRequest) -> bool {
    move |request| {
        let asked = request.last_user();
        let has_all = found.iter().all(|found| asked.contains(found));
        request.tools().is_empty() && asked.ends_with(text) && has_all
    }
}
