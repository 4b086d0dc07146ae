//! The adapter's options.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use muninn_platform::{
    AnswerMode, Channels, Missed, SettingsError, half_set, non_empty, non_empty_secret,
    none_if_all_unset,
};
use muninn_platform::{Histories, Memberships};
use secrecy::SecretString;

use crate::SlackAllowList;

/// Slack's own Web API.
pub const API_URL: &str = "https://slack.com/api";

/// How events arrive.
#[derive(Clone, Debug)]
pub enum EventDelivery {
    /// Over a socket that the bot opens, which needs no public address.
    Socket {
        /// The app-level token (`xapp-…`) with the scope `connections:write`.
        app_token: SecretString,
    },
    /// Slack calls an address.
    Http {
        /// The secret with which Slack signs requests.
        signing_secret: SecretString,
        /// The address to listen at, behind a TLS proxy.
        address: SocketAddr,
    },
}

/// How the adapter is set up.
#[derive(Clone, Debug)]
pub struct SlackOptions {
    /// The bot's token (`xoxb-…`).
    pub bot_token: SecretString,
    pub entrance: EventDelivery,
    pub allow: SlackAllowList,
    /// The answer mode of channels without a setting of their own.
    pub answer: AnswerMode,
    /// The settings of single channels.
    pub channels: Arc<Channels>,
    /// The Web API's URL without a trailing slash; others are for proxies and tests.
    pub api_url: String,
    /// Whether a direct message outside threads begins a thread, as agents do it in Slack;
    /// otherwise all of them are one conversation.
    pub direct_threads: bool,
    /// The slash command, with its slash.
    pub command: String,
    /// Minimum pause between two messages in one channel, except for a short burst. Slack documents
    /// about one message per second.
    pub post_every: Duration,
    /// How to handle messages from an outage.
    pub missed: Missed,
    /// Over HTTP, after how long without any request Slack may have dropped events: it repeats each
    /// at once, after one and after five minutes.
    pub drops_after: Duration,
    /// Pause before each request for what Slack may have dropped, within the 50 per minute that it
    /// documents for one method.
    pub read_every: Duration,
    /// Where the adapter registers that it can read histories.
    pub histories: Histories,
    /// Where the adapter registers that it knows memberships.
    pub memberships: Memberships,
}

impl SlackOptions {
    /// Creates options with defaults.
    pub fn new(bot_token: SecretString, entrance: EventDelivery) -> Self {
        Self {
            bot_token,
            entrance,
            allow: SlackAllowList::default(),
            answer: AnswerMode::default(),
            channels: Arc::default(),
            api_url: API_URL.to_owned(),
            direct_threads: false,
            command: "/muninn".to_owned(),
            post_every: Duration::from_secs(1),
            missed: Missed::default(),
            drops_after: Duration::from_secs(300),
            read_every: Duration::from_secs(2),
            histories: Histories::default(),
            memberships: Memberships::default(),
        }
    }
}

/// Every option of Slack.
#[derive(Args, Clone, Debug)]
pub struct SlackArgs {
    /// Slack bot token (xoxb-…); unset to leave Slack off
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub slack_bot_token: SecretString,
    /// App-level token (xapp-…) for Socket Mode
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub slack_app_token: SecretString,
    /// Listen address (HOST:PORT) for Slack's HTTP requests, instead of Socket Mode; put a TLS proxy in front
    #[arg(long, env, global = true, default_value = "")]
    pub slack_http_addr: String,
    /// Signing secret that verifies those requests
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub slack_signing_secret: SecretString,
    /// Allow list: IDs of workspaces (T…), channels (C…) and users (U…), separated by commas; * for everyone except channels shared with other organisations; empty allows nobody
    #[arg(long, env, global = true, default_value = "")]
    pub slack_allow: String,
    /// What to answer in channels: mentions, threads (mentions, and everything in threads it takes part in), always, or never
    #[arg(long, env, global = true, default_value = "threads")]
    pub slack_answer: AnswerMode,
    /// Whether each direct message outside a thread starts a new thread
    #[arg(long, env, global = true, value_parser = clap::value_parser!(bool), action = clap::ArgAction::Set, default_value_t = false)]
    pub slack_direct_threads: bool,
    /// Name of the slash command
    #[arg(long, env, global = true, default_value = "/muninn")]
    pub slack_command: String,
    /// Base URL of Slack's Web API, to go through a proxy
    #[arg(long, env, global = true, default_value = "https://slack.com/api")]
    pub slack_api_url: String,
}

