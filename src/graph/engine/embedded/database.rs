//! The open file of a graph, and what the operator should know of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use kglite::api::durable::DurabilityLevel;
use kglite::api::io::GraphWriterLease;
use kglite::api::session::Session;

use crate::graph::StoreError;

/// The file in the folder.
pub(super) const FILE: &str = "graph.kgl";

/// Bytes of an empty log: its name and version.
const LOG_HEAD: u64 = 5;

/// What must outlive every statement: the session, and after it the lease on the file.
pub(in crate::graph) struct EmbeddedDatabase {
    pub(super) session: Session,
    pub(super) file: PathBuf,
    pub(super) durability: DurabilityLevel,
    pub(super) _lease: Option<GraphWriterLease>,
}

impl EmbeddedDatabase {
    /// Whether there is a log with any entries.
    pub(super) fn has_log(&self) -> bool {
        let log = self.file.with_file_name(format!("{FILE}-wal"));
        std::fs::metadata(log).is_ok_and(|log| log.len() > LOG_HEAD)
    }

    /// Flushes the log to disk, if there is one.
    pub(super) fn flush(&self) -> Result<(), String> {
        if self.durability == DurabilityLevel::Off {
            return Ok(());
        }
        self.session.sync()
    }

    /// Writes to the file what only the log or memory has.
    pub(super) fn fold(&self) -> Result<(), StoreError> {
        let folded = if self.durability == DurabilityLevel::Off {
            self.session.save(&self.file.to_string_lossy(), true)
        } else {
            self.session.checkpoint_online().map(drop)
        };
        folded.map_err(|error| StoreError::Refused {
            message: format!("the graph's log could not be folded in: {error}"),
            transient: true,
        })
    }
}

/// What the operator should know.
#[derive(Clone, Debug, Default)]
pub(in crate::graph) struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    /// Adds a warning once: repetitions must not fill memory.
    pub(super) fn add(&self, warning: String) {
        tracing::warn!(%warning, "embedded graph");
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&warning) && all.len() < 100 {
            all.push(warning);
        }
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
