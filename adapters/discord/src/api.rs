//! The adapter's API requests, with bodies of its own. serenity provides the connection, the token
//! and the rate limits.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::{PlatformError, misconfigured};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Certificate, Response, StatusCode, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serenity::builder::CreateAttachment;
use serenity::http::{
    ErrorResponse, Http, HttpBuilder, HttpError, LightMethod, Multipart, MultipartUpload,
    Ratelimiter, Request, Route,
};
use serenity::model::channel::GuildChannel;
use serenity::model::id::{
    ApplicationId, ChannelId, GuildId, InteractionId, MessageId, RoleId, UserId,
};

use crate::errors::{Failure, RefusalReason};
use crate::missing_fields::{MessagePage, read_page};
use crate::objects::{
    Application, ArchivedThreads, CurrentApplication, ExistingMessage, GatewayAt, GuildRights,
    MyGuild, Sent,
};
use crate::options::{ApiEndpoint, DiscordOptions};

/// Maximum number of messages that Discord returns at once.
pub(crate) const PAGE: u8 = 100;

/// Maximum time of a request, in addition to the rate limiter's waiting.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Shortest pause after a limit of everything: a `Retry-After` may be zero.
const LEAST_REST: Duration = Duration::from_secs(1);

/// The headers in which Discord tells its limits, of numbers.
const LIMIT_HEADERS: [&str; 5] = [
    "retry-after",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-ratelimit-reset-after",
];

/// More than any number in them: a time of the next decades, in seconds.
const LARGEST_LIMIT: f64 = 1e10;

type Answer<T> = Result<T, Failure>;

/// The part of Discord's API that the bot uses.
pub(crate) struct DiscordApi {
    http: Http,
    /// The address of the proxy that handles the rate limits, if there is one.
    proxy: Option<String>,
    /// A client without the token, for files.
    pub(crate) files: reqwest::Client,
}

#[derive(Deserialize)]
struct Member {
    roles: Vec<RoleId>,
}

#[derive(Deserialize)]
struct Direct {
    id: ChannelId,
}

/// Creates an HTTP client for the options; each has its own rate limiter.
pub(crate) fn http(options: &DiscordOptions) -> Result<Http, PlatformError> {
    let client = client(options)?;
    let token: &SecretString = &options.token;
    let builder = HttpBuilder::new(token.expose_secret()).client(client);
    Ok(match &options.api {
        ApiEndpoint::Discord | ApiEndpoint::Elsewhere { .. } => builder.build(),
        // serenity's rate limiter would bypass the proxy.
        ApiEndpoint::Proxy(address) => builder.proxy(address).ratelimiter_disabled(true).build(),
    })
}

fn client(options: &DiscordOptions) -> Result<reqwest::Client, PlatformError> {
    let builder = reqwest::Client::builder()
        .use_rustls_tls()
        .timeout(REQUEST_TIMEOUT)
        // Discord never redirects, least of all for files.
        .redirect(redirect::Policy::none());
    let builder = match &options.api {
        ApiEndpoint::Discord | ApiEndpoint::Proxy(_) => builder,
        ApiEndpoint::Elsewhere { address, authority } => {
            let authority = Certificate::from_pem(authority)
                .map_err(|error| misconfigured(format!("no certificate: {error}")))?;
            builder
                .tls_built_in_root_certs(false)
                .add_root_certificate(authority)
                .resolve("discord.com", *address)
        }
    };
    let built = builder.build();
    built.map_err(|error| misconfigured(format!("no HTTP client: {error}")))
}

impl DiscordApi {
    pub(crate) fn new(options: &DiscordOptions) -> Result<Self, PlatformError> {
        let proxy = match &options.api {
            ApiEndpoint::Proxy(address) => Some(address.clone()),
            ApiEndpoint::Discord | ApiEndpoint::Elsewhere { .. } => None,
        };
        Ok(Self {
            http: http(options)?,
            proxy,
            files: client(options)?,
        })
    }

    async fn request_json<T: DeserializeOwned>(&self, request: Request<'_>) -> Answer<T> {
        let response = self.response(request).await?;
        let body = response.bytes().await.map_err(serenity::Error::from)?;
        Ok(serde_json::from_slice(&body).map_err(serenity::Error::from)?)
    }

    async fn request_unit(&self, request: Request<'_>) -> Answer<()> {
        self.response(request).await?;
        Ok(())
    }

