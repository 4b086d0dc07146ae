//! What stands in place of a secret.

/// The replacement of a secret.
pub const MARK: &str = "[secret removed]";
