//! The connection to a server.

use std::sync::{Mutex, PoisonError};

use rmcp::service::{Peer, RoleClient};

/// The connection to a server, while there is one.
#[derive(Debug, Default)]
pub(super) struct Connection(Mutex<Option<Peer<RoleClient>>>);

impl Connection {
    pub(super) fn peer(&self) -> Option<Peer<RoleClient>> {
        let peer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        peer.clone().filter(|peer| !peer.is_transport_closed())
    }

    pub(super) fn set(&self, peer: Option<Peer<RoleClient>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = peer;
    }
}