    /// Makes a request. The rate limiter waits as long as Discord wants. Without it, as through a proxy, that is up to whoever
    /// retries, but serenity's errors do not say how long.
    async fn response(&self, request: Request<'_>) -> Answer<Response> {
        let method = request.method_ref().reqwest_method();
        let response = match &self.http.ratelimiter {
            Some(limiter) => self.paced(limiter, &request).await?,
            None => self.execute(request).await?,
        };
        if response.status().is_success() {
            return Ok(response);
        }
        if response.status() == StatusCode::TOO_MANY_REQUESTS {
            return Err(limited(response).await);
        }
        let refused = ErrorResponse::from_response(response, method).await;
        Err(serenity::Error::Http(HttpError::UnsuccessfulRequest(refused)).into())
    }

    /// Makes a request within the limits that serenity's rate limiter knows. By itself, that one repeats a request at once and
    /// without an end, also a post that succeeded, if a header about limits is no number.
    async fn paced(&self, limiter: &Ratelimiter, request: &Request<'_>) -> Answer<Response> {
        let bucket = request.route_ref().ratelimiting_bucket();
        if bucket.is_none() {
            return self.execute(request.clone()).await;
        }
        loop {
            let limit = Arc::clone(limiter.routes().write().await.entry(bucket).or_default());
            limit.lock().await.pre_hook(request, &|_| {}).await;
            let mut response = self.execute(request.clone()).await?;
            keep_numbers(response.headers_mut());
            let is_limited = response.status() == StatusCode::TOO_MANY_REQUESTS;
            if is_limited && response.headers().contains_key("x-ratelimit-global") {
                let header = response.headers().get(RETRY_AFTER);
                let header = header.and_then(|header| header.to_str().ok());
                let Some(rest) = retry_after(header, b"") else {
                    return Ok(response);
                };
                tokio::time::sleep(rest.max(LEAST_REST)).await;
                continue;
            }
            let mut limit = limit.lock().await;
            // It waits if the route is limited.
            let asks_again = limit.post_hook(&response, request, &|_| {}, false).await;
            if !asks_again.unwrap_or(false) {
                return Ok(response);
            }
        }
    }

    async fn execute(&self, request: Request<'_>) -> Answer<Response> {
        let request = request.build(&self.files, self.http.token(), self.proxy.as_deref())?;
        let request = request.build().map_err(serenity::Error::from)?;
        let response = self.files.execute(request).await;
        Ok(response.map_err(serenity::Error::from)?)
    }

    pub(crate) async fn me(&self) -> Answer<CurrentApplication> {
        self.request_json(get(Route::UserMe)).await
    }

    /// Returns the bot's application. Requests that need its id can be made from then on.
    pub(crate) async fn application(&self) -> Answer<Application> {
        let asked: Answer<Application> = self
            .request_json(get(Route::Oauth2ApplicationCurrent))
            .await;
        let found = match asked {
            // A Discord of one's own may have no such route. Since 2016 an application has the id
            // of its bot.
            Err(failure) if failure.is(RefusalReason::Other) => Application {
                id: ApplicationId::new(self.me().await?.id.get()),
                flags: None,
            },
            asked => asked?,
        };
        self.http.set_application_id(found.id);
        Ok(found)
    }

    fn application_id(&self) -> ApplicationId {
        let known = self.http.application_id();
        known.expect("the application is asked for before anything that goes by it")
    }

    pub(crate) async fn guilds(&self) -> Answer<Vec<MyGuild>> {
        self.request_json(get(Route::UserMeGuilds)).await
    }

    pub(crate) async fn guild(&self, guild_id: GuildId) -> Answer<GuildRights> {
        self.request_json(get(Route::Guild { guild_id })).await
    }

    pub(crate) async fn channels(&self, guild_id: GuildId) -> Answer<Vec<GuildChannel>> {
        self.request_json(get(Route::GuildChannels { guild_id }))
            .await
    }

    /// Returns the roles of a member, without the role of everyone.
    pub(crate) async fn roles_of(&self, guild_id: GuildId, user_id: UserId) -> Answer<Vec<RoleId>> {
        let member = Route::GuildMember { guild_id, user_id };
        let Member { roles } = self.request_json(get(member)).await?;
        Ok(roles)
    }

    /// Refused if the person is not in the thread.
    pub(crate) async fn thread_member(
        &self,
        channel_id: ChannelId,
        user_id: UserId,
    ) -> Answer<Value> {
        let member = Route::ChannelThreadMember {
            channel_id,
            user_id,
        };
        self.request_json(get(member)).await
    }

    pub(crate) async fn gateway(&self) -> Answer<GatewayAt> {
        self.request_json(get(Route::GatewayBot)).await
    }

    pub(crate) async fn commands(&self, guild: Option<GuildId>) -> Answer<Vec<Value>> {
        // Without this parameter Discord omits the translations.
        let request = get(self.commands_route(guild));
        let localized = vec![("with_localizations", "true".to_owned())];
        self.request_json(request.params(Some(localized))).await
    }

