//! Calls of the Web API, and what people see of them.

use loopback_slack::{BOT, BOT_USER, ResponseFault, Slack, SlackApp, TEAM};
use slack_morphism::errors::SlackClientError;
use slack_morphism::prelude::*;

use crate::client::{bot_token, client, text};

/// Returns Slack's error.
fn error_of<T: std::fmt::Debug>(answered: Result<T, SlackClientError>) -> String {
    match answered {
        Err(SlackClientError::ApiError(error)) => error.code,
        other => panic!("no error of Slack's, but {other:?}"),
    }
}

#[tokio::test]
async fn a_message_is_posted_changed_and_deleted() {
    let slack = Slack::start().await;
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    let who = session.auth_test().await.expect("authentic");
    assert_eq!(who.team_id.to_string(), TEAM);
    assert_eq!(who.user_id.to_string(), BOT_USER);
    assert_eq!(who.bot_id.map(|bot| bot.to_string()).as_deref(), Some(BOT));

    let ann = slack.person("Ann");
    let channel = slack.channel("general");
    let general = ann.in_channel(&channel);
    let root = general.say("Good morning");
    let request = SlackApiChatPostMessageRequest::new(channel.id().into(), text("Hail"));
    let request = request.with_thread_ts(root.as_str().into());
    let posted = session.chat_post_message(&request).await.expect("posted");
    let seen = general.in_thread(&root).hears("Hail").await;
    assert_eq!(seen.ts, posted.ts.to_string());

    let request =
        SlackApiChatUpdateRequest::new(channel.id().into(), text("Hail & well"), posted.ts.clone());
    session.chat_update(&request).await.expect("changed");
    let seen = general.hears("Hail & well").await;
    assert_eq!((seen.texts.len(), seen.is_edited), (2, true));

    let request = SlackApiChatDeleteRequest::new(channel.id().into(), posted.ts);
    session.chat_delete(&request).await.expect("deleted");
    let seen = &general.said()[0];
    assert!(seen.is_deleted);

    let types: Vec<String> = slack
        .deliveries()
        .iter()
        .map(|told| {
            let event = &told.payload["event"];
            let subtype = event["subtype"].as_str().unwrap_or("new");
            format!("{} {subtype}", told.event_type())
        })
        .collect();
    assert_eq!(
        types,
        [
            "message new",
            "message new",
            "message message_changed",
            "message message_deleted"
        ]
    );
    slack.finish();
}

#[tokio::test]
async fn what_slack_refuses_is_refused_by_its_name() {
    let slack = Slack::start().await;
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    let ann = slack.person("Ann");
    let post = |channel: &str| SlackApiChatPostMessageRequest::new(channel.into(), text("Hail"));
    let nowhere = session.chat_post_message(&post("C000000099")).await;
    assert_eq!(error_of(nowhere), "channel_not_found");
    let archived = slack.channel("old");
    archived.archive();
    let refused = session.chat_post_message(&post(archived.id())).await;
    assert_eq!(error_of(refused), "is_archived");
    let elsewhere = slack.channel("elsewhere");
    elsewhere.remove_bot();
    let refused = session.chat_post_message(&post(elsewhere.id())).await;
    assert_eq!(error_of(refused), "not_in_channel");
    let hidden = slack.private_channel("hidden", &[&ann]);
    hidden.remove_bot();
    let refused = session.chat_post_message(&post(hidden.id())).await;
    assert_eq!(error_of(refused), "channel_not_found");

    let channel = slack.channel("general");
    let said = ann.in_channel(&channel).say("Mine");
    let update =
        SlackApiChatUpdateRequest::new(channel.id().into(), text("Yours"), said.as_str().into());
    assert_eq!(
        error_of(session.chat_update(&update).await),
        "cant_update_message"
    );
    let update = SlackApiChatUpdateRequest::new(
        channel.id().into(),
        text("Nothing"),
        "1700000000.000001".into(),
    );
    assert_eq!(
        error_of(session.chat_update(&update).await),
        "message_not_found"
    );

    let wrong = SlackApiToken::new("xoxb-wrong".into());
    let refused = client.open_session(&wrong).auth_test().await;
    assert_eq!(error_of(refused), "invalid_auth");
    slack.reinstall(SlackApp::default().without_scope("chat:write"));
    let refused = session.chat_post_message(&post(channel.id())).await;
    assert_eq!(error_of(refused), "missing_scope");
    let call = slack.calls().pop().expect("a call");
    assert_eq!(call.answer["needed"], "chat:write");
    assert!(
        call.answer["provided"]
            .as_str()
            .is_some_and(|has| has.contains("commands"))
    );
    slack.revoke_tokens();
    assert_eq!(error_of(session.auth_test().await), "token_revoked");
    slack.finish();
}

