//! The signals that end a process, or have it read its files again.

use std::io::IsTerminal as _;
use std::sync::Arc;

use muninn::wiring::reloading::Reloading;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// What this process is told from outside.
pub(super) struct Signals {
    /// Cancelled when it is to end.
    pub(super) shutdown: CancellationToken,
    /// It is to read its files again at each.
    pub(super) hangups: Option<Signal>,
}

impl Signals {
    pub(super) fn listen() -> anyhow::Result<Self> {
        let mut ending = vec![SignalKind::terminate(), SignalKind::interrupt()];
        // A terminal that is closed takes it along; a service is told so to read its files again.
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

/// Has prompts and tools read again at each of these signals.
pub(super) fn ask_at_each(mut signals: Signal, reloading: &Arc<Reloading>) {
    let reloading = Arc::clone(reloading);
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            reloading.ask();
        }
    });
}

/// Cancelled at the first of these signals; the second ends the process.
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
    // As a shell says that a signal ended a program.
    std::process::exit(128 + signal)
}