    pub(crate) async fn set_commands(
        &self,
        guild: Option<GuildId>,
        commands: &[Value],
    ) -> Answer<()> {
        let route = self.commands_route(guild);
        let request = Request::new(route, LightMethod::Put);
        self.request_unit(request.body(body(&json!(commands))))
            .await
    }

    fn commands_route(&self, guild: Option<GuildId>) -> Route<'static> {
        let application_id = self.application_id();
        match guild {
            Some(guild_id) => Route::GuildCommands {
                application_id,
                guild_id,
            },
            None => Route::Commands { application_id },
        }
    }

    pub(crate) async fn channel(&self, channel_id: ChannelId) -> Answer<GuildChannel> {
        self.request_json(get(Route::Channel { channel_id })).await
    }

    pub(crate) async fn message(
        &self,
        channel_id: ChannelId,
        message_id: MessageId,
    ) -> Answer<ExistingMessage> {
        self.request_json(get(Route::ChannelMessage {
            channel_id,
            message_id,
        }))
        .await
    }

    pub(crate) async fn change_channel(&self, channel_id: ChannelId, change: &Value) -> Answer<()> {
        let request = Request::new(Route::Channel { channel_id }, LightMethod::Patch);
        self.request_unit(request.body(body(change))).await
    }

    pub(crate) async fn send(&self, channel_id: ChannelId, message: &Value) -> Answer<Sent> {
        let request = post(Route::ChannelMessages { channel_id });
        self.request_json(request.body(body(message))).await
    }

    /// Sends a message with one file.
    pub(crate) async fn send_file(
        &self,
        channel_id: ChannelId,
        message: &Value,
        (name, content): (&str, Vec<u8>),
    ) -> Answer<Sent> {
        let request = post(Route::ChannelMessages { channel_id });
        self.request_json(request.multipart(multipart(message, name, content)))
            .await
    }

    pub(crate) async fn edit(
        &self,
        channel_id: ChannelId,
        message_id: MessageId,
        message: &Value,
    ) -> Answer<Sent> {
        let route = Route::ChannelMessage {
            channel_id,
            message_id,
        };
        let request = Request::new(route, LightMethod::Patch);
        self.request_json(request.body(body(message))).await
    }

    pub(crate) async fn delete(&self, channel_id: ChannelId, message_id: MessageId) -> Answer<()> {
        let route = Route::ChannelMessage {
            channel_id,
            message_id,
        };
        self.request_unit(Request::new(route, LightMethod::Delete))
            .await
    }

    /// Returns the messages after the given one, newest first, at most a hundred.
    pub(crate) async fn messages_after(
        &self,
        channel_id: ChannelId,
        message: MessageId,
    ) -> Answer<Vec<ExistingMessage>> {
        self.messages(channel_id, "after", message, 100).await
    }

    /// Returns the messages before the given one, newest first.
    pub(crate) async fn messages_before(
        &self,
        channel_id: ChannelId,
        message: MessageId,
        most: u8,
    ) -> Answer<Vec<ExistingMessage>> {
        self.messages(channel_id, "before", message, most).await
    }

    /// Returns the messages after the given one, at most a hundred, as the gateway would have sent
    /// them, but without the server and the authors' roles.
    pub(crate) async fn gateway_messages_after(
        &self,
        channel_id: ChannelId,
        message: MessageId,
    ) -> Answer<MessagePage> {
        let told: Vec<Value> = self.messages(channel_id, "after", message, PAGE).await?;
        let page = read_page(told, usize::from(PAGE)).map_err(serenity::Error::from)?;
        for (message, reason) in &page.unreadable {
            tracing::warn!(channel = %channel_id, %message, %reason, "a message of Discord cannot be read, and is left out");
        }
        Ok(page)
    }

    async fn messages<T: DeserializeOwned>(
        &self,
        channel_id: ChannelId,
        side: &'static str,
        message: MessageId,
        most: u8,
    ) -> Answer<Vec<T>> {
        let params = vec![(side, message.to_string()), ("limit", most.to_string())];
        let request = get(Route::ChannelMessages { channel_id });
        self.request_json(request.params(Some(params))).await
    }

    /// Returns a page of the archived public threads of a channel, most recently archived first.
    pub(crate) async fn archived_threads(
        &self,
        channel_id: ChannelId,
        before: Option<DateTime<Utc>>,
    ) -> Answer<ArchivedThreads> {
        let mut params = vec![("limit", "100".to_owned())];
        params.extend(before.map(|before| ("before", before.to_rfc3339())));
        let request = get(Route::ChannelArchivedPublicThreads { channel_id });
        self.request_json(request.params(Some(params))).await
    }

    pub(crate) async fn show_typing(&self, channel_id: ChannelId) -> Answer<()> {
        self.request_unit(post(Route::ChannelTyping { channel_id }))
            .await
    }

    /// Opens a thread at a message.
    pub(crate) async fn open_thread(
        &self,
        channel_id: ChannelId,
        message_id: MessageId,
        name: &str,
    ) -> Answer<()> {
        let route = Route::ChannelMessageThreads {
            channel_id,
            message_id,
        };
        self.request_unit(post(route).body(body(&json!({ "name": name }))))
            .await
    }

    /// Opens a private thread and adds one person.
    pub(crate) async fn open_private_thread(
        &self,
        channel_id: ChannelId,
        name: &str,
        user_id: UserId,
    ) -> Answer<ChannelId> {
        const PRIVATE: u8 = 12;
        let wanted = json!({ "name": name, "type": PRIVATE, "invitable": false });
        let request = post(Route::ChannelThreads { channel_id }).body(body(&wanted));
        let Direct { id } = self.request_json(request).await?;
        let route = Route::ChannelThreadMember {
            channel_id: id,
            user_id,
        };
        self.request_unit(Request::new(route, LightMethod::Put))
            .await?;
        Ok(id)
    }

    /// Opens a post in a forum; returns its first message, which has the post's id.
    pub(crate) async fn open_post(
        &self,
        channel_id: ChannelId,
        name: &str,
        message: &Value,
    ) -> Answer<Sent> {
        let wanted = json!({ "name": name, "message": message });
        let request = post(Route::ChannelThreads { channel_id }).body(body(&wanted));
        let Direct { id } = self.request_json(request).await?;
        Ok(Sent {
            id: MessageId::new(id.get()),
            channel_id: id,
            content: String::new(),
        })
    }

    pub(crate) async fn open_direct(&self, person: UserId) -> Answer<ChannelId> {
        let wanted = json!({ "recipient_id": person.to_string() });
        let request = post(Route::UserMeDmChannels).body(body(&wanted));
        let Direct { id } = self.request_json(request).await?;
        Ok(id)
    }

    /// Sends the first response to an interaction, due within three seconds.
    pub(crate) async fn answer(
        &self,
        interaction_id: InteractionId,
        token: &SecretString,
        answer: &Value,
    ) -> Answer<()> {
        let token = token.expose_secret();
        let route = Route::InteractionResponse {
            interaction_id,
            token,
        };
        self.request_unit(post(route).body(body(answer))).await
    }

    pub(crate) async fn edit_original(
        &self,
        token: &SecretString,
        message: &Value,
    ) -> Answer<Sent> {
        let request = Request::new(self.original(token), LightMethod::Patch);
        self.request_json(request.body(body(message))).await
    }

    pub(crate) async fn delete_original(&self, token: &SecretString) -> Answer<()> {
        let request = Request::new(self.original(token), LightMethod::Delete);
        self.request_unit(request).await
    }

    fn original<'a>(&self, token: &'a SecretString) -> Route<'a> {
        Route::WebhookOriginalInteractionResponse {
            application_id: self.application_id(),
            token: token.expose_secret(),
        }
    }

    pub(crate) async fn follow_up(&self, token: &SecretString, message: &Value) -> Answer<Sent> {
        let route = Route::WebhookFollowupMessages {
            application_id: self.application_id(),
            token: token.expose_secret(),
        };
        self.request_json(post(route).body(body(message))).await
    }

    /// Sends a follow-up response with one file.
    pub(crate) async fn follow_up_with_file(
        &self,
        token: &SecretString,
        message: &Value,
        (name, content): (&str, Vec<u8>),
    ) -> Answer<Sent> {
        let route = Route::WebhookFollowupMessages {
            application_id: self.application_id(),
            token: token.expose_secret(),
        };
        self.request_json(post(route).multipart(multipart(message, name, content)))
            .await
    }

    pub(crate) async fn edit_follow_up(
        &self,
        token: &SecretString,
        message_id: MessageId,
        message: &Value,
    ) -> Answer<Sent> {
        let request = Request::new(self.followed_up(token, message_id), LightMethod::Patch);
        self.request_json(request.body(body(message))).await
    }

    pub(crate) async fn delete_follow_up(
        &self,
        token: &SecretString,
        message_id: MessageId,
    ) -> Answer<()> {
        let route = self.followed_up(token, message_id);
        self.request_unit(Request::new(route, LightMethod::Delete))
            .await
    }

    fn followed_up<'a>(&self, token: &'a SecretString, message_id: MessageId) -> Route<'a> {
        Route::WebhookFollowupMessage {
            application_id: self.application_id(),
            token: token.expose_secret(),
            message_id,
        }
    }
}

