//! Ingesting in Cypher, on any engine.

use std::time::Duration;

use chrono::Utc;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::statements as cypher;
use super::{
    CHUNK, ChunkSelection, Claim, Completed, KnownRecord, Lease, NewChunk, PRIVATE, PropertyOrder,
    STAGED, ServedChunk, SourceOverview, chunk_id, record_key,
};
use crate::graph::engine::streaming::stream;
use crate::graph::engine::value::{instant, plain};
use crate::graph::engine::{Engine, Params, Row, TransactionStep, quote_identifier};
use crate::graph::store::GraphStore;
use crate::graph::store::record::{embedding, integer, list, params, text, unexpected};
use crate::graph::types::graph_node::GraphNode;
use crate::graph::types::labels::MEMORY_LABELS;
use crate::graph::{StoreError, migrate};

/// How long a lease lasts without renewal, in milliseconds.
const LEASE: i64 = 60_000;

/// The longest exchange. After that, the previously served version stays.
pub(super) const EXCHANGE: Duration = Duration::from_secs(1_800);

/// Number of chunks per statement; a record with more is staged in a longer transaction.
const ROWS: usize = 500;

/// Number of buffered statements of the transaction.
pub(super) const STEPS: usize = 4;

fn now() -> i64 {
    Utc::now().timestamp_millis()
}

/// How long a lease lasts while everything is done in one transaction, in milliseconds.
pub(super) fn exchange_lease() -> i64 {
    i64::try_from(EXCHANGE.as_millis()).unwrap_or(LEASE) + LEASE
}

/// The labels under which a kind is served, as a pattern; the label for lookups comes first.
pub(super) fn pattern(private: bool, kind: &str) -> Result<String, StoreError> {
    if private {
        return Ok(format!(":{PRIVATE}"));
    }
    if MEMORY_LABELS.contains(&kind) {
        return Err(unexpected(format!("{kind} is a label of the bot's own")));
    }
    Ok(format!(":{CHUNK}:{}", quote_identifier(kind)?))
}

impl GraphStore {
    pub(super) async fn renew_for(&self, lease: &Lease, lasts: i64) -> Result<(), StoreError> {
        let bound = json!({
            "source": lease.source, "holder": lease.holder, "until": now() + lasts,
        });
        let rows = self.engine.write(cypher::RENEW, params(bound)).await?;
        held(
            lease,
            rows.first().map_or(0, |row| integer(row, "times")) == 1,
        )
    }

    /// A chunk's properties in the engine's representation.
    fn row(&self, lease: &Lease, embedder: &str, chunk: NewChunk) -> Value {
        let mut properties = chunk.properties;
        let id = chunk_id(&lease.source, &chunk.record, chunk.sequence);
        properties.insert("chunkId".to_owned(), json!(id));
        properties.insert("chunkSeqId".to_owned(), json!(chunk.sequence));
        let key = record_key(&lease.source, &chunk.record);
        properties.insert("recordKey".to_owned(), json!(key));
        properties.insert("source".to_owned(), json!(lease.source));
        properties.insert("text".to_owned(), json!(chunk.text));
        properties.insert("stagedAs".to_owned(), json!(chunk.label));
        properties.insert("sourceVersion".to_owned(), json!(lease.version));
        if lease.private {
            properties.insert("kind".to_owned(), json!(chunk.label));
        }
        if let Some(hash) = chunk.hash {
            properties.insert("contentHash".to_owned(), json!(hash));
            properties.insert("embedder".to_owned(), json!(embedder));
        }
        if let Some(vector) = &chunk.vector {
            let vector = (self.engine.dialect().embedding)(vector);
            properties.insert("embedding".to_owned(), vector);
            properties.insert("embedder".to_owned(), json!(embedder));
        }
        let mut node = GraphNode {
            id: String::new(),
            labels: vec![STAGED.to_owned()],
            properties,
        };
        (self.engine.dialect().prepare)(&mut node);
        Value::Object(node.properties)
    }

