//! Confines generated Cypher to the team's knowledge; it never reaches memory.

pub use cypher_guard::{ConfinedCypher, ReadBack, Refusal, StatementLimits, round_trip};
use cypher_guard::{Guard, Schema};

use super::types::labels::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};

const GUARD: Guard<'_> = Guard {
    hidden_labels: MEMORY_LABELS,
    hidden_types: MEMORY_RELATIONSHIPS,
};

/// Confines a statement without parameters to the knowledge that the schema names.
///
/// # Errors
/// Fails when it is not a single read-only statement, reaches for memory, or does not fit the
/// schema.
pub fn confine(
    query: &str,
    schema: &Schema,
    limits: &StatementLimits<'_>,
) -> Result<ConfinedCypher, Refusal> {
    GUARD.confine(query, schema, limits, &[])
}

/// Confines a statement that may use these parameters, which are named without `$`.
///
/// # Errors
/// Fails when it is not a single read-only statement, reaches for memory, or does not fit the
/// schema.
pub fn confine_with(
    query: &str,
    schema: &Schema,
    limits: &StatementLimits<'_>,
    parameters: &[&str],
) -> Result<ConfinedCypher, Refusal> {
    GUARD.confine(query, schema, limits, parameters)
}
