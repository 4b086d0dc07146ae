//! Pages to look at: the conversations, what each answer came from, and what is found in memory and knowledge.
//!
//! Made on the server; they work without script, but for the picture, which a table beside it says too. Whoever opens them came
//! by a [link](access). People get one in chat and see what they may read there, which the [platforms](Memberships) are asked
//! each time; the operator gets one on the machine and sees everything. Each look into a conversation is in the audit.

pub mod access;
mod conversations;
mod doors;
mod errors;
mod guard;
mod health;
mod own;
mod picture;
mod search;
mod templates;
mod to_bot;
mod visitor;
mod why;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use chrono::Utc;
use muninn_platform::{Channels, Memberships};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use self::access::{Access, Viewer};
pub use self::errors::{LoggedError, RecentErrors};
use self::guard::Limits;
pub use self::health::{Operating, PartFinding, SettingsChanges};
use self::templates::Templates;
pub use self::to_bot::ToBot;
use crate::conversation::audit::Audit;
use crate::conversation::pages::{Invites, Uninvited};
use crate::graph::GraphStore;
use crate::graph::accounts::Account;
use crate::knowledge::search::Searcher;
use crate::memory::{Archive, Recaller};

/// Where the pages are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebConfig {
    /// Where they are served.
    pub address: SocketAddr,
    /// What people open, without a slash at the end, where it is not that address: a proxy with a certificate, for one.
    pub url: Option<String>,
}

/// Why pages cannot be served there.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error(
        "WEB_ADDR {0} can be reached from other machines, and the pages would go there unencrypted; put a proxy with a \
         certificate before a loopback address such as 127.0.0.1:8088, and set WEB_URL to the https:// address that people open"
    )]
    Open(SocketAddr),
    #[error(
        "WEB_URL is {0:?}, but must begin with https:// (or http://localhost) and be the address of a host alone"
    )]
    Url(String),
    #[error("cannot listen on {address} (WEB_ADDR): {source}")]
    Listen {
        address: SocketAddr,
        source: std::io::Error,
    },
}

impl WebConfig {
    /// # Errors
    /// When other machines could reach the pages unencrypted, or the URL is none.
    pub fn check(&self) -> Result<(), WebError> {
        match &self.url {
            Some(url) => {
                let rest = url.strip_prefix("https://");
                let rest = rest.or_else(|| url.strip_prefix("http://").filter(|it| is_local(it)));
                let is_host = |it: &str| !it.is_empty() && !it.contains(['/', '?', '#', '@', ' ']);
                rest.filter(|it| is_host(it))
                    .map(drop)
                    .ok_or_else(|| WebError::Url(url.clone()))
            }
            None if self.address.ip().is_loopback() => Ok(()),
            None => Err(WebError::Open(self.address)),
        }
    }
}

