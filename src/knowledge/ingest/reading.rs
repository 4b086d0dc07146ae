//! The thread that reads and compares records.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::run::{Counters, FileFate, IngestError};
use crate::knowledge::plan::{Plan, RecordStatus};
use crate::knowledge::record::{Hash, Record, Rejection, RejectionLasts, SourceLocation};
use crate::knowledge::rejects::Rejects;
use crate::knowledge::source::{Source, SourceItem, SourceKind};
use crate::knowledge::source_error::SourceError;
use crate::knowledge::spool::{LinkSpool, SpooledLinks};

/// Refused records shown at once; all are in the file.
const EXAMPLES: usize = 5;

/// A record to embed and stage.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) record: Record,
    pub(super) hash: Hash,
    /// Replaces another staged record.
    pub(super) is_stale: bool,
}

/// The result of reading, except for the records that were sent on.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) plan: Plan,
    pub(super) waiting: SpooledLinks,
    /// `None` in a dry run.
    pub(super) rejects: Option<Rejects>,
    pub(super) rejected: u64,
    /// Documents and files to read again soon.
    pub(super) unread: u64,
    pub(super) examples: Vec<String>,
    pub(super) warned: u64,
    pub(super) warnings: Vec<String>,
    /// The fate of each document; `None` outside of dry runs.
    pub(super) files: Option<Vec<(String, FileFate)>>,
}

/// Starts reading. It ends early when the receiver is dropped.
pub(super) fn start(
    source: Source,
    plan: Plan,
    is_private: bool,
    (data_dir, version): (PathBuf, i64),
    to: mpsc::Sender<Fresh>,
    counters: &Arc<Counters>,
    is_dry: bool,
) -> JoinHandle<Result<Read, IngestError>> {
    let counters = Arc::clone(counters);
    tokio::task::spawn_blocking(move || {
        let rejects = (!is_dry).then(|| Rejects::new(&data_dir, &source.name, version));
        let mut reader = IngestReader {
            plan,
            spool: LinkSpool::new()?,
            rejects,
            rejected: 0,
            unread: 0,
            examples: Vec::new(),
            warned: 0,
            warnings: Vec::new(),
            files: (is_dry && source.kind == SourceKind::Documents).then(Vec::new),
            is_private,
            to,
            failed: None,
        };
        let _stopped = source.read(&mut |item| {
            match &item {
                SourceItem::Read(bytes) => counters.bytes.fetch_add(*bytes, Ordering::Relaxed),
                SourceItem::Record(_) | SourceItem::Refused(_) | SourceItem::Unread { .. } => {
                    counters.records.fetch_add(1, Ordering::Relaxed)
                }
                SourceItem::Warned(_) | SourceItem::Broken(..) => 0,
            };
            reader.take(item)
        });
        if let Some(error) = reader.failed {
            return Err(error);
        }
        let waiting = reader.spool.finish(&reader.plan)?;
        Ok(Read {
            waiting,
            plan: reader.plan,
            rejects: reader.rejects,
            rejected: reader.rejected,
            unread: reader.unread,
            examples: reader.examples,
            warned: reader.warned,
            warnings: reader.warnings,
            files: reader.files,
        })
    })
}

struct IngestReader {
    plan: Plan,
    spool: LinkSpool,
    rejects: Option<Rejects>,
    rejected: u64,
    unread: u64,
    examples: Vec<String>,
    warned: u64,
    warnings: Vec<String>,
    files: Option<Vec<(String, FileFate)>>,
    is_private: bool,
    to: mpsc::Sender<Fresh>,
    failed: Option<IngestError>,
}

impl IngestReader {
    fn take(&mut self, item: SourceItem) -> ControlFlow<()> {
        let kept = match item {
            SourceItem::Read(_) => Ok(()),
            SourceItem::Refused(refused) => self.refuse(&refused),
            SourceItem::Unread { key, refused } => {
                self.plan.keep(&key);
                self.unread += u64::from(refused.lasts == RejectionLasts::ForNow);
                self.refuse(&refused)
            }
            // Whatever is not read would be removed, and links to what is removed would not come
            // back. So the served version stays as it is.
            SourceItem::Broken(path, source) if self.plan.serves_any() => {
                let error = SourceError::Unreadable { path, source };
                self.failed = Some(error.into());
                return ControlFlow::Break(());
            }
            SourceItem::Broken(path, error) => {
                self.unread += 1;
                let reason = format!("it cannot be read: {error}");
                self.refuse(&SourceLocation::file(&path).refuse(reason))
            }
            SourceItem::Warned(warning) => {
                self.warned += 1;
                if self.warnings.len() < EXAMPLES {
                    self.warnings.push(in_words(&warning));
                }
                Ok(())
            }
            SourceItem::Record(record) => match self.compare(record) {
                Ok(flow) => return flow,
                Err(error) => Err(error),
            },
        };
        match kept {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error.into());
                ControlFlow::Break(())
            }
        }
    }

    fn refuse(&mut self, refused: &Rejection) -> std::io::Result<()> {
        self.rejected += 1;
        if let Some(files) = &mut self.files {
            let file = refused.at.file.display().to_string();
            files.push((file, FileFate::Refused(refused.reason.clone())));
        }
        if self.examples.len() < EXAMPLES {
            self.examples.push(in_words(refused));
        }
        match &mut self.rejects {
            Some(rejects) => rejects.add(refused),
            None => Ok(()),
        }
    }

    fn tell(&mut self, key: &str, verdict: RecordStatus, was_there: bool) {
        let fate = match (verdict, was_there) {
            (RecordStatus::Unchanged | RecordStatus::Duplicate, _) => FileFate::Unchanged,
            (RecordStatus::Staged | RecordStatus::Fresh { .. }, true) => FileFate::Changed,
            (RecordStatus::Staged | RecordStatus::Fresh { .. }, false) => FileFate::New,
        };
        if let Some(files) = &mut self.files {
            files.push((key.to_owned(), fate));
        }
    }

    fn compare(&mut self, record: Record) -> std::io::Result<ControlFlow<()>> {
        let hash = hash(&record, self.is_private);
        let was_there = self.plan.was_served(&record.key);
        let is_stale = match self.plan.add_record(&record.key, hash) {
            RecordStatus::Duplicate if record.is_shared => return Ok(ControlFlow::Continue(())),
            RecordStatus::Duplicate => {
                let reason = format!("the id {} was there before", record.key);
                self.refuse(&record.at.refuse(reason))?;
                return Ok(ControlFlow::Continue(()));
            }
            verdict @ (RecordStatus::Unchanged | RecordStatus::Staged) => {
                self.tell(&record.key, verdict, was_there);
                self.spool.add(&record)?;
                return Ok(ControlFlow::Continue(()));
            }
            verdict @ RecordStatus::Fresh { stale } => {
                self.tell(&record.key, verdict, was_there);
                stale
            }
        };
        self.spool.add(&record)?;
        let fresh = Fresh {
            record,
            hash,
            is_stale,
        };
        Ok(match self.to.blocking_send(fresh) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_nobody) => ControlFlow::Break(()),
        })
    }
}

/// Records that only some may see hash differently from those that everybody may see.
fn hash(record: &Record, is_private: bool) -> Hash {
    let mut hash = record.hash();
    hash[0] ^= u8::from(is_private);
    hash
}

/// Formats a refusal: `a.jsonl, line 3: it is no JSON`
pub(super) fn in_words(refused: &Rejection) -> String {
    let file = refused.at.file.display();
    match refused.at.line {
        Some(line) => format!("{file}, line {line}: {}", refused.reason),
        None => format!("{file}: {}", refused.reason),
    }
}
