//! One call of a model service over HTTP: attempts, their permits, their errors.
//!
//! The client crate's retry layer decides when to retry. It understands `Retry-After` only as whole seconds, waits as
//! long as it is told, and gives up on a 429 that is not JSON. So refusals are converted here to a form that it
//! understands, and errors that must not be retried bypass it.
//!
//! The crate logs answers that it cannot parse, at `error` under the target `async_openai`. Whoever sets up logging has
//! to turn that target off, or people's messages end up in the log.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_openai::Client;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::middleware::retry::OpenAIRetryLayer;
use futures::StreamExt;
use http::{HeaderMap, HeaderValue, header};
use reqwest::{Request, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};
use tower::ServiceBuilder;

use super::refusal::{ServiceErrorResponse, retry_after};
use super::whole::{Shown, as_events};
use super::{Limiter, ModelConfig, ModelError, Permit, Retries, TimedOutWait};

/// Maximum bytes of an error response that are read.
const REFUSAL_BYTES: usize = 64 * 1024;
/// Maximum bytes of a list of models that are read.
const LIST_BYTES: usize = 4 * 1024 * 1024;

/// The address of a service and its key.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    base_url: String,
    headers: HeaderMap,
    /// Required by the trait; the header above is what is sent.
    key: SecretString,
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.base_url
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

/// A model service.
#[derive(Clone, Debug)]
pub(super) struct Service {
    client: Client<Endpoint>,
    http: reqwest::Client,
    limiter: Arc<Limiter>,
    retries: Retries,
    /// Default time-out for the next bytes.
    read: Duration,
    /// For people: without user and password.
    shown_url: String,
}

/// Time-outs for bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteTimeouts {
    /// For the first bytes of an answer.
    pub(super) first: Duration,
    /// For the next bytes.
    pub(super) between: Duration,
}

impl Service {
    pub(super) fn new(config: &ModelConfig, limiter: Arc<Limiter>) -> Result<Self, ModelError> {
        let base_url = config.base_url.trim().trim_end_matches('/').to_owned();
        let shown_url = shown(&base_url)?;
        let http = reqwest::Client::builder()
            .connect_timeout(config.timeouts.connect)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| unreachable_at(&shown_url, error))?;
        let endpoint = Endpoint {
            base_url,
            headers: authorization(config.api_key.as_ref())?,
            key: SecretString::default(),
        };
        Ok(Self {
            client: Client::build(http.clone(), endpoint),
            http,
            limiter,
            retries: config.retries,
            read: config.timeouts.read,
            shown_url,
        })
    }

    /// A call with about `tokens` tokens to the model, on behalf of `person` or of the bot itself.
    pub(super) fn call(&self, model: &str, person: &str, tokens: u32) -> ServiceCall {
        let waits = ByteTimeouts {
            first: self.read,
            between: self.read,
        };
        self.call_within(waits, model, person, tokens, false)
    }

    /// The same, with other time-outs than the configured ones. `streams`: a stream is requested.
    pub(super) fn call_within(
        &self,
        waits: ByteTimeouts,
        model: &str,
        person: &str,
        tokens: u32,
        streams: bool,
    ) -> ServiceCall {
        let attempts = Arc::new(Attempts {
            http: self.http.clone(),
            limiter: Arc::clone(&self.limiter),
            longest_wait: self.retries.longest_wait,
            model: model.to_owned(),
            person: person.to_owned(),
            tokens,
            streams,
            waits,
            shown_url: self.shown_url.clone(),
            state: Mutex::default(),
        });
        let shared = Arc::clone(&attempts);
        let service = ServiceBuilder::new()
            .layer(OpenAIRetryLayer::new(self.retries.max))
            .service_fn(move |request| {
                let attempts = Arc::clone(&shared);
                async move { attempts.attempt(request).await }
            });
        ServiceCall {
            client: self.client.clone().with_http_service(service),
            attempts,
        }
    }

    /// The address as it is shown to people.
    pub(super) fn address(&self) -> &str {
        &self.shown_url
    }

    /// One attempt of `GET path`, for checks.
    pub(super) async fn get(&self, path: &str) -> Result<Vec<u8>, ModelError> {
        let url = self.client.config().url(path);
        self.ask_once(self.http.get(url)).await
    }

    /// The same outside of the API's version path: local servers have their own endpoints there.
    pub(super) async fn get_outside_api(&self, path: &str) -> Result<Vec<u8>, ModelError> {
        let url = format!("{}{path}", self.root());
        self.ask_once(self.http.get(url)).await
    }

    /// One attempt of `POST path` outside of the API's version path.
    pub(super) async fn post_outside_api(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<Vec<u8>, ModelError> {
        let url = format!("{}{path}", self.root());
        let request = self.http.post(url).body(body.to_string());
        let json = HeaderValue::from_static("application/json");
        self.ask_once(request.header(header::CONTENT_TYPE, json))
            .await
    }

    fn root(&self) -> &str {
        let base = self.client.config().api_base();
        base.strip_suffix("/v1").unwrap_or(base)
    }

    async fn ask_once(&self, request: reqwest::RequestBuilder) -> Result<Vec<u8>, ModelError> {
        let call = self.call("", "", 0);
        let request = request.headers(self.client.config().headers());
        let request = HttpRequestFactory::new(move || {
            let request = request.try_clone().map(reqwest::RequestBuilder::build);
            async move {
                let unusable = || OpenAIError::InvalidArgument("a stream as a body".to_owned());
                request.ok_or_else(unusable)?.map_err(OpenAIError::Reqwest)
            }
        });
        let response = call
            .attempts
            .attempt(request)
            .await
            .map_err(|error| call.error(error))?;
        if !response.status().is_success() {
            return Err(call.refused());
        }
        bounded_body(response, LIST_BYTES)
            .await
            .map_err(|error| call.error(OpenAIError::Reqwest(error)))
    }
}

