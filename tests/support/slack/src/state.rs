//! Everything the server holds, behind one lock, and how a change of it reaches those who wait.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::body::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::call::Call;
use crate::delivery::{Deliveries, DeliveryTimings};
use crate::faults::Faults;
use crate::limits::Limits;
use crate::responses::ResponseUrl;
use crate::sockets::Sockets;
use crate::workspace::Workspace;

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) workspace: Workspace,
    /// Rules that were broken.
    pub(crate) violations: Vec<String>,
    /// What a test expects to be broken: violations that contain it are none.
    pub(crate) forgiven: Vec<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) faults: Faults,
    pub(crate) limits: Limits,
    pub(crate) sockets: Sockets,
    pub(crate) deliveries: Deliveries,
    pub(crate) waits: DeliveryTimings,
    pub(crate) responses: BTreeMap<String, ResponseUrl>,
    /// Who did what, and when: a form may be opened for it.
    pub(crate) triggers: BTreeMap<String, (String, Instant)>,
    /// Forms that stand open, by person.
    pub(crate) forms: BTreeMap<String, Value>,
    /// Tokens that are good no more.
    pub(crate) revoked: Vec<String>,
}

impl State {
    /// Notes that a documented rule was broken.
    pub(crate) fn violate(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self
            .forgiven
            .iter()
            .any(|part| what.contains(part.as_str()))
        {
            self.violations.push(what);
        }
    }

    /// A trigger id for what somebody just did.
    pub(crate) fn trigger(&mut self, user: &str) -> String {
        let number = self.workspace.number();
        let trigger = format!("{number}.{number}.loopback{number}");
        let did = (user.to_owned(), Instant::now());
        self.triggers.insert(trigger.clone(), did);
        trigger
    }
}

/// What the app is reached with over HTTP.
pub(crate) type HttpClient = Client<HttpConnector, Full<Bytes>>;

/// The state with its lock, shared by whoever serves and whoever tests.
#[derive(Debug)]
pub(crate) struct SharedState {
    state: Mutex<State>,
    /// Bumped at each change.
    changes: watch::Sender<u64>,
    pub(crate) http: HttpClient,
}

impl SharedState {
    pub(crate) fn new(state: State) -> Arc<Self> {
        let http = Client::builder(TokioExecutor::new()).build_http();
        let (state, changes) = (Mutex::new(state), watch::Sender::new(0));
        Arc::new(Self {
            state,
            changes,
            http,
        })
    }

    /// For looking only; see [`SharedState::change`].
    pub(crate) fn look(&self) -> MutexGuard<'_, State> {
        // A test that fails while it holds the lock has said what there is to say.
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Changes the state, sends off what the app is to be told, and wakes those who wait.
    pub(crate) fn change<T>(self: &Arc<Self>, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.look();
        let changed = change(&mut state);
        crate::delivery::send_off(self, &mut state);
        drop(state);
        self.changes.send_modify(|changes| *changes += 1);
        changed
    }

    /// Waits until something is found in the state.
    ///
    /// # Errors
    /// Fails when it is not there in time.
    pub(crate) async fn until<T>(
        &self,
        patience: Duration,
        find: impl Fn(&State) -> Option<T>,
    ) -> Result<T, ()> {
        let mut changes = self.changes.subscribe();
        let found = async {
            loop {
                changes.borrow_and_update();
                if let Some(found) = find(&self.look()) {
                    return found;
                }
                if changes.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::time::timeout(patience, found).await.map_err(|_| ())
    }
}

/// A JSON text on one line, cut where it gets long.
pub(crate) fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(400) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
