//! The names of the built-in tools.

pub const SEARCH_MEMORY: &str = "search_memory";

pub(in crate::agent) const SAVE_NOTE: &str = "save_note";

pub(in crate::agent) const LIST_NOTES: &str = "list_notes";

/// The tool that queries the graph with a generated statement.
pub const TEXT2CYPHER: &str = "text2cypher";

pub(in crate::agent) const STAY_SILENT: &str = "stay_silent";

pub(in crate::agent) const RESPOND: &str = "respond";
