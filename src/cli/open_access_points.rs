//! Access besides chat: the pages and the programs of people.

#[cfg(any(feature = "mcp", feature = "web"))]
use std::sync::Arc;

use muninn::config::Config;
#[cfg(any(feature = "mcp", feature = "web"))]
use muninn::conversation::bot_connection::BotConnection;
#[cfg(any(feature = "mcp", feature = "web"))]
use muninn::conversation::readable::ReadablePlaces;
#[cfg(any(feature = "mcp", feature = "web"))]
use muninn::wiring::App;
#[cfg(any(feature = "mcp", feature = "web"))]
use muninn_platform::{Inbox, Memberships};
use tokio_util::sync::CancellationToken;

#[cfg(any(feature = "mcp", feature = "web"))]
use super::access_points::SharedAccess;
use super::access_points::{AccessPointContext, AccessPoints};
#[cfg(feature = "mcp")]
use super::mcp;
#[cfg(feature = "web")]
use super::web;

#[cfg(any(feature = "mcp", feature = "web"))]
impl SharedAccess {
    fn of(app: &App, inbox: &Inbox, memberships: &Memberships) -> Self {
        Self {
            readable: ReadablePlaces::new(Arc::clone(&app.store), memberships.clone()),
            bot_connection: Arc::new(BotConnection::new(inbox.clone(), Arc::clone(&app.bot))),
        }
    }
}

impl AccessPoints {
    /// Opens them until `shutdown`.
    ///
    /// # Errors
    /// Fails when a configured address cannot be listened at.
    #[cfg_attr(
        not(any(feature = "mcp", feature = "web")),
        expect(
            unused_variables,
            clippy::unused_async,
            reason = "there are no access points"
        )
    )]
    pub(super) async fn open(
        config: &Config,
        bot: AccessPointContext<'_>,
        shutdown: &CancellationToken,
    ) -> anyhow::Result<Self> {
        #[cfg(any(feature = "mcp", feature = "web"))]
        let shared = SharedAccess::of(bot.app, bot.inbox, bot.memberships);
        #[cfg(feature = "mcp")]
        let mcp = mcp::beside(config, bot.app, &shared, shutdown).await?;
        #[cfg(feature = "web")]
        let here = web::ThisProcess {
            config: config.clone(),
            platforms: bot.platforms.cloned(),
            reloading: Arc::clone(bot.reloading),
        };
        #[cfg(feature = "web")]
        let web = web::beside(here, bot.app, &shared, shutdown).await?;
        Ok(Self {
            #[cfg(feature = "mcp")]
            mcp,
            #[cfg(feature = "web")]
            web,
        })
    }
}
