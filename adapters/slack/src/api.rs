//! The Web API client. Requests and responses are plain JSON: the response types of the
//! `slack-morphism` client require fields, and a posted message must not count as failed because a
//! field changed.

use std::time::Duration;

use hyper_util::client::legacy::connect::HttpConnector;
use muninn_platform::{PlatformError, misconfigured};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use slack_morphism::prelude::{SlackApiToken, SlackClient, SlackClientHyperConnector};

use crate::errors::ApiError;
use crate::options::{EventDelivery, SlackOptions};

/// Maximum time of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

type Connector = SlackClientHyperConnector<hyper_rustls::HttpsConnector<HttpConnector>>;

pub(crate) struct SlackApi {
    client: SlackClient<Connector>,
    bot: SlackApiToken,
    /// Only for the socket.
    app: Option<SlackApiToken>,
    /// For requests that are no API methods: files, response URLs.
    pub(crate) http: reqwest::Client,
    bot_token: SecretString,
}

impl SlackApi {
    /// # Errors
    /// Fails when the address is invalid, or the system has no certificates.
    pub(crate) fn new(options: &SlackOptions) -> Result<Self, PlatformError> {
        let no_certificates =
            |error| misconfigured(format!("the system's certificates cannot be read: {error}"));
        let provider = hyper_rustls::HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls_provider())
            .map_err(no_certificates)?;
        let connector = provider.https_or_http().enable_all_versions().build();
        let connector = SlackClientHyperConnector::with_connector(connector)
            .with_slack_api_url(options.api_url.trim_end_matches('/'));
        let http = reqwest::Client::builder()
            .connect_timeout(REQUEST_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| misconfigured(format!("no HTTP client: {error}")))?;
        let token = |secret: &SecretString| SlackApiToken::new(secret.expose_secret().into());
        Ok(Self {
            client: SlackClient::new(connector),
            bot: token(&options.bot_token),
            app: match &options.entrance {
                EventDelivery::Socket { app_token } => Some(token(app_token)),
                EventDelivery::Http { .. } => None,
            },
            http,
            bot_token: options.bot_token.clone(),
        })
    }

    pub(crate) fn bot_token(&self) -> &SecretString {
        &self.bot_token
    }

    /// Calls a method that takes JSON.
    pub(crate) async fn post(
        &self,
        method: &'static str,
        arguments: &Value,
    ) -> Result<Value, ApiError> {
        self.post_as(&self.bot, method, arguments).await
    }

    /// Calls a method that reads.
    pub(crate) async fn get(
        &self,
        method: &'static str,
        arguments: &[(&'static str, &str)],
    ) -> Result<Value, ApiError> {
        let arguments: Vec<(&str, Option<&str>)> = arguments
            .iter()
            .map(|(name, value)| (*name, Some(*value)))
            .collect();
        let session = self.client.open_session(&self.bot);
        let answer = session.http_session_api.http_get(method, &arguments, None);
        in_time(method, answer).await
    }

    /// Returns the URL of a new socket.
    pub(crate) async fn open_connection(&self) -> Result<Value, ApiError> {
        const METHOD: &str = "apps.connections.open";
        let app = self.app.as_ref().unwrap_or(&self.bot);
        self.post_as(app, METHOD, &serde_json::json!({})).await
    }

    async fn post_as(
        &self,
        token: &SlackApiToken,
        method: &'static str,
        arguments: &Value,
    ) -> Result<Value, ApiError> {
        let session = self.client.open_session(token);
        let answer = session.http_session_api.http_post(method, arguments, None);
        in_time(method, answer).await
    }
}

async fn in_time(
    method: &'static str,
    answer: impl Future<Output = slack_morphism::ClientResult<Value>>,
) -> Result<Value, ApiError> {
    match tokio::time::timeout(REQUEST_TIMEOUT, answer).await {
        Ok(Ok(answer)) if answer["ok"] == true => Ok(answer),
        // The client treats any page that is not JSON as an empty response.
        Ok(Ok(_)) => Err(ApiError::Away {
            method,
            reason: "its answer is not that of Slack".to_owned(),
            may_be_done: true,
        }),
        Ok(Err(error)) => Err(ApiError::of(method, &error)),
        Err(_) => Err(ApiError::timed_out(method)),
    }
}

fn rustls_provider() -> rustls::crypto::CryptoProvider {
    rustls::crypto::ring::default_provider()
}