    async fn stage_rows(&self, lease: &Lease, rows: Vec<Value>) -> Result<(), StoreError> {
        let expected = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let mut statements = Vec::new();
        for part in rows.chunks(ROWS) {
            let bound = json!({
                "source": lease.source, "holder": lease.holder, "until": now() + LEASE,
                "rows": part,
            });
            statements.push((cypher::STAGE.to_owned(), params(bound)));
        }
        let made: i64 = if statements.len() == 1 {
            let (statement, bound) = statements.remove(0);
            let rows = self.engine.write(&statement, bound).await?;
            rows.first().map_or(0, |row| integer(row, "times"))
        } else {
            self.all_or_nothing(statements).await?.iter().sum()
        };
        held(lease, made == expected)
    }

    async fn all_or_nothing(
        &self,
        statements: Vec<(String, Params)>,
    ) -> Result<Vec<i64>, StoreError> {
        let steps = TransactionStep::all(statements);
        self.engine.transact(steps, EXCHANGE).await
    }

    /// For each source the number of chunks under a label, and of those with a vector.
    async fn count_chunks(&self, label: &str) -> Result<Vec<(String, u64, u64)>, StoreError> {
        let statement = cypher::count_chunks(label);
        let rows = self.engine.read(&statement, params(json!({}))).await?;
        let number = |row: &Row, column| u64::try_from(integer(row, column)).unwrap_or_default();
        let read = |row: &Row| {
            let source = text(row, "source")?;
            Some((source, number(row, "chunks"), number(row, "vectors")))
        };
        Ok(rows.iter().filter_map(read).collect())
    }
}

fn held(lease: &Lease, is_held: bool) -> Result<(), StoreError> {
    if is_held {
        return Ok(());
    }
    Err(unexpected(format!(
        "somebody else has begun to ingest {} meanwhile",
        lease.source
    )))
}

pub(super) fn keys(lease: &Lease, records: &[String]) -> Params {
    let keys = records
        .iter()
        .map(|record| record_key(&lease.source, record));
    params(json!({"keys": keys.collect::<Vec<String>>()}))
}

impl GraphStore {
    /// Creates the constraints and indexes on knowledge.
    pub async fn prepare_knowledge(&self) -> Result<(), StoreError> {
        migrate::make_knowledge_indexes(&self.engine).await
    }

    /// Takes the right to change a source. `Err` names the present holder.
    pub async fn claim_source(
        &self,
        claim: &Claim<'_>,
    ) -> Result<Result<Lease, String>, StoreError> {
        let holder = format!("{}/{}", claim.machine, claim.process);
        let bound = json!({
            "source": claim.source, "holder": holder, "machine": format!("{}/", claim.machine),
            "now": now(), "until": now() + LEASE,
        });
        let rows = self.engine.write(cypher::CLAIM, params(bound)).await?;
        if let Some(row) = rows.first() {
            return Ok(Ok(Lease {
                source: claim.source.to_owned(),
                holder,
                version: integer(row, "version") + 1,
                private: !claim.channels.is_empty(),
            }));
        }
        let bound = params(json!({"source": claim.source}));
        let rows = self.engine.read(cypher::HOLDER, bound).await?;
        let holder = rows.first().and_then(|row| text(row, "holder"));
        Ok(Err(holder.unwrap_or_else(|| "another process".to_owned())))
    }

    /// Renews a lease.
    pub async fn renew_source(&self, lease: &Lease) -> Result<(), StoreError> {
        self.renew_for(lease, LEASE).await
    }

    /// Releases a lease; staged chunks stay for the next holder.
    pub async fn release_source(&self, lease: &Lease) -> Result<(), StoreError> {
        let bound = json!({"source": lease.source, "holder": lease.holder});
        self.engine.write(cypher::RELEASE, params(bound)).await?;
        Ok(())
    }

