//! Serves a chat whose terminal is another process.

use std::sync::Arc;

use futures::StreamExt as _;
use muninn_terminal::{Session, serve_remote};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Frame;
use super::connection::{ConnectionLines, FRAME_CAPACITY};
use crate::cli::context::RunningProcess;

/// Serves it until the terminal or the bot ends.
pub(super) async fn serve(
    session: &str,
    person: &str,
    mut lines: ConnectionLines,
    frames: mpsc::Sender<Frame>,
    running: &Arc<RunningProcess>,
    shutdown: &CancellationToken,
) {
    let session = match Session::new(session, person) {
        Ok(session) => session,
        Err(error) => {
            // A terminal that is gone does not need it.
            let _ = frames.send(Frame::Failed(error.to_string())).await;
            return;
        }
    };
    let (typing, typed) = mpsc::channel(FRAME_CAPACITY);
    let (told, mut telling) = mpsc::channel(FRAME_CAPACITY);
    let reading = tokio::spawn(async move {
        while let Some(Ok(line)) = lines.next().await {
            let Ok(typed) = serde_json::from_str(&line) else {
                tracing::warn!("a terminal said what no terminal says");
                return;
            };
            if typing.send(typed).await.is_err() {
                return;
            }
        }
    });
    let passing_on = tokio::spawn(async move {
        while let Some(said) = telling.recv().await {
            if frames.send(Frame::Told(said)).await.is_err() {
                return;
            }
        }
    });
    serve_remote(&session, &running.inbox, typed, told, shutdown).await;
    reading.abort();
    // It ends with the last reply that the bot holds; the connection does not wait longer than this
    // for it.
    let _ = tokio::time::timeout(super::connection::COMMAND_TIMEOUT, passing_on).await;
}
