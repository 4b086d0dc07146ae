//! The adapter's options.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use muninn_platform::{
    Channels, Histories, Memberships, SettingsError, half_set, non_empty, non_empty_secret,
    none_if_all_unset,
};
use secrecy::SecretString;

use crate::MatrixAllowList;

/// How to log in to the bot's account.
#[derive(Clone, Debug)]
pub enum Login {
    /// The password is needed once; afterwards the stored session is used.
    Password {
        user: String,
        password: Option<SecretString>,
    },
    /// The token of a device made elsewhere for the bot alone.
    AccessToken(SecretString),
}

/// Whether answers stand in threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Threads {
    /// A question in a room's main timeline begins one.
    #[default]
    Always,
    /// Only where the question stands in one.
    Follow,
    /// All answers stand in the main timeline, and the room is one conversation.
    Never,
}

/// The adapter's options.
#[derive(Clone, Debug)]
pub struct MatrixOptions {
    /// A URL (`https://matrix.example.org`) or a server name (`example.org`).
    pub homeserver: String,
    pub login: Login,
    /// The name in the list of the bot's devices.
    pub device_name: String,
    /// The key of the account's secret storage, if it has one.
    pub recovery_key: Option<SecretString>,
    pub allow: MatrixAllowList,
    pub threads: Threads,
    /// Maximum age of messages that are answered after an outage.
    pub catch_up: Duration,
    /// The prefix of commands.
    pub command_prefix: String,
    /// The folder of session, keys and position; private to the bot.
    pub folder: PathBuf,
    /// The settings of single rooms, such as the language.
    pub channels: Arc<Channels>,
    /// Where the adapter registers that it can read histories.
    pub histories: Histories,
    /// Where the adapter registers that it knows memberships.
    pub memberships: Memberships,
}

impl MatrixOptions {
    /// Creates options with defaults.
    pub fn new(homeserver: impl Into<String>, login: Login, folder: PathBuf) -> Self {
        Self {
            homeserver: homeserver.into(),
            login,
            device_name: "Muninn".to_owned(),
            recovery_key: None,
            allow: MatrixAllowList::default(),
            threads: Threads::default(),
            catch_up: Duration::from_secs(3600),
            command_prefix: "!muninn".to_owned(),
            folder,
            channels: Arc::default(),
            histories: Histories::default(),
            memberships: Memberships::default(),
        }
    }
}

/// Every option of Matrix.
#[derive(Args, Clone, Debug)]
pub struct MatrixArgs {
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
    #[arg(long, env, global = true, value_enum, default_value_t = Threads::Always)]
    pub matrix_threads: Threads,
    /// After downtime, answer messages that are at most this old, in seconds
    #[arg(long, env, global = true, default_value_t = 3600)]
    pub matrix_catch_up: u64,
    /// Prefix of commands
    #[arg(long, env, global = true, default_value = "!muninn")]
    pub matrix_command_prefix: String,
}

impl MatrixArgs {
    /// Returns the adapter's options, if Matrix is configured; its state is kept in `folder`.
    ///
    /// # Errors
    /// Fails with the variable that has to change.
    pub fn options(
        self,
        folder: PathBuf,
        channels: Arc<Channels>,
    ) -> Result<Option<MatrixOptions>, SettingsError> {
        let user = non_empty(&self.matrix_user);
        let password = non_empty_secret(&self.matrix_password);
        let token = non_empty_secret(&self.matrix_access_token);
        let recovery_key = non_empty_secret(&self.matrix_recovery_key);
        let Some(homeserver) = non_empty(&self.matrix_homeserver) else {
            let others = [
                ("MATRIX_USER", user.is_some()),
                ("MATRIX_PASSWORD", password.is_some()),
                ("MATRIX_ACCESS_TOKEN", token.is_some()),
                ("MATRIX_RECOVERY_KEY", recovery_key.is_some()),
                ("MATRIX_ALLOW", non_empty(&self.matrix_allow).is_some()),
            ];
            return none_if_all_unset("MATRIX_HOMESERVER", &others);
        };
        let login = match (user, password, token) {
            (_, _, Some(token)) => Login::AccessToken(token),
            (Some(user), password, None) => Login::Password { user, password },
            (None, Some(_), None) => return half_set("MATRIX_PASSWORD", "MATRIX_USER"),
            (None, None, None) => {
                return half_set("MATRIX_HOMESERVER", "MATRIX_USER (or MATRIX_ACCESS_TOKEN)");
            }
        };
        let command_prefix = non_empty(&self.matrix_command_prefix);
        Ok(Some(MatrixOptions {
            device_name: self.matrix_device_name,
            recovery_key,
            allow: self.matrix_allow.parse()?,
            threads: self.matrix_threads,
            catch_up: Duration::from_secs(self.matrix_catch_up),
            command_prefix: command_prefix.unwrap_or_else(|| "!muninn".to_owned()),
            channels,
            ..MatrixOptions::new(homeserver, login, folder)
        }))
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    fn options(arguments: &[&str]) -> Result<Option<MatrixOptions>, String> {
        let command = MatrixArgs::augment_args(Command::new("muninn"));
        let arguments = std::iter::once("muninn").chain(arguments.iter().copied());
        let read = MatrixArgs::from_arg_matches(&command.get_matches_from(arguments)).unwrap();
        assert!(!format!("{read:?}").contains("hunter"), "{read:?}");
        let options = read.options(PathBuf::from("matrix"), Arc::default());
        options.map_err(|error| error.to_string())
    }

    #[test]
    fn an_account_is_set_up_whole_or_not_at_all() {
        assert!(options(&[]).unwrap().is_none());
        let with =
            |more: &[&str]| options(&[&["--matrix-homeserver", "example.org"], more].concat());
        let said = with(&[]).unwrap_err();
        assert!(
            said.contains("MATRIX_USER (or MATRIX_ACCESS_TOKEN) is not"),
            "{said}"
        );
        let said = with(&["--matrix-password", "hunter1"]).unwrap_err();
        assert!(said.contains("MATRIX_USER is not"), "{said}");
        let said = with(&["--matrix-user", "@a:b", "--matrix-allow", "@ann"]).unwrap_err();
        assert!(said.contains("MATRIX_ALLOW has \"@ann\""), "{said}");
        for option in ["user", "password", "access-token", "recovery-key", "allow"] {
            let said = options(&[&format!("--matrix-{option}"), "x"]).unwrap_err();
            assert!(said.contains("MATRIX_HOMESERVER is not"), "{said}");
        }
        let read = with(&["--matrix-user", "@a:b"]).unwrap().unwrap();
        assert!(matches!(read.login, Login::Password { password: None, .. }));
        let read = with(&[
            "--matrix-access-token",
            "hunter2",
            "--matrix-recovery-key",
            "hunter3",
        ]);
        let read = read.unwrap().unwrap();
        assert!(matches!(read.login, Login::AccessToken(_)));
        assert!(!format!("{read:?}").contains("hunter"), "{read:?}");
    }
}
