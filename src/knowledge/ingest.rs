//! Ingests a source: reads, compares, embeds, stages, and exchanges the versions.
//!
//! Reading and comparing run on a thread of their own. New records arrive through a bounded channel
//! at the loop here, which embeds and stages several batches at a time. Nothing is served before
//! the exchange, and an interrupted run leaves staged chunks that the next run need not embed
//! again.

mod exchange;
mod reading;
mod run;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use self::reading::{Fresh, Read};
use self::run::{Counters, IngestRun, PAGE};
pub use self::run::{FileFate, IngestError, IngestSummary};
use super::anonymise::key;
use super::lock::SourceLock;
pub use super::plan::Counts;
use super::plan::{OUTDATED, Plan};
use super::record::{Hash, Record, hash_text};
use super::search::IndexFolder;
use super::source::Source;
use super::source_error::SourceError;
use crate::graph::GraphStore;
use crate::graph::ingest::{ChunkSelection, Claim, Completed, NewChunk};
use crate::llm::Embedder;

/// Chunks per batch of embedding and staging; a record is never split over two batches.
const BATCH: usize = 256;

/// Number of batches in flight.
const IN_FLIGHT: usize = 3;

/// Number of records that wait to be embedded.
const RECORD_CAPACITY: usize = 64;

/// How often the lease is renewed while nothing is staged, which renews it too.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// What to ingest, and how.
#[derive(Debug)]
pub struct Ingest<'a> {
    pub source: Source,
    pub paths: Vec<String>,
    /// The channels that may see it; empty: everybody.
    pub channels: Vec<String>,
    pub data_dir: &'a Path,
    /// Only reads and counts; writes nothing.
    pub is_dry: bool,
}

/// The progress of an ingest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read, and bytes of all files.
    pub bytes: (u64, u64),
    pub records: u64,
    /// Chunks that were staged.
    pub chunks: u64,
    pub phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    Reading,
    Exchanging,
}

type Tell<'a> = &'a mut (dyn FnMut(Progress) + Send);

/// Ingests a source.
///
/// # Errors
/// Fails with an [`IngestError`]; the served version then stays unchanged.
pub async fn ingest(
    store: &Arc<GraphStore>,
    embedder: &Arc<Embedder>,
    ingest: Ingest<'_>,
    tell: Tell<'_>,
) -> Result<IngestSummary, IngestError> {
    let name = embedder
        .resolve_name()
        .await
        .map_err(IngestError::Embedder)?;
    let name = name.to_owned();
    if ingest.is_dry {
        return dry(store, &name, ingest, tell).await;
    }
    let source = &ingest.source;
    if !source.is_anonymised() && key::load(ingest.data_dir, &source.name)?.is_some() {
        let name = source.name.clone();
        return Err(SourceError::Anonymised { name }.into());
    }
    let lock = SourceLock::take(&ingest.data_dir.join("ingest"), &ingest.source.name)?;
    let busy = |holder: String| IngestError::Busy {
        name: ingest.source.name.clone(),
        holder,
    };
    let lock = lock.ok_or_else(|| busy("another process on this machine".to_owned()))?;
    let process = std::process::id().to_string();
    let claim = Claim {
        source: &ingest.source.name,
        machine: &lock.machine,
        process: &process,
        channels: &ingest.channels,
    };
    let lease = store.claim_source(&claim).await?.map_err(busy)?;
    let run = IngestRun {
        store,
        embedder,
        embedder_name: &name,
        lease: &lease,
    };
    let done = run.all(&ingest, tell).await;
    if done.is_err() {
        // The lease expires by itself if the graph is unavailable.
        let _ = store.release_source(&lease).await;
    }
    if done.as_ref().is_ok_and(|summary| !summary.is_same) {
        // It still shows the previous version.
        IndexFolder::in_data_dir(ingest.data_dir).remove(&lease.source)?;
    }
    drop(lock);
    done
}

async fn dry(
    store: &Arc<GraphStore>,
    embedder: &str,
    ingest: Ingest<'_>,
    tell: Tell<'_>,
) -> Result<IngestSummary, IngestError> {
    let source = ingest.source.name.clone();
    let is_private = !ingest.channels.is_empty();
    let plan = known(store, embedder, &source, is_private).await?;
    let bytes = ingest.source.bytes;
    let (sender, mut fresh) = mpsc::channel(RECORD_CAPACITY);
    let place = (ingest.data_dir.join("nowhere"), 0);
    let counters = Arc::new(Counters::default());
    let reading = reading::start(
        ingest.source,
        plan,
        is_private,
        place,
        sender,
        &counters,
        true,
    );
    let mut chunks = 0;
    while let Some(Fresh { record, .. }) = fresh.recv().await {
        chunks += record.chunks.len() as u64;
        tell(counters.progress(bytes));
    }
    let mut read = reading.await.map_err(std::io::Error::other)??;
    if let Some(files) = &mut read.files {
        let gone = gone(store, &read.plan, &source).await?;
        files.extend(gone.into_iter().map(|key| (key, FileFate::Gone)));
        files.sort();
    }
    Ok(IngestSummary {
        files: read.files.unwrap_or_default(),
        counts: read.plan.counts(),
        is_same: read.plan.changes_nothing(),
        rejected: read.rejected,
        unread: read.unread,
        examples: read.examples,
        warned: read.warned,
        warnings: read.warnings,
        chunks,
        channels: ingest.channels,
        ..IngestSummary::default()
    })
}

