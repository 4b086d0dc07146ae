//! Settings of an adapter: what is common to reading them.

use secrecy::{ExposeSecret, SecretString};

/// Why settings make no sense. Names the variable that has to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("{set} is set but {missing} is not; set both or neither")]
    HalfSet {
        set: &'static str,
        missing: &'static str,
    },
    #[error("{name} is {value:?}, but must be {needs}")]
    Unreadable {
        name: &'static str,
        value: String,
        needs: &'static str,
    },
    /// An allow list with something else in it.
    #[error("{0}")]
    Allow(String),
}

/// An empty variable means what an absent one means: `.env` files and containers leave many empty.
pub fn filled(value: &str) -> Option<String> {
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// As [`filled`], of a secret.
pub fn filled_secret(value: &SecretString) -> Option<SecretString> {
    (!value.expose_secret().trim().is_empty()).then(|| value.clone())
}
