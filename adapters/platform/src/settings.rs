//! Settings of an adapter: what is common to reading them.

use secrecy::{ExposeSecret, SecretString};

use crate::AllowError;

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
    #[error(transparent)]
    Allow(#[from] AllowError),
}

/// One variable is set without another that it needs.
///
/// # Errors
/// Always.
pub fn half_set<T>(set: &'static str, missing: &'static str) -> Result<T, SettingsError> {
    Err(SettingsError::HalfSet { set, missing })
}

/// The options of a platform whose first variable, `missing`, is not set: none, for it is left off.
///
/// # Errors
/// When one of the others is set all the same.
pub fn left_off<T>(
    missing: &'static str,
    others: &[(&'static str, bool)],
) -> Result<Option<T>, SettingsError> {
    match others.iter().find(|(_, is_set)| *is_set) {
        Some((set, _)) => half_set(set, missing),
        None => Ok(None),
    }
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
