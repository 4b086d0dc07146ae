//! The platforms that this program was built with, as configured.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::bail;
use muninn::config::Config;
use muninn_platform::{
    Histories, Membership, Memberships, Platform, SelfCheckFinding, SettingsError,
};

use super::allow_lists::AllowLists;
use super::args::platforms::PlatformArgs;
#[cfg(feature = "terminal")]
use super::terminal_socket;

/// The registries in which platforms announce their abilities.
#[derive(Clone, Debug, Default)]
pub(super) struct Registries {
    pub(super) histories: Histories,
    pub(super) memberships: Memberships,
}

/// Registers the membership of terminals, while the result is kept.
#[cfg_attr(
    not(feature = "terminal"),
    expect(unused_variables, reason = "there are none")
)]
pub(super) fn terminals_tell(memberships: &Memberships) -> Option<Arc<dyn Membership>> {
    #[cfg(feature = "terminal")]
    {
        let membership: Arc<dyn Membership> = Arc::new(muninn_terminal::TerminalMembership);
        memberships.add("terminal", &membership);
        Some(membership)
    }
    #[cfg(not(feature = "terminal"))]
    None
}

#[cfg_attr(
    not(any(
        feature = "matrix",
        feature = "slack",
        feature = "discord",
        feature = "webhook"
    )),
    expect(
        clippy::unused_self,
        unused_variables,
        reason = "there is nothing to read"
    )
)]
impl PlatformArgs {
    #[cfg(feature = "matrix")]
    fn matrix(
        &self,
        config: &Config,
    ) -> Result<Option<muninn_matrix::MatrixOptions>, SettingsError> {
        let folder = config.data_dir.join("matrix");
        let channels = std::sync::Arc::clone(&config.channels);
        self.matrix.clone().options(folder, channels)
    }

    #[cfg(feature = "slack")]
    fn slack(&self, config: &Config) -> Result<Option<muninn_slack::SlackOptions>, SettingsError> {
        let channels = std::sync::Arc::clone(&config.channels);
        let options = self.slack.clone().options(channels)?;
        let missed = missed(config, "slack");
        Ok(options.map(|options| muninn_slack::SlackOptions { missed, ..options }))
    }

    #[cfg(feature = "discord")]
    fn discord(
        &self,
        config: &Config,
    ) -> Result<Option<muninn_discord::DiscordOptions>, SettingsError> {
        let channels = std::sync::Arc::clone(&config.channels);
        let options = self.discord.clone().options(channels)?;
        let missed = missed(config, "discord");
        Ok(options.map(|options| muninn_discord::DiscordOptions { missed, ..options }))
    }

    #[cfg(feature = "webhook")]
    fn webhook(&self) -> Result<Option<muninn_webhook::WebhookOptions>, SettingsError> {
        self.webhook.clone().options()
    }

    /// The addresses on which platforms listen, each with the platform and the setting. Invalid options are reported elsewhere.
    pub(super) fn listeners(
        &self,
        config: &Config,
    ) -> Vec<(&'static str, &'static str, SocketAddr)> {
        let all: Vec<Option<(&'static str, &'static str, SocketAddr)>> = Vec::from([
            #[cfg(feature = "slack")]
            match self.slack(config).ok().flatten().map(|it| it.entrance) {
                Some(muninn_slack::EventDelivery::Http { address, .. }) => {
                    Some(("slack", "SLACK_HTTP_ADDR", address))
                }
                Some(muninn_slack::EventDelivery::Socket { .. }) | None => None,
            },
            #[cfg(feature = "webhook")]
            self.webhook()
                .ok()
                .flatten()
                .map(|it| ("webhook", "WEBHOOK_ADDR", it.address)),
        ]);
        all.into_iter().flatten().collect()
    }

