//! What the pages and the programs of people share, and what is open of them.

use std::sync::Arc;

#[cfg(any(feature = "mcp", feature = "web"))]
use muninn::conversation::bot_connection::BotConnection;
#[cfg(any(feature = "mcp", feature = "web"))]
use muninn::conversation::readable::ReadablePlaces;
use muninn::wiring::App;
use muninn::wiring::reloading::Reloading;
use muninn_platform::{Inbox, Memberships};

use super::args::platforms::PlatformArgs;

/// What pages and programs share.
#[cfg(any(feature = "mcp", feature = "web"))]
pub(super) struct SharedAccess {
    pub(super) readable: ReadablePlaces,
    /// Closed when the bot is to end.
    pub(super) bot_connection: Arc<BotConnection>,
}

/// The open access points that this program was built with, for one bot.
pub(super) struct AccessPoints {
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
pub(super) struct AccessPointContext<'a> {
    pub(super) app: &'a App,
    pub(super) inbox: &'a Inbox,
    pub(super) memberships: &'a Memberships,
    pub(super) reloading: &'a Arc<Reloading>,
    /// `None` if no platform is connected.
    pub(super) platforms: Option<&'a PlatformArgs>,
}
