//! Waits for tasks.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// Returns the result of a task. A panic of the task is resumed here.
///
/// A runtime that shuts down cancels tasks that have not begun; whoever waits for them ends with
/// the runtime.
pub async fn join_task<T>(task: JoinHandle<T>) -> T {
    match task.await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_cancelled) => std::future::pending().await,
    }
}

/// Waits at the end for background tasks, at most this long. Returns whether all of them are done.
pub async fn end_tasks(tasks: &TaskTracker, within: Duration) -> bool {
    tasks.close();
    timeout(within, tasks.wait()).await.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn tasks_are_waited_for_only_so_long() {
        let within = Duration::from_secs(20);
        let tasks = TaskTracker::new();
        tasks.spawn(std::future::ready(()));
        assert!(end_tasks(&tasks, within).await);
        let stuck = tasks.spawn(std::future::pending::<()>());
        assert!(!end_tasks(&tasks, within).await);
        stuck.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_what_is_cancelled_waits_until_the_end() {
        let task = tokio::spawn(std::future::pending::<()>());
        task.abort();
        let waited = tokio::time::timeout(Duration::from_secs(60), join_task(task)).await;
        assert!(waited.is_err());
    }

    #[tokio::test]
    #[should_panic(expected = "of the task")]
    async fn a_panic_goes_on() {
        join_task(tokio::spawn(async { panic!("of the task") })).await;
    }
}
