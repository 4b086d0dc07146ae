//! The error for a setting of a feature that this program was built without.

/// Returns the error for a setting that this program was built without.
pub(super) fn missing_feature(setting: &str, feature: &str) -> String {
    format!(
        "{setting} is set, and this muninn was built without the cargo feature `{feature}`; build it with `--features {feature}`, or leave {setting} out"
    )
}
