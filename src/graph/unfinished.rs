//! An import that was interrupted.

use serde_json::Value;

use super::store::record::integer;

/// An import that was begun and not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The digest of its file.
    pub file: String,
    /// Number of imported nodes and relationships; `None` before the graph was emptied.
    pub done: Option<u64>,
}

/// What the schema's node says about an import.
pub(in crate::graph) fn unfinished(row: &super::engine::Row) -> Option<Unfinished> {
    let importing = row.get("importing").and_then(Value::as_bool) == Some(true);
    importing.then(|| Unfinished {
        file: super::store::record::text(row, "importFile").unwrap_or_default(),
        done: match row.get("importDone") {
            None | Some(Value::Null) => None,
            Some(_) => u64::try_from(integer(row, "importDone")).ok(),
        },
    })
}
