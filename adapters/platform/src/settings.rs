//! Shared parsing of adapter settings.

use secrecy::{ExposeSecret, SecretString};

use crate::AllowError;

/// Why settings are invalid. Names the variable to change.
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

/// Reports that one variable is set without another that it needs.
///
/// # Errors
/// Always fails.
pub fn half_set<T>(set: &'static str, missing: &'static str) -> Result<T, SettingsError> {
    Err(SettingsError::HalfSet { set, missing })
}

/// Returns no options for a platform whose first variable, `missing`, is not set: the platform is
/// off.
///
/// # Errors
/// Fails when one of its other variables is set nevertheless.
pub fn none_if_all_unset<T>(
    missing: &'static str,
    others: &[(&'static str, bool)],
) -> Result<Option<T>, SettingsError> {
    match others.iter().find(|(_, is_set)| *is_set) {
        Some((set, _)) => half_set(set, missing),
        None => Ok(None),
    }
}

/// Treats an empty variable like an absent one: `.env` files and containers leave many empty.
pub fn non_empty(value: &str) -> Option<String> {
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// As [`non_empty`], of a secret.
pub fn non_empty_secret(value: &SecretString) -> Option<SecretString> {
    (!value.expose_secret().trim().is_empty()).then(|| value.clone())
}
