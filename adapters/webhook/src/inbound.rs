//! Receives signed requests, and delivers them to the bot.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use chrono::Utc;
use muninn_platform::{
    Body, HttpLimits, Inbox, Incoming, IncomingMessage, NoAnnouncements, PlatformError, Readdress,
    Reply, misconfigured, serve_http,
};
use parking_lot::Mutex;
use secrecy::SecretString;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::event::{self, WebhookIntent};
use crate::name::NAME;
use crate::options::WebhookOptions;
use crate::outbox::WebhookOutbox;
use crate::signature::{self, Rejection, UsedSignatures};
use crate::sink::{WebhookReplyTarget, WebhookWithdrawer, reply};

/// The path of the endpoint.
pub(crate) const PATH: &str = "/messages";
/// The trace context header of W3C.
const TRACEPARENT: &str = "traceparent";

/// Maximum bytes of a request.
const LONGEST_BODY: usize = 1024 * 1024;

/// How long a request may take until the bot has it; then the program is told to send it again.
const ACCEPTANCE: Duration = Duration::from_secs(10);

/// Delivers what is posted to the bot.
#[derive(Clone)]
pub(crate) struct WebhookReceiver(Arc<InboundState>);

struct InboundState {
    outbox: Arc<WebhookOutbox>,
    inbox: Inbox,
    secret: SecretString,
    taken: Mutex<UsedSignatures>,
}

impl WebhookReceiver {
    pub(crate) fn new(options: &WebhookOptions, outbox: Arc<WebhookOutbox>, inbox: Inbox) -> Self {
        Self(Arc::new(InboundState {
            outbox,
            inbox,
            secret: options.secret.clone(),
            taken: Mutex::default(),
        }))
    }

    /// Listens until `shutdown` is cancelled.
    pub(crate) async fn listen(
        self,
        address: SocketAddr,
        shutdown: &CancellationToken,
    ) -> Result<(), PlatformError> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            misconfigured(format!(
                "WEBHOOK_ADDR {address} cannot be listened at: {error}"
            ))
        })?;
        let inbox = self.0.inbox.clone();
        let withdrawer = Arc::new(WebhookWithdrawer(Arc::clone(&self.0.outbox)));
        let begun = async {
            let announcer = Arc::new(NoAnnouncements);
            inbox.tell_connected(NAME, withdrawer, announcer).await?;
            inbox.deliver_left_over(NAME, &self).await
        };
        if begun.await.is_err() {
            return Ok(());
        }
        tracing::info!(%address, "listening");
        let router = Router::new()
            .route(PATH, post(receive))
            .layer(DefaultBodyLimit::max(LONGEST_BODY))
            .with_state(self.clone());
        let serving = serve_http(listener, router, HttpLimits::default(), shutdown);
        let following = inbox.follow_left_over(NAME, &self);
        tokio::select! {
            () = serving => {}
            _ = following => {}
        }
        Ok(())
    }

    fn take(&self, headers: &HeaderMap, body: &[u8]) -> Result<Vec<u8>, Rejection> {
        let now = Utc::now().timestamp();
        let header = headers.get(signature::HEADER);
        let header = header.and_then(|value| value.to_str().ok());
        let header = header.ok_or(Rejection::Unsigned)?;
        let signed = signature::verify(&self.0.secret, now, header, body)?;
        let signature = signed.1.clone();
        self.0.taken.lock().take(now, signed)?;
        Ok(signature)
    }

    fn incoming(&self, meaning: WebhookIntent) -> Incoming {
        match meaning {
            WebhookIntent::Stop(conversation) => Incoming::Stop(conversation),
            WebhookIntent::Message(message) => Incoming::Message {
                reply: self.reply_to(&message),
                message: *message,
            },
        }
    }

    fn reply_to(&self, message: &IncomingMessage) -> Box<dyn Reply> {
        // The answer to an edit replaces the answer to the message, also if that one's delivery was
        // not recorded.
        let question = match &message.body {
            Body::Edit { of, .. } | Body::Deletion { of } => of,
            Body::Text(_) | Body::Command(_) => &message.event,
        };
        let target = WebhookReplyTarget {
            question: question.clone(),
            conversation: message.conversation.clone(),
        };
        Box::new(reply(Arc::clone(&self.0.outbox), target))
    }
}

#[async_trait]
impl Readdress for WebhookReceiver {
    async fn reply_again(&self, message: &IncomingMessage) -> Option<Box<dyn Reply>> {
        event::place_of(&message.conversation)?;
        Some(self.reply_to(message))
    }
}

async fn receive(
    State(inbound): State<WebhookReceiver>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let signature = match inbound.take(&headers, &body) {
        Ok(signature) => signature,
        Err(why) => {
            tracing::warn!(%why, "a request is refused");
            return error_response(StatusCode::UNAUTHORIZED, &why.to_string());
        }
    };
    let mut meaning = match event::read(&body, Utc::now()) {
        Ok(meaning) => meaning,
        Err(why) => return error_response(StatusCode::BAD_REQUEST, &why),
    };
    if let WebhookIntent::Message(message) = &mut meaning {
        let traceparent = headers.get(TRACEPARENT).and_then(|it| it.to_str().ok());
        message.traceparent = traceparent.map(str::to_owned);
    }
    let delivering = inbound.0.inbox.deliver(inbound.incoming(meaning));
    match tokio::time::timeout(ACCEPTANCE, delivering).await {
        Ok(Ok(())) => StatusCode::ACCEPTED.into_response(),
        Ok(Err(_)) | Err(_) => {
            inbound.0.taken.lock().give_back(&signature);
            error_response(
                StatusCode::SERVICE_UNAVAILABLE,
                "the bot is busy or ending; send it again",
            )
        }
    }
}

fn error_response(status: StatusCode, error: &str) -> Response {
    let body = json!({ "error": error }).to_string();
    (status, [("content-type", "application/json")], body).into_response()
}
