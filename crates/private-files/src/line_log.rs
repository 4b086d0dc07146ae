//! A log of JSON lines in a file that one process uses at a time.
//!
//! Lines are only appended, by one thread, which syncs once for everything that arrived while it
//! wrote. The file is rewritten when its owner asks for it: because most of it is outdated, or
//! because something in it was forgotten.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

use serde::Serialize;
use tokio::sync::oneshot;

use crate::{create_private_folder, private_file, try_lock};

/// Maximum number of processes that share a folder, each with its own log.
const SLOTS: usize = 64;

/// Bytes that are written together.
const BUFFER: usize = 256 * 1_024;

/// A file that no other process uses as long as this exists.
#[derive(Debug)]
pub struct Slot {
    pub number: usize,
    pub path: PathBuf,
    _lock: File,
}

/// The files of a folder that no living process uses.
#[derive(Debug)]
pub struct Slots {
    /// The file to write.
    pub own: Slot,
    /// The files of earlier processes. Whoever takes over their lines removes them.
    pub left: Vec<Slot>,
}

impl Slots {
    /// Takes files `<name>-<number>.jsonl` of a folder: the first one that no other process uses, and
    /// all existing ones that nobody uses.
    ///
    /// # Errors
    /// Fails when the folder cannot be used, or too many processes use it already.
    pub fn take(folder: &Path, name: &str) -> io::Result<Self> {
        create_private_folder(folder)?;
        let mut own = None;
        let mut left = Vec::new();
        for number in 0..SLOTS {
            let path = folder.join(format!("{name}-{number}.jsonl"));
            if own.is_some() && !path.exists() {
                continue;
            }
            let Some(lock) = try_lock(&path.with_extension("lock"))? else {
                continue;
            };
            let slot = Slot {
                number,
                path,
                _lock: lock,
            };
            match own {
                None => own = Some(slot),
                Some(_) => left.push(slot),
            }
        }
        match own {
            Some(own) => Ok(Self { own, left }),
            None => Err(io::Error::other(format!(
                "{SLOTS} processes use this folder already"
            ))),
        }
    }
}

/// Returns the logs of a name in a folder, including those in use.
///
/// # Errors
/// Fails when the folder cannot be read.
pub fn all_logs(folder: &Path, name: &str) -> io::Result<Vec<PathBuf>> {
    let paths = (0..SLOTS).map(|number| folder.join(format!("{name}-{number}.jsonl")));
    let mut there = Vec::new();
    for path in paths {
        if path.try_exists()? {
            there.push(path);
        }
    }
    Ok(there)
}

/// Passes the lines of a file to `take`, with their numbers from 1. A last line without its line end
/// was never acknowledged, so it is left out; so are erased lines.
///
/// # Errors
/// Fails when the file cannot be read, or `take` fails. A missing file has no lines.
pub fn read_lines<E: From<io::Error>>(
    path: &Path,
    mut take: impl FnMut(usize, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        reader.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            break;
        }
        if !line.trim_ascii().is_empty() {
            take(number, &line)?;
        }
    }
    Ok(())
}

/// Formats a line of a log.
///
/// # Errors
/// Fails when the value cannot be converted to JSON.
pub fn json_line(of: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(of)?;
    line.push(b'\n');
    Ok(line)
}

/// Appends a complete line to a file, which survives a crash of the machine when this returns. A process that was killed may
/// have left half a line at the end: that is ended first, so that only it stays unreadable.
///
/// # Errors
/// Fails when it cannot be written; the file is then as it was.
pub fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut file = private_file().read(true).append(true).open(path)?;
    // Another process may be writing its line. The lock ends when the file is closed.
    file.lock()?;
    let before = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(line.len() + 1);
    if before > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            bytes.push(b'\n');
        }
    }
    bytes.extend_from_slice(line);
    let written = file.write_all(&bytes).and_then(|()| file.sync_data());
    if written.is_err() {
        file.set_len(before)?;
    }
    written
}

/// Replaces a file's content with what `lines` writes, so that a crash leaves either the old or the
/// new content.
///
/// # Errors
/// Fails when it cannot be written; the file is then unchanged.
pub fn replace(
    path: &Path,
    lines: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    put_in_place(path, lines).map(drop)
}