    /// Refuses inconsistent options, for every command. The content of allow lists matters to some
    /// commands only.
    ///
    /// # Errors
    /// Fails with the variable that has to change.
    pub(super) fn check(&self, config: &Config) -> Result<(), SettingsError> {
        let checked: Vec<Result<(), SettingsError>> = Vec::from([
            #[cfg(feature = "matrix")]
            self.matrix(config).map(drop),
            #[cfg(feature = "slack")]
            self.slack(config).map(drop),
            #[cfg(feature = "discord")]
            self.discord(config).map(drop),
            #[cfg(feature = "webhook")]
            self.webhook().map(drop),
        ]);
        let mut checked = checked.into_iter();
        let wrong = checked.find(|it| !matches!(it, Ok(()) | Err(SettingsError::Allow(_))));
        wrong.unwrap_or(Ok(()))
    }

    /// Names what `muninn serve` would connect to, in a few words each.
    pub(super) fn named(&self, config: &Config) -> Vec<String> {
        let terminal = config.terminal_socket.as_ref();
        let terminal = terminal.map(|path| format!("terminal at {}", path.display()));
        let others: Vec<Option<String>> = Vec::from([
            #[cfg(feature = "matrix")]
            named(self.matrix(config), "Matrix", |matrix| {
                format!("Matrix on {}", matrix.homeserver)
            }),
            #[cfg(feature = "slack")]
            named(self.slack(config), "Slack", |slack| match slack.entrance {
                muninn_slack::EventDelivery::Socket { .. } => "Slack over a socket".to_owned(),
                muninn_slack::EventDelivery::Http { address, .. } => {
                    format!("Slack's requests at {address}")
                }
            }),
            #[cfg(feature = "discord")]
            named(self.discord(config), "Discord", |_| "Discord".to_owned()),
            #[cfg(feature = "webhook")]
            named(self.webhook(), "webhook", |webhook| {
                format!("webhook at {}", webhook.address)
            }),
        ]);
        terminal
            .into_iter()
            .chain(others.into_iter().flatten())
            .collect()
    }
}

/// Returns where a platform stores until when it listened, and its handling of missed messages.
#[cfg(any(feature = "slack", feature = "discord"))]
fn missed(config: &Config, platform: &str) -> muninn_platform::Missed {
    muninn_platform::Missed {
        file: Some(config.data_dir.join(format!("{platform}-seen"))),
        age: config.missed_age,
    }
}

/// Returns a platform's name, also if its options are invalid, which is reported elsewhere.
#[cfg(any(
    feature = "matrix",
    feature = "slack",
    feature = "discord",
    feature = "webhook"
))]
fn named<O>(
    options: Result<Option<O>, SettingsError>,
    name: &str,
    describe: impl Fn(&O) -> String,
) -> Option<String> {
    match options {
        Ok(options) => options.as_ref().map(describe),
        Err(_) => Some(name.to_owned()),
    }
}

/// Returns every configured platform, ready to run, and the allow lists.
///
/// # Errors
/// Fails when a setting is invalid, or the program was built without its platform.
#[cfg_attr(
    not(any(
        feature = "matrix",
        feature = "slack",
        feature = "discord",
        feature = "webhook"
    )),
    expect(unused_variables, reason = "there is nothing to read")
)]
pub(super) fn configured(
    config: &Config,
    args: &PlatformArgs,
    registries: &Registries,
) -> anyhow::Result<(Vec<Box<dyn Platform>>, AllowLists)> {
    if let Some(name) = left_out(config).first() {
        bail!("{}", without(name));
    }
    #[cfg_attr(
        not(any(feature = "matrix", feature = "slack", feature = "discord")),
        expect(unused_mut, reason = "no platform has one")
    )]
    let mut allow_lists = AllowLists::default();
    let platforms: Vec<Option<Box<dyn Platform>>> = Vec::from([
        #[cfg(feature = "terminal")]
        terminal_socket::socket(config)?,
        #[cfg(feature = "matrix")]
        args.matrix(config)?.map(|it| {
            allow_lists.add(&it.allow);
            boxed(muninn_matrix::Matrix::new(muninn_matrix::MatrixOptions {
                histories: registries.histories.clone(),
                memberships: registries.memberships.clone(),
                ..it
            }))
        }),
        #[cfg(feature = "slack")]
        args.slack(config)?.map(|it| {
            allow_lists.add(&it.allow);
            boxed(muninn_slack::Slack::new(muninn_slack::SlackOptions {
                histories: registries.histories.clone(),
                memberships: registries.memberships.clone(),
                ..it
            }))
        }),
        #[cfg(feature = "discord")]
        args.discord(config)?.map(|it| {
            allow_lists.add(&it.allow);
            boxed(muninn_discord::Discord::new(
                muninn_discord::DiscordOptions {
                    histories: registries.histories.clone(),
                    memberships: registries.memberships.clone(),
                    ..it
                },
            ))
        }),
        #[cfg(feature = "webhook")]
        args.webhook()?
            .map(|it| boxed(muninn_webhook::Webhook::new(it))),
    ]);
    Ok((platforms.into_iter().flatten().collect(), allow_lists))
}

