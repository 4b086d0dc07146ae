//! Why a store did not do what was asked.

/// Why the store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nobody answers, or the answer took too long.
    #[error("the graph at {url} cannot be reached; start it, or correct GRAPH_URL")]
    Unreachable {
        url: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error(
        "the graph at {url} refused the user name or password; check GRAPH_USER and GRAPH_PASSWORD"
    )]
    Unauthorized { url: String },
    #[error(
        "{path} is in use by {holder}; stop that process, or use a graph server that several processes can share (GRAPH_URL=bolt://…)"
    )]
    Locked { path: String, holder: String },
    #[error("{path} is damaged: {detail}")]
    Corrupt { path: String, detail: String },
    #[error(
        "the graph was made by a newer muninn (schema {found}, this one knows {known}); update muninn"
    )]
    NewerSchema { found: i64, known: i64 },
    /// The address makes no sense.
    #[error("{0}")]
    Misconfigured(String),
    /// The engine took the statement and failed it.
    #[error("the graph refused a statement: {message}")]
    Refused { message: String, transient: bool },
    /// The graph takes statements, but not what this one writes.
    #[error("the graph refused what was to be written: {0}")]
    Invalid(String),
    /// The graph holds something this program never writes.
    #[error("unexpected data in the graph: {0}")]
    Unexpected(String),
}

impl StoreError {
    /// Whether the same call may work a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { transient, .. } => *transient,
            Self::Unauthorized { .. }
            | Self::Locked { .. }
            | Self::Corrupt { .. }
            | Self::NewerSchema { .. }
            | Self::Misconfigured(_)
            | Self::Invalid(_)
            | Self::Unexpected(_) => false,
        }
    }

    /// Whether the graph is the trouble, rather than what was asked of it: it is down, closed to us,
    /// not the right one, or full. What nobody knows better counts as such, since what waits for the
    /// graph must not be given up.
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Unauthorized { .. }
            | Self::Locked { .. }
            | Self::Corrupt { .. }
            | Self::NewerSchema { .. }
            | Self::Misconfigured(_)
            | Self::Refused { .. } => true,
            Self::Invalid(_) | Self::Unexpected(_) => false,
        }
    }
}