/// The same; returns the file, opened for appending.
fn put_in_place(
    path: &Path,
    lines: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<File> {
    let beside = path.with_extension("new");
    let written = write_beside(&beside, lines).and_then(|()| {
        // Opened before it is moved into place: if this failed afterwards, later writes would go to
        // the replaced file.
        let file = private_file().append(true).open(&beside)?;
        std::fs::rename(&beside, path)?;
        Ok(file)
    });
    if written.is_err() {
        // An incomplete file has no use, and contains people's messages.
        let _ = std::fs::remove_file(&beside);
    }
    written
}

fn write_beside(
    path: &Path,
    lines: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = private_file().truncate(true).write(true).open(path)?;
    let mut writer = BufWriter::with_capacity(BUFFER, file);
    lines(&mut writer)?;
    writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_data()
}

type WriteLines = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;
type IsGone = Box<dyn Fn(&[u8]) -> bool + Send>;

/// A task for the file.
enum FileTask {
    Append {
        bytes: Vec<u8>,
        sync: bool,
    },
    Rewrite {
        lines: WriteLines,
        /// Selects the lines to overwrite in place if there is no room to rewrite the file.
        is_gone: Option<IsGone>,
    },
}

/// A task, and who waits for it.
struct Order {
    work: FileTask,
    written: oneshot::Sender<io::Result<()>>,
}

/// A pending task: wait for it, or drop it if the result does not matter.
#[derive(Debug)]
#[must_use = "wait for it, or say that nobody does by dropping it"]
pub struct PendingWrite(oneshot::Receiver<io::Result<()>>);

impl PendingWrite {
    /// Waits until it is written.
    ///
    /// # Errors
    /// Fails when it could not be written.
    pub async fn wait(self) -> io::Result<()> {
        self.0.await.unwrap_or_else(|_| Err(ended()))
    }
}

/// The handle of the thread that writes a log. Tasks are carried out in order.
#[derive(Debug)]
pub struct LineLog {
    orders: Option<mpsc::Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl LineLog {
    /// Starts the thread that writes the log of a slot, under a name.
    ///
    /// # Errors
    /// Fails when the file cannot be opened, or the thread cannot be started.
    pub fn start(name: &str, slot: Slot) -> io::Result<Self> {
        let mut log = LogFile::open(slot)?;
        let (sender, orders) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || log.keep(&orders))?;
        Ok(Self {
            orders: Some(sender),
            thread: Some(thread),
        })
    }

    /// Appends complete lines. With `sync`, they survive a crash of the machine when the waiting
    /// ends.
    pub fn append(&self, bytes: Vec<u8>, sync: bool) -> PendingWrite {
        self.order(FileTask::Append { bytes, sync })
    }

    /// Replaces the content of the file with what `lines` writes.
    pub fn rewrite(
        &self,
        lines: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> PendingWrite {
        self.order(FileTask::Rewrite {
            lines: Box::new(lines),
            is_gone: None,
        })
    }

    /// The same, to remove lines: if there is no room to rewrite the file, the lines that `is_gone`
    /// selects are overwritten in place.
    pub fn erase(
        &self,
        lines: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
        is_gone: impl Fn(&[u8]) -> bool + Send + 'static,
    ) -> PendingWrite {
        self.order(FileTask::Rewrite {
            lines: Box::new(lines),
            is_gone: Some(Box::new(is_gone)),
        })
    }

    fn order(&self, work: FileTask) -> PendingWrite {
        let (written, is_written) = oneshot::channel();
        if let Some(orders) = &self.orders {
            // If the thread has ended, `written` is dropped, and waiting reports that.
            let _ = orders.send(Order { work, written });
        }
        PendingWrite(is_written)
    }
}

impl Drop for LineLog {
    /// Waits for pending tasks.
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // The thread ends by itself only.
            let _ = thread.join();
        }
    }
}

struct LogFile {
    slot: Slot,
    file: File,
}

impl LogFile {
    fn open(slot: Slot) -> io::Result<Self> {
        let file = private_file().append(true).open(&slot.path)?;
        Ok(Self { slot, file })
    }

    fn keep(&mut self, orders: &mpsc::Receiver<Order>) {
        while let Ok(first) = orders.recv() {
            let mut group = WriteBatch::default();
            for Order { work, written } in std::iter::once(first).chain(orders.try_iter()) {
                match work {
                    FileTask::Append { bytes, sync } => group.add(&bytes, sync, written),
                    FileTask::Rewrite { lines, is_gone } => {
                        std::mem::take(&mut group).write(self);
                        // Whoever stopped waiting needs no result.
                        let _ = written.send(self.rewrite(lines, is_gone));
                    }
                }
            }
            group.write(self);
        }
    }

