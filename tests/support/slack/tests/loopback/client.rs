//! The client crate, and a bot built with it.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use loopback_slack::{APP_TOKEN, BOT_TOKEN, Slack};
use slack_morphism::prelude::*;

pub(crate) type Connector = SlackClientHyperConnector<hyper_rustls::HttpsConnector<HttpConnector>>;

/// Creates a client of this server.
pub(crate) fn client(api_url: &str) -> SlackClient<Connector> {
    let https = hyper_rustls::HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
        .expect("the machine's certificates")
        .https_or_http()
        .enable_http1()
        .build();
    let connector = SlackClientHyperConnector::with_connector(https);
    SlackClient::new(connector.with_slack_api_url(api_url))
}

pub(crate) fn bot_token() -> SlackApiToken {
    SlackApiToken::new(BOT_TOKEN.into())
}

/// Creates a message of this text.
pub(crate) fn text(text: &str) -> SlackMessageContent {
    SlackMessageContent::new().with_text(text.to_owned())
}

/// Sends a plain request; returns status and body of the response.
pub(crate) async fn send(request: Request<Full<Bytes>>) -> (u16, String) {
    let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build_http();
    let response = client.request(request).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Makes a call with a form, as some services accept all calls.
pub(crate) async fn call_by_form(api_url: &str, method: &str, form: &str) -> serde_json::Value {
    let request = Request::post(format!("{api_url}/{method}"))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("authorization", format!("Bearer {BOT_TOKEN}"));
    let request = request.body(Full::from(form.to_owned())).unwrap();
    serde_json::from_str(&send(request).await.1).unwrap()
}

/// A bot on the client crate's own Socket Mode, which echoes mentions and direct messages into
/// their threads.
pub(crate) struct EchoBot {
    listener: SlackClientSocketModeListener<Connector>,
}

impl EchoBot {
    pub(crate) async fn start(slack: &Slack) -> Self {
        let client = Arc::new(client(&slack.api_url()));
        let environment = SlackClientEventsListenerEnvironment::new(client);
        let callbacks = SlackSocketModeListenerCallbacks::new()
            .with_push_events(echo)
            .with_command_events(command)
            .with_interaction_events(interaction);
        let config = SlackClientSocketModeConfig::new()
            .with_max_connections_count(1)
            .with_initial_backoff_in_seconds(0)
            .with_reconnect_timeout_in_seconds(1);
        let listener =
            SlackClientSocketModeListener::new(&config, Arc::new(environment), callbacks);
        let token = SlackApiToken::new(APP_TOKEN.into());
        listener.listen_for(&token).await.expect("a connection");
        listener.start().await;
        slack.connected(1).await;
        Self { listener }
    }

    pub(crate) async fn stop(self) {
        self.listener.shutdown().await;
    }
}

async fn echo(
    told: SlackPushEventCallback,
    client: Arc<SlackClient<Connector>>,
    _state: SlackClientEventsUserState,
) -> UserCallbackResult<()> {
    if let SlackEventCallbackBody::AppMention(mention) = told.event {
        let said = mention.content.text.unwrap_or_default();
        let said = said.rsplit("> ").next().unwrap_or_default().to_owned();
        let thread = mention.origin.thread_ts.unwrap_or(mention.origin.ts);
        tokio::spawn(async move {
            let answer = text(&format!("Echo: {said}"));
            let request = SlackApiChatPostMessageRequest::new(mention.channel, answer);
            let token = bot_token();
            let session = client.open_session(&token);
            let posted = session
                .chat_post_message(&request.with_thread_ts(thread))
                .await;
            posted.expect("posted");
        });
    }
    Ok(())
}

async fn command(
    command: SlackCommandEvent,
    _client: Arc<SlackClient<Connector>>,
    _state: SlackClientEventsUserState,
) -> UserCallbackResult<SlackCommandEventResponse> {
    let said = command.text.unwrap_or_default();
    Ok(SlackCommandEventResponse::new(text(&format!(
        "Command: {said}"
    ))))
}

async fn interaction(
    event: SlackInteractionEvent,
    client: Arc<SlackClient<Connector>>,
    _state: SlackClientEventsUserState,
) -> UserCallbackResult<()> {
    let (url, said) = match event {
        SlackInteractionEvent::BlockActions(event) => {
            let action = event.actions.into_iter().flatten().next();
            let value = action.and_then(|action| action.value).unwrap_or_default();
            (event.response_url, format!("Clicked: {value}"))
        }
        SlackInteractionEvent::MessageAction(event) => {
            let message = event.message.and_then(|message| message.content.text);
            let said = format!("Asked about: {}", message.unwrap_or_default());
            (Some(event.response_url), said)
        }
        _ => return Ok(()),
    };
    if let Some(url) = url {
        let body = SlackApiPostWebhookMessageRequest::new(text(&said));
        client.post_webhook_message(&url.0, &body).await?;
    }
    Ok(())
}
