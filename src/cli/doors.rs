//! Access besides chat: the pages and the programs of people.

#[cfg(any(feature = "mcp", feature = "web"))]
use std::sync::Arc;

use muninn::config::Config;
#[cfg(any(feature = "mcp", feature = "web"))]
use muninn::conversation::readable::ReadablePlaces;
#[cfg(any(feature = "mcp", feature = "web"))]
use muninn::conversation::to_bot::ToBot;
#[cfg(any(feature = "mcp", feature = "web"))]
use muninn::wiring::App;
#[cfg(any(feature = "mcp", feature = "web"))]
use muninn_platform::{Inbox, Memberships};
use tokio_util::sync::CancellationToken;

#[cfg(feature = "mcp")]
use super::mcp;
#[cfg(any(feature = "mcp", feature = "web"))]
use super::open_doors::Doors;
use super::open_doors::{BehindDoors, OpenDoors};
#[cfg(feature = "web")]
use super::web;

#[cfg(any(feature = "mcp", feature = "web"))]
impl Doors {
    fn of(app: &App, inbox: &Inbox, memberships: &Memberships) -> Self {
        Self {
            readable: ReadablePlaces::new(Arc::clone(&app.store), memberships.clone()),
            to_bot: Arc::new(ToBot::new(inbox.clone(), Arc::clone(&app.bot))),
        }
    }
}

impl OpenDoors {
    /// Opens them until `shutdown`.
    ///
    /// # Errors
    /// Fails when a configured address cannot be listened at.
    #[cfg_attr(
        not(any(feature = "mcp", feature = "web")),
        expect(unused_variables, clippy::unused_async, reason = "there are no doors")
    )]
    pub(super) async fn open(
        config: &Config,
        bot: BehindDoors<'_>,
        shutdown: &CancellationToken,
    ) -> anyhow::Result<Self> {
        #[cfg(any(feature = "mcp", feature = "web"))]
        let doors = Doors::of(bot.app, bot.inbox, bot.memberships);
        #[cfg(feature = "mcp")]
        let mcp = mcp::beside(config, bot.app, &doors, shutdown).await?;
        #[cfg(feature = "web")]
        let here = web::ThisProcess {
            config: config.clone(),
            platforms: bot.platforms.cloned(),
            reloading: Arc::clone(bot.reloading),
        };
        #[cfg(feature = "web")]
        let web = web::beside(here, bot.app, &doors, shutdown).await?;
        Ok(Self {
            #[cfg(feature = "mcp")]
            mcp,
            #[cfg(feature = "web")]
            web,
        })
    }
}
