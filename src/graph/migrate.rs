//! Creates the constraints, and upgrades an older graph to the current schema version.

use serde_json::json;

use super::StoreError;
use super::engine::batches::repeat;
use super::engine::indexes::{Index, OF_MEMORY};
use super::engine::{Engine, Params, Row, quote_identifier};
use super::store::record::{integer, params, text};
use super::store::statements;
use super::unfinished::{Unfinished, unfinished};

/// The schema version that this program writes.
pub(crate) const VERSION: i64 = 2;

pub(crate) const INTERRUPTED_IMPORT: &str = "an import into this graph was interrupted, so it \
    holds a part only; run `muninn import FILE` with the same file to go on, or \
    `muninn import --replace FILE` with another one";

/// Constraints of served chunks that were replaced by indexes on the same properties.
const UNUSED_CONSTRAINTS: [&str; 2] = ["muninn_chunk_id", "muninn_private_id"];

/// Prefixes of former indexes on the words and vectors of chunks. No search uses them any more, and maintaining them took nine
/// tenths of the time of an exchange (docs/figures.md).
const UNUSED_INDEXES: [&str; 3] = [
    "muninn_chunk_vectors_",
    "muninn_private_vectors_",
    "muninn_chunk_text",
];

/// A step from one version to the next. Each statement is repeated until it returns that nothing is left. It may run again, as
/// nothing says whether a process that died had finished it.
struct Migration {
    to: i64,
    statements: &'static [&'static str],
}

/// In order.
const MIGRATIONS: &[Migration] = &[
    Migration {
        to: 1,
        statements: &[],
    },
    Migration {
        to: 2,
        statements: &[
            statements::DROP_MESSAGE_LABELS,
            statements::CLEAR_PRIOR_MESSAGES,
        ],
    },
];

/// The content of the schema's node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    /// Zero in a graph that this program has never opened.
    pub(crate) version: i64,
    pub(crate) unfinished: Option<Unfinished>,
}

pub(crate) async fn schema(engine: &dyn Engine) -> Result<Schema, StoreError> {
    let rows = engine.read(statements::SCHEMA, params(json!({}))).await?;
    Ok(rows.first().map_or_else(Schema::default, |row| Schema {
        version: integer(row, "version"),
        unfinished: unfinished(row),
    }))
}

/// Upgrades the graph; refuses a newer one before changing anything.
pub(crate) async fn run(engine: &dyn Engine) -> Result<(), StoreError> {
    let found = schema(engine).await?;
    if found.version > VERSION {
        return Err(StoreError::NewerSchema {
            found: found.version,
            known: VERSION,
        });
    }
    if found.unfinished.is_some() {
        tracing::warn!("{INTERRUPTED_IMPORT}");
    }
    make_constraints(engine).await?;
    for migration in MIGRATIONS.iter().filter(|step| step.to > found.version) {
        run_statements(engine, migration).await?;
        let version = params(json!({"version": migration.to}));
        engine.write(statements::SET_SCHEMA, version).await?;
    }
    if engine.dialect().is_shared {
        drop_message_labels(engine).await?;
    }
    Ok(())
}

/// Upgrades what was imported. The graph itself has the current version. Every step runs, whatever version the export names:
/// a process of an earlier one may have written into the exported graph after its upgrade.
pub(crate) async fn upgrade_imported(engine: &dyn Engine) -> Result<(), StoreError> {
    for migration in MIGRATIONS {
        run_statements(engine, migration).await?;
    }
    Ok(())
}

/// Whatever the version: a process of an earlier one that still runs may have written the label since.
async fn drop_message_labels(engine: &dyn Engine) -> Result<(), StoreError> {
    repeat(engine, statements::DROP_MESSAGE_LABELS, Params::new()).await
}

async fn run_statements(engine: &dyn Engine, migration: &Migration) -> Result<(), StoreError> {
    for statement in migration.statements {
        repeat(engine, statement, Params::new()).await?;
    }
    Ok(())
}

