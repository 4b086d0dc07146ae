//! Gives a person a copy of everything kept of them, from all places, for them alone.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use muninn_platform::{IncomingMessage, NotHandedOver, OwnFile, Reply};
use muninn_texts::{Value, text};
use parking_lot::Mutex;
use private_files::unnamed_file;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::once::CommandOutcome;
use super::{Commands, failure_notice};
use crate::conversation::audit::AuditAction;
use crate::conversation::notice::Notice;
use crate::conversation::own_copy::{
    CopyError, CopyFile, CopyForm, MOST_PARTS, OwnCopy, write_copy,
};
use crate::graph::StoreError;

/// Maximum number of copies made at once; others wait.
const MAX_CONCURRENT_COPIES: usize = 2;
/// Longest time for one copy, including its delivery.
const COPY_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// The copies being made: at most one per person. Clones share them.
#[derive(Clone, Debug)]
pub struct Exports {
    /// Folder for the files until they are handed over.
    folder: PathBuf,
    under_way: Arc<Mutex<HashSet<String>>>,
    places: Arc<Semaphore>,
}

impl Exports {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            under_way: Arc::default(),
            places: Arc::new(Semaphore::new(MAX_CONCURRENT_COPIES)),
        }
    }

    /// Waits until a copy may be made. `None` if that takes longer.
    pub async fn place_within(&self, wait: Duration) -> Option<SemaphorePermit<'_>> {
        let place = timeout(wait, self.places.acquire()).await;
        // The semaphore is never closed.
        place.ok()?.ok()
    }

    /// `None` if a copy is already being made for one of the accounts.
    pub fn begin(&self, accounts: &[String]) -> Option<ExportInProgress> {
        let mut under_way = self.under_way.lock();
        if accounts.iter().any(|account| under_way.contains(account)) {
            return None;
        }
        under_way.extend(accounts.iter().cloned());
        Some(ExportInProgress {
            accounts: accounts.to_vec(),
            all: Arc::clone(&self.under_way),
        })
    }
}

/// Marks a copy as being made, until it is dropped.
#[derive(Debug)]
pub struct ExportInProgress {
    accounts: Vec<String>,
    all: Arc<Mutex<HashSet<String>>>,
}

impl Drop for ExportInProgress {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        for account in &self.accounts {
            all.remove(account);
        }
    }
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error(transparent)]
    NotHandedOver(#[from] NotHandedOver),
}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> Self {
        Self::Copy(error.into())
    }
}

impl Commands {
    /// Sends the author a copy of everything kept of them through the reply. Returns a sentence that says where it is,
    /// or why there is none. The caller holds no session.
    pub async fn export_mine(&self, message: &IncomingMessage, reply: &mut dyn Reply) -> String {
        let (accounts, language) = (message.accounts(), message.languages.person);
        let Some(_under_way) = self.exports.begin(&accounts) else {
            return Notice::ExportUnderWay.in_language(language);
        };
        let exporting = self.try_export_mine(message, &accounts, reply);
        let why: Value = match timeout(COPY_TIMEOUT, exporting).await {
            Ok(Ok(said)) => return said,
            Ok(Err(ExportError::Copy(CopyError::Graph(error)))) => {
                return failure_notice(&error).in_language(language);
            }
            Ok(Err(ExportError::Copy(CopyError::TooMuch))) => {
                text!("no-copy-too-much", files = MOST_PARTS).into()
            }
            Ok(Err(ExportError::Copy(error @ CopyError::File(_)))) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(
                    error,
                    "the copy of what is kept of somebody could not be written"
                );
                text!("no-copy-disk").into()
            }
            Ok(Err(ExportError::NotHandedOver(why))) => why.0,
            Err(_) => text!("no-copy-late", minutes = COPY_TIMEOUT.as_secs() / 60).into(),
        };
        let person = message.author.id.clone();
        Notice::NotHandedOver { why, person }.in_language(language)
    }

    async fn try_export_mine(
        &self,
        message: &IncomingMessage,
        accounts: &[String],
        reply: &mut dyn Reply,
    ) -> Result<String, ExportError> {
        if let Some(CommandOutcome::Said(said)) = self.outcome(message).await? {
            return Ok(said);
        }
        // The semaphore is never closed.
        let _place = self.exports.places.acquire().await;
        let largest = reply.largest_file().await?;
        let language = message.languages.person;
        let folder = self.exports.folder.clone();
        let open = move |_, _| unnamed_file(&folder).map(BufWriter::new);
        let store = self.archive.store();
        let OwnCopy { count, files } =
            write_copy(store, accounts, CopyForm::ALL, largest, language, open).await?;
        if count == 0 {
            return Ok(Notice::NothingKeptOfYou.in_language(language));
        }
        let files: io::Result<Vec<OwnFile>> = files.into_iter().map(own_file).collect();
        let place = reply.hand_over(&files.map_err(CopyError::File)?).await?;
        for account in accounts {
            let action = AuditAction::Exported;
            self.audit
                .record_message_action(message, action, account, Some(count))
                .await;
        }
        let notice = Notice::HandedOver { count, place };
        let said = notice.in_language(language);
        Ok(self.save_reply(message, said).await?)
    }
}

fn own_file(file: CopyFile<BufWriter<File>>) -> io::Result<OwnFile> {
    let CopyFile {
        form,
        part,
        written,
    } = file;
    let date = Utc::now().format("%Y-%m-%d");
    let extension = form.extension();
    let name = match part {
        1 => format!("muninn-{date}.{extension}"),
        part => format!("muninn-{date}-{part}.{extension}"),
    };
    let content = written
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    OwnFile::new(name, form.media_type(), content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_person_has_one_copy_made_and_nobody_waits_without_an_end_for_theirs() {
        let exports = Exports::new(Path::new("."));
        let accounts = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let anns = exports.begin(&accounts(&["slack/ann", "discord/ann"]));
        assert!(anns.is_some());
        // The pages share them with the chat.
        let pages = exports.clone();
        assert!(pages.begin(&accounts(&["discord/ann"])).is_none());
        assert!(pages.begin(&accounts(&["slack/bob"])).is_some());
        drop(anns);
        assert!(pages.begin(&accounts(&["discord/ann"])).is_some());

        let mut places = Vec::new();
        for _ in 0..MAX_CONCURRENT_COPIES {
            places.extend(exports.place_within(COPY_TIMEOUT).await);
        }
        assert_eq!(places.len(), MAX_CONCURRENT_COPIES);
        assert!(pages.place_within(COPY_TIMEOUT).await.is_none());
        places.pop();
        assert!(pages.place_within(COPY_TIMEOUT).await.is_some());
    }
}
