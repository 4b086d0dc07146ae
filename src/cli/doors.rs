//! Access besides chat: the pages and the programs of people.

use std::sync::Arc;

use muninn::config::Config;
#[cfg(any(feature = "mcp", feature = "web"))]
use muninn::conversation::readable::ReadablePlaces;
#[cfg(any(feature = "mcp", feature = "web"))]
use muninn::conversation::to_bot::ToBot;
use muninn::wiring::App;
use muninn::wiring::reloading::Reloading;
use muninn_platform::{Inbox, Memberships};
use tokio_util::sync::CancellationToken;

#[cfg(feature = "mcp")]
use super::mcp;
use super::platforms::PlatformArgs;
#[cfg(feature = "web")]
use super::web;

/// What pages and programs share.
#[cfg(any(feature = "mcp", feature = "web"))]
pub(super) struct Doors {
    pub(super) readable: ReadablePlaces,
    /// Closed when the bot is to end.
    pub(super) to_bot: Arc<ToBot>,
}

#[cfg(any(feature = "mcp", feature = "web"))]
impl Doors {
    fn of(app: &App, inbox: &Inbox, memberships: &Memberships) -> Self {
        Self {
            readable: ReadablePlaces::new(Arc::clone(&app.store), memberships.clone()),
            to_bot: Arc::new(ToBot::new(inbox.clone(), Arc::clone(&app.bot))),
        }
    }
}

/// The open access points that this program was built with, for one bot.
pub(super) struct OpenDoors {
    #[cfg(feature = "mcp")]
    pub(super) mcp: Arc<muninn::mcp::Mcp>,
    /// `None` if no pages are served.
    #[cfg(feature = "web")]
    pub(super) web: Option<Arc<muninn::web::Web>>,
}

/// The bot behind them.
#[cfg_attr(
    not(feature = "web"),
    expect(dead_code, reason = "some of it is for pages alone")
)]
pub(super) struct BehindDoors<'a> {
    pub(super) app: &'a App,
    pub(super) inbox: &'a Inbox,
    pub(super) memberships: &'a Memberships,
    pub(super) reloading: &'a Arc<Reloading>,
    /// `None` if no platform is connected.
    pub(super) platforms: Option<&'a PlatformArgs>,
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
