//! The connections to a server, and the attempts of a statement.

use std::fmt;
use std::time::Duration;

use neo4rs::{ConfigBuilder, Graph, Neo4jClientErrorKind, Neo4jErrorKind, Operation, Query};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::proved::Proved;
use super::values::{Floats, bolt, from_bolt};
use crate::graph::StoreError;
use crate::graph::config::GraphConfig;
use crate::graph::engine::value::float;
use crate::graph::engine::{Engine as _, Params, Row, StreamedRead};
use crate::graph::store::record::text;

/// How often a statement is tried that the server aborted because of a deadlock or a shortage.
const ATTEMPTS: u32 = 8;

/// The first pause between two attempts; each is twice as long as the one before.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// Maximum number of open connections; more callers wait, within the time-out.
const CONNECTIONS: usize = 16;

/// A pooled connection that was closed is noticed only when it is used. A read is then retried
/// once; a write is not, as it is unknown whether it took effect.
pub(super) const READ_RECONNECTS: u32 = 1;

/// Time limit for finding out why the server does not answer.
const REACHABILITY_TIMEOUT: Duration = Duration::from_secs(2);

/// Rows requested at once: as many as any statement returns to a waiting caller.
pub(super) const FETCH: usize = 1_024;

/// Error codes of the server that concern the values given to a statement.
const OF_THE_DATA: &[&str] = &[
    "Neo.ClientError.Schema.ConstraintValidationFailed",
    "Neo.ClientError.Statement.ArgumentError",
    "Neo.ClientError.Statement.ArithmeticError",
    "Neo.ClientError.Statement.TypeError",
];

/// A pool of connections to one server or cluster.
pub(crate) struct Neo4j {
    pub(super) graph: Graph,
    /// The connection for confined statements, if they run as another user.
    pub(super) reader: Option<Graph>,
    pub(super) url: String,
    pub(super) timeout: Duration,
    pub(super) proved: Proved,
}

impl fmt::Debug for Neo4j {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Neo4j")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Neo4j {
    /// Connects once, so that a wrong address or password is reported now.
    pub(crate) async fn connect(config: &GraphConfig) -> Result<Self, StoreError> {
        let reader = config.reader.as_ref();
        let engine = Self {
            graph: pool(config, &config.user, &config.password)?,
            reader: reader
                .map(|reader| pool(config, &reader.user, &reader.password))
                .transpose()?,
            url: config.url.clone(),
            timeout: config.timeout,
            proved: Proved::default(),
        };
        let read = engine.read("RETURN 1 AS one", Params::new()).await;
        read.map_err(|error| engine.at_a_wrong_address(error))?;
        if engine.reader.is_some() {
            let read = engine.as_reader("RETURN 1 AS one").await;
            read.map_err(|error| match error {
                StoreError::Unauthorized { url } => StoreError::Misconfigured(format!(
                    "the graph at {url} does not let GRAPH_READER_USER in; check GRAPH_READER_PASSWORD"
                )),
                other => other,
            })?;
        }
        Ok(engine)
    }

    /// The connection for confined statements.
    pub(super) fn reading(&self) -> &Graph {
        self.reader.as_ref().unwrap_or(&self.graph)
    }

    /// Runs a read as the user of confined statements.
    pub(super) async fn as_reader(&self, statement: &str) -> Result<Vec<Row>, StoreError> {
        let query = self.query(statement, &Params::new())?;
        let read = async {
            let mut stream = self.reading().execute_read(query).await?;
            let mut rows = Vec::new();
            while let Some(row) = stream.next().await? {
                rows.push(json_row(&row));
            }
            Ok::<_, neo4rs::Error>(rows)
        };
        match timeout(self.timeout, read).await {
            Ok(read) => read.map_err(|error| self.error(error)),
            Err(_elapsed) => Err(self.unreachable(None)),
        }
    }

    /// Runs a read, and sends its rows as they come.
    pub(super) async fn stream_one(&self, read: StreamedRead) -> Result<(), StoreError> {
        // Without a time-out for the whole, as the receiver may be slow.
        let mut query = Query::new(read.statement);
        for (name, value) in &read.params {
            query = query.param(name, bolt(value)?);
        }
        let mut stream = timeout(self.timeout, self.graph.execute_read(query))
            .await
            .map_err(|_elapsed| self.unreachable(None))?
            .map_err(|error| self.error(error))?;
        loop {
            let next = timeout(self.timeout, stream.next())
                .await
                .map_err(|_elapsed| self.unreachable(None))?
                .map_err(|error| self.error(error))?;
            let Some(row) = next else { return Ok(()) };
            if read.rows.send(json_row(&row)).await.is_err() {
                return Ok(());
            }
        }
    }

