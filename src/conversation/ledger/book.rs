//! The file of a ledger: the position of each line, what is written together, and what is overwritten.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{EventId, IncomingMessage};
use private_files::line_log::{Slot, Slots};
use private_files::private_file;

use super::entry::{AcceptedMessage, LedgerEntry, Order, message_without_secrets};
use crate::graph::pending::MOST_TAKES;

/// A message that nobody took back for this long is not answered any more.
pub(super) const UNCLAIMED_RETENTION: TimeDelta = TimeDelta::hours(24);

/// The file is rewritten when it is longer than this, in bytes, and mostly blank.
pub(super) const REWRITE_THRESHOLD_BYTES: u64 = 1 << 20;

/// The file, and the positions of its open messages.
pub(super) struct Book {
    file: LedgerFile,
    open: HashMap<EventId, Span>,
    /// Lines that nobody waits for any more, and that are not overwritten yet.
    gone: Vec<Span>,
}

/// Lines that are written together.
#[derive(Default)]
struct LedgerBatch {
    bytes: Vec<u8>,
    /// The messages that are open once the lines are written.
    open: HashMap<EventId, Span>,
    /// The lines among them that nobody waits for.
    gone: Vec<Span>,
}

/// The position of a line in the file, without its line end.
#[derive(Clone, Copy, Debug)]
struct Span {
    at: u64,
    length: usize,
    first: Times,
    takes: u32,
    /// Whether an earlier process left the message, and nobody accepted it in this one yet.
    is_left_over: bool,
}

impl Span {
    /// How often processes took the message over once it is accepted again.
    ///
    /// Opening the file does not count: a process that ends before it accepts anything was not ended by a message.
    fn takes_once_accepted(&self) -> u32 {
        self.takes + u32::from(self.is_left_over)
    }
}

/// When a message was sent, and when the bot received it.
#[derive(Clone, Copy, Debug)]
struct Times {
    sent_at: DateTime<Utc>,
    received_at: DateTime<Utc>,
}

impl Times {
    fn of(message: &IncomingMessage) -> Self {
        Self {
            sent_at: message.sent_at,
            received_at: message.received_at,
        }
    }

    fn earliest(self, other: Self) -> Self {
        Self {
            sent_at: self.sent_at.min(other.sent_at),
            received_at: self.received_at.min(other.received_at),
        }
    }
}

impl Book {
    /// Writes the left-over messages to this file, and removes them from the old ones.
    pub(super) fn open(slots: Slots) -> io::Result<(Self, Vec<IncomingMessage>)> {
        let Slots { own, left } = slots;
        let mut left_over = Vec::new();
        for slot in std::iter::once(&own).chain(&left) {
            for message in read(&slot.path)? {
                apply(&mut left_over, LedgerEntry::Accepted(Box::new(message)));
            }
        }
        left_over.retain(is_taken_again);
        left_over.sort_by_key(|it| it.message.sent_at);
        let mut file = LedgerFile::open(own)?;
        let mut bytes = Vec::new();
        let mut open = HashMap::new();
        for AcceptedMessage { message, takes } in &left_over {
            let at = bytes.len() as u64;
            let line = LedgerEntry::Accepted(Box::new(AcceptedMessage {
                message: message_without_secrets(message),
                takes: *takes,
            }));
            serde_json::to_writer(&mut bytes, &line)?;
            let length = bytes.len() - usize::try_from(at).unwrap_or_default();
            let span = Span {
                at,
                length,
                first: Times::of(message),
                takes: *takes,
                is_left_over: true,
            };
            open.insert(message.event.clone(), span);
            bytes.push(b'\n');
        }
        file.replace(&bytes)?;
        // Written here before it is removed there: after a crash in between it is in both, and is answered once.
        for slot in left {
            std::fs::remove_file(&slot.path)?;
        }
        let gone = Vec::new();
        let left_over = left_over.into_iter().map(|it| it.message).collect();
        Ok((Self { file, open, gone }, left_over))
    }