impl SlackArgs {
    /// Returns the adapter's options, if Slack is configured.
    ///
    /// # Errors
    /// Fails with the variable that has to change.
    pub fn options(self, channels: Arc<Channels>) -> Result<Option<SlackOptions>, SettingsError> {
        let app_token = non_empty_secret(&self.slack_app_token);
        let signing_secret = non_empty_secret(&self.slack_signing_secret);
        let address = non_empty(&self.slack_http_addr);
        let Some(bot_token) = non_empty_secret(&self.slack_bot_token) else {
            let others = [
                ("SLACK_APP_TOKEN", app_token.is_some()),
                ("SLACK_SIGNING_SECRET", signing_secret.is_some()),
                ("SLACK_HTTP_ADDR", address.is_some()),
                ("SLACK_ALLOW", non_empty(&self.slack_allow).is_some()),
            ];
            return none_if_all_unset("SLACK_BOT_TOKEN", &others);
        };
        let entrance = match (address, signing_secret, app_token) {
            (Some(address), Some(signing_secret), _) => EventDelivery::Http {
                address: address.parse().map_err(|_| SettingsError::Unreadable {
                    name: "SLACK_HTTP_ADDR",
                    value: address,
                    needs: "an IP address with a port, such as 0.0.0.0:8080",
                })?,
                signing_secret,
            },
            (Some(_), None, _) => return half_set("SLACK_HTTP_ADDR", "SLACK_SIGNING_SECRET"),
            (None, _, Some(app_token)) => EventDelivery::Socket { app_token },
            (None, Some(_), None) => return half_set("SLACK_SIGNING_SECRET", "SLACK_HTTP_ADDR"),
            (None, None, None) => {
                return half_set(
                    "SLACK_BOT_TOKEN",
                    "SLACK_APP_TOKEN (or SLACK_HTTP_ADDR and SLACK_SIGNING_SECRET)",
                );
            }
        };
        Ok(Some(SlackOptions {
            allow: self.slack_allow.parse()?,
            answer: self.slack_answer,
            channels,
            api_url: self.slack_api_url.trim_end_matches('/').to_owned(),
            direct_threads: self.slack_direct_threads,
            command: self.slack_command,
            ..SlackOptions::new(bot_token, entrance)
        }))
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    fn options(arguments: &[&str]) -> Result<Option<SlackOptions>, String> {
        let command = SlackArgs::augment_args(Command::new("muninn"));
        let arguments = std::iter::once("muninn").chain(arguments.iter().copied());
        let read = SlackArgs::from_arg_matches(&command.get_matches_from(arguments)).unwrap();
        assert!(!format!("{read:?}").contains("hunter"), "{read:?}");
        let options = read.options(Arc::default());
        options.map_err(|error| error.to_string())
    }

    #[test]
    fn an_app_is_set_up_whole_or_not_at_all() {
        assert!(options(&[]).unwrap().is_none());
        let with = |more: &[&str]| {
            let all = [&["--slack-bot-token", "hunter1"], more].concat();
            options(&all).unwrap_err()
        };
        assert!(with(&[]).contains("SLACK_APP_TOKEN (or SLACK_HTTP_ADDR"));
        assert!(with(&["--slack-http-addr", "0.0.0.0:1"]).contains("SLACK_SIGNING_SECRET is not"));
        assert!(with(&["--slack-signing-secret", "s"]).contains("SLACK_HTTP_ADDR is not"));
        let said = with(&["--slack-http-addr", "here", "--slack-signing-secret", "s"]);
        assert!(
            said.contains("SLACK_HTTP_ADDR is \"here\", but must be an IP address"),
            "{said}"
        );
        let said = with(&["--slack-app-token", "hunter2", "--slack-allow", "general"]);
        assert!(said.contains("SLACK_ALLOW has \"general\""), "{said}");
        for option in ["app-token", "signing-secret", "http-addr", "allow"] {
            let said = options(&[&format!("--slack-{option}"), "x"]).unwrap_err();
            assert!(said.contains("SLACK_BOT_TOKEN is not"), "{said}");
        }
        let socket = [
            "--slack-bot-token",
            "hunter1",
            "--slack-app-token",
            "hunter2",
        ];
        let read = options(&socket).unwrap().unwrap();
        assert!(matches!(read.entrance, EventDelivery::Socket { .. }));
        assert_eq!(read.answer, AnswerMode::Threads);
        assert!(!format!("{read:?}").contains("hunter"), "{read:?}");
    }
}
