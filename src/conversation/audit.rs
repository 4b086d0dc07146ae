//! The audit log: who forgot, corrected, exported or changed what, and when. It is one append-only file of lines per
//! month in the data folder, and does not contain the words concerned.

use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Datelike, Months, NaiveDate, TimeDelta, Utc};
use muninn_platform::IncomingMessage;
use private_files::line_log;
use serde::{Deserialize, Serialize};

const PREFIX: &str = "audit-";
const SUFFIX: &str = ".jsonl";

/// One audited action on what is remembered or on its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub at: DateTime<Utc>,
    /// Stable ID of the person; [`OPERATOR`] for the operator, and [`MUNINN`] for the bot itself.
    pub who: String,
    pub action: AuditAction,
    /// The conversation, channel or person concerned.
    pub about: String,
    /// Number of turns, messages or items concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}

/// The operator, acting on the command line.
pub const OPERATOR: &str = "operator";
/// The bot itself, acting on its settings.
pub const MUNINN: &str = "muninn";

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditAction {
    ForgotTurn,
    ForgotItem,
    ForgotConversation,
    ForgotChannel,
    /// Everything of a person.
    ForgotPerson,
    Corrected,
    Exported,
    OptedOut,
    OptedIn,
    /// Two accounts were linked as one person's.
    Linked,
    Unlinked,
    /// Changed which messages are answered.
    ChangedAttention,
    /// Changed what is remembered of a channel.
    ChangedMemory,
    /// Switched a conversation or channel on or off the record.
    ChangedRecord,
    /// Deleted what was older than the retention settings allow.
    RetentionApplied,
    /// Deleted the copies of a legal hold that has ended.
    HoldEnded,
    /// Looked at a conversation or an explanation on the pages, or had a program search it.
    LookedInto,
    /// Agreed to a tool call that may change something.
    Approved,
    /// Made a token with which a program asks for somebody.
    MadeToken,
    RevokedToken,
}

impl AuditAction {
    /// The name shown to people.
    pub fn name(self) -> &'static str {
        match self {
            Self::ForgotTurn => "forgot their last turn",
            Self::ForgotItem => "forgot one thing",
            Self::ForgotConversation => "forgot a conversation",
            Self::ForgotChannel => "forgot a channel",
            Self::ForgotPerson => "forgot everything of a person",
            Self::Corrected => "corrected one thing",
            Self::Exported => "exported what is kept",
            Self::OptedOut => "opted out",
            Self::OptedIn => "opted in",
            Self::Linked => "linked accounts",
            Self::Unlinked => "unlinked an account",
            Self::ChangedAttention => "changed what is answered",
            Self::ChangedMemory => "changed what is remembered",
            Self::ChangedRecord => "changed what is on the record",
            Self::RetentionApplied => "deleted what was kept long enough",
            Self::HoldEnded => "deleted the copies of a legal hold",
            Self::LookedInto => "looked into a conversation",
            Self::Approved => "agreed to a call of a tool",
            Self::MadeToken => "made a token",
            Self::RevokedToken => "revoked a token",
        }
    }
}

/// The audit log's files.
#[derive(Clone, Debug)]
pub struct Audit {
    folder: PathBuf,
}

impl Audit {
    pub fn new(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self { folder }
    }

    /// Records what somebody did with a message.
    pub async fn record_message_action(
        &self,
        message: &IncomingMessage,
        action: AuditAction,
        about: &str,
        count: Option<usize>,
    ) {
        self.record_action(&message.author.id, action, about, count)
            .await;
    }

    /// Records an action. A failed write is only logged, as the action has already taken effect.
    pub async fn record_action(
        &self,
        who: &str,
        action: AuditAction,
        about: &str,
        count: Option<usize>,
    ) {
        let entry = AuditEntry {
            at: Utc::now(),
            who: who.to_owned(),
            action,
            about: about.to_owned(),
            count,
        };
        let path = self.folder.join(file_name(entry.at));
        let written = tokio::task::spawn_blocking(move || append(&path, &entry));
        let written = written.await.map_err(io::Error::other).flatten();
        if let Err(error) = written {
            let error = &error as &dyn std::error::Error;
            tracing::error!(
                error,
                ?action,
                about,
                "what was done could not be written down for the audit"
            );
        }
    }

