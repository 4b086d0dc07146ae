//! The parts of `muninn serve` in a runtime of their own on one thread: dropping it drops every
//! task at its current await.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clap::Parser;
use muninn::config::{Config, Options};
use muninn::conversation::ledger::Ledger;
use muninn::wiring::{App, wire};
use muninn_platform::{Inbox, Platform as _};
use muninn_webhook::Webhook;
use secrecy::SecretString;
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::{Log, STARTING};

/// A process that was just killed may still hold the graph.
const TO_LET_GO: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(super) struct InProcess {
    /// Runs all its tasks.
    thread: JoinHandle<()>,
    killed: CancellationToken,
    shutdown: CancellationToken,
    has_ended: CancellationToken,
}

impl InProcess {
    pub(super) fn start(data_dir: &Path, settings: &[(&'static str, String)], log: Log) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = config(data_dir, settings);
        let options = webhook(settings);
        let subscriber = subscriber(log);
        let of_threads = subscriber.clone();
        let runtime = Builder::new_current_thread()
            .enable_all()
            .on_thread_start(move || {
                let logs = tracing::dispatcher::set_default(&of_threads);
                // It lives as long as the thread.
                std::mem::forget(logs);
            })
            .build()
            .unwrap();
        let [killed, shutdown, has_ended] = [(); 3].map(|()| CancellationToken::new());
        let (kill, told, ended) = (killed.clone(), shutdown.clone(), has_ended.clone());
        let thread = thread::spawn(move || {
            let _logs = tracing::dispatcher::set_default(&subscriber);
            // No program holds the locks of a bot that was killed before.
            drop(STARTING.lock());
            // The thread stops running tasks when it is killed: otherwise a task would see its
            // futures cancelled, which never happens in a killed process.
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = kill.cancelled() => {}
                    () = serve(config, options, told) => {}
                }
            });
            runtime.shutdown_timeout(TO_LET_GO);
            ended.cancel();
        });
        Self {
            thread,
            killed,
            shutdown,
            has_ended,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.is_cancelled()
    }

    pub(super) async fn kill(self) {
        self.killed.cancel();
        let thread = self.thread;
        let killed = tokio::task::spawn_blocking(move || thread.join());
        killed.await.unwrap().unwrap();
    }

    pub(super) async fn end(self, within: Duration) -> Result<(), String> {
        self.shutdown.cancel();
        let ended = tokio::time::timeout(within, self.has_ended.cancelled()).await;
        let ended = ended.map_err(|_| format!("it did not end in {within:?}"));
        self.kill().await;
        ended
    }
}

fn config(data_dir: &Path, settings: &[(&'static str, String)]) -> Config {
    #[derive(Parser)]
    struct SimulatorCommandLine {
        #[command(flatten)]
        options: Options,
    }
    let mut line = vec![
        "simulator".to_owned(),
        format!("--data-dir={}", data_dir.display()),
    ];
    let own = settings
        .iter()
        .filter(|(name, _)| !name.starts_with("WEBHOOK_"));
    line.extend(own.map(|(name, value)| {
        let name = name.to_lowercase().replace('_', "-");
        format!("--{name}={value}")
    }));
    SimulatorCommandLine::parse_from(line)
        .options
        .into_config()
        .unwrap()
}

fn webhook(settings: &[(&'static str, String)]) -> muninn_webhook::WebhookOptions {
    let set = |wanted| {
        let mut found = settings.iter().filter(|(name, _)| *name == wanted);
        found.next().expect("it is set").1.clone()
    };
    let address: SocketAddr = set("WEBHOOK_ADDR").parse().unwrap();
    muninn_webhook::WebhookOptions {
        address,
        secret: SecretString::from(set("WEBHOOK_SECRET")),
        answer_url: set("WEBHOOK_ANSWER_URL").parse().unwrap(),
    }
}

/// Like `muninn serve`, with the webhook alone. An error at the start ends it.
async fn serve(
    config: Config,
    options: muninn_webhook::WebhookOptions,
    shutdown: CancellationToken,
) {
    let begun = async {
        loop {
            let Ok(mut ledger) = Ledger::open(&config.data_dir) else {
                return None;
            };
            let left_over = ledger.take_left_over();
            match wire(&config, ledger).await {
                Ok(app) => return Some((app, left_over)),
                Err(error) => tracing::warn!(%error, "not yet"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let begun = tokio::time::timeout(TO_LET_GO, begun).await;
    let Ok(Some((app, left_over))) = begun else {
        return;
    };
    let App {
        bot,
        store,
        heard,
        archive: _,
        mcp_servers: _,
        recaller: _,
        searcher: _,
    } = app;
    let (inbox, received) = Inbox::with_left_over(config.admission.inbox_size, left_over);
    let inbox = inbox
        .with_shared(store.is_shared())
        .with_heard_audiences(heard);
    let left_over = inbox.left_over();
    let names = ["webhook".to_owned()];
    bot.register_process(&names, &left_over).await;
    let platform = tokio::spawn({
        let shutdown = shutdown.clone();
        async move { Webhook::new(options).run(inbox, shutdown).await }
    });
    let is_done = CancellationToken::new();
    let looking_after = tokio::spawn({
        let (bot, is_done) = (Arc::clone(&bot), is_done.clone());
        async move { bot.keep_leases(&names, &left_over, is_done).await }
    });
    let mut serving = tokio::spawn(Arc::clone(&bot).run(received, CancellationToken::new()));
    let _ = platform.await;
    if tokio::time::timeout(config.shutdown_timeout.mul_f64(0.6), &mut serving)
        .await
        .is_err()
    {
        bot.halt();
        let _ = tokio::time::timeout(config.shutdown_timeout, serving).await;
    }
    is_done.cancel();
    let _ = looking_after.await;
    if let Err(error) = store.close().await {
        tracing::warn!(%error, "the graph could not be closed");
    }
}

/// Writes events on the threads of one process to its log.
fn subscriber(log: Log) -> tracing::Dispatch {
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_env_filter("warn,muninn=debug")
        .with_writer(move || LogWriter(log.clone()))
        .finish();
    tracing::Dispatch::new(subscriber)
}

struct LogWriter(Log);

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