/// The constraints and indexes on memory in this engine.
fn wanted(engine: &dyn Engine) -> impl Iterator<Item = &'static Index> {
    OF_MEMORY.iter().chain(engine.dialect().indexes)
}

/// Creates the missing constraints and indexes on memory.
async fn make_constraints(engine: &dyn Engine) -> Result<(), StoreError> {
    let names = names(engine).await?;
    make_missing(engine, wanted(engine), &names).await
}

/// Creates the indexes on ingested knowledge, and drops the former search indexes that files have replaced.
pub(crate) async fn make_knowledge_indexes(engine: &dyn Engine) -> Result<(), StoreError> {
    let wanted = engine.dialect().knowledge_indexes;
    if wanted.is_empty() {
        return Ok(());
    }
    let names = names(engine).await?;
    for name in UNUSED_CONSTRAINTS {
        if names.iter().any(|there| there == name) {
            let drop_it = format!("DROP CONSTRAINT {name} IF EXISTS");
            engine.write(&drop_it, Params::new()).await?;
        }
    }
    let is_unused = |name: &&String| UNUSED_INDEXES.iter().any(|stem| name.starts_with(stem));
    for name in names.iter().filter(is_unused) {
        let drop_it = format!("DROP INDEX {} IF EXISTS", quote_identifier(name)?);
        engine.write(&drop_it, Params::new()).await?;
    }
    make_missing(engine, wanted.iter(), &names).await
}

/// Creates the indexes whose names do not exist.
async fn make_missing(
    engine: &dyn Engine,
    wanted: impl Iterator<Item = &'static Index>,
    there: &[String],
) -> Result<(), StoreError> {
    for index in wanted.filter(|index| !there.contains(&index.name())) {
        let made = engine.write(&index.to_string(), Params::new()).await;
        let Err(error) = made else {
            continue;
        };
        // Neo4j checks `IF NOT EXISTS` before it locks: of two processes that start at once, one may get an error that the
        // index was created meanwhile.
        if !names(engine).await?.contains(&index.name()) {
            return Err(error);
        }
    }
    Ok(())
}

async fn names(engine: &dyn Engine) -> Result<Vec<String>, StoreError> {
    let mut names: Vec<String> = Vec::new();
    for statement in [statements::CONSTRAINT_NAMES, statements::INDEX_NAMES] {
        let rows: Vec<Row> = engine.read(statement, params(json!({}))).await?;
        names.extend(rows.iter().filter_map(|row| text(row, "name")));
    }
    Ok(names)
}

/// Required constraints and indexes that are missing.
pub(crate) async fn missing(engine: &dyn Engine) -> Result<Vec<String>, StoreError> {
    let names = names(engine).await?;
    let wanted = wanted(engine).map(Index::name);
    Ok(wanted.filter(|name| !names.contains(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphConfig, open};

    #[tokio::test(flavor = "multi_thread")]
    async fn heard_messages_lose_the_label_that_knowledge_may_have() {
        let folder = tempfile::tempdir().unwrap();
        let at = GraphConfig::at(format!("embedded:{}", folder.path().display()));
        let store = open(&at).await.unwrap();
        let write = |statement: &'static str| store.engine.write(statement, Params::new());
        write("UNWIND ['a', 'b'] AS id CREATE (:Response:Message {id: id, source: 'message'})")
            .await
            .unwrap();
        write("CREATE (:Message {id: 'mail', subject: 'Welcome'})")
            .await
            .unwrap();
        write("MATCH (s:MuninnSchema) SET s.version = 1")
            .await
            .unwrap();
        store.close().await.unwrap();
        drop(store);
        let store = open(&at).await.unwrap();
        let ids = async |label: &str| {
            let all = format!("MATCH (n:{label}) RETURN n.id AS id ORDER BY id");
            let rows = store.engine.read(&all, Params::new()).await.unwrap();
            rows.iter()
                .filter_map(|row| text(row, "id"))
                .collect::<Vec<_>>()
        };
        assert_eq!(ids("Message").await, ["mail"]);
        assert_eq!(ids("Response").await, ["a", "b"]);
    }
}
