//! What all tool files share.

use std::path::PathBuf;

use serde_json::{Value, json};

/// Why a tool cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ToolFileError {
    #[error("{} cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the file {file} is not right: {detail}")]
    Wrong { file: String, detail: String },
}

pub(crate) fn check_name(name: &str) -> Result<(), &'static str> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_fine) {
        return Ok(());
    }
    // https://platform.openai.com/docs/api-reference/chat/create
    Err("name must be 1 to 64 letters, digits, underscores or hyphens, or services refuse it")
}

pub(super) fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}

pub(super) fn wrong(file: &str, detail: impl Into<String>) -> ToolFileError {
    ToolFileError::Wrong {
        file: file.to_owned(),
        detail: detail.into(),
    }
}
