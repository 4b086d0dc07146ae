//! The report of an evaluation, as it is shown, saved and read again. It contains figures and IDs, and no text of
//! conversations.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, ensure};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::embedder::EmbedderCheck;
use super::figures::Figures;
use super::replay::Replayed;

/// Version of the file format.
pub(super) const FORMAT: u32 = 1;

/// The measurements of a memory.
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
    /// By audience ID.
    pub channels: BTreeMap<String, Figures>,
    /// By ISO 8601 week.
    pub weeks: BTreeMap<String, Figures>,
    /// For turns since an earlier report; not saved.
    #[serde(skip)]
    pub since: Option<Figures>,
    /// The results of asking questions again, first with the deployed settings.
    pub runs: Vec<EvaluationRun>,
}

/// Questions that were asked again with the same settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationRun {
    /// How it differs from the deployed settings; empty for those.
    pub name: String,
    /// Whether the embedding service was not called.
    pub is_by_words: bool,
    pub embedder: EmbedderCheck,
    pub replayed: Vec<Replayed>,
}

impl Report {
    /// Reads a saved report.
    ///
    /// # Errors
    /// Fails when the file cannot be read or is not a report of this program.
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

    /// Saves the report.
    ///
    /// # Errors
    /// Fails when the file cannot be written.
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string(self)?;
        std::fs::write(path, text + "\n")
            .with_context(|| format!("cannot write {}", path.display()))
    }
}
