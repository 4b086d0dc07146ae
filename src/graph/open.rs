//! Opens the store that an address names.

use std::path::PathBuf;
use std::sync::Arc;

use super::config::{EMBEDDED, GraphConfig};
use super::engine::embedded::{Embedded, staging};
#[cfg(feature = "neo4j")]
use super::engine::neo4j::Neo4j;
use super::store::GraphStore;
use super::{StoreError, migrate};

/// Opens the store, creates its constraints and upgrades its schema.
///
/// # Errors
/// Fails with [`StoreError::Misconfigured`] for an invalid address, or a store that holds an
/// incomplete import; [`StoreError::Unreachable`], [`StoreError::Unauthorized`],
/// [`StoreError::Locked`], [`StoreError::Corrupt`] and [`StoreError::NewerSchema`] as they are
/// described.
pub async fn open(config: &GraphConfig) -> Result<Arc<GraphStore>, StoreError> {
    let store = open_unfinished(config).await?;
    if store.unfinished_import().await?.is_some() {
        store.close().await?;
        return Err(StoreError::Misconfigured(
            migrate::INTERRUPTED_IMPORT.to_owned(),
        ));
    }
    Ok(store)
}

/// Opens the store even if it holds an incomplete import: to continue it, or to look at it.
///
/// # Errors
/// Fails like [`open`], except for an incomplete import.
pub async fn open_unfinished(config: &GraphConfig) -> Result<Arc<GraphStore>, StoreError> {
    match address(&config.url)? {
        Address::Embedded(folder) => {
            let engine = Embedded::open(folder, config.timeout).await?;
            Ok(Arc::new(GraphStore::open(engine).await?))
        }
        #[cfg(feature = "neo4j")]
        Address::Server => {
            let engine = Neo4j::connect(config).await?;
            Ok(Arc::new(GraphStore::open(engine).await?))
        }
        #[cfg(not(feature = "neo4j"))]
        Address::Server => Err(StoreError::Misconfigured(format!(
            "GRAPH_URL={} is a server, and this muninn was built without the cargo feature `neo4j`; \
             build it with `--features neo4j`, or set GRAPH_URL=embedded:FOLDER",
            config.url
        ))),
    }
}

/// Whether a graph exists already at the address; unknown for a server.
pub fn exists(config: &GraphConfig) -> bool {
    match address(&config.url) {
        Ok(Address::Embedded(folder)) => folder.exists(),
        Ok(Address::Server) | Err(_) => true,
    }
}

/// A new graph that replaces another one as a whole, or not at all.
#[derive(Debug)]
pub struct StagedGraph {
    pub store: Arc<GraphStore>,
    folder: PathBuf,
}

impl StagedGraph {
    /// Creates one beside the configured graph, if that is in a folder. A server has none: an
    /// import goes directly into its graph, and continues where it was interrupted.
    ///
    /// # Errors
    /// Fails with [`StoreError::Misconfigured`] when it cannot be created.
    pub async fn beside(config: &GraphConfig) -> Result<Option<Self>, StoreError> {
        match address(&config.url)? {
            Address::Embedded(folder) => {
                let engine = Embedded::stage(&folder).await?;
                let store = Arc::new(GraphStore::open(engine).await?);
                Ok(Some(Self { store, folder }))
            }
            Address::Server => Ok(None),
        }
    }

    /// Replaces the other graph, which nobody has open.
    ///
    /// # Errors
    /// Fails when it cannot be written; the other one is then unchanged.
    pub async fn publish(self) -> Result<(), StoreError> {
        let Self { store, folder } = self;
        store.close().await?;
        drop(store);
        staging::publish(&folder)
    }

    /// Removes it.
    ///
    /// # Errors
    /// Fails when it cannot be removed.
    pub async fn discard(self) -> Result<(), StoreError> {
        let Self { store, folder } = self;
        let closed = store.close().await;
        drop(store);
        staging::discard(&folder)?;
        closed
    }
}

/// Removes the parts of a damaged log that were set aside, of a graph in a folder. Returns the
/// files.
///
/// # Errors
/// Fails with [`StoreError::Locked`] while the graph is in use, or when a file cannot be removed.
pub fn discard_set_aside(config: &GraphConfig) -> Result<Vec<PathBuf>, StoreError> {
    match address(&config.url)? {
        Address::Embedded(folder) => staging::discard_set_aside(&folder),
        Address::Server => Ok(Vec::new()),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Address {
    Embedded(PathBuf),
    Server,
}

fn address(url: &str) -> Result<Address, StoreError> {
    if let Some(path) = url.strip_prefix(EMBEDDED) {
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