    fn append(&mut self, bytes: &[u8], sync: bool) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(bytes);
        if written.is_err() {
            // An incomplete line would make the whole next line unreadable.
            self.file.set_len(before)?;
        }
        written?;
        if sync { self.file.sync_data() } else { Ok(()) }
    }

    fn rewrite(&mut self, lines: WriteLines, is_gone: Option<IsGone>) -> io::Result<()> {
        match (put_in_place(&self.slot.path, lines), is_gone) {
            (Ok(file), _) => {
                self.file = file;
                Ok(())
            }
            (Err(error), None) => Err(error),
            (Err(error), Some(is_gone)) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    path = %self.slot.path.display(),
                    "a log could not be written anew; what is gone is overwritten where it stands"
                );
                blot_out(&self.slot.path, &is_gone)
            }
        }
    }
}

/// Overwrites lines in place, which needs no disk space.
fn blot_out(path: &Path, is_gone: &dyn Fn(&[u8]) -> bool) -> io::Result<()> {
    let mut gone: Vec<(u64, usize)> = Vec::new();
    let mut reader = BufReader::with_capacity(BUFFER, File::open(path)?);
    let (mut at, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if !text.is_empty() && is_gone(text) {
            gone.push((at, text.len()));
        }
        at += length as u64;
    }
    let mut file = std::fs::OpenOptions::new().write(true).open(path)?;
    for (at, length) in gone {
        file.seek(SeekFrom::Start(at))?;
        file.write_all(&vec![b' '; length])?;
    }
    file.sync_data()
}

/// Lines that are written together.
#[derive(Default)]
struct WriteBatch {
    bytes: Vec<u8>,
    sync: bool,
    waiting: Vec<oneshot::Sender<io::Result<()>>>,
}

impl WriteBatch {
    fn add(&mut self, bytes: &[u8], sync: bool, written: oneshot::Sender<io::Result<()>>) {
        self.bytes.extend_from_slice(bytes);
        self.sync |= sync;
        self.waiting.push(written);
    }

    fn write(self, file: &mut LogFile) {
        if self.waiting.is_empty() {
            return;
        }
        let result = file.append(&self.bytes, self.sync);
        for waiting in self.waiting {
            let result = match &result {
                Ok(()) => Ok(()),
                Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
            };
            let _ = waiting.send(result);
        }
    }
}

fn ended() -> io::Error {
    io::Error::other("the thread that writes the log ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(path: &Path) -> Vec<String> {
        let mut lines = Vec::new();
        read_lines(path, |_, line| {
            lines.push(String::from_utf8_lossy(line).into_owned());
            Ok::<(), io::Error>(())
        })
        .unwrap();
        lines
    }

    fn start(folder: &Path) -> (LineLog, PathBuf) {
        let slots = Slots::take(folder, "log").unwrap();
        let path = slots.own.path.clone();
        (LineLog::start("log", slots.own).unwrap(), path)
    }

    #[tokio::test]
    async fn lines_are_added_and_written_anew_in_the_order_of_the_orders() {
        let folder = tempfile::tempdir().unwrap();
        let (log, path) = start(folder.path());
        drop(log.append(b"1\n".to_vec(), false));
        drop(log.append(b"2\n".to_vec(), false));
        drop(log.rewrite(|out| out.write_all(b"2\n")));
        log.append(b"3\n".to_vec(), true).wait().await.unwrap();
        assert_eq!(lines_of(&path), ["2", "3"]);
    }

    #[tokio::test]
    async fn what_is_gone_goes_even_where_nothing_can_be_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (log, path) = start(folder.path());
        log.append(b"1\nsecret\n3\n".to_vec(), true)
            .wait()
            .await
            .unwrap();
        let full = |_: &mut dyn Write| Err(io::Error::from(io::ErrorKind::StorageFull));
        let erased = log.erase(full, |line| line == b"secret").wait().await;
        erased.unwrap();
        assert_eq!(lines_of(&path), ["1", "3"]);
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(6).any(|bytes| bytes == b"secret"));
        assert!(!path.with_extension("new").exists());
        log.append(b"4\n".to_vec(), true).wait().await.unwrap();
        assert_eq!(lines_of(&path), ["1", "3", "4"]);
    }

    #[test]
    fn each_process_has_its_own_and_those_of_the_dead_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let one = Slots::take(folder.path(), "log").unwrap();
        std::fs::write(&one.own.path, "").unwrap();
        let other = Slots::take(folder.path(), "log").unwrap();
        std::fs::write(&other.own.path, "").unwrap();
        assert_eq!((one.own.number, other.own.number), (0, 1));
        assert!(other.left.is_empty());
        drop((one, other));
        let next = Slots::take(folder.path(), "log").unwrap();
        assert_eq!(next.own.number, 0);
        assert_eq!(next.left.len(), 1);
        assert_eq!(all_logs(folder.path(), "log").unwrap().len(), 2);
    }
}
