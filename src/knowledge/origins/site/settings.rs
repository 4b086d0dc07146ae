//! Which site is read, and why it cannot be.

use reqwest::Url;

/// A site, starting at a page or a sitemap.
#[derive(Clone, Debug)]
pub struct Site {
    pub(in crate::knowledge::origins) start: Url,
    pub(in crate::knowledge::origins) pages: usize,
    /// Whether the host may resolve to this machine or network.
    pub(in crate::knowledge::origins) is_private_allowed: bool,
}

/// Why the site cannot be read. Pages read before stay.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    #[error(transparent)]
    NotAsked(#[from] guarded_http::NotAsked),
    #[error("{0}")]
    Unreachable(String),
    #[error(
        "{from} leads to {to}, which is not on the host that was named; name that address instead"
    )]
    Elsewhere { from: String, to: String },
    #[error(
        "{from} leads to {to}, which is not below {folder}; if that is meant, name that address instead"
    )]
    Outside {
        from: String,
        to: String,
        folder: String,
    },
    #[error(
        "{from} leads to {to} now, where a page was read before, so it may be a page for signing in; if that is meant, name that address instead"
    )]
    Replaced { from: String, to: String },
    #[error("the site's robots.txt does not want {0} to be read")]
    Forbidden(String),
    #[error("{address} is no sitemap: {problem}")]
    NoSitemap { address: String, problem: String },
    #[error("{0} names no page of its own host that can be read")]
    NoPages(String),
    #[error("the site has more than {mb} MB, or takes longer than {hours} h; lower `pages`")]
    TooLarge { mb: u64, hours: u64 },
    #[error("the site's copy in DATA_DIR cannot be used")]
    Files(#[from] std::io::Error),
}
