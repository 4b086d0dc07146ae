//! MCP over HTTP: the checks that every request passes. Requests are independent; there are no sessions.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use muninn_platform::{HttpLimits, serve_http};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::call::{Mcp, Refused, ToolCall, ToolOutcome};
use super::server::ToolCaller;
use super::token_lookups::TokenLookups;
use super::{Caller, ProgramServer, refused};
use crate::config::{AddressError, PublicAddress, PublicOrigin};
use crate::conversation::tokens;

/// The path for programs, below the address.
pub const PATH: &str = "/mcp";
/// Maximum bytes of a request.
const MOST_BYTES: usize = 256 * 1024;
/// Maximum number of invalid tokens per minute from one address.
const WRONG_TOKENS: NonZeroU32 = NonZeroU32::new(20).expect("20 is not 0");

/// The state of the checks before the tools.
#[derive(Debug)]
struct McpHttpState {
    mcp: Arc<Mcp>,
    origin: PublicOrigin,
    lookups: TokenLookups,
    wrong_tokens: DefaultKeyedRateLimiter<IpAddr>,
}

/// Calls tools for the caller of each request.
struct ByRequest(Arc<Mcp>);

#[async_trait]
impl ToolCaller for ByRequest {
    async fn call(&self, caller: Option<&Caller>, call: ToolCall) -> ToolOutcome {
        match caller {
            Some(caller) => self.0.call(caller, call).await,
            None => refused(&Refused::NoToken),
        }
    }
}

/// Serves programs until `shutdown`. Returns as soon as it listens, with the public address.
///
/// # Errors
/// Fails when it cannot listen there.
pub async fn serve(
    at: &PublicAddress,
    mcp: Arc<Mcp>,
    shutdown: CancellationToken,
) -> Result<String, AddressError> {
    let (listener, origin) = at.listen().await?;
    let address = format!("{}{PATH}", origin.as_str());
    let server = ProgramServer::new(Arc::new(ByRequest(Arc::clone(&mcp))));
    let gate = Arc::new(McpHttpState {
        mcp,
        origin,
        lookups: TokenLookups::new(),
        wrong_tokens: RateLimiter::keyed(Quota::per_minute(WRONG_TOKENS)),
    });
    // The checks before the tools compare host and origin with the public address.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_max_request_body_bytes(MOST_BYTES)
        .with_cancellation_token(shutdown.child_token());
    let sessions = Arc::new(NeverSessionManager::default());
    let protocol = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let routes = Router::new()
        .route_service(PATH, protocol)
        .layer(from_fn_with_state(gate, check));
    tokio::spawn(
        async move { serve_http(listener, routes, HttpLimits::default(), &shutdown).await },
    );
    Ok(address)
}

/// Admits a request with its caller, or refuses it.
async fn check(
    State(gate): State<Arc<McpHttpState>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let mut response = match gate.caller(request.headers(), from.ip()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            // No later part needs the token.
            request.headers_mut().remove(AUTHORIZATION);
            next.run(request).await
        }
        Err(why) => *why,
    };
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, no_store);
    response
}

impl McpHttpState {
    async fn caller(&self, headers: &HeaderMap, from: IpAddr) -> Result<Caller, Box<Response>> {
        let refuse =
            |status: StatusCode, why: &'static str| Box::new((status, why).into_response());
        if !self.origin.is_host(headers) {
            return Err(refuse(
                StatusCode::FORBIDDEN,
                "not the host that this is served at\n",
            ));
        }
        // Programs send no origin; a page of another site must not send requests from somebody's browser.
        if headers.contains_key(ORIGIN) && !self.origin.is_said(headers) {
            return Err(refuse(
                StatusCode::FORBIDDEN,
                "not for pages of other origins\n",
            ));
        }
        let Some(token) = bearer(headers) else {
            return Err(unauthorized("Bearer realm=\"muninn\""));
        };
        self.owner(token, from).await
    }

    /// The owner of a token, unless it is not valid or too many requests were made.
    async fn owner(&self, token: &str, from: IpAddr) -> Result<Caller, Box<Response>> {
        let hash = tokens::hash(token);
        if !self.lookups.may_look_up(&hash, from) || self.mcp.is_too_much_of(&hash) {
            return Err(too_many());
        }
        match self.mcp.caller(token).await {
            Ok(caller) => {
                self.lookups.looked_up(hash, true);
                Ok(caller)
            }
            Err(Refused::NoToken) => {
                self.lookups.looked_up(hash, false);
                self.wrong_tokens.retain_recent();
                match self.wrong_tokens.check_key(&from) {
                    Ok(()) => Err(unauthorized(
                        "Bearer realm=\"muninn\", error=\"invalid_token\"",
                    )),
                    Err(_) => Err(too_many()),
                }
            }
            Err(why) => {
                let why = refused(&why).text;
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Err(Box::new((status, why).into_response()))
            }
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let said = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = said.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn unauthorized(challenge: &'static str) -> Box<Response> {
    let headers = [(WWW_AUTHENTICATE, challenge)];
    let why = "a token is needed: say `mcp token` to the bot in chat\n";
    Box::new((StatusCode::UNAUTHORIZED, headers, why).into_response())
}

fn too_many() -> Box<Response> {
    let headers = [(RETRY_AFTER, "60")];
    Box::new(
        (
            StatusCode::TOO_MANY_REQUESTS,
            headers,
            "too many requests\n",
        )
            .into_response(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_as_a_bearer() {
        let said = |value: &'static str| {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static(value))]);
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(said("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(said("bearer  abc ").as_deref(), Some("abc"));
        for wrong in ["abc", "Basic abc", "Bearer", "Bearer ", ""] {
            assert_eq!(said(wrong), None, "{wrong:?}");
        }
        assert_eq!(bearer(&HeaderMap::new()), None);
    }
}
