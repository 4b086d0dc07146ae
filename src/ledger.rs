//! What was accepted and is not answered yet, so that a bot that was killed can go on.
//!
//! A file of lines that are only ever added, written by one thread: it syncs once for all that came
//! while it wrote. Whatever is left when the file is opened goes back to its platform, which
//! delivers it again.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

use chrono::{TimeDelta, Utc};
use muninn_platform::{EventId, IncomingMessage};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::files::{folder_name, private_file, private_folder, replace_lines, try_lock};

/// Processes that can share a folder, each with a ledger of its own.
const SLOTS: usize = 64;

/// What nobody took back for this long is not answered any more.
const KEPT: TimeDelta = TimeDelta::hours(24);

/// The file is written anew when it has this many lines and most of them are of the past.
const LINES: usize = 4_096;

/// The ledger could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the ledger of accepted messages in {} cannot be used", path.display())]
pub struct LedgerError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// Keeps what was accepted until it is answered.
#[derive(Debug)]
pub struct Ledger {
    /// None: this bot keeps nothing, because who asks is there to ask again.
    writer: Option<Writer>,
    /// What earlier processes left.
    left_over: Vec<IncomingMessage>,
    /// The same after a restart, and no other living process's.
    holder: String,
}

/// The way to the thread that writes.
#[derive(Debug)]
struct Writer {
    orders: Option<mpsc::Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    fn send(&self, order: Order) -> bool {
        self.orders
            .as_ref()
            .is_some_and(|orders| orders.send(order).is_ok())
    }
}

impl Drop for Writer {
    /// Waits for what was ordered, a write at most, so that a clean end leaves nothing over.
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // It only ends by itself.
            let _ = thread.join();
        }
    }
}

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Line {
    Accepted(Box<IncomingMessage>),
    Done(EventId),
}

/// A line to write, and who waits for it.
#[derive(Debug)]
struct Order {
    line: Line,
    written: Option<oneshot::Sender<()>>,
}

impl Ledger {
    /// Keeps nothing.
    pub fn nowhere() -> Self {
        Self {
            writer: None,
            left_over: Vec::new(),
            holder: Uuid::new_v4().to_string(),
        }
    }

    /// Takes a ledger in the folder that no other process uses, and what is left in all of those.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn open(folder: &Path) -> Result<Self, LedgerError> {
        let unusable = |source| LedgerError {
            path: folder.to_owned(),
            source,
        };
        let (file, left_over) = Slots::take(folder).map_err(unusable)?;
        let holder = format!("{}/{}", folder_name(folder).map_err(unusable)?, file.slot);
        let (sender, orders) = mpsc::channel();
        let mut book = Book::new(file, &left_over);
        let thread = std::thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || book.keep(&orders))
            .map_err(unusable)?;
        Ok(Self {
            writer: Some(Writer {
                orders: Some(sender),
                thread: Some(thread),
            }),
            left_over,
            holder,
        })
    }

    /// By what this process claims events: whoever uses this ledger next may go on with what it
    /// claimed, since this process is gone then.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// What earlier processes accepted and did not answer, given once, in its order.
    pub fn take_left_over(&mut self) -> Vec<IncomingMessage> {
        std::mem::take(&mut self.left_over)
    }

    /// Returns when the message survives the process. A ledger that cannot be written says so in the
    /// log; the message is answered all the same.
    pub async fn accept(&self, message: &IncomingMessage) {
        let Some(writer) = &self.writer else { return };
        let (written, is_written) = oneshot::channel();
        let order = Order {
            line: Line::Accepted(Box::new(message.clone())),
            written: Some(written),
        };
        if writer.send(order) {
            // Written or not, as the log says.
            let _ = is_written.await;
        }
    }

    /// The event needs nothing more. Not waited for: what is answered once more after a crash is
    /// known by its event.
    pub fn done(&self, event: &EventId) {
        let Some(writer) = &self.writer else { return };
        writer.send(Order {
            line: Line::Done(event.clone()),
            written: None,
        });
    }
}

/// The file, and what it says.
struct Book {
    file: LedgerFile,
    open: Vec<IncomingMessage>,
    lines: usize,
}

impl Book {
    fn new(file: LedgerFile, left_over: &[IncomingMessage]) -> Self {
        Self {
            file,
            lines: left_over.len(),
            open: left_over.to_vec(),
        }
    }

    fn keep(&mut self, orders: &mpsc::Receiver<Order>) {
        while let Ok(first) = orders.recv() {
            let orders: Vec<Order> = std::iter::once(first).chain(orders.try_iter()).collect();
            if let Err(error) = self.write(&orders) {
                metrics::counter!("muninn_ledger_failures_total").increment(1);
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "accepted messages cannot be written down: they are lost if this process is killed"
                );
            }
            for order in orders {
                if let Some(written) = order.written {
                    // Who gave up waiting does not want to know.
                    let _ = written.send(());
                }
            }
        }
    }

    fn write(&mut self, orders: &[Order]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for Order { line, .. } in orders {
            serde_json::to_writer(&mut bytes, line)?;
            bytes.push(b'\n');
            apply(&mut self.open, line.clone());
        }
        self.lines += orders.len();
        if self.lines >= LINES && self.open.len() < self.lines / 2 {
            self.lines = self.open.len();
            return self.file.rewrite(&self.open);
        }
        // What is only done is of no use to anybody after a crash, so it may wait.
        let is_waited_for = orders.iter().any(|order| order.written.is_some());
        self.file.append(&bytes, is_waited_for)
    }
}

/// The file of one process.
struct LedgerFile {
    slot: usize,
    path: PathBuf,
    file: std::fs::File,
    /// Held as long as the process lives: nobody else writes this ledger.
    _lock: std::fs::File,
}

