//! Signals that end a process, or make it reload its files.

use std::io::IsTerminal as _;
use std::sync::Arc;

use muninn::wiring::reloading::Reloading;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The signals to this process.
pub(super) struct Signals {
    /// Cancelled when the process is to end.
    pub(super) shutdown: CancellationToken,
    /// Reload its files at each of these.
    pub(super) hangups: Option<Signal>,
}

impl Signals {
    pub(super) fn listen() -> anyhow::Result<Self> {
        let mut ending = vec![SignalKind::terminate(), SignalKind::interrupt()];
        // For a closed terminal it means the end; for a service, a reload.
        let is_service = !std::io::stderr().is_terminal();
        if !is_service {
            ending.push(SignalKind::hangup());
        }
        Ok(Self {
            shutdown: on_signal(&ending)?,
            hangups: is_service
                .then(|| signal(SignalKind::hangup()))
                .transpose()?,
        })
    }
}

/// Reloads prompts and tools at each of these signals.
pub(super) fn ask_at_each(mut signals: Signal, reloading: &Arc<Reloading>) {
    let reloading = Arc::clone(reloading);
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            reloading.ask();
        }
    });
}

/// Returns a token that is cancelled at the first of these signals; the second ends the process.
pub(in crate::cli) fn on_signal(kinds: &[SignalKind]) -> anyhow::Result<CancellationToken> {
    let shutdown = CancellationToken::new();
    for kind in kinds {
        let (mut signals, shutdown) = (signal(*kind)?, shutdown.clone());
        let number = kind.as_raw_value();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                if shutdown.is_cancelled() {
                    tracing::warn!("ended at once: what was under way is left to the next start");
                    end_at_once(number);
                }
                tracing::info!("ending: turns under way are finished first");
                shutdown.cancel();
            }
        });
    }
    Ok(shutdown)
}

#[expect(
    clippy::exit,
    reason = "whoever asks twice does not want to wait for what is under way"
)]
fn end_at_once(signal: i32) -> ! {
    // The exit code of shells for a program ended by a signal.
    std::process::exit(128 + signal)
}
