//! `muninn serve`.

use std::process::ExitCode;

use anyhow::bail;
use muninn::config::Config;
use muninn::http;
use muninn::ledger::Ledger;
use muninn::wiring::{Wired, wire};
use muninn_platform::{Inbox, PlatformError};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::platforms;

/// Runs every platform that is configured, until a signal or until one of them is lost.
pub(super) async fn run(config: &Config) -> anyhow::Result<ExitCode> {
    let platforms = platforms::configured(config)?;
    if platforms.is_empty() {
        bail!(
            "no platform is configured; set SLACK_BOT_TOKEN for Slack, DISCORD_TOKEN for Discord, MATRIX_HOMESERVER and MATRIX_USER for Matrix, or TERMINAL_SOCKET to a path to let terminals in"
        );
    }
    let metrics = http::record()?;
    // Before the graph is opened: who is told to end meanwhile still closes it.
    let shutdown = on_signal(&[
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ])?;
    let mut ledger = Ledger::open(&config.data_dir)?;
    let left_over = ledger.take_left_over();
    if !left_over.is_empty() {
        tracing::info!(
            messages = left_over.len(),
            "were accepted before and not answered"
        );
    }
    let Wired {
        bot,
        store,
        archive,
    } = wire(config, ledger).await?;
    if let Some(address) = config.http_addr {
        let address = http::serve(address, metrics, archive, shutdown.clone()).await?;
        tracing::info!(%address, "serving /healthz and /metrics");
    }

    let (inbox, received) = Inbox::with_left_over(config.admission.inbox_size, left_over);
    let mut running: JoinSet<Result<(), PlatformError>> = JoinSet::new();
    for platform in platforms {
        tracing::info!(platform = platform.name(), "serving");
        let (inbox, shutdown) = (inbox.clone(), shutdown.clone());
        running.spawn(async move { platform.run(inbox, shutdown).await });
    }
    drop(inbox);
    // The inbox closes when the last platform has ended, so nothing that came in is left.
    let serving = tokio::spawn(bot.run(received, CancellationToken::new()));
    let mut lost = Ok(());
    while let Some(ended) = running.join_next().await {
        lost = lost.and(ended?);
        shutdown.cancel();
    }
    serving.await?;
    store.close().await?;
    lost?;
    tracing::info!("ended");
    Ok(ExitCode::SUCCESS)
}

/// Cancelled at any of these signals.
pub(super) fn on_signal(kinds: &[SignalKind]) -> anyhow::Result<CancellationToken> {
    let shutdown = CancellationToken::new();
    for kind in kinds {
        let (mut signals, shutdown) = (signal(*kind)?, shutdown.clone());
        tokio::spawn(async move {
            if signals.recv().await.is_some() {
                tracing::info!("ending: turns under way are finished first");
                shutdown.cancel();
            }
        });
    }
    Ok(shutdown)
}
