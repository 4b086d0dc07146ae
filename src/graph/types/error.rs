//! Why the store failed.

/// Why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The server does not answer, or took too long.
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
    /// The address is invalid.
    #[error("{0}")]
    Misconfigured(String),
    /// The engine accepted the statement but failed to run it.
    #[error("the graph refused a statement: {message}")]
    Refused { message: String, transient: bool },
    /// The graph is available, but refuses the data of this statement.
    #[error("the graph refused what was to be written: {0}")]
    Invalid(String),
    /// The graph contains something that this program never writes.
    #[error("unexpected data in the graph: {0}")]
    Unexpected(String),
}

impl StoreError {
    /// Whether the same call may succeed a little later.
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

    /// Whether the cause is the graph and not the request: the graph is down, closed to us, the
    /// wrong one, or full. Unknown causes count as such, because turns that wait for the graph must
    /// not be given up.
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

    /// Whether the graph was reached, and refuses the request for good.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Refused { transient, .. } => !transient,
            Self::Invalid(_) | Self::Unexpected(_) => true,
            Self::Unreachable { .. }
            | Self::Unauthorized { .. }
            | Self::Locked { .. }
            | Self::Corrupt { .. }
            | Self::NewerSchema { .. }
            | Self::Misconfigured(_) => false,
        }
    }
}
