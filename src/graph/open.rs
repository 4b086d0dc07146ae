//! Which store an address means.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use super::cypher_store::CypherStore;
use super::embedded::Embedded;
use super::neo4j::Neo4j;
use super::{GraphStore, StoreError};

/// Where the graph is and how to get in.
#[derive(Clone)]
pub struct GraphConfig {
    /// `embedded:PATH` (a folder), or `bolt://`, `bolt+s://`, `neo4j://`, `neo4j+s://HOST[:PORT]`.
    pub url: String,
    /// Unused by the embedded store.
    pub user: String,
    /// Unused by the embedded store.
    pub password: SecretString,
    /// The server's default one if not set; unused by the embedded store.
    pub database: Option<String>,
    /// How long one call may take, attempts included.
    pub timeout: Duration,
}

impl GraphConfig {
    /// A store at an address, without credentials and with a time-out of 10 seconds.
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            user: String::new(),
            password: SecretString::from(String::new()),
            database: None,
            timeout: Duration::from_secs(10),
        }
    }
}

impl fmt::Debug for GraphConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphConfig")
            .field("url", &self.url)
            .field("user", &self.user)
            .field("database", &self.database)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Opens the store, makes its constraints and brings its schema up to date.
///
/// # Errors
/// [`StoreError::Misconfigured`] for an address that means no store; [`StoreError::Unreachable`],
/// [`StoreError::Unauthorized`], [`StoreError::Locked`], [`StoreError::Corrupt`] and
/// [`StoreError::NewerSchema`] for what they say.
pub async fn open(config: &GraphConfig) -> Result<Arc<dyn GraphStore>, StoreError> {
    match address(&config.url)? {
        Address::Embedded(folder) => {
            let engine = Embedded::open(folder, config.timeout).await?;
            Ok(Arc::new(CypherStore::open(engine).await?))
        }
        Address::Server => {
            let engine = Neo4j::connect(config).await?;
            Ok(Arc::new(CypherStore::open(engine).await?))
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Address {
    Embedded(PathBuf),
    Server,
}

fn address(url: &str) -> Result<Address, StoreError> {
    if let Some(path) = url.strip_prefix("embedded:") {
        if path.is_empty() {
            return Err(misconfigured("has no folder after `embedded:`"));
        }
        return Ok(Address::Embedded(PathBuf::from(path)));
    }
    match url.split_once("://") {
        Some(("bolt" | "bolt+s" | "bolt+ssc" | "neo4j" | "neo4j+s" | "neo4j+ssc", rest))
            if !rest.is_empty() =>
        {
            // It would be printed in errors, and it belongs in GRAPH_PASSWORD.
            if rest.contains('@') {
                return Err(misconfigured(
                    "holds a user name or password; these belong in GRAPH_USER and GRAPH_PASSWORD",
                ));
            }
            Ok(Address::Server)
        }
        Some(_) | None => Err(misconfigured("is no address of a graph")),
    }
}

fn misconfigured(why: &str) -> StoreError {
    StoreError::Misconfigured(format!(
        "GRAPH_URL {why}; it is `embedded:FOLDER`, or a Neo4j server as bolt://HOST:7687, \
         bolt+s://HOST:7687 (encrypted), neo4j://HOST:7687 (a cluster) or neo4j+s://HOST \
         (a cluster or Aura, encrypted)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_mean_a_store_or_say_what_is_allowed() {
        assert_eq!(
            address("embedded:./muninn-data").unwrap(),
            Address::Embedded(PathBuf::from("./muninn-data"))
        );
        for server in [
            "bolt://h",
            "bolt+s://h:1",
            "neo4j://h",
            "neo4j+s://x.databases.neo4j.io",
        ] {
            assert_eq!(address(server).unwrap(), Address::Server, "{server}");
        }
        for wrong in [
            "",
            "embedded:",
            "http://h",
            "bolt://",
            "neo4j",
            "bolt://u:secret@h",
        ] {
            let error = address(wrong).unwrap_err().to_string();
            assert!(error.contains("embedded:FOLDER"), "{wrong}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