/// One call; holds its permit until it is dropped.
#[derive(Debug)]
pub(super) struct ServiceCall {
    client: Client<Endpoint>,
    attempts: Arc<Attempts>,
}

impl ServiceCall {
    pub(super) fn client(&self) -> &Client<Endpoint> {
        &self.client
    }

    /// When the last attempt was sent.
    pub(super) fn sent(&self) -> Option<Instant> {
        self.attempts.state().sent
    }

    /// Whether a stream came to its marked end, or a body that is no stream came as a whole.
    pub(super) fn is_whole(&self) -> bool {
        self.attempts.state().is_whole
    }

    /// Interprets the client's error.
    pub(super) fn error(&self, error: OpenAIError) -> ModelError {
        // The crate keeps only the text of an error in a stream.
        if let Some(cause) = self.attempts.state().broken.take() {
            return cause;
        }
        match error {
            OpenAIError::Boxed(error) => match error.downcast::<ModelError>() {
                Ok(error) => *error,
                Err(error) => ModelError::Failed(error.to_string()),
            },
            OpenAIError::Reqwest(error) => self.attempts.transport(error),
            OpenAIError::ApiError(_) => self.refused(),
            // Neither the content nor serde's message, which quotes it.
            OpenAIError::JSONDeserialize(error, _) => ModelError::BadAnswer(format!(
                "not the JSON expected, at column {}",
                error.column()
            )),
            OpenAIError::StreamError(_) => ModelError::CutOff,
            other @ (OpenAIError::InvalidArgument(_)
            | OpenAIError::FileSaveError(_)
            | OpenAIError::FileReadError(_)) => ModelError::Failed(other.to_string()),
        }
    }

    /// The refusal of the last attempt.
    fn refused(&self) -> ModelError {
        let refusal = self.attempts.state().refusal.take();
        refusal.map_or_else(
            || ModelError::Failed("no reason given".to_owned()),
            |refusal| refusal.into_error(&self.attempts.model),
        )
    }
}

/// The state shared by the attempts of one call.
#[derive(Debug)]
struct Attempts {
    http: reqwest::Client,
    limiter: Arc<Limiter>,
    longest_wait: Duration,
    model: String,
    person: String,
    tokens: u32,
    /// A stream is requested.
    streams: bool,
    waits: ByteTimeouts,
    shown_url: String,
    state: Mutex<RetryState>,
}

#[derive(Debug, Default)]
struct RetryState {
    /// Of the successful attempt.
    permit: Option<Permit>,
    /// Of the last failed attempt.
    refusal: Option<ServiceErrorResponse>,
    /// When the last attempt was sent.
    sent: Option<Instant>,
    /// Why the bytes of an answer broke off, where the client cannot know.
    broken: Option<ModelError>,
    /// See [`ServiceCall::is_whole`].
    is_whole: bool,
}

