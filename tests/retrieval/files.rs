//! What is searched is in files of ours: they outlive the process, are made again where they do not fit, and go with their
//! sources.

use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use muninn::graph::{self, GraphStore};
use muninn::knowledge::changing;
use muninn::knowledge::search::{Rung, Searcher, Weights};
use muninn::llm::Embedder;
use muninn::memory::{Calibration, RecallSettings, Recaller};
use muninn::retrieval::LocalEmbedder;

use super::quay::{HANDBOOK, Quay};
use super::search;
use super::support::bot::Place;

/// A process that searches, with its data folder.
fn started(store: &Arc<GraphStore>, data_dir: &Path) -> Arc<Searcher> {
    let calibration = Calibration::shipped().unwrap();
    let settings = RecallSettings::by(&calibration);
    let embedder = Embedder::Local(LocalEmbedder::shipped().unwrap());
    let recaller = Arc::new(Recaller::new(embedder, calibration, settings));
    let weights = Weights::load(None).unwrap();
    let searcher = Searcher::new(Arc::clone(store), recaller, weights);
    Arc::new(searcher.in_data_dir(data_dir))
}

fn file(data_dir: &Path, quay: &Quay) -> PathBuf {
    let name = format!("{}.index", quay.source("handbook"));
    data_dir.join("knowledge-index").join(name)
}

#[tokio::test(flavor = "multi_thread")]
async fn files_outlive_the_process_and_follow_the_versions() {
    let (place, quay) = (Place::embedded(), Quay::new().await);
    let store = graph::open(&place.config(None, &[]).graph).await.unwrap();
    quay.put(&store, &[("handbook.md", HANDBOOK)]).await;
    let data = tempfile::tempdir().unwrap();
    started(&store, data.path()).refresh().await;
    let path = file(data.path(), &quay);
    let made = std::fs::metadata(&path).unwrap();
    assert_eq!(made.mode() & 0o777, 0o600);

    let next = started(&store, data.path());
    next.refresh().await;
    let found = search(&next, "dues at the north quay", &quay.channel).await;
    assert!(found.hits[0].text.contains("40 crowns"), "{found:#?}");
    assert!(found.rungs.is_empty());
    assert_eq!(std::fs::metadata(&path).unwrap().ino(), made.ino());
    // Who may see it is not what the file says.
    let others = search(&next, "dues at the north quay", "elsewhere").await;
    assert!(others.hits.is_empty(), "{others:#?}");

    let dearer = HANDBOOK.replace("40 crowns", "50 crowns");
    quay.put(&store, &[("handbook.md", &dearer)]).await;
    next.refresh().await;
    let found = search(&next, "dues at the north quay", &quay.channel).await;
    assert!(found.hits[0].text.contains("50 crowns"), "{found:#?}");
    let bytes = std::fs::read(&path).unwrap();
    let says = |text: &str| bytes.windows(text.len()).any(|it| it == text.as_bytes());
    assert!(says("50 crowns") && !says("40 crowns"));
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_not_believed_and_made_again() {
    let (place, quay) = (Place::embedded(), Quay::new().await);
    let store = graph::open(&place.config(None, &[]).graph).await.unwrap();
    quay.put(&store, &[("handbook.md", HANDBOOK)]).await;
    let data = tempfile::tempdir().unwrap();
    let searcher = started(&store, data.path());
    searcher.refresh().await;
    let path = file(data.path(), &quay);

    // Under a process that has it open: another byte in the first text.
    let damaged = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    damaged.write_all_at(b"\xFF", 10).unwrap();
    let found = search(&searcher, "dues at the north quay", &quay.channel).await;
    assert_eq!(found.rungs, [Rung::Loading]);
    assert!(found.hits.is_empty());
    searcher.refresh().await;
    let found = search(&searcher, "dues at the north quay", &quay.channel).await;
    assert!(found.hits[0].text.contains("40 crowns"), "{found:#?}");

    // While nobody has it open: as a machine that lost its power may leave it.
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let next = started(&store, data.path());
    next.refresh().await;
    let found = search(&next, "dues at the north quay", &quay.channel).await;
    assert!(found.hits[0].text.contains("40 crowns"), "{found:#?}");
    assert_eq!(std::fs::read(&path).unwrap().len(), whole.len());
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_goes_with_its_source() {
    let (place, quay) = (Place::embedded(), Quay::new().await);
    let store = graph::open(&place.config(None, &[]).graph).await.unwrap();
    quay.put(&store, &[("handbook.md", HANDBOOK)]).await;
    let data = tempfile::tempdir().unwrap();
    let searcher = started(&store, data.path());
    searcher.refresh().await;
    let path = file(data.path(), &quay);
    assert!(path.exists());
    let name = quay.source("handbook");
    // By the process that removes it…
    changing::remove(&store, data.path(), &name).await.unwrap();
    assert!(!path.exists());
    // …and by one that hears of it.
    quay.put(&store, &[("handbook.md", HANDBOOK)]).await;
    searcher.refresh().await;
    assert!(path.exists());
    let elsewhere = tempfile::tempdir().unwrap();
    changing::remove(&store, elsewhere.path(), &name)
        .await
        .unwrap();
    searcher.refresh().await;
    assert!(!path.exists());
    store.close().await.unwrap();
}
