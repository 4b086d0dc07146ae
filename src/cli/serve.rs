//! `muninn serve`.

mod ending;
pub(super) mod signals;
mod waiting;

use std::sync::Arc;

use anyhow::bail;
use futures::future::BoxFuture;
use muninn::config::Config;
use muninn::conversation::backfill::Backfills;
use muninn::conversation::bot::Bot;
use muninn::conversation::ledger::Ledger;
#[cfg(feature = "http")]
use muninn::http;
use muninn::wiring::reloading::{FileSnapshot, Reloading};
use muninn_platform::{Arrivals, Inbox, IncomingMessage, Platform};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::ending::{Serving, Tasks, Time};
use self::signals::{Signals, ask_at_each};
use super::access_points::{AccessPointContext, AccessPoints};
use super::admin;
use super::args::platforms::PlatformArgs;
use super::context::RunningProcess;
use super::data_owner::refuse_root_to_serve;
use super::exit::Exit;
use super::live_settings::{Environment, LiveSettings};
#[cfg(feature = "mcp")]
use super::mcp;
use super::missing_feature::missing_feature;
use super::platforms;
use super::platforms::Registries;
use super::refresh;

/// Runs every configured platform, until a signal or until one of them is lost.
pub(super) async fn run(
    config: &Config,
    args: &PlatformArgs,
    environment: Environment,
) -> anyhow::Result<Exit> {
    refuse_root_to_serve(config)?;
    let registries = Registries::default();
    let (platforms, allow_lists) = platforms::configured(config, args, &registries)?;
    if platforms.is_empty() {
        bail!(
            "no platform is configured; set SLACK_BOT_TOKEN for Slack, DISCORD_TOKEN for Discord, MATRIX_HOMESERVER and MATRIX_USER for Matrix, WEBHOOK_ADDR for programs of your own, or TERMINAL_SOCKET to a path to let terminals in"
        );
    }
    refuse_what_is_not_built(config)?;
    #[cfg(feature = "http")]
    let metrics = http::record()?;
    // Before the graph is opened, so that a signal meanwhile still closes it.
    let Signals { shutdown, hangups } = Signals::listen()?;
    #[cfg(feature = "http")]
    tokio::spawn(http::keep_small(metrics.clone(), shutdown.clone()));
    // What is edited while the graph is opened is read after it.
    let settings = Arc::new(LiveSettings::new(environment, allow_lists, config));
    let folder = config.prompts_dir.as_deref();
    let at_start = FileSnapshot::look(folder, &*settings, &config.mcp_file.path);
    let (ledger, left_over) = open_ledger(config)?;
    let Some(app) = waiting::wire(config, ledger, &shutdown).await? else {
        return Ok(Exit::SUCCESS);
    };
    let (reloading, _reloads) = Reloading::start(folder, settings, at_start, &app);
    if let Some(hangups) = hangups {
        ask_at_each(hangups, &reloading);
    }
    #[cfg(feature = "http")]
    if let Some(address) = config.http_addr {
        let archive = Arc::clone(&app.archive);
        http::serve(address, metrics, archive, shutdown.clone()).await?;
    }
    let (inbox, received) = Inbox::with_left_over(config.admission.inbox_size, left_over);
    let inbox = inbox
        .with_shared(app.store.is_shared())
        .with_heard_audiences(app.heard.clone());
    let _terminals = platforms::terminals_tell(&registries.memberships);
    let behind = AccessPointContext {
        app: &app,
        inbox: &inbox,
        memberships: &registries.memberships,
        reloading: &reloading,
        platforms: Some(args),
    };
    let access_points = AccessPoints::open(config, behind, &shutdown).await?;
    let folder = config.data_dir.join("backfills");
    let backfills = Backfills::new(&folder, app.heard.clone(), registries.histories);
    let bot = Arc::clone(&app.bot);
    let running = RunningProcess::of(config, app, reloading, backfills, inbox, access_points);
    serve(platforms, running, bot, received, shutdown).await
}

