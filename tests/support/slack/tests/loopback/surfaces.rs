//! Other surfaces: streams, sessions, assistant threads, home tabs, files, limits.

use loopback_slack::{Answered, Slack, SlackApp, StreamState, Surface};
use slack_morphism::errors::SlackClientError;
use slack_morphism::prelude::*;

use crate::client::{Connector, bot_token, client, send, text};

type Session<'a> = SlackClientSession<'a, Connector>;

/// Starts a stream in a thread, for this person.
async fn stream(
    session: &Session<'_>,
    channel: &str,
    thread: &str,
    person: &str,
) -> Result<SlackTs, SlackClientError> {
    let request = SlackApiChatStartStreamRequest::new(channel.into())
        .with_thread_ts(thread.into())
        .with_recipient_team_id(loopback_slack::TEAM.into())
        .with_recipient_user_id(person.into());
    Ok(session.chat_start_stream(&request).await?.ts)
}

fn error_of<T: std::fmt::Debug>(answered: Result<T, SlackClientError>) -> String {
    match answered {
        Err(SlackClientError::ApiError(error)) => error.code,
        other => panic!("no error of Slack's, but {other:?}"),
    }
}

fn more(channel: &str, ts: &SlackTs, text: &str) -> SlackApiChatAppendStreamRequest {
    SlackApiChatAppendStreamRequest::new(channel.into(), ts.clone())
        .with_markdown_text(text.to_owned())
}

/// Sets the session of a thread to processing; a new one gets this title.
async fn set_status(session: &Session<'_>, channel: &str, thread: &str, title: &str) {
    let status = SlackApiAgentsSessionsSetStatusRequest::new(SlackAgentSessionStatus::Processing)
        .with_channel_id(channel.into())
        .with_thread_ts(thread.into())
        .with_title(title.to_owned());
    session.agents_sessions_set_status(&status).await.unwrap();
}

#[tokio::test]
async fn a_stream_grows_until_it_is_stopped() {
    let slack = Slack::start().await;
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    let (ann, channel) = (slack.person("Ann"), slack.channel("general"));
    let general = ann.in_channel(&channel);
    let asked = general.ask("Tell me");
    let thread = general.in_thread(&asked);
    set_status(&session, channel.id(), &asked, "Tales").await;
    let nobody = SlackApiChatStartStreamRequest::new(channel.id().into());
    let nobody = session
        .chat_start_stream(&nobody.with_thread_ts(asked.as_str().into()))
        .await;
    assert_eq!(error_of(nobody), "missing_recipient_user_id");
    let ts = stream(&session, channel.id(), &asked, ann.id())
        .await
        .unwrap();
    session
        .chat_append_stream(&more(channel.id(), &ts, "Once "))
        .await
        .unwrap();
    let running = thread.hears("Once ").await;
    assert_eq!(running.stream, StreamState::Running);
    let stop = SlackApiChatStopStreamRequest::new(
        channel.id().into(),
        ts.clone(),
        SlackMessageContent::new().with_markdown_text("upon a time".to_owned()),
    );
    session.chat_stop_stream(&stop).await.unwrap();
    assert_eq!(
        thread.hears("Once upon a time").await.stream,
        StreamState::Stopped
    );
    let late = session
        .chat_append_stream(&more(channel.id(), &ts, "!"))
        .await;
    assert_eq!(error_of(late), "message_not_in_streaming_state");
    // The end of the stream ends the work, unless the app says otherwise.
    assert_eq!(thread.thread().lifecycles, ["processing", "active"]);

    let ts = stream(&session, channel.id(), &asked, ann.id())
        .await
        .unwrap();
    slack.expire_streams();
    let late = session
        .chat_append_stream(&more(channel.id(), &ts, "!"))
        .await;
    assert_eq!(error_of(late), "message_not_in_streaming_state");
    slack.finish();
}