    /// Version and edition.
    pub(super) async fn components(&self) -> Result<(String, String), StoreError> {
        let statement = "CALL dbms.components() YIELD name, versions, edition \
            WHERE name = 'Neo4j Kernel' RETURN versions, edition";
        let rows = self.read(statement, Map::new()).await?;
        let row = rows.first();
        let version = row
            .and_then(|row| row.get("versions")?.as_array()?.first()?.as_str())
            .unwrap_or("of unknown version");
        let edition = row.and_then(|row| text(row, "edition")).unwrap_or_default();
        Ok((version.to_owned(), edition))
    }

    pub(super) fn unreachable(&self, source: Option<neo4rs::Error>) -> StoreError {
        StoreError::Unreachable {
            url: self.url.clone(),
            source: source.map(Into::into),
        }
    }

    /// Says so where a server answers that can never be talked to at this address, as nobody has to wait for it.
    fn at_a_wrong_address(&self, error: StoreError) -> StoreError {
        let StoreError::Unreachable {
            source: Some(source),
            ..
        } = &error
        else {
            return error;
        };
        let cause: Option<&neo4rs::Error> = source.downcast_ref();
        match cause.filter(|cause| is_for_good(cause)) {
            Some(cause) => StoreError::Misconfigured(format!(
                "the graph at {} cannot be used: {cause}; check GRAPH_URL",
                self.url
            )),
            None => error,
        }
    }

    /// With the cause where the driver keeps it to itself: of a cluster none of whose addresses answers it says
    /// only that none is left to ask.
    async fn explained(&self, error: StoreError) -> StoreError {
        let StoreError::Unreachable {
            source: Some(source),
            ..
        } = &error
        else {
            return error;
        };
        let says_nothing = source.downcast_ref().is_some_and(|it: &neo4rs::Error| {
            matches!(
                it,
                neo4rs::Error::ServerUnavailableError(_)
                    | neo4rs::Error::RoutingTableRefreshFailed(_)
            )
        });
        match host_and_port(&self.url).filter(|_| says_nothing) {
            Some(address) => match timeout(REACHABILITY_TIMEOUT, TcpStream::connect(address)).await
            {
                Ok(Err(cause)) => StoreError::Unreachable {
                    url: self.url.clone(),
                    source: Some(cause.into()),
                },
                Ok(Ok(_)) | Err(_) => error,
            },
            None => error,
        }
    }

    pub(super) fn query(&self, statement: &str, params: &Params) -> Result<Query, StoreError> {
        // The server's time-out is a little longer than ours, so that its locks are released too.
        let server_timeout = i64::try_from(self.timeout.as_millis()).unwrap_or(i64::MAX);
        let mut query = Query::new(statement.to_owned()).extra("tx_timeout", server_timeout);
        for (name, value) in params {
            query = query.param(name, bolt(value)?);
        }
        Ok(query)
    }

    /// One attempt, drained to the end: a failure can come after the last row.
    async fn attempt(&self, operation: Operation, query: Query) -> Result<Vec<Row>, neo4rs::Error> {
        let mut stream = match operation {
            Operation::Read => self.graph.execute_read(query).await?,
            Operation::Write => self.graph.execute(query).await?,
        };
        let mut rows = Vec::new();
        while let Some(row) = stream.next().await? {
            // Converted at once, as the driver's values take four times the memory.
            rows.push(json_row(&row));
        }
        Ok(rows)
    }

