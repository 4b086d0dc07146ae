//! Limits of recall.

/// Maximum number of recalled exchanges.
pub const DEFAULT_RECALL_LIMIT: usize = 20;
