//! Tasks that somebody waits for.

use tokio::task::JoinHandle;

/// What came of a task. A panic of it goes on here.
pub async fn joined<T>(task: JoinHandle<T>) -> T {
    let done = task.await;
    done.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