/// Plans from the stored records of a source: records of another embedder, or for other eyes, have
/// to be made again.
async fn known(
    store: &Arc<GraphStore>,
    embedder: &str,
    source: &str,
    is_private: bool,
) -> Result<Plan, IngestError> {
    let mut plan = Plan::default();
    let sources = store.sources().await?;
    let mut served = sources.iter().filter(|of| of.name == source);
    let is_for_the_same = served.all(|of| of.of.channels.is_empty() != is_private);
    for stage in [ChunkSelection::Served, ChunkSelection::Staged] {
        let mut after = String::new();
        loop {
            let page = store.records(source, stage, &after, PAGE).await?;
            let Some(last) = page.last() else {
                break;
            };
            after.clone_from(&last.key);
            for record in &page {
                let is_current = record.embedder == embedder;
                let hash = parsed(&record.hash).filter(|_| is_current);
                let hash = hash.unwrap_or(OUTDATED);
                match stage {
                    ChunkSelection::Served if !is_for_the_same => {
                        plan.add_served(&record.key, OUTDATED);
                    }
                    ChunkSelection::Served => plan.add_served(&record.key, hash),
                    ChunkSelection::Staged => plan.add_staged(&record.key, hash),
                }
            }
        }
    }
    Ok(plan)
}

/// Returns the served records that were not read this time.
async fn gone(
    store: &Arc<GraphStore>,
    plan: &Plan,
    source: &str,
) -> Result<Vec<String>, IngestError> {
    let (mut gone, mut after) = (Vec::new(), String::new());
    loop {
        let page = store
            .records(source, ChunkSelection::Served, &after, PAGE)
            .await?;
        let Some(last) = page.last() else {
            return Ok(gone);
        };
        after.clone_from(&last.key);
        let missing = page.into_iter().map(|record| record.key);
        gone.extend(missing.filter(|key| !plan.has(key)));
    }
}

fn parsed(hash: &str) -> Option<Hash> {
    let byte = |at: usize| u8::from_str_radix(hash.get(at * 2..at * 2 + 2)?, 16).ok();
    let mut parsed = OUTDATED;
    for (at, slot) in parsed.iter_mut().enumerate() {
        *slot = byte(at)?;
    }
    Some(parsed)
}

impl Counters {
    fn progress(&self, total: u64) -> Progress {
        Progress {
            bytes: (self.bytes.load(Ordering::Relaxed), total),
            records: self.records.load(Ordering::Relaxed),
            chunks: self.chunks.load(Ordering::Relaxed),
            phase: Phase::Reading,
        }
    }
}

