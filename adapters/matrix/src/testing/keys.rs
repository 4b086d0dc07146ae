//! A proxy in front of a homeserver that holds back room keys, as a slow federation does.

use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use matrix_sdk::reqwest::{self, Client};
use tokio::net::TcpListener;

/// A proxy that answers key requests as if they had been passed on.
#[derive(Clone, Debug)]
pub struct KeyHolder {
    address: String,
    homeserver: String,
    client: Client,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    holds: bool,
    requests: Vec<(Parts, Bytes)>,
}

impl KeyHolder {
    /// Starts one, which holds nothing yet.
    ///
    /// # Panics
    /// Panics when no port is free.
    pub async fn before(homeserver: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let holder = Self {
            address: format!("http://{address}"),
            homeserver: homeserver.to_owned(),
            client: Client::new(),
            held: Arc::default(),
        };
        let router = Router::new().fallback(serve).with_state(holder.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        holder
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("no panic")
    }

    /// Holds back keys from now on.
    pub fn hold(&self) {
        self.held().holds = true;
    }

    /// Passes on what was held back, and everything from now on.
    ///
    /// # Panics
    /// Panics when the homeserver takes nothing.
    pub async fn release(&self) {
        let requests = {
            let mut held = self.held();
            held.holds = false;
            std::mem::take(&mut held.requests)
        };
        for (parts, body) in requests {
            let passed = pass_on(&self.client, &self.homeserver, &parts, body);
            passed.await.expect("passed on");
        }
    }

    /// Whether a request is held back.
    fn takes(&self, parts: &Parts, body: &Bytes) -> bool {
        let is_keys = (parts.uri.path()).contains("/sendToDevice/m.room.encrypted/");
        let mut held = self.held();
        let takes = held.holds && is_keys;
        if takes {
            held.requests.push((parts.clone(), body.clone()));
        }
        takes
    }
}

pub(super) async fn pass_on(
    client: &Client,
    homeserver: &str,
    parts: &Parts,
    body: Bytes,
) -> reqwest::Result<(StatusCode, Bytes)> {
    let url = format!("{homeserver}{}", parts.uri);
    let mut passed = client.request(parts.method.clone(), url).body(body);
    for name in [header::AUTHORIZATION, header::CONTENT_TYPE] {
        if let Some(value) = parts.headers.get(&name) {
            passed = passed.header(name, value);
        }
    }
    let response = passed.send().await?;
    Ok((response.status(), response.bytes().await?))
}

/// Passes a request on, and its response back.
pub(super) async fn answer(
    client: &Client,
    homeserver: &str,
    parts: &Parts,
    body: Bytes,
) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    match pass_on(client, homeserver, parts, body).await {
        Ok((status, body)) => (status, json, body).into_response(),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

async fn serve(State(holder): State<KeyHolder>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if holder.takes(&parts, &body) {
        return (StatusCode::OK, "{}").into_response();
    }
    answer(&holder.client, &holder.homeserver, &parts, body).await
}
