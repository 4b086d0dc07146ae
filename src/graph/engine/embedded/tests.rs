//! How transactions share the threads of an open graph.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::database::FILE;
use super::{CHECKPOINT_BYTES, Embedded};
use crate::graph::StoreError;
use crate::graph::engine::{Engine as _, TransactionStep};
use crate::graph::store::record::params;

const PATIENCE: Duration = Duration::from_secs(60);

async fn graph(folder: &Path) -> Embedded {
    Embedded::open(folder.to_owned(), PATIENCE).await.unwrap()
}

const NOTE: &str = "CREATE (n:Note {text: $text}) RETURN count(n) AS times";

async fn keep(graph: &Embedded, text: &str) -> Result<Vec<i64>, StoreError> {
    let steps = TransactionStep::all(vec![(NOTE, params(json!({"text": text})))]);
    graph.transact(steps, PATIENCE).await
}

async fn notes(graph: &Embedded) -> i64 {
    let statement = "MATCH (n:Note) RETURN count(n) AS times";
    let rows = graph.read(statement, params(json!({}))).await.unwrap();
    rows[0]["times"].as_i64().unwrap()
}

#[tokio::test]
async fn who_is_done_does_not_wait_for_a_transaction_whose_sender_is_slow() {
    let folder = tempfile::tempdir().unwrap();
    let graph = graph(folder.path()).await;
    let (slow, steps) = mpsc::channel(2);
    let half = params(json!({"text": "half"}));
    slow.try_send(TransactionStep::Run(NOTE.to_owned(), half))
        .unwrap();
    let first = keep(&graph, "first");
    let second = graph.transact(steps, PATIENCE);
    tokio::pin!(second);
    // Both are queued in this order.
    tokio::select! {
        biased;
        first = first => assert_eq!(first.unwrap(), [1]),
        _ = &mut second => panic!("it has no end yet"),
        () = sleep(PATIENCE) => panic!("the first one waits"),
    }
    drop(slow);
    second.await.unwrap_err();
    assert_eq!(keep(&graph, "third").await.unwrap(), [1]);
    assert_eq!(notes(&graph).await, 2);
}

#[tokio::test]
async fn many_transactions_at_once_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let open = graph(folder.path()).await;
    let all = (0..200).map(|number| {
        let open = &open;
        async move { keep(open, &number.to_string()).await }
    });
    for kept in futures::future::join_all(all).await {
        assert_eq!(kept.unwrap(), [1]);
    }
    open.close().await.unwrap();
    drop(open);
    assert_eq!(notes(&graph(folder.path()).await).await, 200);
}

#[tokio::test]
async fn a_read_with_a_limit_is_ended_and_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let graph = graph(folder.path()).await;
    assert_eq!(keep(&graph, "one").await.unwrap(), [1]);
    let long = "UNWIND range(1, 3000) AS a UNWIND range(1, 1000) AS b \
                WITH a, b WHERE a + b < 0 RETURN count(*) AS times";
    let limit = Duration::from_millis(1);
    let ended = graph.read_within(long, params(json!({})), limit).await;
    let is_ended = matches!(
        ended,
        Err(StoreError::Refused {
            transient: true,
            ..
        })
    );
    assert!(is_ended, "{ended:?}");
    assert_eq!(notes(&graph).await, 1);
}

fn size(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |file| file.len())
}

#[tokio::test]
async fn transactions_alone_have_the_log_folded() {
    let folder = tempfile::tempdir().unwrap();
    let graph = graph(folder.path()).await;
    let file = folder.path().join(FILE);
    let unfolded = size(&file);
    let text = "word ".repeat(usize::try_from(CHECKPOINT_BYTES / 20).unwrap());
    for _ in 0..5 {
        keep(&graph, &text).await.unwrap();
    }
    let folded = async {
        while size(&file) == unfolded {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, folded).await.unwrap();
}
