//! Plain data that the operations of the store take and give.

pub(in crate::graph) mod delivered_answer;
pub(in crate::graph) mod embedding;
pub(in crate::graph) mod error;
pub(in crate::graph) mod file_notes;
pub(in crate::graph) mod graph_node;
pub(in crate::graph) mod labels;
pub mod reading;
pub(crate) mod redacted;
pub(in crate::graph) mod response_id;
pub(in crate::graph) mod source;
pub mod trace;
pub(in crate::graph) mod trust;
pub(in crate::graph) mod turn;
