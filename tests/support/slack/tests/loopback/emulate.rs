//! npm's `emulate` as a second Slack: the same calls have answers of the same shape here and there.
//!
//! `MUNINN_EMULATE_URL` names it (`tests/servers/emulate/emulate-up PORT` starts one). Without it nothing is tested
//! and the test says so; with `MUNINN_REQUIRE_EMULATE=1` that is a failure.

use loopback_slack::Slack;
use serde_json::Value;
use slack_morphism::errors::SlackClientError;
use slack_morphism::prelude::*;

use crate::client::{bot_token, call_by_form, client, text};

/// Emulate's first channel.
const GENERAL: &str = "C000000001";

fn emulate() -> Option<String> {
    let url = std::env::var("MUNINN_EMULATE_URL").ok();
    let is_required = std::env::var("MUNINN_REQUIRE_EMULATE").as_deref() == Ok("1");
    assert!(
        url.is_some() || !is_required,
        "MUNINN_REQUIRE_EMULATE is set, but MUNINN_EMULATE_URL is not"
    );
    url
}

/// What is the same of two answers: no ids, no times, no users.
type Shape = Vec<(&'static str, String)>;

fn error<T: std::fmt::Debug>(answered: Result<T, SlackClientError>) -> String {
    match answered {
        Err(SlackClientError::ApiError(error)) => error.code,
        other => panic!("no error of Slack's, but {other:?}"),
    }
}

/// The texts of what was read.
fn texts(read: &Value) -> String {
    let messages = read["messages"].as_array().unwrap().iter();
    let texts: Vec<&str> = messages
        .map(|message| message["text"].as_str().unwrap())
        .collect();
    format!("{texts:?}")
}

/// Posts, threads, edits, deletes, and does what is refused.
async fn walk(api_url: &str, channel: &str) -> Shape {
    let (client, token) = (client(api_url), bot_token());
    let session = client.open_session(&token);
    let channel = SlackChannelId::new(channel.to_owned());
    let mut shape = Shape::new();
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
    // Emulate takes no GET, which the client crate reads with.
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
    shape.push((
        "deleted twice",
        error(session.chat_delete(&delete(&reply.ts)).await),
    ));
    let gone = session.chat_update(&update(&reply.ts, "again")).await;
    shape.push(("changed when gone", error(gone)));
    let nowhere = SlackApiChatPostMessageRequest::new("C999999999".into(), text("hail"));
    shape.push((
        "posted nowhere",
        error(session.chat_post_message(&nowhere).await),
    ));
    session.chat_delete(&delete(&root.ts)).await.unwrap();
    shape
}

#[tokio::test]
async fn the_same_calls_have_answers_of_the_same_shape() {
    let Some(url) = emulate() else { return };
    let there = walk(&format!("{url}/api"), GENERAL).await;
    let slack = Slack::start().await;
    let channel = slack.channel("general");
    let here = walk(&slack.api_url(), channel.id()).await;
    assert_eq!(here, there);
    slack.finish();
}