#[tokio::test]
async fn somebody_stops_a_stream() {
    let slack = Slack::start().await;
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    let (ann, channel) = (slack.person("Ann"), slack.channel("general"));
    let general = ann.in_channel(&channel);
    let asked = general.ask("Tell me");
    let thread = general.in_thread(&asked);
    set_status(&session, channel.id(), &asked, "Ravens").await;
    let ts = stream(&session, channel.id(), &asked, ann.id())
        .await
        .unwrap();
    thread.stop().await;
    let late = session
        .chat_append_stream(&more(channel.id(), &ts, "!"))
        .await;
    assert_eq!(error_of(late), "stopped_by_user");
    let beside = thread.thread();
    assert_eq!(beside.title, "Ravens");
    // Only the app ends it.
    assert_eq!(beside.lifecycle, "processing");
    let stopped = slack.deliveries().pop().unwrap();
    assert_eq!(stopped.event_type(), "agent_session_stopped");
    assert_eq!(
        stopped.payload["event"]["streaming_message_ts"][0],
        ts.to_string()
    );
    slack.finish();
}

#[tokio::test]
async fn a_workspace_without_streams_does_not_know_them() {
    let slack = Slack::with(SlackApp::default().without_streams()).await;
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    let (ann, channel) = (slack.person("Ann"), slack.channel("general"));
    let asked = ann.in_channel(&channel).ask("Tell me");
    let refused = stream(&session, channel.id(), &asked, ann.id()).await;
    assert_eq!(error_of(refused), "unknown_method");
    slack.finish();
}

#[tokio::test]
async fn an_assistant_thread_shows_status_title_and_prompts() {
    let slack = Slack::with(SlackApp::default().with_surface(Surface::Assistant)).await;
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    let (ann, channel) = (slack.person("Ann"), slack.channel("general"));
    let chat = ann.open_assistant_thread(Some(&channel));
    let (dm, root) = (chat.channel_id(), chat.thread_ts().unwrap());
    let started = &slack.deliveries()[0].payload["event"]["assistant_thread"];
    assert_eq!(started["context"]["channel_id"], channel.id());
    let prompt = SlackAssistantPrompt {
        title: "Ravens".into(),
        message: "Who are they?".into(),
    };
    let prompts = vec![prompt];
    let prompts =
        SlackApiAssistantThreadsSetSuggestedPromptsRequest::new(dm.into(), root.into(), prompts);
    session
        .assistant_threads_set_suggested_prompts(&prompts)
        .await
        .unwrap();
    let title =
        SlackApiAssistantThreadSetTitleRequest::new(dm.into(), root.into(), "Ravens".into());
    session.assistant_threads_set_title(&title).await.unwrap();
    let status = SlackApiAssistantThreadsSetStatusRequest::new(
        dm.into(),
        "is thinking…".into(),
        root.into(),
    );
    session.assistant_threads_set_status(&status).await.unwrap();
    let shown = chat
        .sees_thread("a status", |thread| thread.status == "is thinking…")
        .await;
    assert_eq!(shown.title, "Ravens");
    assert_eq!(
        shown.prompts,
        [("Ravens".to_owned(), "Who are they?".to_owned())]
    );
    // The status is cleared when the app posts.
    let post = SlackApiChatPostMessageRequest::new(dm.into(), text("Hail"));
    session
        .chat_post_message(&post.with_thread_ts(root.into()))
        .await
        .unwrap();
    assert_eq!(chat.thread().status, "");
    ann.change_context(&chat, &slack.channel("random"));
    let types: Vec<_> = slack
        .deliveries()
        .iter()
        .map(|told| told.event_type().to_owned())
        .collect();
    assert_eq!(
        types,
        [
            "assistant_thread_started",
            "message",
            "assistant_thread_context_changed"
        ]
    );
    slack.finish();
}

#[tokio::test]
async fn a_home_tab_is_published_and_clicked_on() {
    let slack = Slack::start().await;
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    let ann = slack.person("Ann");
    ann.open_home();
    assert_eq!(slack.deliveries()[0].payload["event"]["tab"], "home");
    let blocks = slack_blocks![
        some_into(SlackSectionBlock::new().with_text(md!("I am *Muninn*."))),
        some_into(SlackActionsBlock::new(slack_blocks![some_into(
            SlackBlockButtonElement::new(pt!("Forget")).with_action_id("forget".into())
        )]))
    ];
    let view = SlackView::Home(SlackHomeView::new(blocks));
    let publish = SlackApiViewsPublishRequest::new(ann.id().into(), view);
    session.views_publish(&publish).await.unwrap();
    let home = ann
        .sees_home("who it is", |home| home.shown() == "I am *Muninn*.")
        .await;
    assert_eq!(home.buttons(), ["Forget"]);
    // Nobody is connected to receive it.
    assert_eq!(ann.click_at_home(&home, "Forget").await, Answered::Failed);
    slack.finish();
}

