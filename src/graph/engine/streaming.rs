//! Reads results that are too large to be held, row by row.

use tokio::sync::mpsc;

use super::{Engine, Params, Row, StreamedRead};
use crate::graph::StoreError;

/// Sends what is made of each row as it comes, until nobody receives it any more. A row of which nothing is made is left out.
pub(crate) async fn forward<T>(
    mut rows: mpsc::Receiver<Row>,
    to: mpsc::Sender<T>,
    make: impl Fn(&Row) -> Option<T>,
) {
    while let Some(row) = rows.recv().await {
        if let Some(one) = make(&row)
            && to.send(one).await.is_err()
        {
            break;
        }
    }
}

/// Runs one read-only statement, and sends what is made of each row. At most `buffered` rows wait to be converted.
pub(crate) async fn stream<T>(
    engine: &dyn Engine,
    (statement, bound): (&str, Params),
    buffered: usize,
    to: mpsc::Sender<T>,
    make: impl Fn(&Row) -> Option<T>,
) -> Result<(), StoreError> {
    let (sender, rows) = mpsc::channel(buffered);
    let reads = vec![StreamedRead::new(statement, bound, sender)];
    let (read, ()) = tokio::join!(engine.stream(reads), forward(rows, to, make));
    read
}