    /// Writes orders until nobody can send any more.
    pub(super) fn keep(&mut self, orders: &mpsc::Receiver<Order>) {
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
                    // Whoever stopped waiting needs no result.
                    let _ = written.send(());
                }
            }
        }
    }

    fn write(&mut self, orders: &[Order]) -> io::Result<()> {
        let batch = self.batch(orders)?;
        if self.open.is_empty() && batch.open.is_empty() {
            self.gone.clear();
            return self.file.empty();
        }
        if let Err(error) = self.file.append(&batch.bytes) {
            // Overwriting needs no disk space.
            self.blank_gone()?;
            return Err(error);
        }
        for (event, span) in batch.open {
            // The last delivery of a message counts.
            self.gone.extend(self.open.insert(event, span));
        }
        self.gone.extend(batch.gone);
        // Lines that are only done have no use after a crash, so they need no sync.
        if orders.iter().any(|order| order.written.is_some()) {
            self.file.sync()?;
        }
        self.blank_gone()?;
        self.shorten()
    }

    /// The bytes to append. Messages that are done are not open from here on, whatever happens to the rest.
    fn batch(&mut self, orders: &[Order]) -> io::Result<LedgerBatch> {
        let mut batch = LedgerBatch::default();
        for Order { line, .. } in orders {
            match line {
                LedgerEntry::Accepted(accepted) => {
                    let AcceptedMessage { message, takes } = &**accepted;
                    let at = self.file.end + batch.bytes.len() as u64;
                    let before = batch.bytes.len();
                    // Later deliveries keep the times of the first one, and how often it was taken over.
                    let earlier = batch.open.get(&message.event);
                    let earlier = earlier.or_else(|| self.open.get(&message.event));
                    let times = Times::of(message);
                    let first = earlier.map_or(times, |earlier| earlier.first.earliest(times));
                    let takes =
                        earlier.map_or(*takes, |earlier| earlier.takes_once_accepted().max(*takes));
                    let message = IncomingMessage {
                        sent_at: first.sent_at,
                        received_at: first.received_at,
                        ..message.clone()
                    };
                    let event = message.event.clone();
                    let line = LedgerEntry::Accepted(Box::new(AcceptedMessage { message, takes }));
                    serde_json::to_writer(&mut batch.bytes, &line)?;
                    let length = batch.bytes.len() - before;
                    batch.bytes.push(b'\n');
                    let span = Span {
                        at,
                        length,
                        first,
                        takes,
                        is_left_over: false,
                    };
                    batch.gone.extend(batch.open.insert(event, span));
                }
                LedgerEntry::Done(event) => {
                    batch.gone.extend(batch.open.remove(event));
                    self.gone.extend(self.open.remove(event));
                }
            }
        }
        Ok(batch)
    }

    /// Overwrites lines that nobody waits for any more. Lines for which this fails are retried with the next
    /// write.
    fn blank_gone(&mut self) -> io::Result<()> {
        while let Some(span) = self.gone.last() {
            self.file.blank(*span)?;
            self.gone.pop();
        }
        Ok(())
    }

    /// Rewrites the file if it is mostly blank.
    fn shorten(&mut self) -> io::Result<()> {
        let open: u64 = self.open.values().map(|span| span.length as u64).sum();
        if self.file.end < REWRITE_THRESHOLD_BYTES || open > self.file.end / 2 {
            return Ok(());
        }
        let mut spans: Vec<(&EventId, Span)> = self.open.iter().map(|(e, s)| (e, *s)).collect();
        spans.sort_by_key(|(_, span)| span.at);
        let mut bytes = Vec::new();
        let mut moved = HashMap::new();
        for (event, span) in spans {
            let at = bytes.len() as u64;
            bytes.extend(self.file.read(span)?);
            bytes.push(b'\n');
            moved.insert(event.clone(), Span { at, ..span });
        }
        self.file.replace(&bytes)?;
        self.open = moved;
        self.gone.clear();
        Ok(())
    }
}

/// The file of one process.
struct LedgerFile {
    /// Locked as long as the process lives, so that nobody else writes this ledger.
    slot: Slot,
    file: std::fs::File,
    end: u64,
}

