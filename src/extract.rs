//! Text out of files, whoever sent them: people in a chat, or whoever ingests a folder.

pub mod pdf;
pub mod text;
