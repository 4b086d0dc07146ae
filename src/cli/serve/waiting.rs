//! Waits at the start for a graph that cannot be reached yet.

use std::sync::Arc;

use muninn::config::Config;
use muninn::conversation::ledger::Ledger;
use muninn::graph::{self, GraphConfig, GraphStore, StoreError};
use muninn::wiring::{App, WiringError, wire_on};
use muninn_platform::{RetryBudget, UNREACHABLE_TIMEOUT, Warnings, in_one_line};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Assembles the bot once its graph can be reached; `None` if the process is to end before that.
///
/// # Errors
/// Fails like [`muninn::wiring::wire`].
pub(super) async fn wire(
    config: &Config,
    ledger: Ledger,
    shutdown: &CancellationToken,
) -> Result<Option<App>, WiringError> {
    let opening = open(&config.graph, shutdown);
    match wire_on(config, ledger, opening).await {
        Err(WiringError::Store(error)) if error.is_transient() && shutdown.is_cancelled() => {
            tracing::info!("ended before the graph could be reached");
            Ok(None)
        }
        wired => wired.map(Some),
    }
}

/// Opens the graph. After a reboot its server may need longer than a service manager starts the bot
/// again, so a server that is away is waited for as long as a platform that is.
///
/// # Errors
/// Fails like [`graph::open`]: at once if waiting does not help; with the last attempt's error if
/// the server is away for too long, or if the process is to end.
async fn open(
    config: &GraphConfig,
    shutdown: &CancellationToken,
) -> Result<Arc<GraphStore>, StoreError> {
    let mut budget = RetryBudget::new(UNREACHABLE_TIMEOUT);
    let mut warnings = Warnings::default();
    let began = Instant::now();
    loop {
        let error = match graph::open(config).await {
            Err(error) if error.is_transient() => error,
            opened => return opened,
        };
        let Some(pause) = budget.pause() else {
            return Err(error);
        };
        if warnings.is_due(began.elapsed()) {
            tracing::warn!(
                error = in_one_line(&error),
                "the graph cannot be reached yet; it is tried again for up to 24 hours"
            );
        }
        tokio::select! {
            () = shutdown.cancelled() => return Err(error),
            () = sleep(pause) => {}
        }
    }
}
