//! Ingests a folder of files, and reads what is served of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use muninn::graph::GraphStore;
use muninn::graph::confine::{StatementLimits, confine};
use muninn::graph::ingest::{Claim, Lease, ServedChunk};
use muninn::graph::query::QueryLimits;
use muninn::knowledge::ingest::{Ingest, IngestError, IngestSummary, ingest};
use muninn::knowledge::source::{Source, mapping};
use muninn::llm::Embedder;
use muninn::retrieval::LocalEmbedder;
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::lanes::GraphBackend;

pub(crate) const RAVENS: &str = "# Ravens\nTwo of them.\n\n## Huginn\nThought.\n\n### Young\nSmall ones.\n\n## Muninn\nMemory.\n";

/// A folder of files, with a data folder.
pub(crate) struct IngestFixture {
    pub(crate) store: Arc<GraphStore>,
    pub(crate) embedder: Arc<Embedder>,
    pub(crate) folder: TempDir,
    /// The source's name: other tests run on the same server.
    pub(crate) name: String,
}

impl IngestFixture {
    pub(crate) async fn on(lane: &GraphBackend) -> Self {
        Self::over(lane.open().await)
    }

    /// Creates another source in the same graph.
    pub(crate) fn beside(&self) -> Self {
        Self::over(Arc::clone(&self.store))
    }

    fn over(store: Arc<GraphStore>) -> Self {
        let desk = Self {
            store,
            embedder: Arc::new(Embedder::Local(LocalEmbedder::shipped().unwrap())),
            folder: tempfile::tempdir().unwrap(),
            name: format!("t{}", uuid::Uuid::new_v4().simple()),
        };
        std::fs::create_dir(desk.folder.path().join("in")).unwrap();
        desk
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join("in").join(name), text).unwrap();
    }

    pub(crate) fn take_away(&self, name: &str) {
        std::fs::remove_file(self.folder.path().join("in").join(name)).unwrap();
    }

    pub(crate) async fn ingest(&self) -> IngestSummary {
        self.ingest_with(None, &[]).await
    }

    pub(crate) async fn ingest_with(&self, by: Option<&str>, channels: &[&str]) -> IngestSummary {
        self.ingest_found(self.found(by), channels).await.unwrap()
    }

    /// Finds the files, without reading documents.
    pub(crate) fn found(&self, by: Option<&str>) -> Source {
        let path = self.folder.path().join("in");
        let by = by.map(|text| {
            let file = self.folder.path().join("mapping.toml");
            std::fs::write(&file, text).unwrap();
            mapping(file.to_str().unwrap()).unwrap()
        });
        Source::find(&[path], Some(&self.name), by).unwrap()
    }

    pub(crate) async fn ingest_found(
        &self,
        source: Source,
        channels: &[&str],
    ) -> Result<IngestSummary, IngestError> {
        let what = Ingest {
            source,
            paths: vec!["in".to_owned()],
            channels: channels
                .iter()
                .map(|channel| (*channel).to_owned())
                .collect(),
            data_dir: self.folder.path(),
            is_dry: false,
        };
        ingest(&self.store, &self.embedder, what, &mut |_far| {}).await
    }

    /// Returns what is served of this source.
    pub(crate) async fn served(&self) -> BTreeMap<String, ServedChunk> {
        let (sender, mut chunks) = mpsc::channel(10);
        let (store, source) = (Arc::clone(&self.store), self.name.clone());
        let reading = tokio::spawn(async move { store.served_chunks(&source, sender).await });
        let mut served = BTreeMap::new();
        while let Some(chunk) = chunks.recv().await {
            assert_eq!(chunk.source, self.name);
            served.insert(chunk.chunk.replace(&self.name, "s"), chunk);
        }
        reading.await.unwrap().unwrap();
        served
    }

    /// Returns the elements of what is served of this source.
    pub(crate) async fn elements(&self) -> Vec<String> {
        let chunks = self.served().await.into_values();
        let chunks: Vec<String> = chunks.map(|chunk| chunk.chunk).collect();
        let passages = self.store.passages(&chunks, false).await;
        let passages = passages.unwrap().into_iter();
        passages.map(|passage| passage.element).collect()
    }

    /// Runs a statement as a model would write it, with `SOURCE` replaced by this one; returns the
    /// rows.
    pub(crate) async fn ask(&self, statement: &str) -> Vec<Vec<Value>> {
        let schema = self.store.schema().await.unwrap();
        let statement = statement.replace("SOURCE", &format!("'{}'", self.name));
        let confined =
            confine(&statement, &schema.schema, &StatementLimits::of_rows(1_000)).unwrap();
        let limits = QueryLimits {
            rows: 1_000,
            bytes: 1 << 20,
            time: std::time::Duration::from_secs(20),
        };
        let result = self.store.query(&confined, Map::new(), limits).await;
        result.unwrap().rows
    }

    pub(crate) async fn claim(&self, process: &str) -> Lease {
        let claim = Claim {
            source: &self.name,
            machine: "elsewhere",
            process,
            channels: &[],
        };
        let claimed = self.store.claim_source(&claim).await.unwrap();
        claimed.unwrap()
    }
}
