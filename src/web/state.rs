//! What the pages are made from.

use std::path::PathBuf;
use std::sync::Arc;

use super::access::Access;
use super::errors::RecentErrors;
use super::operating::Operating;
use super::rate_limiters::RateLimiters;
use super::search_permits::SearchPermits;
use super::templates::Templates;
use crate::config::PublicOrigin;
use crate::conversation::audit::Audit;
use crate::conversation::bot_connection::BotConnection;
use crate::conversation::commands::Exports;
use crate::conversation::readable::ReadablePlaces;
use crate::graph::GraphStore;
use crate::knowledge::search::Searcher;
use crate::memory::{Archive, Recaller};
use muninn_platform::Channels;

/// The pages, with everything that they show.
#[derive(Debug)]
pub struct Web {
    pub(super) data: PageData,
    pub(super) readable: ReadablePlaces,
    pub(super) bot_connection: Arc<BotConnection>,
    pub(super) access: Access,
    pub(super) searches: SearchPermits,
    pub(super) limits: RateLimiters,
    pub(super) templates: Templates,
    /// The public address.
    pub(super) origin: PublicOrigin,
}

/// The data that the pages show.
#[derive(Clone, Debug)]
pub struct PageData {
    pub store: Arc<GraphStore>,
    pub recaller: Arc<Recaller>,
    pub searcher: Arc<Searcher>,
    pub archive: Arc<Archive>,
    pub operating: Arc<dyn Operating>,
    pub errors: RecentErrors,
    /// The settings of channels, which apply to the pages too.
    pub channels: Arc<Channels>,
    /// The audit log.
    pub audit: Audit,
    /// The copies that are being made, here and in chat.
    pub exports: Exports,
    /// The folder for files until they are downloaded.
    pub folder: PathBuf,
}
