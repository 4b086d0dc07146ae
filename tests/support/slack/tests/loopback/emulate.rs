//! Compares with npm's `emulate`, another Slack server: the same calls must have responses of the
//! same shape.
//!
//! `MUNINN_EMULATE_URL` names it (`tests/servers/emulate/emulate-up PORT` starts one).

use loopback_slack::Slack;
use serde_json::Value;
use slack_morphism::errors::SlackClientError;
use slack_morphism::prelude::*;

use crate::client::{Connector, bot_token, call_by_form, client, text};
use crate::lane::lane;

/// Emulate's channels, one per test.
const GENERAL: &str = "C000000001";
const RANDOM: &str = "C000000002";

fn emulate() -> String {
    lane("MUNINN_EMULATE_URL")
}

/// What must be equal in two responses: no ids, no times, no users.
type ResponseShape = Vec<(&'static str, String)>;

fn error<T: std::fmt::Debug>(answered: Result<T, SlackClientError>) -> String {
    match answered {
        Err(SlackClientError::ApiError(error)) => error.code,
        other => panic!("no error of Slack's, but {other:?}"),
    }
}

/// Returns the texts of the read messages.
fn texts(read: &Value) -> String {
    let messages = read["messages"].as_array().unwrap().iter();
    let texts: Vec<&str> = messages
        .map(|message| message["text"].as_str().unwrap())
        .collect();
    format!("{texts:?}")
}

/// Posts, replies, edits, deletes, and makes calls that are refused.
async fn walk(api_url: &str, channel: &str) -> ResponseShape {
    let (client, token) = (client(api_url), bot_token());
    let session = client.open_session(&token);
    let channel = SlackChannelId::new(channel.to_owned());
    let mut shape = ResponseShape::new();
    let post = |said: &str| SlackApiChatPostMessageRequest::new(channel.clone(), text(said));
    let root = session
        .chat_post_message(&post("root & <b>"))
        .await
        .unwrap();
    assert_eq!(root.ts, root.message.origin.ts);
    shape.push((
        "posted",
        format!(
            "{:?} {:?}",
            root.message.content.text, root.message.origin.thread_ts
        ),
    ));
    let reply = post("reply").with_thread_ts(root.ts.clone());
    let reply = session.chat_post_message(&reply).await.unwrap();
    let is_in_thread = reply.message.origin.thread_ts.as_ref() == Some(&root.ts);
    shape.push((
        "replied",
        format!("{:?} {is_in_thread}", reply.message.content.text),
    ));

    let update = |ts: &SlackTs, said: &str| {
        SlackApiChatUpdateRequest::new(channel.clone(), text(said), ts.clone())
    };
    let changed = session
        .chat_update(&update(&reply.ts, "changed"))
        .await
        .unwrap();
    shape.push((
        "changed",
        format!(
            "{} {:?}",
            changed.ts == reply.ts,
            changed.message.content.text
        ),
    ));

    let form = format!("channel={channel}&ts={}", root.ts);
    // Emulate does not accept GET, which the client crate uses for reading.
    let thread = call_by_form(api_url, "conversations.replies", &form).await;
    shape.push(("thread", texts(&thread)));
    shape.push(("count", thread["messages"][0]["reply_count"].to_string()));
    let history = call_by_form(
        api_url,
        "conversations.history",
        &format!("channel={channel}&limit=1"),
    )
    .await;
    shape.push(("history", texts(&history)));

    let delete = |ts: &SlackTs| SlackApiChatDeleteRequest::new(channel.clone(), ts.clone());
    let deleted = session.chat_delete(&delete(&reply.ts)).await.unwrap();
    shape.push(("deleted", (deleted.ts == reply.ts).to_string()));
    let thread = call_by_form(api_url, "conversations.replies", &form).await;
    shape.push(("left", texts(&thread)));
    refused(&session, &channel, &reply.ts, &mut shape).await;
    session.chat_delete(&delete(&root.ts)).await.unwrap();
    shape
}

/// Makes refused calls about a deleted message.
async fn refused(
    session: &SlackClientSession<'_, Connector>,
    channel: &SlackChannelId,
    gone: &SlackTs,
    shape: &mut ResponseShape,
) {
    let delete = SlackApiChatDeleteRequest::new(channel.clone(), gone.clone());
    shape.push(("deleted twice", error(session.chat_delete(&delete).await)));
    let update = SlackApiChatUpdateRequest::new(channel.clone(), text("again"), gone.clone());
    shape.push((
        "changed when gone",
        error(session.chat_update(&update).await),
    ));
    let nowhere = SlackApiChatPostMessageRequest::new("C999999999".into(), text("hail"));
    shape.push((
        "posted nowhere",
        error(session.chat_post_message(&nowhere).await),
    ));
}

#[tokio::test]
#[ignore = "needs emulate (MUNINN_EMULATE_URL)"]
async fn the_same_calls_have_answers_of_the_same_shape() {
    let url = emulate();
    let there = walk(&format!("{url}/api"), GENERAL).await;
    let slack = Slack::start().await;
    let channel = slack.channel("general");
    let here = walk(&slack.api_url(), channel.id()).await;
    assert_eq!(here, there);
    slack.finish();
}

/// Fields that only emulate returns, with the reason.
const NOT_HERE: [(&str, &str); 3] = [
    (
        "conversations.info.channel.is_open",
        "of direct messages only",
    ),
    (
        "conversations.info.channel.last_read",
        "of people's tokens only",
    ),
    (
        "conversations.info.channel.num_members",
        "only with include_num_members",
    ),
];

/// Collects the field names of an object with the kinds of their values: `message.text string`.
fn names(value: &Value, path: &str, found: &mut Vec<String>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "flag",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(list) => {
            if let Some(first) = list.first() {
                names(first, &format!("{path}[]"), found);
            }
            "list"
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                names(value, &format!("{path}.{name}"), found);
            }
            "object"
        }
    };
    found.push(format!("{path} {kind}"));
}

