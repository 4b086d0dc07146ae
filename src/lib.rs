//! Muninn: a chat bot for teams that remembers.

pub mod graph;
pub mod llm;
pub mod memory;
pub mod session;