#[tokio::test]
async fn files_want_the_bots_token() {
    let slack = Slack::start().await;
    let general = slack.person("Ann").in_channel(&slack.channel("general"));
    general.attach("ravens.txt", "text/plain", b"Huginn", "Look");
    let event = slack.deliveries()[0].payload["event"].clone();
    assert_eq!(event["subtype"], "file_share");
    let url = event["files"][0]["url_private"].as_str().unwrap();
    let (status, body) = get(url, Some(loopback_slack::BOT_TOKEN)).await;
    assert_eq!((status, body.as_str()), (200, "Huginn"));
    let (status, _) = get(url, None).await;
    assert_eq!(status, 302);
    let shared = slack.channel("shared");
    shared.share();
    slack
        .stranger("Zed")
        .in_channel(&shared)
        .attach("a.txt", "text/plain", b"a", "");
    let told = slack.deliveries().pop().unwrap().payload;
    assert_eq!(told["event"]["files"][0]["file_access"], "check_file_info");
    assert_eq!(told["is_ext_shared_channel"], true);
    slack.finish();
}

/// Downloads a file as adapters do.
async fn get(url: &str, token: Option<&str>) -> (u16, String) {
    let mut request = axum::http::Request::get(url);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    send(request.body(http_body_util::Full::default()).unwrap()).await
}

#[tokio::test]
async fn limits_hold_when_they_are_kept() {
    let slack = Slack::start().await;
    slack.keep_limits();
    slack.unlist();
    let (client, token) = (client(&slack.api_url()), bot_token());
    let session = client.open_session(&token);
    let (ann, channel) = (slack.person("Ann"), slack.channel("general"));
    let general = ann.in_channel(&channel);
    let root = general.say("0");
    for number in 1..30 {
        general.in_thread(&root).say(&number.to_string());
    }
    let post = SlackApiChatPostMessageRequest::new(channel.id().into(), text("Hail"));
    let mut limited = 0;
    for _ in 0..6 {
        match session.chat_post_message(&post).await {
            Ok(_) => {}
            Err(SlackClientError::RateLimitError(error)) => {
                limited += 1;
                assert!(
                    error
                        .retry_after
                        .is_some_and(|wait| (1..=4).contains(&wait.as_secs()))
                );
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(limited, 2);
    let replies =
        SlackApiConversationsRepliesRequest::new(channel.id().into(), root.as_str().into());
    let read = session.conversations_replies(&replies).await.unwrap();
    assert_eq!((read.messages.len(), read.has_more), (15, Some(true)));
    let again = session.conversations_replies(&replies).await;
    match again {
        Err(SlackClientError::RateLimitError(error)) => {
            assert!(error.retry_after.is_some_and(|wait| wait.as_secs() > 50));
        }
        other => panic!("{other:?}"),
    }
    slack.finish();
}

#[tokio::test]
async fn edits_and_tombstones_are_told() {
    let slack = Slack::start().await;
    let general = slack.person("Ann").in_channel(&slack.channel("general"));
    let said = general.say("Hello");
    general.in_thread(&said).say("A reply");
    general.edit_raw(&said, &format!("<@{}> hello", loopback_slack::BOT_USER));
    general.delete(&said);
    let told: Vec<String> = slack
        .deliveries()
        .iter()
        .map(|told| {
            let event = &told.payload["event"];
            let within = event["message"]["subtype"].as_str().unwrap_or_default();
            format!(
                "{} {} {within}",
                told.event_type(),
                event["subtype"].as_str().unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "message  ",
            "message  ",
            "message message_changed ",
            "app_mention  ",
            "message message_changed tombstone"
        ]
    );
    slack.finish();
}
