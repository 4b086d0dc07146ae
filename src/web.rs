//! Web pages that show the conversations, the sources of each answer, and what is found in memory and knowledge.
//!
//! They are rendered on the server and work without scripts, except for the picture, whose content is also in a table. Visitors
//! sign in with a [link](access). People get one in chat and see what they may read there, for which the platforms are asked
//! each time. The operator gets one on the machine and sees everything. Each look into a conversation is recorded in the audit
//! log.

pub mod access;
mod conversations;
mod entering;
mod errors;
mod guard;
mod health;
mod operating;
mod own;
mod picture;
mod rate_limiters;
mod search;
mod search_permits;
mod state;
mod templates;
mod visitor;
mod why;

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use chrono::Utc;
use muninn_platform::{HttpLimits, serve_http};
use tokio_util::sync::CancellationToken;

use self::access::{Access, Viewer};
pub use self::errors::{LoggedError, RecentErrors};
pub use self::operating::{Operating, PartFinding, SettingsChanges};
use self::rate_limiters::RateLimiters;
use self::search_permits::SearchPermits;
pub use self::state::{PageData, Web};
use self::templates::Templates;
use crate::config::{AddressError, PublicAddress};
use crate::conversation::bot_connection::BotConnection;
use crate::conversation::pages::{Invites, NoMembershipData};
use crate::conversation::readable::ReadablePlaces;
use crate::graph::accounts::Account;

impl Web {
    /// An address that signs somebody in, once.
    pub fn link(&self, to: Viewer) -> String {
        let token = self.access.link(to, Utc::now());
        format!("{}/enter/{}", self.origin.as_str(), token.as_str())
    }

    fn is_encrypted(&self) -> bool {
        self.origin.is_encrypted()
    }
}

impl Invites for Web {
    fn invite(&self, account: &Account) -> Result<String, NoMembershipData> {
        match self.readable.is_told_by(&account.platform) {
            true => Ok(self.link(Viewer::Person(account.clone()))),
            false => Err(NoMembershipData),
        }
    }

    fn sign_out(&self, accounts: &[String]) -> usize {
        self.access.sign_out_all(accounts)
    }
}

/// Serves the pages until `shutdown`. Returns as soon as it listens.
///
/// # Errors
/// Fails when it cannot listen there.
pub async fn serve(
    config: &PublicAddress,
    data: PageData,
    readable: ReadablePlaces,
    bot_connection: Arc<BotConnection>,
    shutdown: CancellationToken,
) -> Result<Arc<Web>, AddressError> {
    let (listener, origin) = config.listen().await?;
    let web = Arc::new(Web {
        data,
        readable,
        bot_connection,
        access: Access::default(),
        searches: SearchPermits::default(),
        limits: RateLimiters::new(),
        templates: Templates::new(),
        origin,
    });
    let (routes, ending) = (routes(Arc::clone(&web)), Arc::clone(&web));
    tokio::spawn(async move {
        let ended = async {
            shutdown.cancelled().await;
            ending.bot_connection.close();
        };
        let served = serve_http(listener, routes, HttpLimits::default(), &shutdown);
        tokio::join!(served, ended);
    });
    Ok(web)
}

fn routes(web: Arc<Web>) -> Router {
    Router::new()
        .route("/", get(entering::home))
        .route("/enter/{link}", get(entering::door).post(entering::enter))
        .route("/sign-out", post(entering::sign_out))
        .route("/sign-out-everywhere", post(entering::sign_out_everywhere))
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
        .fallback(entering::missing)
        .layer(from_fn_with_state(Arc::clone(&web), guard::check))
        .layer(from_fn(guard::headers))
        .with_state(web)
}