/// Removes headers about limits that are no numbers, or no times that there are.
fn keep_numbers(headers: &mut HeaderMap) {
    for name in LIMIT_HEADERS {
        let Some(value) = headers.get(name) else {
            continue;
        };
        let number = value
            .to_str()
            .ok()
            .and_then(|value| value.parse::<f64>().ok());
        if !number.is_some_and(|number| (0.0..=LARGEST_LIMIT).contains(&number)) {
            tracing::debug!(name, ?value, "a header about limits is no number");
            headers.remove(name);
        }
    }
}

/// Reads how long Discord, or what is in front of it, wants no further requests.
async fn limited(response: Response) -> Failure {
    let header = response.headers().get(RETRY_AFTER).cloned();
    let body = response.bytes().await.unwrap_or_default();
    let header = header.as_ref().and_then(|header| header.to_str().ok());
    Failure::limited(retry_after(header, &body), is_global(&body))
}

/// Whether a rate limit is not only one of a route. What is in front of Discord limits an address as a whole, and sends no JSON.
fn is_global(body: &[u8]) -> bool {
    match serde_json::from_slice::<Value>(body) {
        Ok(told) => told["global"] == true,
        Err(_) => !body.is_empty(),
    }
}

fn retry_after(header: Option<&str>, body: &[u8]) -> Option<Duration> {
    let of_header = header.and_then(|seconds| seconds.trim().parse::<f64>().ok());
    let of_body = || serde_json::from_slice::<Value>(body).ok()?["retry_after"].as_f64();
    Duration::try_from_secs_f64(of_header.or_else(of_body)?).ok()
}