/// Serves the platforms until all is finished, or time is up, and closes the graph.
async fn serve(
    platforms: Vec<Box<dyn Platform>>,
    running: RunningProcess,
    bot: Arc<Bot>,
    received: Arrivals,
    shutdown: CancellationToken,
) -> anyhow::Result<Exit> {
    let (store, shutdown_timeout) = (Arc::clone(&running.store), running.config.shutdown_timeout);
    bot.set_backfills(Arc::clone(&running.backfills));
    let left_over = running.inbox.left_over();
    let mut names: Vec<String> = platforms.iter().map(|it| it.name().to_owned()).collect();
    let unheard = unheard(&mut names, &running.inbox, &shutdown);
    bot.register_process(&names, &left_over).await;
    let mut tasks = Tasks::default();
    for platform in platforms {
        tasks.serve(platform, &running.inbox, &shutdown);
    }
    // Nothing waits for it: the platforms are already served.
    if let Ok(Some(outgrown)) = store.outgrown().await {
        tracing::warn!(%outgrown, "the embedded graph is large");
    }
    running.backfills.resume_all();
    tasks.run({
        let (backfills, shutdown) = (Arc::clone(&running.backfills), shutdown.clone());
        async move {
            shutdown.cancelled().await;
            backfills.end().await;
        }
    });
    for answering in unheard {
        tasks.run(answering);
    }
    let refreshing = serve_commands(running, &mut tasks, &shutdown);
    let is_done = CancellationToken::new();
    let looking_after = tokio::spawn({
        let (bot, is_done) = (Arc::clone(&bot), is_done.clone());
        async move { bot.keep_leases(&names, &left_over, is_done).await }
    });
    // The inbox closes when the last platform has ended, so that nothing in it is lost.
    let serving = tokio::spawn(Arc::clone(&bot).run(received, CancellationToken::new()));
    let time = Time::from(&shutdown, shutdown_timeout);
    let served = Serving {
        bot,
        tasks,
        serving,
    };
    let lost = served.wait_until_ended(&shutdown, &time).await?;
    is_done.cancel();
    // It has ended by itself, unless it is in the middle of something, which continues at the next
    // start.
    refreshing.abort();
    time.close_graph(&store, looking_after).await?;
    lost?;
    tracing::info!("ended");
    Ok(Exit::SUCCESS)
}

/// Answers, to nobody, messages that an earlier process accepted and that no platform redelivers.
/// Adds their sources to `names`.
#[cfg_attr(
    not(any(feature = "mcp", feature = "terminal")),
    expect(
        unused_variables,
        clippy::ptr_arg,
        reason = "everything comes from a platform"
    )
)]
fn unheard(
    names: &mut Vec<String>,
    inbox: &Inbox,
    shutdown: &CancellationToken,
) -> Vec<BoxFuture<'static, ()>> {
    Vec::from([
        #[cfg(feature = "terminal")]
        futures::FutureExt::boxed(super::chat::unheard(names, inbox, shutdown)),
        #[cfg(feature = "mcp")]
        futures::FutureExt::boxed(mcp::unheard(names, inbox, shutdown)),
    ])
}

/// Serves commands, and refreshes the sources.
fn serve_commands(
    running: RunningProcess,
    tasks: &mut Tasks,
    shutdown: &CancellationToken,
) -> JoinHandle<()> {
    // It holds the inbox open, so nothing here may keep it.
    let running = Arc::new(running);
    let refreshing = refresh::keep_fresh(Arc::clone(&running), shutdown.clone());
    if let Some(admin) = admin::listen(&running) {
        tasks.run(admin.run(shutdown.clone()));
    }
    tokio::spawn(refreshing)
}

/// Refuses settings that this program was built without.
fn refuse_what_is_not_built(config: &Config) -> anyhow::Result<()> {
    for (is_set, is_built, setting, feature) in [
        (
            config.http_addr.is_some(),
            cfg!(feature = "http"),
            "HTTP_ADDR",
            "http",
        ),
        (
            config.web.is_some(),
            cfg!(feature = "web"),
            "WEB_ADDR",
            "web",
        ),
        (
            config.mcp.is_some(),
            cfg!(feature = "mcp"),
            "MCP_ADDR",
            "mcp",
        ),
    ] {
        if is_set && !is_built {
            bail!(missing_feature(setting, feature));
        }
    }
    Ok(())
}

/// Opens the ledger, with what an earlier process accepted and did not answer.
fn open_ledger(config: &Config) -> anyhow::Result<(Ledger, Vec<IncomingMessage>)> {
    let mut ledger = Ledger::open(&config.data_dir)?;
    let left_over = ledger.take_left_over();
    if !left_over.is_empty() {
        tracing::info!(
            messages = left_over.len(),
            "were accepted before and not answered"
        );
    }
    Ok((ledger, left_over))
}