    /// Retries until it succeeds, the error is final, or the time is over.
    pub(super) async fn run(
        &self,
        operation: Operation,
        statement: &str,
        params: &Params,
    ) -> Result<Vec<Row>, StoreError> {
        let deadline = Instant::now() + self.timeout;
        let mut pause = FIRST_PAUSE;
        let mut reconnects = READ_RECONNECTS;
        let mut tried = 0;
        loop {
            tried += 1;
            let query = self.query(statement, params)?;
            let error = match timeout_at(deadline, self.attempt(operation, query)).await {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(error)) => self.error(error),
                Err(_elapsed) => return Err(self.unreachable(None)),
            };
            let may_repeat = match &error {
                StoreError::Refused { transient, .. } => *transient && tried < ATTEMPTS,
                StoreError::Unreachable { .. }
                    if operation == Operation::Read && reconnects > 0 =>
                {
                    reconnects -= 1;
                    true
                }
                StoreError::Unreachable { .. }
                | StoreError::Unauthorized { .. }
                | StoreError::Locked { .. }
                | StoreError::Corrupt { .. }
                | StoreError::NewerSchema { .. }
                | StoreError::Misconfigured(_)
                | StoreError::Invalid(_)
                | StoreError::Unexpected(_) => false,
            };
            if !may_repeat || Instant::now() + pause >= deadline {
                return Err(self.explained(error).await);
            }
            tracing::debug!(%error, tried, "trying a statement again");
            tokio::time::sleep(with_jitter(pause)).await;
            pause *= 2;
        }
    }

    pub(super) fn error(&self, error: neo4rs::Error) -> StoreError {
        match error {
            neo4rs::Error::Neo4j(failure) => match failure.kind() {
                Neo4jErrorKind::Client(Neo4jClientErrorKind::Security(_)) => {
                    StoreError::Unauthorized {
                        url: self.url.clone(),
                    }
                }
                Neo4jErrorKind::Client(Neo4jClientErrorKind::FatalDiscovery) => {
                    StoreError::Misconfigured(format!(
                        "the graph at {} says: {}; check GRAPH_DATABASE",
                        self.url,
                        failure.message()
                    ))
                }
                _ if OF_THE_DATA.contains(&failure.code()) => {
                    StoreError::Invalid(format!("{} ({})", failure.message(), failure.code()))
                }
                kind @ (Neo4jErrorKind::Client(_)
                | Neo4jErrorKind::Transient
                | Neo4jErrorKind::Database
                | Neo4jErrorKind::Unknown) => StoreError::Refused {
                    message: format!("{} ({})", failure.message(), failure.code()),
                    transient: matches!(
                        kind,
                        Neo4jErrorKind::Transient
                            | Neo4jErrorKind::Client(Neo4jClientErrorKind::SessionExpired)
                    ),
                },
            },
            neo4rs::Error::AuthenticationError(_) => StoreError::Unauthorized {
                url: self.url.clone(),
            },
            // The driver may add kinds of errors; those not about the statement concern the
            // connection.
            other => self.unreachable(Some(other)),
        }
    }
}

pub(super) fn pool(
    config: &GraphConfig,
    user: &str,
    password: &SecretString,
) -> Result<Graph, StoreError> {
    let mut builder = ConfigBuilder::default()
        .uri(&config.url)
        .user(user)
        .password(password.expose_secret())
        .max_connections(CONNECTIONS)
        .fetch_size(FETCH)
        .connection_timeout(config.timeout);
    if let Some(database) = &config.database {
        builder = builder.db(database.as_str());
    }
    builder.build().and_then(Graph::connect).map_err(|error| {
        StoreError::Misconfigured(format!("GRAPH_URL={} cannot be used: {error}", config.url))
    })
}

/// Whether a connection fails however often it is tried: what answers speaks no Bolt that we know, or its TLS is refused, also
/// because it has none.
fn is_for_good(error: &neo4rs::Error) -> bool {
    match error {
        neo4rs::Error::ProtocolMismatch(_)
        | neo4rs::Error::UnsupportedVersion(..)
        | neo4rs::Error::InvalidDnsName(_)
        | neo4rs::Error::InvalidConfig => true,
        neo4rs::Error::IOError { detail } => detail.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
    }
}

/// Where a server listens; the port is the one of Bolt where the address has none.
fn host_and_port(url: &str) -> Option<(String, u16)> {
    let url: http::Uri = url.parse().ok()?;
    let host = url.host()?.trim_matches(['[', ']']);
    Some((host.to_owned(), url.port_u16().unwrap_or(7687)))
}

/// Spreads attempts, so that two that collided once do not collide again.
fn with_jitter(pause: Duration) -> Duration {
    let (_, random) = uuid::Uuid::new_v4().as_u64_pair();
    pause.mul_f64(0.5 + (random % 1_000) as f64 / 1_000.0)
}

pub(super) fn json_row(row: &neo4rs::Row) -> Row {
    row.keys()
        .into_iter()
        .map(|key| {
            // The driver returns only copies, and a vector is most of a turn.
            let value = match row.get::<Floats>(&key.value) {
                Ok(Floats(floats)) => floats.into_iter().map(float).collect(),
                Err(_other) => row
                    .get::<neo4rs::BoltType>(&key.value)
                    .map_or(Value::Null, from_bolt),
            };
            (key.value.clone(), value)
        })
        .collect()
}