impl LedgerFile {
    fn open(slot: Slot) -> io::Result<Self> {
        let file = private_file().read(true).write(true).open(&slot.path)?;
        Ok(Self { slot, file, end: 0 })
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self
            .file
            .seek(SeekFrom::Start(self.end))
            .and_then(|_| self.file.write_all(bytes));
        if written.is_err() {
            // An incomplete line would make the whole next line unreadable.
            self.file.set_len(self.end)?;
        }
        written?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Overwrites a line.
    fn blank(&mut self, span: Span) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(span.at))?;
        self.file.write_all(&vec![b' '; span.length])
    }

    fn read(&mut self, span: Span) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; span.length];
        self.file.seek(SeekFrom::Start(span.at))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn empty(&mut self) -> io::Result<()> {
        self.end = 0;
        self.file.set_len(0)
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let beside = self.slot.path.with_extension("new");
        let mut file = private_file()
            .truncate(true)
            .read(true)
            .write(true)
            .open(&beside)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        std::fs::rename(beside, &self.slot.path)?;
        (self.file, self.end) = (file, bytes.len() as u64);
        Ok(())
    }
}

/// Applies a line to the open messages; the last delivery of a message counts.
fn apply(open: &mut Vec<AcceptedMessage>, line: LedgerEntry) {
    match line {
        LedgerEntry::Accepted(mut accepted) => {
            let event = &accepted.message.event;
            let earlier = open.iter().filter(|open| open.message.event == *event);
            accepted.takes = earlier.map(|it| it.takes).fold(accepted.takes, u32::max);
            open.retain(|open| open.message.event != accepted.message.event);
            open.push(*accepted);
        }
        LedgerEntry::Done(event) => open.retain(|open| open.message.event != event),
    }
}

/// Whether a message is taken over once more. One that was taken so often may be what ends every process.
fn is_taken_again(accepted: &AcceptedMessage) -> bool {
    let is_taken = accepted.takes < MOST_TAKES;
    if !is_taken {
        tracing::error!(
            event = %accepted.message.event,
            takes = accepted.takes,
            "a message is given up: every process that took it over ended before it was answered"
        );
    }
    is_taken
}

/// The messages that a file leaves open. An unreadable line was never acknowledged, or was written by another
/// version of this program.
fn read(path: &Path) -> io::Result<Vec<AcceptedMessage>> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut open: Vec<AcceptedMessage> = Vec::new();
    let mut unreadable = 0;
    for line in BufReader::new(file).split(b'\n') {
        let line = line?;
        // Blank: the message is done.
        if line.iter().all(|byte| *byte == b' ') {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(line) => apply(&mut open, line),
            Err(_) => unreadable += 1,
        }
    }
    if unreadable > 0 {
        tracing::warn!(unreadable, path = %path.display(), "lines of the ledger cannot be read");
    }
    let since = Utc::now() - UNCLAIMED_RETENTION;
    open.retain(|it| it.message.sent_at >= since);
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::super::NAME;
    use super::*;
    use crate::testing::message;

    #[tokio::test]
    async fn what_could_not_be_written_leaves_the_others_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let order = |line| Order {
            line,
            written: None,
        };
        let accepted = |event: &str| order(LedgerEntry::Accepted(Box::new(message(event).into())));
        let done = |event: &str| order(LedgerEntry::Done(EventId::new(event)));
        let (mut book, _) = Book::open(Slots::take(folder.path(), NAME).unwrap()).unwrap();
        book.write(&[accepted("first"), accepted("second")])
            .unwrap();
        let path = book.file.slot.path.clone();
        // Opened read-only, it refuses writes, like a full disk.
        let whole = std::mem::replace(&mut book.file.file, std::fs::File::open(&path).unwrap());
        book.write(&[accepted("lost"), done("first")]).unwrap_err();
        book.file.file = whole;
        book.write(&[accepted("third"), done("lost")]).unwrap();
        drop(book);
        let left = read(&path).unwrap().into_iter().map(|it| it.message.event);
        assert_eq!(
            left.collect::<Vec<_>>(),
            ["second", "third"].map(EventId::new)
        );
    }
}