fn get(route: Route<'_>) -> Request<'_> {
    Request::new(route, LightMethod::Get)
}

fn post(route: Route<'_>) -> Request<'_> {
    Request::new(route, LightMethod::Post)
}

/// The message refers to the file by the number 0.
fn multipart(message: &Value, name: &str, content: Vec<u8>) -> Option<Multipart> {
    Some(Multipart {
        upload: MultipartUpload::Attachments(vec![CreateAttachment::bytes(content, name)]),
        fields: Vec::new(),
        payload_json: Some(message.to_string()),
    })
}

fn body(value: &Value) -> Option<Vec<u8>> {
    Some(value.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_discord_wants_no_requests_is_in_a_header_or_the_body() {
        let body: &[u8] = br#"{ "message": "You are being rate limited.", "retry_after": 12.5 }"#;
        let date = "Fri, 31 Dec 2027 23:59:59 GMT";
        for (header, body, expected) in [
            (Some("13"), body, Some(13_000)),
            (None, body, Some(12_500)),
            // HTTP allows a date, Discord sends none.
            (Some(date), body, Some(12_500)),
            (None, &b"error code: 1015"[..], None),
            (Some("-1"), &b""[..], None),
            (Some("inf"), &b""[..], None),
        ] {
            let expected = expected.map(Duration::from_millis);
            assert_eq!(retry_after(header, body), expected, "{header:?}");
        }
    }

    #[test]
    fn of_the_headers_about_limits_only_numbers_are_kept() {
        for (value, is_kept) in [
            ("0", true),
            ("0.25", true),
            ("1560704880.423", true),
            ("abc", false),
            ("-1", false),
            ("NaN", false),
            ("inf", false),
            ("1e300", false),
            ("Wed, 21 Oct 2026 07:28:00 GMT", false),
        ] {
            let mut headers = HeaderMap::new();
            for name in LIMIT_HEADERS {
                headers.insert(name, value.parse().unwrap());
            }
            headers.insert("x-ratelimit-bucket", value.parse().unwrap());
            keep_numbers(&mut headers);
            let kept = if is_kept { LIMIT_HEADERS.len() } else { 0 };
            assert_eq!(headers.len(), kept + 1, "{value}");
        }
    }

    #[test]
    fn a_rate_limit_says_whether_it_is_one_of_a_route() {
        for (body, expected) in [
            (
                r#"{ "message": "slow", "retry_after": 1, "global": true }"#,
                true,
            ),
            (
                r#"{ "message": "slow", "retry_after": 1, "global": false }"#,
                false,
            ),
            (r#"{ "message": "slow", "retry_after": 1 }"#, false),
            ("error code: 1015", true),
            ("", false),
        ] {
            assert_eq!(is_global(body.as_bytes()), expected, "{body}");
        }
    }
}
