//! `muninn serve`.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use muninn::config::Config;
use muninn::conversation::backfill::Backfills;
use muninn::conversation::bot::Bot;
use muninn::conversation::ledger::Ledger;
#[cfg(feature = "http")]
use muninn::http;
use muninn::reloading::Reloading;
use muninn::wiring::{Wired, wire};
use muninn_platform::{Inbox, PlatformError};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::OnceCell;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::admin;
use super::context::Running;
#[cfg(any(feature = "mcp", feature = "web"))]
use super::doors::Doors;
use super::live_settings::{Environment, LiveSettings};
#[cfg(feature = "mcp")]
use super::mcp;
use super::output::Exit;
use super::platforms::{self, PlatformArgs, Registries};
use super::refresh;
#[cfg(feature = "web")]
use super::web;

/// Why something cannot be served that is set.
pub(super) fn missing_feature(setting: &str, feature: &str) -> String {
    format!(
        "{setting} is set, and this muninn was built without the cargo feature `{feature}`; build it with `--features {feature}`, or leave {setting} out"
    )
}

/// Runs every platform that is configured, until a signal or until one of them is lost.
pub(super) async fn run(
    config: &Config,
    args: &PlatformArgs,
    environment: Environment,
) -> anyhow::Result<Exit> {
    let registries = Registries::default();
    let (platforms, allow_lists) = platforms::configured(config, args, &registries)?;
    if platforms.is_empty() {
        bail!(
            "no platform is configured; set SLACK_BOT_TOKEN for Slack, DISCORD_TOKEN for Discord, MATRIX_HOMESERVER and MATRIX_USER for Matrix, WEBHOOK_ADDR for programs of your own, or TERMINAL_SOCKET to a path to let terminals in"
        );
    }
    #[cfg(feature = "http")]
    let metrics = http::record()?;
    #[cfg(not(feature = "http"))]
    if config.http_addr.is_some() {
        bail!(missing_feature("HTTP_ADDR", "http"));
    }
    #[cfg(not(feature = "web"))]
    if config.web.is_some() {
        bail!(missing_feature("WEB_ADDR", "web"));
    }
    #[cfg(not(feature = "mcp"))]
    if config.mcp.is_some() {
        bail!(missing_feature("MCP_ADDR", "mcp"));
    }
    // Before the graph is opened: who is told to end meanwhile still closes it.
    let mut ending = vec![SignalKind::terminate(), SignalKind::interrupt()];
    // A terminal that is closed takes it along; a service is told so to read its files again.
    let is_service = !std::io::stderr().is_terminal();
    if !is_service {
        ending.push(SignalKind::hangup());
    }
    let shutdown = on_signal(&ending)?;
    let hangups = match is_service {
        true => Some(signal(SignalKind::hangup())?),
        false => None,
    };
    let mut ledger = Ledger::open(&config.data_dir)?;
    let left_over = ledger.take_left_over();
    if !left_over.is_empty() {
        tracing::info!(
            messages = left_over.len(),
            "were accepted before and not answered"
        );
    }
    let wired = wire(config, ledger).await?;
    let settings = Arc::new(LiveSettings::new(environment, allow_lists, config));
    let (reloading, _reloads) = Reloading::start(config.prompts_dir.as_deref(), settings, &wired);
    if let Some(hangups) = hangups {
        ask_at_each(hangups, &reloading);
    }
    #[cfg(feature = "http")]
    if let Some(address) = config.http_addr {
        let archive = Arc::clone(&wired.archive);
        let address = http::serve(address, metrics, archive, shutdown.clone()).await?;
        tracing::info!(%address, "serving /healthz and /metrics");
    }
    let (inbox, received) = Inbox::with_left_over(config.admission.inbox_size, left_over);
    let inbox = inbox.shared(wired.store.is_shared());
    let inbox = inbox.hearing(wired.heard.clone());
    let _terminals = platforms::terminals_tell(&registries.memberships);
    #[cfg(any(feature = "mcp", feature = "web"))]
    let doors = Doors::of(&wired, &inbox, &registries.memberships);
    #[cfg(feature = "mcp")]
    let mcp = mcp::beside(config, &wired, &doors, &shutdown).await?;
    #[cfg(feature = "web")]
    let here = web::ThisProcess {
        config: config.clone(),
        platforms: Some(args.clone()),
        reloading: Arc::clone(&reloading),
    };
    #[cfg(feature = "web")]
    let web = web::beside(here, &wired, &doors, &shutdown).await?;
    #[cfg(feature = "web")]
    if web.is_some() {
        tracing::info!("serving the pages; `muninn web` prints a link");
    }
    let Wired {
        bot,
        store,
        archive,
        recaller,
        searcher,
        mcp_servers,
        heard,
    } = wired;
    let folder = config.data_dir.join("backfills");
    let backfills = Backfills::new(&folder, heard, registries.histories);
    bot.reads_history_by(Arc::clone(&backfills));
    let left_over = inbox.left_over();
    let names: Vec<String> = platforms.iter().map(|it| it.name().to_owned()).collect();
    #[cfg(any(feature = "mcp", feature = "terminal"))]
    let mut names = names;
    #[cfg(feature = "terminal")]
    let unheard = super::chat::unheard(&mut names, &inbox, &shutdown);
    #[cfg(feature = "mcp")]
    let unheard_calls = mcp::unheard(&mut names, &inbox, &shutdown);
    bot.sign_in(&names, &left_over).await;
    let mut running: JoinSet<Result<(), PlatformError>> = JoinSet::new();
    for platform in platforms {
        tracing::info!(platform = platform.name(), "serving");
        let (inbox, shutdown) = (inbox.clone(), shutdown.clone());
        running.spawn(async move { platform.run(inbox, shutdown).await });
    }
    // Nobody waits for it: the platforms are served.
    if let Ok(Some(outgrown)) = store.outgrown().await {
        tracing::warn!(%outgrown, "the embedded graph is large");
    }
    backfills.go_on();
    running.spawn({
        let (backfills, shutdown) = (Arc::clone(&backfills), shutdown.clone());
        async move {
            shutdown.cancelled().await;
            backfills.end().await;
            Ok(())
        }
    });
    #[cfg(feature = "terminal")]
    running.spawn(async move {
        unheard.await;
        Ok(())
    });
    #[cfg(feature = "mcp")]
    running.spawn(async move {
        unheard_calls.await;
        Ok(())
    });
    let as_commands_see = Arc::new(Running {
        config: config.clone(),
        store: Arc::clone(&store),
        archive,
        recaller,
        searcher,
        mcp_servers,
        reloading,
        backfills,
        inbox,
        #[cfg(feature = "mcp")]
        mcp,
        #[cfg(feature = "web")]
        web,
    });
    let refreshing = tokio::spawn(refresh::keep_fresh(
        Arc::clone(&as_commands_see),
        shutdown.clone(),
    ));
    let admin = admin::listen(&as_commands_see);
    // It has a way into the inbox, which would never close.
    drop(as_commands_see);
    if let Some(admin) = admin {
        let shutdown = shutdown.clone();
        running.spawn(async move {
            admin.run(shutdown).await;
            Ok(())
        });
    }
    let is_done = CancellationToken::new();
    let looking_after = tokio::spawn({
        let (bot, is_done) = (Arc::clone(&bot), is_done.clone());
        async move { bot.look_after(&names, &left_over, is_done).await }
    });
    // The inbox closes when the last platform has ended, so nothing that came in is left.
    let serving = tokio::spawn(Arc::clone(&bot).run(received, CancellationToken::new()));
    let time = Time::from(&shutdown, config.shutdown_timeout);
    let served = Serving {
        bot,
        running,
        serving,
    };
    let lost = served.until_the_end(&shutdown, &time).await?;
    is_done.cancel();
    // It has ended by itself, unless it is in the middle of something; that goes on the next time.
    refreshing.abort();
    tokio::select! {
        _ = looking_after => {}
        () = time.part(TO_LET_GO) => tracing::warn!("the graph could not be told that this process ends"),
    }
    tokio::select! {
        closed = store.close() => closed?,
        () = time.part(1.0) => tracing::warn!("the graph could not be closed in time: it is put right at the next start"),
    }
    lost?;
    tracing::info!("ended");
    Ok(Exit::SUCCESS)
}