/// Makes the same calls with plain forms; returns the field names of the responses.
async fn named(api_url: &str, channel: &str, person: &str) -> Vec<String> {
    let mut found = Vec::new();
    let root = call_by_form(
        api_url,
        "chat.postMessage",
        &format!("channel={channel}&text=root"),
    )
    .await;
    let ts = root["ts"].as_str().unwrap().to_owned();
    names(&root, "chat.postMessage", &mut found);
    for (method, form) in [
        ("auth.test", String::new()),
        (
            "chat.postMessage",
            format!("channel={channel}&text=reply&thread_ts={ts}"),
        ),
        (
            "chat.update",
            format!("channel={channel}&ts={ts}&text=changed"),
        ),
        (
            "chat.postEphemeral",
            format!("channel={channel}&user={person}&text=whisper"),
        ),
        (
            "conversations.replies",
            format!("channel={channel}&ts={ts}"),
        ),
        (
            "conversations.history",
            format!("channel={channel}&limit=1"),
        ),
        ("conversations.info", format!("channel={channel}")),
        ("users.info", format!("user={person}")),
        ("chat.delete", format!("channel={channel}&ts={ts}")),
    ] {
        let answer = call_by_form(api_url, method, &form).await;
        assert_eq!(answer["ok"], true, "{method}: {answer}");
        names(&answer, method, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

#[tokio::test]
#[ignore = "needs emulate (MUNINN_EMULATE_URL)"]
async fn what_emulate_names_is_named_here_too() {
    let url = emulate();
    let there = named(&format!("{url}/api"), RANDOM, "U000000001").await;
    let slack = Slack::start().await;
    let ann = slack.person("Ann");
    let channel = slack.channel("general");
    ann.in_channel(&channel);
    let here = named(&slack.api_url(), channel.id(), ann.id()).await;
    let is_known = |name: &str| NOT_HERE.iter().any(|(known, _)| name.starts_with(known));
    let missing: Vec<&String> = there
        .iter()
        .filter(|name| !here.contains(name) && !is_known(name))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    slack.finish();
}
