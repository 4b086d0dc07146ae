//! Changes that are too large for one transaction.

use super::{Engine, Params, Row};
use crate::graph::StoreError;
use crate::graph::store::record::integer;

/// How many things a statement changed, by its column `times`.
pub(crate) fn times(rows: &[Row]) -> i64 {
    rows.first().map_or(0, |row| integer(row, "times"))
}

/// Runs a statement that changes some of what it finds, until it finds nothing more.
pub(crate) async fn repeat(
    engine: &dyn Engine,
    statement: &str,
    bound: Params,
) -> Result<(), StoreError> {
    while times(&engine.write(statement, bound.clone()).await?) > 0 {}
    Ok(())
}