/// A bot at work on its platforms.
struct Serving {
    bot: Arc<Bot>,
    running: JoinSet<Result<(), PlatformError>>,
    serving: JoinHandle<()>,
}

impl Serving {
    /// Returns when all is finished, or time is up; gives what the platforms ended with.
    async fn until_the_end(
        mut self,
        shutdown: &CancellationToken,
        time: &Time,
    ) -> anyhow::Result<Result<(), PlatformError>> {
        let mut lost = Ok(());
        let ended = async {
            while let Some(ended) = self.running.join_next().await {
                let ended = ended?;
                if lost.is_ok() {
                    lost = ended;
                }
                shutdown.cancel();
            }
            (&mut self.serving).await?;
            anyhow::Ok(())
        };
        tokio::select! {
            ended = ended => {
                ended?;
                return Ok(lost);
            }
            () = time.part(TO_FINISH) => {}
        }
        tracing::warn!("ending: what is still under way is left to the next start");
        self.bot.halt();
        let cleaned_up = async {
            while self.running.join_next().await.is_some() {}
            (&mut self.serving).await
        };
        tokio::select! {
            _ = cleaned_up => {}
            () = time.part(TO_CLEAN_UP) => {}
        }
        self.running.abort_all();
        self.serving.abort();
        Ok(lost)
    }
}

/// What is under way may be finished in this part of the time there is for ending.
const TO_FINISH: f64 = 0.6;
/// What was begun is taken away in this part of it.
const TO_CLEAN_UP: f64 = 0.75;
/// The graph is told in this part of it.
const TO_LET_GO: f64 = 0.85;

/// The time there is for ending, from the moment somebody asks for that.
struct Time {
    ending: CancellationToken,
    began: OnceCell<Instant>,
    most: Duration,
}

impl Time {
    fn from(ending: &CancellationToken, most: Duration) -> Self {
        Self {
            ending: ending.clone(),
            began: OnceCell::new(),
            most,
        }
    }

    /// Over when that part of it is.
    async fn part(&self, part: f64) {
        let began = self.began.get_or_init(async || {
            self.ending.cancelled().await;
            Instant::now()
        });
        let over = *began.await + self.most.mul_f64(part);
        sleep_until(over).await;
    }
}

/// Has prompts and tools read again at each of these signals.
fn ask_at_each(mut signals: Signal, reloading: &Arc<Reloading>) {
    let reloading = Arc::clone(reloading);
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            reloading.ask();
        }
    });
}

/// Cancelled at the first of these signals; the second ends the process.
pub(super) fn on_signal(kinds: &[SignalKind]) -> anyhow::Result<CancellationToken> {
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