impl IngestRun<'_> {
    async fn all(self, ingest: &Ingest<'_>, tell: Tell<'_>) -> Result<IngestSummary, IngestError> {
        self.store.prepare_knowledge().await?;
        let (source, is_private) = (&self.lease.source, self.lease.private);
        let plan = known(self.store, self.embedder_name, source, is_private).await?;
        let counters = Arc::new(Counters::default());
        let (sender, fresh) = mpsc::channel(RECORD_CAPACITY);
        let place = (ingest.data_dir.to_owned(), self.lease.version);
        let source = ingest.source.clone();
        let reading = reading::start(
            source,
            plan,
            self.lease.private,
            place,
            sender,
            &counters,
            false,
        );
        let told = (ingest.source.bytes, &counters);
        let staged = self.stage_all(fresh, told, tell).await;
        let read = reading.await.map_err(std::io::Error::other)?;
        let (chunks, without_vector) = staged?;
        let read = read?;
        let completed = Completed {
            kind: ingest.source.kind.name().to_owned(),
            embedder: self.embedder_name.to_owned(),
            mapping: ingest.source.kind.mapping_name().to_owned(),
            property_order: ingest.source.kind.property_order(),
            paths: ingest.paths.clone(),
            channels: ingest.channels.clone(),
            records: read.plan.counts().records(),
            rejected: read.rejected,
            circles: 0,
        };
        tell(Progress {
            phase: Phase::Exchanging,
            ..counters.progress(ingest.source.bytes)
        });
        let summary = IngestSummary {
            chunks,
            without_vector,
            channels: ingest.channels.clone(),
            ..IngestSummary::default()
        };
        self.finish(read, completed, summary).await
    }

    /// Embeds and stages incoming records, several batches at a time. Returns the number of chunks,
    /// and of those without a vector.
    async fn stage_all(
        self,
        mut fresh: mpsc::Receiver<Fresh>,
        (bytes, counters): (u64, &Arc<Counters>),
        tell: Tell<'_>,
    ) -> Result<(u64, u64), IngestError> {
        let mut under_way: JoinSet<Result<u64, IngestError>> = JoinSet::new();
        let mut batch = RecordBatch::default();
        let mut without_vector = 0;
        let mut is_open = true;
        while is_open || !batch.records.is_empty() {
            match tokio::time::timeout(SIGN_OF_LIFE, fresh.recv()).await {
                Ok(Some(record)) => batch.add(record),
                Ok(None) => is_open = false,
                Err(_elapsed) => self.store.renew_source(self.lease).await?,
            }
            if batch.chunks < BATCH && is_open {
                continue;
            }
            if under_way.len() >= IN_FLIGHT {
                without_vector += joined(under_way.join_next().await)?;
            }
            if !batch.records.is_empty() {
                let work = self.work(std::mem::take(&mut batch), counters);
                under_way.spawn(work);
            }
            tell(counters.progress(bytes));
        }
        while let Some(done) = under_way.join_next().await {
            without_vector += joined(Some(done))?;
            tell(counters.progress(bytes));
        }
        Ok((counters.chunks.load(Ordering::Relaxed), without_vector))
    }

    /// Embeds and stages a batch; returns the number of chunks without a vector.
    fn work(
        self,
        batch: RecordBatch,
        counters: &Arc<Counters>,
    ) -> impl Future<Output = Result<u64, IngestError>> + use<> {
        let (store, embedder) = (Arc::clone(self.store), Arc::clone(self.embedder));
        let (lease, name) = (self.lease.clone(), self.embedder_name.to_owned());
        let counters = Arc::clone(counters);
        async move {
            let texts = batch.texts();
            let vectors = embedder.embed(&texts).await;
            let vectors = vectors.map_err(IngestError::Embedder)?;
            let without = vectors.iter().filter(|vector| vector.is_none()).count();
            let count = vectors.len();
            let (chunks, stale) = batch.embedded(vectors);
            store.stage(&lease, &name, chunks, &stale).await?;
            counters.chunks.fetch_add(count as u64, Ordering::Relaxed);
            Ok(without as u64)
        }
    }

    async fn finish(
        self,
        read: Read,
        completed: Completed,
        mut summary: IngestSummary,
    ) -> Result<IngestSummary, IngestError> {
        let current = self.store.sources().await?;
        let current = current
            .into_iter()
            .find(|source| source.name == self.lease.source && source.version > 0);
        let before = current.as_ref().map(|source| source.of.clone());
        let had_circles = before.as_ref().is_some_and(|of| of.circles > 0);
        summary.counts = read.plan.counts();
        (summary.unread, summary.examples) = (read.unread, read.examples);
        (summary.warned, summary.warnings) = (read.warned, read.warnings);
        let exchange = exchange::Exchanging {
            run: self,
            plan: read.plan,
            waiting: read.waiting,
            rejects: read.rejects,
            completed,
            before,
            had_circles,
        };
        exchange.run(summary).await
    }
}

fn joined(
    done: Option<Result<Result<u64, IngestError>, tokio::task::JoinError>>,
) -> Result<u64, IngestError> {
    match done {
        None => Ok(0),
        Some(Ok(result)) => result,
        Some(Err(error)) => Err(std::io::Error::other(error).into()),
    }
}

/// Records that are embedded together.
#[derive(Debug, Default)]
struct RecordBatch {
    records: Vec<Fresh>,
    chunks: usize,
}

impl RecordBatch {
    fn add(&mut self, fresh: Fresh) {
        self.chunks += fresh.record.chunks.len();
        self.records.push(fresh);
    }

    fn texts(&self) -> Vec<String> {
        let chunks = self.records.iter().flat_map(|fresh| &fresh.record.chunks);
        chunks.map(|chunk| chunk.embedded.clone()).collect()
    }

    /// Returns the chunks for the store, and the keys of staged records that they replace.
    fn embedded(self, vectors: Vec<Option<Vec<f32>>>) -> (Vec<NewChunk>, Vec<String>) {
        let mut vectors = vectors.into_iter();
        let (mut chunks, mut stale) = (Vec::new(), Vec::new());
        for Fresh {
            record,
            hash,
            is_stale,
        } in self.records
        {
            let Record {
                key,
                chunks: own,
                at: _,
                links: _,
                is_shared: _,
            } = record;
            if is_stale {
                stale.push(key.clone());
            }
            for (sequence, chunk) in own.into_iter().enumerate() {
                chunks.push(NewChunk {
                    record: key.clone(),
                    sequence,
                    label: chunk.label,
                    text: chunk.text,
                    properties: chunk.properties,
                    vector: vectors.next().flatten(),
                    hash: (sequence == 0).then(|| hash_text(&hash)),
                });
            }
        }
        (chunks, stale)
    }
}
