//! Intents: what is to be forgotten, kept until nothing of it is left. One file per intent, with
//! IDs only.

use std::io;
use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use uuid::Uuid;

use super::staged_files::remove_file;
use crate::graph::StoreError;
use crate::graph::engine::DeletionIntent;
use private_files::private_file;

const PREFIX: &str = "forgetting-";

/// Writes an intent; it is on disk when this returns.
pub(super) fn keep(folder: &Path, intent: &Value) -> Result<DeletionIntent, StoreError> {
    let path = folder.join(format!("{PREFIX}{}.json", Uuid::now_v7()));
    let write = || {
        let mut file = private_file().write(true).create_new(true).open(&path)?;
        io::Write::write_all(&mut file, intent.to_string().as_bytes())?;
        file.sync_all()?;
        std::fs::File::open(folder)?.sync_all()
    };
    write().map_err(|error| cannot(folder, &error))?;
    Ok(DeletionIntent(path))
}

/// All intents, in order. An incomplete one was never acted on.
pub(super) fn kept(folder: &Path) -> Result<Vec<(DeletionIntent, Value)>, StoreError> {
    let read = || -> io::Result<Vec<(DeletionIntent, Value)>> {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.starts_with(PREFIX)) {
                paths.push(entry.path());
            }
        }
        paths.sort();
        let mut kept = Vec::new();
        for path in paths {
            match serde_json::from_slice(&std::fs::read(&path)?) {
                Ok(intent) => kept.push((DeletionIntent(path), intent)),
                Err(_half) => remove_file(&path)?,
            }
        }
        Ok(kept)
    };
    read().map_err(|error| cannot(folder, &error))
}

fn cannot(folder: &Path, error: &io::Error) -> StoreError {
    StoreError::Refused {
        message: format!(
            "what is to be forgotten cannot be kept in {}: {error}",
            folder.display()
        ),
        transient: true,
    }
}

impl DeletionIntent {
    /// When it was recorded: its file is named after the moment, which lasts if the folder is copied.
    pub(crate) fn recorded_at(&self) -> Option<DateTime<Utc>> {
        let name = self.0.file_stem()?.to_str()?.strip_prefix(PREFIX)?;
        let (seconds, nanoseconds) = Uuid::parse_str(name).ok()?.get_timestamp()?.to_unix();
        // The name has milliseconds, and turns have more.
        let next = TimeDelta::milliseconds(1);
        Some(DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanoseconds)? + next)
    }

    /// Removes the intent once nothing is left of what was to be forgotten.
    pub(crate) fn remove_intent(self) -> Result<(), StoreError> {
        let Self(path) = self;
        let folder = path.parent().unwrap_or(Path::new("."));
        remove_file(&path).map_err(|error| cannot(folder, &error))
    }
}