    /// Returns the entries since a moment, oldest first.
    ///
    /// # Errors
    /// Fails when a file cannot be read.
    pub fn since(&self, since: DateTime<Utc>) -> io::Result<Vec<AuditEntry>> {
        let mut entries = Vec::new();
        for (month, path) in self.months()? {
            if end_of(month) <= since.date_naive() {
                continue;
            }
            for line in BufReader::new(std::fs::File::open(path)?).split(b'\n') {
                // An incomplete line comes from a process that was killed, and may end within a character.
                let entry = serde_json::from_slice::<AuditEntry>(&line?);
                entries.extend(entry.ok().filter(|entry| entry.at >= since));
            }
        }
        entries.sort_by_key(|entry| entry.at);
        Ok(entries)
    }

    /// Removes the files of months that ended at least `days` days before `now`.
    ///
    /// # Errors
    /// Fails when a file cannot be removed.
    pub fn sweep(&self, now: DateTime<Utc>, days: u32) -> io::Result<()> {
        // More days than the calendar has keep everything.
        let Some(since) = now.checked_sub_signed(TimeDelta::days(i64::from(days))) else {
            return Ok(());
        };
        let kept = since.date_naive();
        for (month, path) in self.months()? {
            if end_of(month) <= kept {
                std::fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// The log files with the first day of their month, oldest first.
    fn months(&self) -> io::Result<Vec<(NaiveDate, PathBuf)>> {
        let mut months = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let month = name.to_str().and_then(month_of);
            months.extend(month.map(|month| (month, entry.path())));
        }
        months.sort();
        Ok(months)
    }
}

fn file_name(at: DateTime<Utc>) -> String {
    format!("{PREFIX}{}{SUFFIX}", at.format("%Y-%m"))
}

fn month_of(name: &str) -> Option<NaiveDate> {
    let month = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    NaiveDate::parse_from_str(&format!("{month}-01"), "%Y-%m-%d").ok()
}

/// The first day of the next month.
fn end_of(month: NaiveDate) -> NaiveDate {
    let first = month.with_day(1).unwrap_or(month);
    first.checked_add_months(Months::new(1)).unwrap_or(first)
}

fn append(path: &Path, entry: &AuditEntry) -> io::Result<()> {
    line_log::append_line(path, &line_log::json_line(entry)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: &str) -> DateTime<Utc> {
        format!("{day}T12:00:00Z").parse().unwrap()
    }

    #[test]
    fn a_torn_line_does_not_swallow_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let entry = |who: &str| AuditEntry {
            at: at("2026-03-31"),
            who: who.to_owned(),
            action: AuditAction::ForgotTurn,
            about: "slack/T/C1".to_owned(),
            count: None,
        };
        let path = folder.path().join(file_name(entry("ada").at));
        append(&path, &entry("ada")).unwrap();
        let mut torn = std::fs::read(&path).unwrap();
        // Cut off within the two bytes of the letter.
        torn.extend_from_slice(b"{\"at\":\"2026-03-31T12:00:00Z\",\"who\":\"J\xc3");
        std::fs::write(&path, torn).unwrap();
        append(&path, &entry("bob")).unwrap();
        let entries = Audit::new(folder.path()).since(at("2026-01-01")).unwrap();
        let who: Vec<&str> = entries.iter().map(|entry| &*entry.who).collect();
        assert_eq!(who, ["ada", "bob"]);
    }

    #[test]
    fn months_are_read_in_their_order_and_removed_when_their_time_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::new(folder.path());
        for day in ["2026-03-31", "2026-01-05", "2026-02-01"] {
            let entry = AuditEntry {
                at: at(day),
                who: "slack/T/U1".to_owned(),
                action: AuditAction::ForgotTurn,
                about: "slack/T/C1".to_owned(),
                count: Some(1),
            };
            append(&folder.path().join(file_name(entry.at)), &entry).unwrap();
        }
        std::fs::write(folder.path().join("audit-of-mine.txt"), "no").unwrap();
        let days = |since: &str| -> Vec<String> {
            let entries = audit.since(at(since)).unwrap();
            entries
                .iter()
                .map(|it| it.at.format("%m-%d").to_string())
                .collect()
        };
        assert_eq!(days("2025-01-01"), ["01-05", "02-01", "03-31"]);
        assert_eq!(days("2026-02-02"), ["03-31"]);
        audit.sweep(at("2026-04-01"), u32::MAX).unwrap();
        assert_eq!(days("2025-01-01"), ["01-05", "02-01", "03-31"]);
        // January ended 59 days before the first of April, and February 31.
        audit.sweep(at("2026-04-01"), 59).unwrap();
        assert_eq!(days("2025-01-01"), ["02-01", "03-31"]);
        audit.sweep(at("2026-04-01"), 30).unwrap();
        assert_eq!(days("2025-01-01"), ["03-31"]);
        assert!(folder.path().join("audit-of-mine.txt").exists());
    }
}
