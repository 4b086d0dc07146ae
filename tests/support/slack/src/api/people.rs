//! People, the team, bots, and reactions.

use serde_json::{Value, json};

use super::{Arguments, Refusal, writable};
use crate::ids::{APP, BOT, BOT_USER, TEAM};
use crate::post::bot_json;
use crate::state::State;

pub(crate) fn user(state: &mut State, call: &Arguments) -> Result<Value, Refusal> {
    let user = state.workspace.user_json(call.text("user"));
    let user = user.ok_or_else(|| Refusal::new("user_not_found"))?;
    Ok(json!({ "user": user }))
}

pub(crate) fn team(_state: &mut State, call: &Arguments) -> Result<Value, Refusal> {
    if call.optional("team").is_some_and(|team| team != TEAM) {
        return Err(Refusal::new("team_not_found"));
    }
    Ok(
        json!({ "team": { "id": TEAM, "name": "Ravens", "domain": "ravens", "email_domain": "",
        "url": "https://ravens.slack.com/", "icon": {} } }),
    )
}

pub(crate) fn bot(state: &mut State, call: &Arguments) -> Result<Value, Refusal> {
    let wanted = call.optional("bot").unwrap_or(BOT);
    if wanted == BOT {
        return Ok(json!({ "bot": bot_json(BOT, "Muninn", APP) }));
    }
    let mut members = state.workspace.members.values();
    let other = members.find(|member| member.bot_id.as_deref() == Some(wanted));
    let other = other.ok_or_else(|| Refusal::new("bot_not_found"))?;
    Ok(json!({ "bot": bot_json(wanted, &other.name, "A00OTHERS1") }))
}

pub(crate) fn add_reaction(state: &mut State, call: &Arguments) -> Result<Value, Refusal> {
    let (channel, ts, name) = reacted(state, call)?;
    let post = state
        .workspace
        .post_mut(&channel, &ts)
        .expect("it was there just now");
    let reaction = (BOT_USER.to_owned(), name);
    if post.reactions.contains(&reaction) {
        return Err(Refusal::new("already_reacted"));
    }
    post.reactions.push(reaction);
    Ok(json!({}))
}

pub(crate) fn remove_reaction(state: &mut State, call: &Arguments) -> Result<Value, Refusal> {
    let (channel, ts, name) = reacted(state, call)?;
    let post = state
        .workspace
        .post_mut(&channel, &ts)
        .expect("it was there just now");
    let reaction = (BOT_USER.to_owned(), name);
    if !post.reactions.contains(&reaction) {
        return Err(Refusal::new("no_reaction"));
    }
    post.reactions.retain(|held| *held != reaction);
    Ok(json!({}))
}

fn reacted(state: &State, call: &Arguments) -> Result<(String, String, String), Refusal> {
    let (channel, ts) = (call.text("channel"), call.text("timestamp"));
    writable(state, channel)?;
    let post = state
        .workspace
        .post(channel, ts)
        .filter(|post| !post.is_gone);
    post.ok_or_else(|| Refusal::new("message_not_found"))?;
    Ok((
        channel.to_owned(),
        ts.to_owned(),
        call.text("name").to_owned(),
    ))
}
