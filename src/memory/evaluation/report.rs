//! What was measured, as it is shown, saved and read again. It has figures and ids, and no words that anybody said.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, ensure};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::embedder::EmbedderCheck;
use super::figures::Figures;
use super::replay::Replayed;

/// The shape of the file.
pub(super) const FORMAT: u32 = 1;

/// A memory, measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub format: u32,
    /// The version of the program.
    pub muninn: String,
    pub made_at: DateTime<Utc>,
    /// When the first and the last turn were said.
    pub first: Option<DateTime<Utc>>,
    pub last: Option<DateTime<Utc>>,
    pub total: Figures,
    /// By the ids of audiences.
    pub channels: BTreeMap<String, Figures>,
    /// By ISO 8601.
    pub weeks: BTreeMap<String, Figures>,
    /// Of what was said since an earlier report; in memory only.
    #[serde(skip)]
    pub since: Option<Figures>,
    /// The questions as they were asked again: first as the memory is deployed.
    pub runs: Vec<Run>,
}

/// Questions that were asked again, with the same settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What differs from the deployed settings; empty for these.
    pub name: String,
    /// The embedding service was not asked.
    pub is_by_words: bool,
    pub embedder: EmbedderCheck,
    pub replayed: Vec<Replayed>,
}

impl Report {
    /// Reads one that was saved.
    ///
    /// # Errors
    /// When the file cannot be read, or is no report of this program.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let place = || format!("cannot read {}", path.display());
        let text = std::fs::read_to_string(path).with_context(place)?;
        let no_report = || {
            let path = path.display();
            format!("{path} is no report that `muninn eval --save` wrote")
        };
        let report: Self = serde_json::from_str(&text).with_context(no_report)?;
        ensure!(
            report.format == FORMAT,
            "{} is a report of another version of muninn; make a new one with --save",
            path.display()
        );
        Ok(report)
    }

    /// Writes it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string(self)?;
        std::fs::write(path, text + "\n")
            .with_context(|| format!("cannot write {}", path.display()))
    }
}
