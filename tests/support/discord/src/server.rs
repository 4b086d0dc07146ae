//! The sockets, plain and with TLS, for REST, the gateway and files.

mod listener;
pub(crate) mod multipart;
mod respond;

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::watch;

use crate::traffic::Traffic;
use crate::world::World;

pub(crate) use listener::{ServerHandle, listen};

/// State shared by every connection and every handle of a test.
#[derive(Debug)]
pub(crate) struct SharedWorld {
    world: Mutex<World>,
    pub(crate) changed: watch::Sender<u64>,
    pub(crate) traffic: Traffic,
}

impl SharedWorld {
    pub(crate) fn new(world: World) -> Self {
        Self {
            changed: world.changed.clone(),
            world: Mutex::new(world),
            traffic: Traffic,
        }
    }

    /// Changes the state, and wakes whoever waits for a change.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut World) -> T) -> T {
        // If a test panics while it holds the lock, other panics must not hide the reason.
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        let done = act(&mut world);
        drop(world);
        self.changed.send_modify(|changes| *changes += 1);
        done
    }

    /// Reads the state.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        look(&self.world.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(crate) fn router(shared: Arc<SharedWorld>) -> Router {
    Router::new()
        .route("/gateway-socket", get(gateway))
        .route("/gateway-socket/", get(gateway))
        .route("/attachments/{channel}/{id}/{name}", get(respond::file))
        .fallback(respond::rest)
        // Larger than any file of a test.
        .layer(axum::extract::DefaultBodyLimit::max(64 << 20))
        .with_state(shared)
}

async fn gateway(
    State(shared): State<Arc<SharedWorld>>,
    Query(query): Query<std::collections::HashMap<String, String>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    if shared.look(|world| world.gateway_is_down) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    upgrade
        .max_message_size(64 << 20)
        .on_upgrade(move |socket| crate::gateway::connection(shared, socket, query))
}
