//! The platforms this program was built with, as far as they are configured.

use anyhow::bail;
use muninn::config::Config;
use muninn_platform::{Finding, Platform, Verdict};

/// Every platform that is configured, ready to run.
///
/// # Errors
/// When something that is set for one makes no sense, or the program was built without it.
pub(super) fn configured(config: &Config) -> anyhow::Result<Vec<Box<dyn Platform>>> {
    if let Some(name) = left_out(config).first() {
        bail!("{}", without(name));
    }
    let platforms: Vec<Option<Box<dyn Platform>>> = Vec::from([
        #[cfg(feature = "terminal")]
        super::chat::socket(config)?,
        #[cfg(feature = "matrix")]
        super::matrix::options(config)?.map(|it| boxed(muninn_matrix::Matrix::new(it))),
        #[cfg(feature = "slack")]
        super::slack::options(config)?.map(|it| boxed(muninn_slack::Slack::new(it))),
        #[cfg(feature = "discord")]
        super::discord::options(config)?.map(|it| boxed(muninn_discord::Discord::new(it))),
    ]);
    Ok(platforms.into_iter().flatten().collect())
}

/// What each platform that is configured says of its account.
#[cfg_attr(
    not(any(feature = "matrix", feature = "slack", feature = "discord")),
    expect(clippy::unused_async, reason = "there is nobody to be asked")
)]
pub(super) async fn accounts(config: &Config) -> Vec<(&'static str, Finding)> {
    let mut accounts: Vec<(&'static str, Vec<Finding>)> = Vec::from([
        #[cfg(feature = "matrix")]
        (
            "matrix",
            of_account(super::matrix::options(config), muninn_matrix::check).await,
        ),
        #[cfg(feature = "slack")]
        (
            "slack",
            of_account(super::slack::options(config), muninn_slack::check).await,
        ),
        #[cfg(feature = "discord")]
        (
            "discord",
            of_account(super::discord::options(config), muninn_discord::check).await,
        ),
    ]);
    let left_out = left_out(config).into_iter();
    accounts.extend(left_out.map(|name| (name, vec![wrong(without(name))])));
    let each = |(name, findings): (_, Vec<_>)| findings.into_iter().map(move |it| (name, it));
    accounts.into_iter().flat_map(each).collect()
}

#[cfg(any(feature = "matrix", feature = "slack", feature = "discord"))]
fn boxed(platform: impl Platform + 'static) -> Box<dyn Platform> {
    Box::new(platform)
}

/// What is found of an account: that its options make no sense, or else what its platform says.
#[cfg(any(feature = "matrix", feature = "slack", feature = "discord"))]
async fn of_account<O>(
    options: anyhow::Result<Option<O>>,
    check: impl AsyncFn(&O) -> Vec<Finding>,
) -> Vec<Finding> {
    match options {
        Ok(Some(options)) => check(&options).await,
        Ok(None) => Vec::new(),
        Err(error) => vec![wrong(error.to_string())],
    }
}

fn wrong(text: String) -> Finding {
    Finding {
        verdict: Verdict::Error,
        text,
    }
}

/// Platforms that are configured, but that the program was built without.
fn left_out(config: &Config) -> Vec<&'static str> {
    let platforms = [
        (
            cfg!(feature = "terminal"),
            config.terminal_socket.is_some(),
            "terminal",
        ),
        (cfg!(feature = "matrix"), config.matrix.is_some(), "matrix"),
        (cfg!(feature = "slack"), config.slack.is_some(), "slack"),
        (
            cfg!(feature = "discord"),
            config.discord.is_some(),
            "discord",
        ),
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