/// Whether it is this machine: `localhost:8088`, `127.0.0.1`.
fn is_local(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// What the pages show.
#[derive(Clone, Debug)]
pub struct PageData {
    pub store: Arc<GraphStore>,
    pub recaller: Arc<Recaller>,
    pub searcher: Arc<Searcher>,
    pub archive: Arc<Archive>,
    pub operating: Arc<dyn Operating>,
    pub errors: RecentErrors,
    /// What is set for channels holds on the pages too.
    pub channels: Arc<Channels>,
    /// Where it is written who looked at what.
    pub audit: Audit,
    /// Where files stand until somebody has them.
    pub folder: PathBuf,
}

/// Copies of what is kept of somebody that are made at once.
const COPIES: usize = 2;

/// The pages, with all that they show.
#[derive(Debug)]
pub struct Web {
    data: PageData,
    memberships: Memberships,
    to_bot: ToBot,
    access: Access,
    copies: Semaphore,
    limits: Limits,
    templates: Templates,
    /// What people open, without a slash at the end.
    origin: String,
}

impl Web {
    /// An address that lets somebody in, once.
    pub fn link(&self, to: Viewer) -> String {
        let token = self.access.link(to, Utc::now());
        format!("{}/enter/{}", self.origin, token.as_str())
    }

    fn is_encrypted(&self) -> bool {
        self.origin.starts_with("https://")
    }
}

impl Invites for Web {
    fn invite(&self, account: &Account) -> Result<String, Uninvited> {
        match self.memberships.named(&account.platform) {
            Some(_) => Ok(self.link(Viewer::Person(account.clone()))),
            None => Err(Uninvited),
        }
    }

    fn sign_out(&self, accounts: &[String]) -> usize {
        self.access.sign_out_all(accounts)
    }
}

/// Serves the pages until `shutdown`. Returns once it listens.
///
/// # Errors
/// When they cannot be served there.
pub async fn serve(
    config: &WebConfig,
    data: PageData,
    memberships: Memberships,
    to_bot: ToBot,
    shutdown: CancellationToken,
) -> Result<Arc<Web>, WebError> {
    config.check()?;
    let address = config.address;
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|source| WebError::Listen { address, source })?;
    let port = listener.local_addr().map_or(address.port(), |it| it.port());
    let at = SocketAddr::new(address.ip(), port);
    let web = Arc::new(Web {
        data,
        memberships,
        to_bot,
        access: Access::default(),
        copies: Semaphore::new(COPIES),
        limits: Limits::new(),
        templates: Templates::new(),
        origin: config.url.clone().unwrap_or_else(|| format!("http://{at}")),
    });
    let routes = routes(Arc::clone(&web)).into_make_service_with_connect_info::<SocketAddr>();
    let ending = Arc::clone(&web);
    let ended = async move {
        shutdown.cancelled().await;
        ending.to_bot.close();
    };
    tokio::spawn(async move {
        let served = axum::serve(listener, routes).with_graceful_shutdown(ended);
        if let Err(error) = served.await {
            tracing::error!(%error, "the pages are served no more");
        }
    });
    Ok(web)
}

fn routes(web: Arc<Web>) -> Router {
    Router::new()
        .route("/", get(doors::home))
        .route("/enter/{link}", get(doors::door).post(doors::enter))
        .route("/sign-out", post(doors::sign_out))
        .route("/sign-out-everywhere", post(doors::sign_out_everywhere))
        .route("/conversations", get(conversations::conversations))
        .route("/conversation", get(conversations::conversation))
        .route("/why", get(why::why))
        .route("/why/picture", get(why::why_picture))
        .route("/memory", get(own::memory))
        .route("/memory/forget", post(own::forget))
        .route("/memory/correct", post(own::correct))
        .route("/memory/note", post(own::note))
        .route("/memory/forget-me", post(own::forget_me))
        .route("/memory/export", post(own::export))
        .route("/memory/unlink", post(own::unlink))
        .route("/knowledge", get(search::knowledge))
        .route("/cypher", get(search::cypher))
        .route("/cypher/picture", get(search::schema_picture))
        .route("/health", get(health::health))
        .route("/health/read-again", post(health::read_again))
        .route("/static/{name}", get(templates::static_file))
        .fallback(doors::missing)
        .layer(from_fn_with_state(Arc::clone(&web), guard::check))
        .layer(from_fn(guard::headers))
        .with_state(web)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_go_to_other_machines_encrypted_only() {
        let checked = |address: &str, url: Option<&str>| {
            let config = WebConfig {
                address: address.parse().unwrap(),
                url: url.map(str::to_owned),
            };
            config.check().map_err(|error| error.to_string())
        };
        for (address, url) in [
            ("127.0.0.1:8088", None),
            ("[::1]:8088", None),
            ("127.0.0.1:8088", Some("http://localhost:8088")),
            ("0.0.0.0:8088", Some("https://muninn.example")),
            ("127.0.0.1:8088", Some("https://muninn.example:8443")),
        ] {
            assert_eq!(checked(address, url), Ok(()), "{address} {url:?}");
        }
        assert!(
            checked("0.0.0.0:8088", None)
                .unwrap_err()
                .contains("WEB_URL")
        );
        for url in [
            "muninn.example",
            "http://muninn.example",
            "https://",
            "https://muninn.example/bot",
            "https://user@muninn.example",
            "http://localhost.example",
        ] {
            let said = checked("127.0.0.1:8088", Some(url)).unwrap_err();
            assert!(said.contains(url), "{said}");
        }
    }
}
