//! Keeps turns, heard messages and summaries, whether the graph is available or not.

pub(in crate::memory) mod archive;
pub(in crate::memory) mod claims;
pub(in crate::memory) mod forgotten_waiting;
pub mod journal;
pub(in crate::memory) mod leaving;
pub(in crate::memory) mod linking;
pub(in crate::memory) mod messages;
pub(crate) mod neighbours;
pub(in crate::memory) mod queue_withdrawals;
pub mod reembed;
pub(in crate::memory) mod replay;
pub(in crate::memory) mod replay_state;
pub mod summary;
pub(in crate::memory) mod window;
