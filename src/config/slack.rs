//! What can be set for Slack.

use std::net::SocketAddr;

use clap::Args;
use muninn_platform::AnswerMode;
use secrecy::SecretString;

use super::{ConfigError, filled, filled_secret};

/// Every option of Slack.
#[derive(Args, Clone, Debug)]
pub struct SlackOptions {
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

/// An app in a workspace, checked as far as it can be without asking Slack.
#[derive(Clone, Debug)]
pub struct SlackConfig {
    pub bot_token: SecretString,
    pub entrance: SlackEntrance,
    /// The adapter knows what it may hold.
    pub allow: String,
    pub answer: AnswerMode,
    pub direct_threads: bool,
    pub api_url: String,
}

/// How events come in.
#[derive(Clone, Debug)]
pub enum SlackEntrance {
    Socket {
        app_token: SecretString,
    },
    Http {
        address: SocketAddr,
        signing_secret: SecretString,
    },
}

impl SlackOptions {
    pub(super) fn into_config(self) -> Result<Option<SlackConfig>, ConfigError> {
        let half_set = |set, missing| Err(ConfigError::HalfSet { set, missing });
        let app_token = filled_secret(&self.slack_app_token);
        let signing_secret = filled_secret(&self.slack_signing_secret);
        let address = filled(&self.slack_http_addr);
        let Some(bot_token) = filled_secret(&self.slack_bot_token) else {
            let without = [
                ("SLACK_APP_TOKEN", app_token.is_some()),
                ("SLACK_SIGNING_SECRET", signing_secret.is_some()),
                ("SLACK_HTTP_ADDR", address.is_some()),
                ("SLACK_ALLOW", filled(&self.slack_allow).is_some()),
            ];
            return match without.iter().find(|(_, is_set)| *is_set) {
                Some((set, _)) => half_set(set, "SLACK_BOT_TOKEN"),
                None => Ok(None),
            };
        };
        let entrance = match (address, signing_secret, app_token) {
            (Some(address), Some(signing_secret), _) => SlackEntrance::Http {
                address: address.parse().map_err(|_| ConfigError::Unreadable {
                    name: "SLACK_HTTP_ADDR",
                    value: address,
                    needs: "an IP address with a port, such as 0.0.0.0:8080",
                })?,
                signing_secret,
            },
            (Some(_), None, _) => return half_set("SLACK_HTTP_ADDR", "SLACK_SIGNING_SECRET"),
            (None, _, Some(app_token)) => SlackEntrance::Socket { app_token },
            (None, Some(_), None) => return half_set("SLACK_SIGNING_SECRET", "SLACK_HTTP_ADDR"),
            (None, None, None) => {
                return half_set(
                    "SLACK_BOT_TOKEN",
                    "SLACK_APP_TOKEN (or SLACK_HTTP_ADDR and SLACK_SIGNING_SECRET)",
                );
            }
        };
        Ok(Some(SlackConfig {
            bot_token,
            entrance,
            allow: self.slack_allow,
            answer: self.slack_answer,
            direct_threads: self.slack_direct_threads,
            api_url: self.slack_api_url.trim_end_matches('/').to_owned(),
        }))
    }
}
