//! Tries out what the user of generated statements can do.

use neo4rs::{Graph, Neo4jClientErrorKind, Neo4jErrorKind, Query};
use tokio::time::timeout;

use super::client::Neo4j;
use crate::graph::StoreError;
use crate::graph::engine::{Engine as _, Params, Row, quote_identifier};
use crate::graph::store::record::integer;
use crate::graph::types::labels::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};
use crate::graph::types::reading::{Access, Knowledge, ReadAccessReport, Writing};

/// Maximum number of nodes and relationships examined of each kind: only their existence matters.
const LOOKED_AT: usize = 100;

pub(super) async fn try_out(
    engine: &Neo4j,
    edition: String,
) -> Result<ReadAccessReport, StoreError> {
    let reader = match &engine.reader {
        Some(reader) => Some(access(engine, reader).await?),
        None => None,
    };
    Ok(ReadAccessReport { edition, reader })
}

async fn access(engine: &Neo4j, reader: &Graph) -> Result<Access, StoreError> {
    let (mut finds, mut reads) = (Vec::new(), Vec::new());
    for label in MEMORY_LABELS {
        // Nodes that may not be read have no keys.
        let statement = format!(
            "MATCH (n:{}) WITH n LIMIT {LOOKED_AT} RETURN count(n) AS found, sum(size(keys(n))) AS readable",
            quote_identifier(label)?
        );
        let rows = engine.as_reader(&statement).await?;
        if number(&rows, "found") > 0 {
            finds.push((*label).to_owned());
        }
        if number(&rows, "readable") > 0 {
            reads.push((*label).to_owned());
        }
    }
    for kind in MEMORY_RELATIONSHIPS {
        let statement = format!(
            "MATCH ()-[r:{}]->() WITH r LIMIT {LOOKED_AT} RETURN count(r) AS found",
            quote_identifier(kind)?
        );
        if number(&engine.as_reader(&statement).await?, "found") > 0 {
            finds.push((*kind).to_owned());
        }
    }
    Ok(Access {
        finds,
        reads,
        knowledge: knowledge(engine).await?,
        writing: writing(engine, reader).await,
    })
}

async fn knowledge(engine: &Neo4j) -> Result<Knowledge, StoreError> {
    let is_none: Result<Vec<String>, StoreError> = MEMORY_LABELS
        .iter()
        .map(|label| Ok(format!("NOT n:{}", quote_identifier(label)?)))
        .collect();
    let statement = format!(
        "MATCH (n) WHERE {} WITH n LIMIT 1 RETURN count(n) AS found",
        is_none?.join(" AND ")
    );
    let there = engine.read(&statement, Params::new()).await?;
    if number(&there, "found") == 0 {
        return Ok(Knowledge::Missing);
    }
    let found = engine.as_reader(&statement).await?;
    Ok(if number(&found, "found") > 0 {
        Knowledge::Found
    } else {
        Knowledge::Hidden
    })
}

/// Tries to create a node, and rolls back.
async fn writing(engine: &Neo4j, reader: &Graph) -> Writing {
    let attempt = async {
        let mut transaction = reader.start_txn().await?;
        let created = transaction.run(Query::new("CREATE ()".to_owned())).await;
        // If this fails too, the server ends the transaction with the connection.
        let _ = transaction.rollback().await;
        created.map(drop)
    };
    match timeout(engine.timeout, attempt).await {
        Ok(Ok(())) => Writing::Allowed,
        Ok(Err(neo4rs::Error::Neo4j(failure)))
            if matches!(
                failure.kind(),
                Neo4jErrorKind::Client(Neo4jClientErrorKind::Security(_))
            ) =>
        {
            Writing::Refused
        }
        Ok(Err(error)) => Writing::Unknown(error.to_string()),
        Err(_elapsed) => Writing::Unknown("the server took too long".to_owned()),
    }
}

fn number(rows: &[Row], column: &str) -> i64 {
    rows.first().map_or(0, |row| integer(row, column))
}