impl LedgerFile {
    fn append(&mut self, bytes: &[u8], sync: bool) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(bytes);
        if written.is_err() {
            // Half a line would make the whole of the next one unreadable.
            self.file.set_len(before)?;
        }
        written?;
        if sync { self.file.sync_data() } else { Ok(()) }
    }

    fn rewrite(&mut self, open: &[IncomingMessage]) -> io::Result<()> {
        let lines = open.iter().cloned().map(Box::new).map(Line::Accepted);
        replace_lines(&self.path, lines)?;
        self.file = private_file().append(true).open(&self.path)?;
        Ok(())
    }
}

/// The ledgers of a folder.
struct Slots;

impl Slots {
    /// The first one that nobody uses, with what is left in it and in the others nobody uses.
    fn take(folder: &Path) -> io::Result<(LedgerFile, Vec<IncomingMessage>)> {
        private_folder(folder)?;
        let mut mine: Option<LedgerFile> = None;
        let mut left_over = Vec::new();
        let mut emptied = Vec::new();
        for slot in 0..SLOTS {
            let path = folder.join(format!("accepted-{slot}.jsonl"));
            if mine.is_some() && !path.exists() {
                continue;
            }
            let Some(lock) = try_lock(&path.with_extension("lock"))? else {
                continue;
            };
            left_over.extend(read(&path)?);
            match mine {
                None => {
                    let file = private_file().append(true).open(&path)?;
                    mine = Some(LedgerFile {
                        slot,
                        path,
                        file,
                        _lock: lock,
                    });
                }
                Some(_) => emptied.push((path, lock)),
            }
        }
        let Some(mut mine) = mine else {
            return Err(io::Error::other(format!(
                "{SLOTS} processes use this folder already"
            )));
        };
        left_over.sort_by_key(|message| message.sent_at);
        // Written here before it is removed there: after a crash in between it is there twice, and
        // answered once.
        mine.rewrite(&left_over)?;
        for (path, _lock) in emptied {
            std::fs::remove_file(path)?;
        }
        Ok((mine, left_over))
    }
}

/// What is open after a line; the last delivery of a message counts.
fn apply(open: &mut Vec<IncomingMessage>, line: Line) {
    match line {
        Line::Accepted(message) => {
            open.retain(|open| open.event != message.event);
            open.push(*message);
        }
        Line::Done(event) => open.retain(|open| open.event != event),
    }
}

/// What a file leaves open. A line that cannot be read was never acknowledged to anybody, or is of
/// another version of this program.
fn read(path: &Path) -> io::Result<Vec<IncomingMessage>> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut open: Vec<IncomingMessage> = Vec::new();
    let mut unreadable = 0;
    for line in BufReader::new(file).split(b'\n') {
        match serde_json::from_slice(&line?) {
            Ok(line) => apply(&mut open, line),
            Err(_) => unreadable += 1,
        }
    }
    if unreadable > 0 {
        tracing::warn!(unreadable, path = %path.display(), "lines of the ledger cannot be read");
    }
    let since = Utc::now() - KEPT;
    open.retain(|message| message.sent_at >= since);
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::message;

    #[tokio::test]
    async fn what_was_not_answered_is_left_over_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let messages: Vec<IncomingMessage> = (0..4).map(|n| message(&format!("e{n}"))).collect();
        let mut ledger = Ledger::open(folder.path()).unwrap();
        assert_eq!(ledger.take_left_over(), []);
        for message in &messages {
            ledger.accept(message).await;
        }
        ledger.done(&messages[1].event);
        // Accepting waits for what was written before.
        ledger.accept(&messages[3]).await;
        // What another process still works on is not left over.
        let mut beside = Ledger::open(folder.path()).unwrap();
        assert_ne!(ledger.holder(), beside.holder());
        let holder = ledger.holder().to_owned();
        assert_eq!(beside.take_left_over(), []);
        let aside = message("aside");
        beside.accept(&aside).await;
        drop((ledger, beside));
        let mut later = Ledger::open(folder.path()).unwrap();
        assert_eq!(later.holder(), holder);
        let left: Vec<EventId> = later
            .take_left_over()
            .into_iter()
            .map(|it| it.event)
            .collect();
        assert_eq!(left, ["e0", "e2", "e3", "aside"].map(EventId::new));
        assert_eq!(later.take_left_over(), []);
        // Nor is it lost with the process that took it over.
        drop(later);
        assert_eq!(
            Ledger::open(folder.path()).unwrap().take_left_over().len(),
            4
        );
    }

    #[tokio::test]
    async fn a_long_past_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(folder.path()).unwrap();
        let kept = message("kept");
        ledger.accept(&kept).await;
        for n in 0..LINES {
            ledger.done(&EventId::new(n.to_string()));
        }
        ledger.accept(&message("last")).await;
        let lines = std::fs::read_to_string(folder.path().join("accepted-0.jsonl")).unwrap();
        assert!(lines.lines().count() < LINES, "{}", lines.lines().count());
        assert!(lines.contains("kept"));
    }

    #[tokio::test]
    async fn what_is_too_old_or_unreadable_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(folder.path()).unwrap();
        let mut old = message("old");
        old.sent_at = Utc::now() - KEPT - TimeDelta::minutes(1);
        ledger.accept(&old).await;
        ledger.accept(&message("new")).await;
        drop(ledger);
        let path = folder.path().join("accepted-0.jsonl");
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap();
        file.write_all(b"{\"Accepted\":").unwrap();
        let left = Ledger::open(folder.path()).unwrap().take_left_over();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].event, EventId::new("new"));
    }
}
