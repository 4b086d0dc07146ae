//! Index files: they outlive the process, are rebuilt if they do not fit, and are removed with
//! their sources.

use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use muninn::graph::{self, GraphStore};
use muninn::knowledge::changing;
use muninn::knowledge::search::{Degradation, SearchResults, Searcher, Weights};
use muninn::llm::Embedder;
use muninn::memory::{Calibration, RecallSettings, Recaller};
use muninn::retrieval::LocalEmbedder;
use tempfile::TempDir;

use super::quay::{HANDBOOK, Quay};
use super::search;
use super::support::bot::BotStorage;

/// Starts a process that searches, with its data folder.
fn started(store: &Arc<GraphStore>, data_dir: &Path) -> Arc<Searcher> {
    let calibration = Calibration::shipped().unwrap();
    let settings = RecallSettings::by(&calibration);
    let embedder = Embedder::Local(LocalEmbedder::shipped().unwrap());
    let recaller = Arc::new(Recaller::new(embedder, calibration, settings));
    let weights = Weights::load(None).unwrap();
    let searcher = Searcher::new(Arc::clone(store), recaller, weights);
    Arc::new(searcher.in_data_dir(data_dir))
}

/// An ingested handbook that is searched.
struct Handbook {
    quay: Quay,
    store: Arc<GraphStore>,
    searcher: Arc<Searcher>,
    data: TempDir,
    /// Its index file.
    path: PathBuf,
    /// The graph's folder.
    _place: BotStorage,
}

impl Handbook {
    async fn new() -> Self {
        let (place, quay) = (BotStorage::embedded(), Quay::new().await);
        let store = graph::open(&place.config(None, &[]).graph).await.unwrap();
        quay.put(&store, &[("handbook.md", HANDBOOK)]).await;
        let data = tempfile::tempdir().unwrap();
        let searcher = started(&store, data.path());
        searcher.refresh().await;
        let name = format!("{}.index", quay.source("handbook"));
        Self {
            path: data.path().join("knowledge-index").join(name),
            quay,
            store,
            searcher,
            data,
            _place: place,
        }
    }

    async fn dues(&self, searcher: &Arc<Searcher>) -> SearchResults {
        search(searcher, "dues at the north quay", &self.quay.channel).await
    }

    async fn tells_dues(&self, searcher: &Arc<Searcher>, dues: &str) {
        let found = self.dues(searcher).await;
        assert!(found.hits[0].text.contains(dues), "{found:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_outlive_the_process_and_follow_the_versions() {
    let of = Handbook::new().await;
    let made = std::fs::metadata(&of.path).unwrap();
    assert_eq!(made.mode() & 0o777, 0o600);

    let next = started(&of.store, of.data.path());
    next.refresh().await;
    let found = of.dues(&next).await;
    assert!(found.hits[0].text.contains("40 crowns"), "{found:#?}");
    assert!(found.degradations.is_empty());
    assert_eq!(std::fs::metadata(&of.path).unwrap().ino(), made.ino());
    // Permissions are not taken from the file.
    let others = search(&next, "dues at the north quay", "elsewhere").await;
    assert!(others.hits.is_empty(), "{others:#?}");

    let dearer = HANDBOOK.replace("40 crowns", "50 crowns");
    of.quay.put(&of.store, &[("handbook.md", &dearer)]).await;
    next.refresh().await;
    of.tells_dues(&next, "50 crowns").await;
    let bytes = std::fs::read(&of.path).unwrap();
    let says = |text: &str| bytes.windows(text.len()).any(|it| it == text.as_bytes());
    assert!(says("50 crowns") && !says("40 crowns"));
    of.store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_not_believed_and_made_again() {
    let of = Handbook::new().await;
    // While a process has it open: another byte in the first text.
    let mut damaged = std::fs::OpenOptions::new();
    let damaged = damaged.write(true).open(&of.path).unwrap();
    damaged.write_all_at(b"\xFF", 10).unwrap();
    let found = of.dues(&of.searcher).await;
    assert_eq!(found.degradations, [Degradation::Loading]);
    assert!(found.hits.is_empty());
    of.searcher.refresh().await;
    of.tells_dues(&of.searcher, "40 crowns").await;

    // While nobody has it open: as after a power loss.
    let whole = std::fs::read(&of.path).unwrap();
    std::fs::write(&of.path, &whole[..whole.len() / 2]).unwrap();
    let next = started(&of.store, of.data.path());
    next.refresh().await;
    of.tells_dues(&next, "40 crowns").await;
    assert_eq!(std::fs::read(&of.path).unwrap().len(), whole.len());
    of.store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_goes_with_its_source() {
    let of = Handbook::new().await;
    assert!(of.path.exists());
    let name = of.quay.source("handbook");
    let remove = async |data_dir: &Path| {
        changing::remove(&of.store, data_dir, &name).await.unwrap();
    };
    // By the process that removes it…
    remove(of.data.path()).await;
    assert!(!of.path.exists());
    // …and by one that learns of it.
    of.quay.put(&of.store, &[("handbook.md", HANDBOOK)]).await;
    of.searcher.refresh().await;
    assert!(of.path.exists());
    let elsewhere = tempfile::tempdir().unwrap();
    remove(elsewhere.path()).await;
    of.searcher.refresh().await;
    assert!(!of.path.exists());
    of.store.close().await.unwrap();
}
