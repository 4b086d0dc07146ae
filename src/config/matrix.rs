//! What can be set for Matrix.

use std::time::Duration;

use clap::Args;
use secrecy::SecretString;

use super::{ConfigError, filled, filled_secret};

/// Every option of Matrix.
#[derive(Args, Clone, Debug)]
pub struct MatrixOptions {
    /// Matrix homeserver, as a URL or a server name; unset to leave Matrix off
    #[arg(long, env, global = true, default_value = "")]
    pub matrix_homeserver: String,
    /// Matrix user ID of the bot, such as @muninn:example.org
    #[arg(long, env, global = true, default_value = "")]
    pub matrix_user: String,
    /// Password of that account; needed for the first start only
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub matrix_password: SecretString,
    /// Access token, instead of user and password; it must belong to a device that only the bot uses
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub matrix_access_token: SecretString,
    /// Display name of the bot's device
    #[arg(long, env, global = true, default_value = "Muninn")]
    pub matrix_device_name: String,
    /// Recovery key of the account, if it already has one
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub matrix_recovery_key: SecretString,
    /// Allow list: servers (example.org), users (@ann:example.org) and rooms (!abc:example.org), separated by commas, or * for everyone; empty allows nobody
    #[arg(long, env, global = true, default_value = "")]
    pub matrix_allow: String,
    /// Whether to answer in threads: always, follow (only if the question is in a thread), or never
    #[arg(long, env, global = true, value_enum, default_value_t = MatrixThreads::Always)]
    pub matrix_threads: MatrixThreads,
    /// After downtime, answer messages that are at most this old, in seconds
    #[arg(long, env, global = true, default_value_t = 3600)]
    pub matrix_catch_up: u64,
    /// Prefix of commands
    #[arg(long, env, global = true, default_value = "!muninn")]
    pub matrix_command_prefix: String,
}

/// Whether answers stand in threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MatrixThreads {
    /// A question in a room's main timeline begins one.
    Always,
    /// Only where the question stands in one.
    Follow,
    /// The room is one conversation.
    Never,
}

/// A Matrix account, checked as far as it can be without asking the homeserver.
#[derive(Clone, Debug)]
pub struct MatrixConfig {
    pub homeserver: String,
    pub login: MatrixLogin,
    pub device_name: String,
    pub recovery_key: Option<SecretString>,
    /// The adapter knows what it may hold.
    pub allow: String,
    pub threads: MatrixThreads,
    pub catch_up: Duration,
    pub command_prefix: String,
}

/// By what the account is used.
#[derive(Clone, Debug)]
pub enum MatrixLogin {
    Password {
        user: String,
        /// None: there is a stored session.
        password: Option<SecretString>,
    },
    AccessToken(SecretString),
}

impl MatrixOptions {
    pub(super) fn into_config(self) -> Result<Option<MatrixConfig>, ConfigError> {
        let half_set = |set, missing| Err(ConfigError::HalfSet { set, missing });
        let user = filled(&self.matrix_user);
        let password = filled_secret(&self.matrix_password);
        let token = filled_secret(&self.matrix_access_token);
        let recovery_key = filled_secret(&self.matrix_recovery_key);
        let Some(homeserver) = filled(&self.matrix_homeserver) else {
            let without = [
                ("MATRIX_USER", user.is_some()),
                ("MATRIX_PASSWORD", password.is_some()),
                ("MATRIX_ACCESS_TOKEN", token.is_some()),
                ("MATRIX_RECOVERY_KEY", recovery_key.is_some()),
                ("MATRIX_ALLOW", filled(&self.matrix_allow).is_some()),
            ];
            return match without.iter().find(|(_, is_set)| *is_set) {
                Some((set, _)) => half_set(set, "MATRIX_HOMESERVER"),
                None => Ok(None),
            };
        };
        let login = match (user, password, token) {
            (_, _, Some(token)) => MatrixLogin::AccessToken(token),
            (Some(user), password, None) => MatrixLogin::Password { user, password },
            (None, Some(_), None) => return half_set("MATRIX_PASSWORD", "MATRIX_USER"),
            (None, None, None) => {
                return half_set("MATRIX_HOMESERVER", "MATRIX_USER (or MATRIX_ACCESS_TOKEN)");
            }
        };
        let command_prefix = filled(&self.matrix_command_prefix);
        Ok(Some(MatrixConfig {
            homeserver,
            login,
            device_name: self.matrix_device_name,
            recovery_key,
            allow: self.matrix_allow,
            threads: self.matrix_threads,
            catch_up: Duration::from_secs(self.matrix_catch_up),
            command_prefix: command_prefix.unwrap_or_else(|| "!muninn".to_owned()),
        }))
    }
}
