//! Conversations: their properties, members and messages.

use serde_json::{Value, json};

use super::{Arguments, MethodError, readable};
use crate::ids::BOT_USER;
use crate::post::Post;
use crate::state::State;
use crate::workspace::{ChannelKind, StoredConversation};

/// "The maximum and default values for the limit parameter have both been reduced to 15 objects" for apps that are
/// distributed outside the Marketplace.
const LIMITED: usize = 15;

pub(crate) fn info(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let room = state.workspace.rooms.get(call.text("channel"));
    let room = room.ok_or_else(|| MethodError::new("channel_not_found"))?;
    // Public channels are visible without membership.
    if room.kind != ChannelKind::Public && !room.has(BOT_USER) {
        return Err(MethodError::new("channel_not_found"));
    }
    let mut told = state.workspace.room_json(room);
    if call.flag("include_num_members") {
        told["num_members"] = json!(room.members.len());
    }
    Ok(json!({ "channel": told }))
}

/// Opens the direct messages with somebody, who need not have written before.
pub(crate) fn open(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let user = call.text("users").to_owned();
    if !state.workspace.app.holds("im:write") {
        return Err(MethodError::new("missing_scope").with("needed", json!("im:write")));
    }
    let member = state.workspace.members.get(&user);
    let member = member.ok_or_else(|| MethodError::new("user_not_found"))?;
    if member.bot_id.is_some() {
        return Err(MethodError::new("cannot_dm_bot"));
    }
    let channel = state.workspace.direct(&user);
    Ok(json!({ "channel": { "id": channel } }))
}

/// Lists the conversations that the bot is a member of, of the requested types (by default
/// `public_channel`).
pub(crate) fn of_user(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let types: Vec<&str> = match call.optional("types") {
        Some(types) => types.split(',').map(str::trim).collect(),
        None => vec!["public_channel"],
    };
    for (name, scope) in [
        ("public_channel", "channels:read"),
        ("private_channel", "groups:read"),
        ("mpim", "mpim:read"),
        ("im", "im:read"),
    ] {
        if types.contains(&name) && !state.workspace.app.holds(scope) {
            return Err(MethodError::new("missing_scope").with("needed", json!(scope)));
        }
    }
    // "Non-public channels are restricted to those where the calling user shares membership."
    let user = call.optional("user").unwrap_or(BOT_USER);
    let is_asked = |room: &&StoredConversation| {
        let name = match room.kind {
            ChannelKind::Public => "public_channel",
            ChannelKind::Private => "private_channel",
            ChannelKind::Group => "mpim",
            ChannelKind::Direct => "im",
        };
        let is_shown = !(room.is_archived && call.flag("exclude_archived"));
        let is_known = room.kind == ChannelKind::Public || room.has(BOT_USER);
        is_known && room.has(user) && types.contains(&name) && is_shown
    };
    let rooms = state.workspace.rooms.values().filter(is_asked);
    let rooms: Vec<Value> = rooms.map(|room| state.workspace.room_json(room)).collect();
    let limit = call.number("limit").unwrap_or(100);
    let from = match call.optional("cursor").filter(|cursor| !cursor.is_empty()) {
        Some(cursor) => cursor
            .parse()
            .map_err(|_| MethodError::new("invalid_cursor"))?,
        None => 0,
    };
    let shown: Vec<&Value> = rooms.iter().skip(from).take(limit).collect();
    let to = from + shown.len();
    let next = if to < rooms.len() {
        to.to_string()
    } else {
        String::new()
    };
    Ok(json!({ "channels": shown, "response_metadata": { "next_cursor": next } }))
}

/// Returns the requested page of ordered messages: those in the time range, at most `limit` after
/// the cursor.
fn page(
    state: &State,
    call: &Arguments,
    posts: &[&Post],
    most: usize,
) -> Result<Value, MethodError> {
    let most = if state.limits.is_unlisted {
        LIMITED
    } else {
        most
    };
    let most = state.limits.page_by_time.unwrap_or(most);
    let limit = call.number("limit").unwrap_or(most).min(most);
    let from = match call.optional("cursor").filter(|cursor| !cursor.is_empty()) {
        Some(cursor) => cursor
            .parse()
            .map_err(|_| MethodError::new("invalid_cursor"))?,
        None => 0,
    };
    let all = call.flag("include_all_metadata");
    let shown = posts.iter().skip(from).take(limit).map(|post| {
        let mut told = post.json(&state.workspace);
        if all && post.metadata.is_object() {
            told["metadata"] = post.metadata.clone();
        }
        told
    });
    let messages: Vec<Value> = shown.collect();
    let has_more = from + messages.len() < posts.len();
    let next = if has_more && state.limits.page_by_time.is_none() {
        (from + messages.len()).to_string()
    } else {
        String::new()
    };
    Ok(json!({ "messages": messages, "has_more": has_more,
        "response_metadata": { "next_cursor": next } }))
}

/// Whether a message is in the time range: "Only messages after (before) this timestamp", and with
/// `inclusive` that one too.
fn is_in_window(call: &Arguments, ts: &str) -> bool {
    let inclusive = call.flag("inclusive");
    let after = call
        .optional("oldest")
        .is_none_or(|oldest| ts > oldest || (inclusive && ts == oldest));
    let before = call
        .optional("latest")
        .is_none_or(|latest| ts < latest || (inclusive && ts == latest));
    after && before
}

pub(crate) fn replies(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let (channel, ts) = (call.text("channel"), call.text("ts"));
    readable(state, channel)?;
    let post = state
        .workspace
        .post(channel, ts)
        .filter(|post| !post.is_gone && post.only_for.is_none());
    let post = post.ok_or_else(|| MethodError::new("thread_not_found"))?;
    let root = post.thread_ts.clone().unwrap_or_else(|| post.ts.clone());
    let thread = state.workspace.thread(channel, &root);
    // The root comes with every page.
    let thread: Vec<&Post> = thread
        .filter(|post| post.ts == root || is_in_window(call, &post.ts))
        .collect();
    page(state, call, &thread, 1_000)
}

pub(crate) fn history(state: &mut State, call: &Arguments) -> Result<Value, MethodError> {
    let channel = call.text("channel");
    readable(state, channel)?;
    let posts = state.workspace.posts.iter().rev().filter(|post| {
        let is_reply = post.thread_ts.as_ref().is_some_and(|root| *root != post.ts);
        let is_here = post.channel == channel && !post.is_gone && post.only_for.is_none();
        is_here && !is_reply && is_in_window(call, &post.ts)
    });
    let posts: Vec<&Post> = posts.collect();
    page(state, call, &posts, 999)
}