#[tokio::test]
async fn what_breaks_a_rule_fails_the_test() {
    let slack = Slack::start().await;
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    let channel = slack.channel("general");
    let long = "x".repeat(40_001);
    let request = SlackApiChatPostMessageRequest::new(channel.id().into(), text(&long));
    assert_eq!(
        error_of(session.chat_post_message(&request).await),
        "msg_too_long"
    );
    let button = SlackBlockButtonElement::new(pt!("x".repeat(76)));
    let blocks = vec![SlackBlock::Actions(SlackActionsBlock::new(vec![
        button.into(),
    ]))];
    let content = text("Hail").with_blocks(blocks);
    let request = SlackApiChatPostMessageRequest::new(channel.id().into(), content);
    assert_eq!(
        error_of(session.chat_post_message(&request).await),
        "invalid_blocks"
    );
    let violations = slack.take_violations();
    assert_eq!(violations.len(), 2, "{violations:?}");
    assert!(violations[0].starts_with("chat.postMessage: text is not"));
    assert!(violations[1].contains("button.text.text: 76 characters, must be 1 to 75"));
    slack.finish();
}

#[tokio::test]
#[should_panic(expected = "chat.explode: no such method")]
async fn a_dropped_server_checks_too() {
    let slack = Slack::start().await;
    let client = client(&slack.api_url());
    let token = bot_token();
    let session = client.open_session(&token);
    let answered = session.http_session_api;
    let answered: Result<serde_json::Value, _> = answered
        .http_post("chat.explode", &serde_json::json!({}), None)
        .await;
    assert_eq!(error_of(answered), "unknown_method");
}

#[tokio::test]
async fn what_goes_wrong_goes_wrong_on_demand() {
    let slack = Slack::start().await;
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    slack.fail_next("auth.test", ResponseFault::RateLimited(7));
    match session.auth_test().await {
        Err(SlackClientError::RateLimitError(error)) => {
            assert_eq!(error.retry_after.map(|wait| wait.as_secs()), Some(7));
        }
        other => panic!("{other:?}"),
    }
    slack.fail_next("", ResponseFault::Status(503));
    assert!(matches!(
        session.auth_test().await,
        Err(SlackClientError::HttpError(_))
    ));
    slack.fail_next("", ResponseFault::Closed);
    let lost = session.auth_test().await;
    assert!(lost.is_err(), "{lost:?}");
    slack.fail_after("auth.test", 1, ResponseFault::Error("internal_error"));
    session.auth_test().await.expect("one passes");
    assert_eq!(error_of(session.auth_test().await), "internal_error");
    session.auth_test().await.expect("all is well again");
    slack.finish();
}

#[tokio::test]
async fn an_edit_with_blocks_bears_no_mark_and_text_takes_blocks_away() {
    let slack = Slack::start().await;
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    let channel = slack.channel("general");
    let general = slack.person("Ann").in_channel(&channel);
    let section = |said: &str| -> SlackMessageContent {
        let section = SlackSectionBlock::new().with_text(md!(said.to_owned()));
        text("fallback").with_blocks(vec![section.into()])
    };
    let request = SlackApiChatPostMessageRequest::new(channel.id().into(), section("one"));
    let ts = session.chat_post_message(&request).await.unwrap().ts;
    general.hears("one").await;
    let update = |content| SlackApiChatUpdateRequest::new(channel.id().into(), content, ts.clone());
    session.chat_update(&update(section("two"))).await.unwrap();
    assert!(!general.hears("two").await.is_edited);
    session.chat_update(&update(text("three"))).await.unwrap();
    let shown = general.hears("three").await;
    assert!(shown.is_edited && shown.blocks.is_null());
    let long = session.chat_update(&update(text(&"x".repeat(4_001)))).await;
    assert_eq!(error_of(long), "msg_too_long");
    slack.forgive("chat.update: text is not");
    slack.finish();
}

#[tokio::test]
async fn people_and_conversations_are_told_of() {
    let slack = Slack::start().await;
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    let (ann, zed) = (slack.admin("Ann"), slack.stranger("Zed"));
    let user = |id: &str| SlackApiUsersInfoRequest::new(id.into());
    let told = session.users_info(&user(ann.id())).await.unwrap().user;
    assert_eq!(
        (told.real_name.as_deref(), told.flags.is_admin),
        (Some("Ann"), Some(true))
    );
    let told = session.users_info(&user(zed.id())).await.unwrap().user;
    assert_eq!(
        told.team_id.map(|team| team.to_string()).as_deref(),
        Some(loopback_slack::OTHER_TEAM)
    );
    let told = session.users_info(&user(BOT_USER)).await.unwrap().user;
    assert_eq!(told.flags.is_bot, Some(true));
    assert_eq!(
        error_of(session.users_info(&user("U000000099")).await),
        "user_not_found"
    );

    let channel = slack.private_channel("secrets", &[&ann]);
    let info = SlackApiConversationsInfoRequest::new(channel.id().into());
    let told = session.conversations_info(&info).await.unwrap().channel;
    assert_eq!(
        (told.name.as_deref(), told.flags.is_private),
        (Some("secrets"), Some(true))
    );
    channel.remove_bot();
    assert_eq!(
        error_of(session.conversations_info(&info).await),
        "channel_not_found"
    );
    let direct = SlackApiConversationsInfoRequest::new(ann.with_bot().channel_id().into());
    let told = session.conversations_info(&direct).await.unwrap().channel;
    assert_eq!(told.flags.is_im, Some(true));
    slack.finish();
}
