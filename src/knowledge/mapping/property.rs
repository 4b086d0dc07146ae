//! A property of a mapping.

use super::pointer::Pointer;
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) at: Pointer,
    pub(super) kind: As,
    pub(super) split: Option<String>,
}

/// The type of a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum As {
    /// The JSON type.
    #[default]
    Given,
    Text,
    Integer,
    Float,
    Boolean,
    /// `2026-01-02`
    Date,
    /// `2026-01-02T03:04:05Z`
    DateTime,
}
