//! A command's own bot, if none is running; others may use it meanwhile.

use std::sync::Arc;
use std::time::Duration;

use muninn::config::Config;
use muninn::conversation::backfill::Backfills;
use muninn::conversation::ledger::Ledger;
use muninn::wiring::reloading::{FileSnapshot, Reloading};
use muninn::wiring::wire;
use muninn_platform::{HeardAudiences, Histories, Inbox, Memberships};
use tokio_util::sync::CancellationToken;

use super::access_points::{AccessPointContext, AccessPoints};
use super::admin;
use super::allow_lists::AllowLists;
use super::context::RunningProcess;
use super::data_owner::refuse_root;
use super::live_settings::{Environment, LiveSettings};
use super::platforms;
use super::refresh;

/// How long the end may take before the user is told what it waits for.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a command does with its bot.
pub(super) struct OwnBot {
    /// The bot ends when nothing holds this.
    #[cfg_attr(
        not(feature = "terminal"),
        expect(dead_code, reason = "nobody can ask from a terminal")
    )]
    pub(super) inbox: Inbox,
    #[cfg(feature = "mcp")]
    pub(super) mcp: Arc<muninn::mcp::Mcp>,
    #[cfg(feature = "web")]
    pub(super) web: Option<Arc<muninn::web::Web>>,
}

/// Runs a bot while `used` runs, and returns its result.
///
/// # Errors
/// Fails when the bot cannot start or end.
pub(super) async fn with_own_bot<T>(
    config: &Config,
    environment: Environment,
    used: impl AsyncFnOnce(OwnBot) -> T,
) -> anyhow::Result<T> {
    refuse_root(config)?;
    // The user owns the machine, and scripts have no rate limit.
    let mut config = config.clone();
    config.admission.messages_per_minute = u32::MAX;
    let config = &config;
    let settings = Arc::new(LiveSettings::new(
        environment,
        AllowLists::default(),
        config,
    ));
    let folder = config.prompts_dir.as_deref();
    let at_start = FileSnapshot::look(folder, &*settings, &config.mcp_file.path);
    let app = Box::pin(wire(config, Ledger::disabled())).await?;
    let (reloading, _reloads) = Reloading::start(folder, settings, at_start, &app);
    let (inbox, received) = Inbox::new(config.admission.inbox_size);
    let ending = CancellationToken::new();
    let memberships = Memberships::default();
    let _terminals = platforms::terminals_tell(&memberships);
    let behind = AccessPointContext {
        app: &app,
        inbox: &inbox,
        memberships: &memberships,
        reloading: &reloading,
        platforms: None,
    };
    let access_points = AccessPoints::open(config, behind, &ending).await?;
    let store = Arc::clone(&app.store);
    let serving = tokio::spawn(Arc::clone(&app.bot).run(received, CancellationToken::new()));
    let backfills = no_backfills(config);
    let running = RunningProcess::of(
        config,
        app,
        reloading,
        backfills,
        inbox.clone(),
        access_points,
    );
    let own = OwnBot {
        inbox,
        #[cfg(feature = "mcp")]
        mcp: Arc::clone(&running.mcp),
        #[cfg(feature = "web")]
        web: running.web.clone(),
    };
    let running = Arc::new(running);
    let refreshing = tokio::spawn(refresh::keep_fresh(Arc::clone(&running), ending.clone()));
    let admin = admin::listen(&running);
    drop(running);
    let commands = admin.map(|admin| tokio::spawn(admin.run(ending.clone())));
    let used = used(own).await;
    ending.cancel();
    refreshing.abort();
    let _ended = refreshing.await;
    if let Some(mut commands) = commands {
        match tokio::time::timeout(PATIENCE, &mut commands).await {
            Ok(ended) => ended?,
            Err(_) => {
                tell_that_it_waits();
                commands.await?;
            }
        }
    }
    serving.await?;
    store.close().await?;
    Ok(used)
}

#[expect(
    clippy::print_stderr,
    reason = "answers alone go to the output of a script"
)]
fn tell_that_it_waits() {
    eprintln!(
        "muninn: another terminal still uses this process; it ends when its answer is written"
    );
}

/// No connected platform has a history.
fn no_backfills(config: &Config) -> Arc<Backfills> {
    let folder = config.data_dir.join("backfills");
    Backfills::new(&folder, HeardAudiences::default(), Histories::default())
}