    /// Records of the source after a key, at most `limit`, in the order of their keys.
    pub async fn records(
        &self,
        source: &str,
        stage: ChunkSelection,
        after: &str,
        limit: usize,
    ) -> Result<Vec<KnownRecord>, StoreError> {
        // After a change of visibility, a source's chunks still have the other label.
        let labels: &[&str] = match stage {
            ChunkSelection::Served => &[CHUNK, PRIVATE],
            ChunkSelection::Staged => &[STAGED],
        };
        let prefix = record_key(source, "");
        let bound = params(json!({
            "source": source, "after": record_key(source, after), "limit": limit,
        }));
        let mut found = Vec::new();
        for label in labels {
            let statement = cypher::records(label);
            let rows = self.engine.read(&statement, bound.clone()).await?;
            found.extend(rows.iter().map(|row| {
                KnownRecord {
                    key: text(row, "key")
                        .and_then(|key| key.strip_prefix(&prefix).map(str::to_owned))
                        .unwrap_or_default(),
                    hash: text(row, "hash").unwrap_or_default(),
                    embedder: text(row, "embedder").unwrap_or_default(),
                }
            }));
        }
        found.sort_by(|a, b| a.key.cmp(&b.key));
        found.truncate(limit);
        Ok(found)
    }

    /// Stages whole records, and renews the lease. Those in `stale` were staged with other content before.
    pub async fn stage(
        &self,
        lease: &Lease,
        embedder: &str,
        chunks: Vec<NewChunk>,
        stale: &[String],
    ) -> Result<(), StoreError> {
        if !stale.is_empty() {
            self.unstage(lease, stale).await?;
        }
        let rows: Vec<Value> = chunks
            .into_iter()
            .map(|chunk| self.row(lease, embedder, chunk))
            .collect();
        self.stage_rows(lease, rows).await
    }

    /// Removes staged records.
    pub async fn unstage(&self, lease: &Lease, records: &[String]) -> Result<(), StoreError> {
        let statement = cypher::remove_records(STAGED);
        self.engine.write(&statement, keys(lease, records)).await?;
        Ok(())
    }

    /// All sources, by name.
    pub async fn sources(&self) -> Result<Vec<SourceOverview>, StoreError> {
        let bound = params(json!({"now": now()}));
        let rows = self.engine.read(cypher::SOURCES, bound).await?;
        let mut sources: Vec<SourceOverview> = rows.iter().map(overview).collect();
        for label in [CHUNK, PRIVATE, STAGED] {
            for (name, chunks, vectors) in self.count_chunks(label).await? {
                let Some(source) = sources.iter_mut().find(|source| source.name == name) else {
                    continue;
                };
                if label == STAGED {
                    source.staged += chunks;
                } else {
                    source.chunks += chunks;
                    source.without_vector += chunks - vectors;
                }
            }
        }
        Ok(sources)
    }

    /// Streams every served chunk of a source, from one snapshot, as fast as they are taken. A chunk of
    /// another version than [`Self::sources`] reports before *and* after means that the source was exchanged
    /// meanwhile. A number of chunks other than
    /// [`SourceVersion::chunks`](super::searching::SourceVersion::chunks) means that the store did not show
    /// the whole version yet. Read again in both cases.
    pub async fn served_chunks(
        &self,
        source: &str,
        to: mpsc::Sender<ServedChunk>,
    ) -> Result<(), StoreError> {
        for label in [CHUNK, PRIVATE] {
            let bound = params(json!({"source": source}));
            let statement = cypher::served(label);
            let read = (statement.as_str(), bound);
            let made = |row: &Row| Some(served(row));
            stream(&self.engine, read, STEPS * ROWS, to.clone(), made).await?;
        }
        Ok(())
    }