/// Returns what each configured platform reports about its account.
#[cfg_attr(
    not(any(
        feature = "matrix",
        feature = "slack",
        feature = "discord",
        feature = "webhook"
    )),
    expect(
        clippy::unused_async,
        unused_variables,
        reason = "there is nobody to be asked"
    )
)]
pub(super) async fn accounts(
    config: &Config,
    args: &PlatformArgs,
) -> Vec<(&'static str, SelfCheckFinding)> {
    let mut accounts: Vec<(&'static str, Vec<SelfCheckFinding>)> = Vec::from([
        #[cfg(feature = "matrix")]
        (
            "matrix",
            of_account(args.matrix(config), muninn_matrix::check).await,
        ),
        #[cfg(feature = "slack")]
        (
            "slack",
            of_account(args.slack(config), muninn_slack::check).await,
        ),
        #[cfg(feature = "discord")]
        (
            "discord",
            of_account(args.discord(config), muninn_discord::check).await,
        ),
        #[cfg(feature = "webhook")]
        (
            "webhook",
            of_account(args.webhook(), muninn_webhook::check).await,
        ),
    ]);
    let left_out = left_out(config).into_iter();
    accounts.extend(left_out.map(|name| (name, vec![SelfCheckFinding::error(without(name))])));
    let each = |(name, findings): (_, Vec<_>)| findings.into_iter().map(move |it| (name, it));
    accounts.into_iter().flat_map(each).collect()
}

#[cfg(any(
    feature = "matrix",
    feature = "slack",
    feature = "discord",
    feature = "webhook"
))]
fn boxed(platform: impl Platform + 'static) -> Box<dyn Platform> {
    Box::new(platform)
}

/// Returns the findings about an account: an error in its options, or else what its platform
/// reports.
#[cfg(any(
    feature = "matrix",
    feature = "slack",
    feature = "discord",
    feature = "webhook"
))]
async fn of_account<O>(
    options: Result<Option<O>, SettingsError>,
    check: impl AsyncFn(&O) -> Vec<SelfCheckFinding>,
) -> Vec<SelfCheckFinding> {
    match options {
        Ok(Some(options)) => check(&options).await,
        Ok(None) => Vec::new(),
        Err(error) => vec![SelfCheckFinding::error(error.to_string())],
    }
}

/// Returns configured platforms that the program was built without: it knows only the variable that
/// enables each of them.
fn left_out(config: &Config) -> Vec<&'static str> {
    let is_set = |name| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let platforms = [
        (
            cfg!(feature = "terminal"),
            config.terminal_socket.is_some(),
            "terminal",
        ),
        (
            cfg!(feature = "matrix"),
            is_set("MATRIX_HOMESERVER"),
            "matrix",
        ),
        (cfg!(feature = "slack"), is_set("SLACK_BOT_TOKEN"), "slack"),
        (
            cfg!(feature = "discord"),
            is_set("DISCORD_TOKEN"),
            "discord",
        ),
        (cfg!(feature = "webhook"), is_set("WEBHOOK_ADDR"), "webhook"),
    ];
    let left_out = platforms
        .into_iter()
        .filter(|(is_built, is_set, _)| *is_set && !is_built);
    left_out.map(|(_, _, name)| name).collect()
}

fn without(name: &str) -> String {
    format!(
        "{name} is configured, but this program was built without it; build it with `--features {name}`"
    )
}
