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
        super::matrix::platform(config)?,
        #[cfg(feature = "slack")]
        super::slack::platform(config)?,
        #[cfg(feature = "discord")]
        super::discord::platform(config)?,
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
        ("matrix", super::matrix::check(config).await),
        #[cfg(feature = "slack")]
        ("slack", super::slack::check(config).await),
        #[cfg(feature = "discord")]
        ("discord", super::discord::check(config).await),
    ]);
    let left_out = left_out(config).into_iter();
    accounts.extend(left_out.map(|name| (name, vec![wrong(without(name))])));
    let each = |(name, findings): (_, Vec<_>)| findings.into_iter().map(move |it| (name, it));
    accounts.into_iter().flat_map(each).collect()
}

/// What is found of an account whose options make no sense.
#[cfg(any(feature = "matrix", feature = "slack", feature = "discord"))]
pub(super) fn unusable(error: &anyhow::Error) -> Vec<Finding> {
    vec![wrong(error.to_string())]
}

fn wrong(text: String) -> Finding {
    Finding {
        verdict: Verdict::Wrong,
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
