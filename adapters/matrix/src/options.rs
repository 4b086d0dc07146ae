//! How the adapter is set up.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use crate::Allow;

/// How the bot's account is used.
#[derive(Clone, Debug)]
pub enum Login {
    /// The password is needed once; afterwards the stored session is used.
    Password {
        user: String,
        password: Option<SecretString>,
    },
    /// A token of a device of the bot's own, made elsewhere.
    AccessToken(SecretString),
}

/// Whether answers stand in threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// A question in a room's main timeline begins one.
    #[default]
    Always,
    /// Only where the question stands in one.
    Follow,
    /// All answers stand in the main timeline, and the room is one conversation.
    Never,
}

/// How the adapter is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// An address (`https://matrix.example.org`) or a server's name (`example.org`).
    pub homeserver: String,
    pub login: Login,
    /// What people read in the list of the bot's devices.
    pub device_name: String,
    /// What the account's secrets were stored under, if they were.
    pub recovery_key: Option<SecretString>,
    pub allow: Allow,
    pub threads: Threads,
    /// Messages older than this are not answered after an absence.
    pub catch_up: Duration,
    /// What commands begin with.
    pub command_prefix: String,
    /// The folder of session, keys and position; nobody else may read it.
    pub folder: PathBuf,
}

impl Options {
    /// With everything that has a default.
    pub fn new(homeserver: impl Into<String>, login: Login, folder: PathBuf) -> Self {
        Self {
            homeserver: homeserver.into(),
            login,
            device_name: "Muninn".to_owned(),
            recovery_key: None,
            allow: Allow::default(),
            threads: Threads::default(),
            catch_up: Duration::from_secs(3600),
            command_prefix: "!muninn".to_owned(),
            folder,
        }
    }
}