impl Attempts {
    fn state(&self) -> std::sync::MutexGuard<'_, RetryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A success, a refusal in the retry layer's form, or an error that it does not retry.
    async fn attempt(
        self: &Arc<Self>,
        request: HttpRequestFactory,
    ) -> Result<Response, OpenAIError> {
        let person = Some(self.person.as_str()).filter(|person| !person.is_empty());
        let permit = self
            .limiter
            .admit(person, self.tokens)
            .await
            .map_err(give_up)?;
        let request = request.build().await?;
        let sent = Instant::now();
        self.state().sent = Some(sent);
        let ByteTimeouts { first, between } = self.waits;
        let silent = |_| give_up(ModelError::TimedOut(TimedOutWait::Silent(first)));
        let response = timeout(first, self.send(request)).await;
        let response = response.map_err(silent)??;
        if response.status().is_success() {
            self.state().permit = Some(permit);
            return Arc::clone(self).with_waits(response, sent + first);
        }
        let status = response.status();
        let pause = response
            .headers()
            .get(header::RETRY_AFTER)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| retry_after(value, chrono::Utc::now()));
        // An interrupted error response is still a refusal.
        let body = timeout(between, bounded_body(response, REFUSAL_BYTES)).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        let refusal = ServiceErrorResponse::read(status.as_u16(), &body);
        let pause = pause.or(refusal.pause);
        if !refusal.is_worth_a_retry() || pause.is_some_and(|pause| pause > self.longest_wait) {
            return Err(give_up(refusal.into_error(&self.model)));
        }
        self.state().refusal = Some(refusal);
        retryable_refusal(status, pause)
    }

    /// The service's response. The service may close a kept connection just as the request is sent; then the request is
    /// sent again on a new one.
    async fn send(&self, request: Request) -> reqwest::Result<Response> {
        let again = request.try_clone();
        let response = self.http.execute(request).await;
        let was_closed = |error: &reqwest::Error| {
            error.is_request() && !error.is_connect() && !error.is_timeout()
        };
        match (response, again) {
            (Err(error), Some(again)) if was_closed(&error) => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "a connection was closed"
                );
                self.http.execute(again).await
            }
            (response, _) => response,
        }
    }

    /// The response, with time-outs for its bytes: the first ones until `until`. Anything that keeps a connection
    /// alive, such as a comment in a stream, counts as a byte.
    fn with_waits(
        self: Arc<Self>,
        response: Response,
        until: Instant,
    ) -> Result<Response, OpenAIError> {
        let mut waiting = http::Response::builder().status(response.status());
        if let Some(headers) = waiting.headers_mut() {
            headers.clone_from(response.headers());
        }
        let streams = self.streams;
        let shared = Arc::clone(&self);
        let show = move |shown| shared.notice(shown);
        let began = (response.bytes_stream().boxed(), until, self.waits.first);
        let bytes = futures::stream::unfold(began, move |(mut bytes, until, wait)| {
            let attempts = Arc::clone(&self);
            async move {
                let next = timeout_at(until, bytes.next()).await;
                let next = match next {
                    Ok(next) => next?.map_err(std::io::Error::other),
                    Err(_elapsed) => {
                        let silent = ModelError::TimedOut(TimedOutWait::Silent(wait));
                        attempts.state().broken = Some(silent);
                        Err(std::io::ErrorKind::TimedOut.into())
                    }
                };
                let between = attempts.waits.between;
                Some((next, (bytes, Instant::now() + between, between)))
            }
        });
        let body = if streams {
            reqwest::Body::wrap_stream(as_events(bytes, show))
        } else {
            reqwest::Body::wrap_stream(bytes)
        };
        waiting
            .body(body)
            .map(Response::from)
            .map_err(|error| OpenAIError::InvalidArgument(error.to_string()))
    }

    fn notice(&self, shown: Shown) {
        let mut state = self.state();
        match shown {
            Shown::End => state.is_whole = true,
            Shown::WebPage => {
                let page = "a web page; check OPENAI_BASE_URL".to_owned();
                state.broken = Some(ModelError::BadAnswer(page));
            }
        }
    }

    fn transport(&self, error: reqwest::Error) -> ModelError {
        if error.is_body() || error.is_decode() {
            ModelError::CutOff
        } else {
            unreachable_at(&self.shown_url, error)
        }
    }
}

/// A refusal in the retry layer's form.
fn retryable_refusal(
    status: http::StatusCode,
    pause: Option<Duration>,
) -> Result<Response, OpenAIError> {
    let mut response = http::Response::builder().status(status);
    if let Some(pause) = pause {
        // Rounded up: a retry that is too early would be refused again.
        let seconds = pause.as_secs() + u64::from(pause.subsec_nanos() > 0);
        response = response.header(header::RETRY_AFTER, seconds);
    }
    response
        .body(r#"{"error":{"message":""}}"#)
        .map(Response::from)
        .map_err(|error| OpenAIError::InvalidArgument(error.to_string()))
}

fn give_up(error: ModelError) -> OpenAIError {
    OpenAIError::Boxed(Box::new(error))
}

async fn bounded_body(mut response: Response, most: usize) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = most - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == most {
            break;
        }
    }
    Ok(body)
}

fn authorization(key: Option<&SecretString>) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    let key = key.map(|key| key.expose_secret().trim());
    // An empty variable is not a key.
    if let Some(key) = key.filter(|key| !key.is_empty()) {
        let mut value =
            HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| ModelError::Unauthorized)?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    Ok(headers)
}

/// The address without anything secret.
fn shown(base_url: &str) -> Result<String, ModelError> {
    // An address that cannot be parsed may still contain a password before the `@`.
    let bad = |source| ModelError::Unreachable {
        url: base_url.rsplit('@').next().unwrap_or_default().to_owned(),
        source,
    };
    let scheme = base_url.split_once("://").map(|(scheme, _)| scheme);
    let is_web = |scheme: &str| ["http", "https"].contains(&&*scheme.to_ascii_lowercase());
    if !scheme.is_some_and(is_web) {
        return Err(bad(Some("it must begin with http:// or https://".into())));
    }
    let mut url = Url::parse(base_url).map_err(|error| bad(Some(error.into())))?;
    let hidden = url.set_username("").and_then(|()| url.set_password(None));
    hidden.map_err(|()| bad(None))?;
    url.set_query(None);
    Ok(url.to_string())
}

fn unreachable_at(url: &str, error: reqwest::Error) -> ModelError {
    ModelError::Unreachable {
        url: url.to_owned(),
        source: Some(Box::new(error.without_url())),
    }
}