    /// Removes a source with all its chunks. Returns how many there were. The answers that were made from it
    /// keep its name.
    pub async fn remove_source(&self, lease: &Lease) -> Result<u64, StoreError> {
        self.renew_for(lease, exchange_lease()).await?;
        let of = params(json!({"source": lease.source}));
        let mut steps = Vec::new();
        for label in [CHUNK, PRIVATE] {
            steps.push((cypher::remember_removed(label), of.clone()));
        }
        steps.extend(
            self.statements_to_stop_serving(STAGED, cypher::OF_SOURCE, &of)
                .await?,
        );
        let mut served = 0;
        for label in [CHUNK, PRIVATE] {
            let chunks = self.count_chunks(label).await?.into_iter();
            let its = chunks.filter(|(source, ..)| *source == lease.source);
            served += its.map(|(_, chunks, _)| chunks).sum::<u64>();
            steps.extend(
                self.statements_to_stop_serving(label, cypher::OF_SOURCE, &of)
                    .await?,
            );
        }
        steps.push((cypher::REMOVE_SOURCE.to_owned(), of));
        self.all_or_nothing(steps).await?;
        self.survey.outdate();
        self.remove_retired().await;
        Ok(served)
    }

    /// Renames a source to an unused name, with all its chunks, and ends the lease. Returns the number of
    /// chunks.
    pub async fn rename_source(&self, lease: &Lease, name: &str) -> Result<u64, StoreError> {
        self.renew_for(lease, exchange_lease()).await?;
        let of = params(json!({
            "source": lease.source, "name": name, "holder": lease.holder,
        }));
        let chunks = [CHUNK, PRIVATE, STAGED].map(cypher::rename_chunks);
        let statements = [cypher::RENAME_SOURCE.to_owned()]
            .into_iter()
            .chain(chunks)
            .chain([cypher::REMOVE_SOURCE.to_owned()])
            .map(|statement| (statement, of.clone()));
        let times = self.all_or_nothing(statements.collect()).await?;
        self.survey.outdate();
        held(lease, times.first() == Some(&1))?;
        Ok(u64::try_from(times[1..3].iter().sum::<i64>()).unwrap_or_default())
    }
}

fn strings(row: &Row, column: &str) -> Vec<String> {
    let items = list(row, column).iter();
    items
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

/// An unreadable order counts as none; a card then shows its facts in another order.
pub(super) fn property_order(row: &Row) -> PropertyOrder {
    let stored = text(row, "propertyOrder").unwrap_or_default();
    serde_json::from_str(&stored).unwrap_or_default()
}

fn overview(row: &Row) -> SourceOverview {
    let number = |column| u64::try_from(integer(row, column)).unwrap_or_default();
    SourceOverview {
        name: text(row, "name").unwrap_or_default(),
        version: integer(row, "version"),
        since: row.get("since").and_then(instant),
        of: Completed {
            kind: text(row, "kind").unwrap_or_default(),
            embedder: text(row, "embedder").unwrap_or_default(),
            mapping: text(row, "mapping").unwrap_or_default(),
            property_order: property_order(row),
            paths: strings(row, "paths"),
            channels: strings(row, "channels"),
            records: number("records"),
            rejected: number("rejected"),
            circles: number("circles"),
        },
        chunks: 0,
        without_vector: 0,
        staged: 0,
        holder: text(row, "holder"),
    }
}

/// A date, or the value that the source has instead.
fn date(row: &Row) -> Option<String> {
    match plain(row.get("date")?.clone()) {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// One tag, or several.
fn tags(row: &Row) -> Vec<String> {
    match text(row, "tags") {
        Some(one) => vec![one],
        None => strings(row, "tags"),
    }
}

fn served(row: &Row) -> ServedChunk {
    let labels = strings(row, "labels");
    let label = text(row, "kind").filter(|_| labels.iter().any(|label| label == PRIVATE));
    let label = label.or_else(|| labels.into_iter().find(|label| label != CHUNK));
    ServedChunk {
        chunk: text(row, "chunk").unwrap_or_default(),
        record: text(row, "record").unwrap_or_default(),
        sequence: integer(row, "sequence"),
        source: text(row, "source").unwrap_or_default(),
        version: integer(row, "version"),
        label: label.unwrap_or_default(),
        title: text(row, "title"),
        heading: text(row, "heading"),
        link: text(row, "link"),
        text: text(row, "text").unwrap_or_default(),
        embedding: embedding(row),
        tags: tags(row),
        date: date(row),
        parent: text(row, "parent"),
    }
}
