//! `muninn web`: opens the pages, for the user of this machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock, Weak};

use anyhow::bail;
use async_trait::async_trait;
use muninn::config::{Config, PublicAddress};
use muninn::conversation::audit::Audit;
use muninn::conversation::pages::Invites;
#[cfg(feature = "terminal")]
use muninn::graph::accounts::Account;
use muninn::web::access::Viewer;
use muninn::web::{self, Operating, PageData, PartFinding, RecentErrors, SettingsChanges, Web};
use muninn::wiring::App;
use muninn::wiring::reloading::Reloading;
use tokio::signal::unix::SignalKind;
use tokio_util::sync::CancellationToken;

use super::access_points::SharedAccess;
use super::args::platforms::PlatformArgs;
use super::args::web::WebArgs;
use super::context::Context;
use super::doctor;
use super::exit::Exit;
use super::freshness::freshness;
use super::live_settings::Environment;
use super::own_bot::{OwnBot, with_own_bot};
use super::serve::signals::on_signal;

impl WebArgs {
    /// Adds what only this process knows: the user.
    #[cfg(feature = "terminal")]
    pub(super) fn complete(self) -> Self {
        Self {
            person: muninn_terminal::os_user(),
            ..self
        }
    }

    fn viewer(self) -> anyhow::Result<Viewer> {
        #[cfg(feature = "terminal")]
        if !self.admin {
            let author = muninn_terminal::author(&self.person);
            return Ok(Viewer::Person(Account {
                id: author.id,
                platform: "terminal".to_owned(),
                name: author.name,
            }));
        }
        #[cfg(not(feature = "terminal"))]
        if !self.admin {
            bail!("this muninn was built without terminals; give --admin to see everything");
        }
        Ok(Viewer::Operator)
    }
}

/// Prints the link to the pages of the running bot.
pub(super) async fn run(at: &Context, args: WebArgs) -> anyhow::Result<Exit> {
    let Some(running) = &at.running else {
        bail!("no bot runs here");
    };
    let Some(web) = &running.web else {
        bail!("the bot that runs has no pages; set WEB_ADDR=127.0.0.1:8088 and start it again");
    };
    at.out.say(&invitation(web, args.viewer()?)).await
}

/// Serves the pages of a bot of its own until it is ended.
pub(super) async fn alone(
    at: &Context,
    args: WebArgs,
    environment: Environment,
) -> anyhow::Result<Exit> {
    let viewer = args.viewer()?;
    let shutdown = on_signal(&[SignalKind::terminate(), SignalKind::interrupt()])?;
    let mut config = at.config.clone();
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    config.web.get_or_insert(PublicAddress {
        address: anywhere,
        url: config.web_url.clone(),
        settings: ("WEB_ADDR", "WEB_URL"),
    });
    let used = with_own_bot(&config, environment, async |own: OwnBot| {
        if let Some(web) = &own.web {
            let invitation = invitation(web, viewer);
            at.out
                .say(&format!("{invitation}\nStop with Ctrl-C."))
                .await?;
        }
        shutdown.cancelled().await;
        Ok(Exit::SUCCESS)
    });
    Box::pin(used).await?
}

/// The process behind the pages.
pub(super) struct ThisProcess {
    pub(super) config: Config,
    /// `None` if no platform is connected.
    pub(super) platforms: Option<PlatformArgs>,
    pub(super) reloading: Arc<Reloading>,
}

#[async_trait]
impl Operating for ThisProcess {
    async fn findings(&self) -> Vec<PartFinding> {
        let at = Context::here(self.config.clone());
        let found = Box::pin(doctor::findings(&at, self.platforms.as_ref())).await;
        found.into_iter().map(PartFinding::from).collect()
    }

    async fn stale_sources(&self) -> Vec<(String, String)> {
        let all = freshness(&self.config).await.unwrap_or_default();
        let stale = all.into_iter().map(|it| (it.configured.name, it.lag));
        stale.filter_map(|(name, lag)| Some((name, lag?))).collect()
    }

    fn read_again(&self) {
        self.reloading.ask();
    }

    fn changes(&self) -> SettingsChanges {
        let read = self.reloading.settings_read();
        let mut problems = read.problems;
        problems.extend(self.reloading.problem());
        SettingsChanges {
            used: read.used,
            waiting: read.waiting,
            problems,
        }
    }
}

/// Returns the errors of this process, which its log keeps for the pages.
pub(super) fn logged_errors() -> RecentErrors {
    static ERRORS: OnceLock<RecentErrors> = OnceLock::new();
    ERRORS.get_or_init(RecentErrors::default).clone()
}

fn invitation(web: &Web, viewer: Viewer) -> String {
    let link = web.link(viewer);
    format!("Open this link within five minutes; it works once:\n{link}")
}

/// Returns the pages of a bot, if configured. They are served as long as the bot runs.
pub(super) async fn beside(
    here: ThisProcess,
    app: &App,
    shared: &SharedAccess,
    shutdown: &CancellationToken,
) -> anyhow::Result<Option<Arc<Web>>> {
    let config = here.config.clone();
    let Some(at) = &config.web else {
        return Ok(None);
    };
    let data = PageData {
        store: Arc::clone(&app.store),
        recaller: Arc::clone(&app.recaller),
        searcher: Arc::clone(&app.searcher),
        archive: Arc::clone(&app.archive),
        operating: Arc::new(here),
        errors: logged_errors(),
        channels: Arc::clone(&config.channels),
        audit: Audit::new(&config.data_dir),
        exports: app.bot.exports(),
        folder: config.data_dir.clone(),
    };
    let (readable, bot_connection) = (shared.readable.clone(), Arc::clone(&shared.bot_connection));
    let web = web::serve(at, data, readable, bot_connection, shutdown.clone()).await?;
    let invites = Arc::downgrade(&web) as Weak<dyn Invites>;
    app.bot.set_pages(invites);
    tracing::info!("serving the pages; `muninn web` prints a link");
    Ok(Some(web))
}
