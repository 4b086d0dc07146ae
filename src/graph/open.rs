//! Which store an address means.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use super::embedded::{Embedded, staging};
#[cfg(feature = "neo4j")]
use super::neo4j::Neo4j;
use super::{GraphStore, StoreError, migrate};

/// Where the graph is and how to get in.
#[derive(Clone)]
pub struct GraphConfig {
    /// `embedded:PATH` (a folder), or `bolt://`, `bolt+s://`, `neo4j://`, `neo4j+s://HOST[:PORT]`.
    pub url: String,
    /// Unused by the embedded store.
    pub user: String,
    /// Unused by the embedded store.
    pub password: SecretString,
    /// As whom generated statements run: a user who cannot read memory, where the server has roles.
    pub reader: Option<Reader>,
    /// The server's default one if not set; unused by the embedded store.
    pub database: Option<String>,
    /// How long one call may take, attempts included.
    pub timeout: Duration,
}

/// A user of the server for generated statements.
#[derive(Clone)]
pub struct Reader {
    pub user: String,
    pub password: SecretString,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
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

/// Opens the store, makes its constraints and brings its schema up to date.
///
/// # Errors
/// [`StoreError::Misconfigured`] for an address that means no store, or one that holds a part of an
/// import only; [`StoreError::Unreachable`],
/// [`StoreError::Unauthorized`], [`StoreError::Locked`], [`StoreError::Corrupt`] and
/// [`StoreError::NewerSchema`] for what they say.
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

/// Opens the store, also one that holds a part of an import only: to go on with it, or to look at
/// it.
///
/// # Errors
/// Those of [`open`], but for that.
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

/// Whether opening would find a graph that is there already; of a server that is not known.
pub fn exists(config: &GraphConfig) -> bool {
    match address(&config.url) {
        Ok(Address::Embedded(folder)) => folder.exists(),
        Ok(Address::Server) | Err(_) => true,
    }
}

/// An empty graph that takes the place of another one as a whole, or not at all.
#[derive(Debug)]
pub struct Staged {
    pub store: Arc<GraphStore>,
    folder: PathBuf,
}

impl Staged {
    /// One beside the configured graph, where that is in a folder. A server has none: an import
    /// goes into its graph, and goes on where it was interrupted.
    ///
    /// # Errors
    /// [`StoreError::Misconfigured`] when it cannot be made.
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

    /// Puts it into the other one's place, which nobody has open.
    ///
    /// # Errors
    /// When it cannot be written; the other one is then as it was.
    pub async fn publish(self) -> Result<(), StoreError> {
        let Self { store, folder } = self;
        store.close().await?;
        drop(store);
        staging::publish(&folder)
    }

    /// Removes it.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub async fn discard(self) -> Result<(), StoreError> {
        let Self { store, folder } = self;
        let closed = store.close().await;
        drop(store);
        staging::discard(&folder)?;
        closed
    }
}

/// Removes what was set aside of the damaged log of a graph in a folder; says which files.
///
/// # Errors
/// [`StoreError::Locked`] while the graph is in use; when a file cannot be removed.
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
