//! Where the graph is, and who asks it.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use secrecy::SecretString;

/// What the address of an embedded graph begins with, before its folder.
pub(in crate::graph) const EMBEDDED: &str = "embedded:";

/// The address of the graph and its credentials.
#[derive(Clone)]
pub struct GraphConfig {
    /// `embedded:PATH` (a folder), or `bolt://`, `bolt+s://`, `neo4j://`, `neo4j+s://HOST[:PORT]`.
    pub url: String,
    /// Unused by the embedded store.
    pub user: String,
    /// Unused by the embedded store.
    pub password: SecretString,
    /// The user of generated statements, who cannot read memory, if the server has roles.
    pub reader: Option<ReaderCredentials>,
    /// The server's default database if not set; unused by the embedded store.
    pub database: Option<String>,
    /// Time limit of one call, including retries.
    pub timeout: Duration,
}

/// A server's user for generated statements.
#[derive(Clone)]
pub struct ReaderCredentials {
    pub user: String,
    pub password: SecretString,
}

impl fmt::Debug for ReaderCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReaderCredentials")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl GraphConfig {
    /// A store at an address, without credentials and with a time-out of 10 seconds.
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            user: String::new(),
            password: SecretString::from(String::new()),
            reader: None,
            database: None,
            timeout: Duration::from_secs(10),
        }
    }

    /// Returns the folder of an embedded graph; `None` for a server.
    pub fn embedded_folder(&self) -> Option<&Path> {
        self.url.strip_prefix(EMBEDDED).map(Path::new)
    }
}

impl fmt::Debug for GraphConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphConfig")
            .field("url", &self.url)
            .field("user", &self.user)
            .field("reader", &self.reader)
            .field("database", &self.database)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
