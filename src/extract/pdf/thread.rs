//! Reads a PDF on a thread of its own. A thread that takes too long is abandoned. While several are abandoned, no further
//! PDF is read, so that nobody can keep all processors busy with them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Once};
use std::time::Duration;

use pdf_extract::Document;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const THREAD: &str = "pdf-reader";

/// Stack size: deeply nested files need more than the default.
const STACK: usize = 32 * 1024 * 1024;

/// Time limit for a file; after that its thread is abandoned.
pub(super) const EXTRACTION_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum number of abandoned threads.
const MOST_LEFT_BEHIND: isize = 2;

static LEFT_BEHIND: AtomicIsize = AtomicIsize::new(0);

/// The content of a PDF.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pdf {
    pub pages: Vec<String>,
    /// `Title`, `Author`, `Keywords` and `Created`, if present.
    pub about: Map<String, Value>,
}

/// Why a PDF was not read.
#[derive(Debug, thiserror::Error)]
pub enum PdfError {
    #[error("earlier PDFs keep the reader busy; try again later")]
    Busy,
    #[error("the reader cannot be started: {0}")]
    NotStarted(std::io::Error),
    #[error("the reader was ended by signal {0}; try again later")]
    Ended(i32),
    #[error("reading it took longer than {} s", EXTRACTION_TIMEOUT.as_secs())]
    TimedOut,
    #[error("{0}")]
    Refused(String),
}

/// Reads a PDF in this process.
pub(super) fn read_here(bytes: Vec<u8>) -> Result<Pdf, PdfError> {
    if LEFT_BEHIND.load(Ordering::Relaxed) >= MOST_LEFT_BEHIND {
        return Err(PdfError::Busy);
    }
    silence_its_panics();
    let read = move || {
        let read = || {
            let pages = pdf_extract::extract_text_from_mem_by_pages(&bytes)?;
            Ok(Pdf {
                about: about(&bytes),
                pages,
            })
        };
        match catch_unwind(AssertUnwindSafe(read)) {
            Ok(Ok(read)) => Ok(read),
            Ok(Err(pdf_extract::OutputError::PdfError(pdf_extract::Error::Decryption(_)))) => {
                Err("it has a password; save it without one".to_owned())
            }
            Ok(Err(error)) => Err(format!("it is no PDF that can be read: {error}")),
            Err(_panic) => Err("it is no PDF that can be read: its parts do not fit".to_owned()),
        }
    };
    let read = run_within(EXTRACTION_TIMEOUT, &LEFT_BEHIND, read).map_err(PdfError::NotStarted)?;
    let read = read.ok_or(PdfError::TimedOut)?;
    let read = read.map_err(PdfError::Refused)?;
    if read.pages.iter().all(|page| page.trim().is_empty()) {
        let reason = "the PDF has no text; perhaps it is a scan";
        return Err(PdfError::Refused(reason.to_owned()));
    }
    Ok(read)
}

/// Runs `work` on a thread of its own. `None` if it takes longer than `limit`: then the thread is abandoned, and counted
/// in `left_behind` until it ends.
fn run_within<T: Send + 'static>(
    limit: Duration,
    left_behind: &'static AtomicIsize,
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<Option<T>> {
    let (sender, receiver) = channel();
    // Set by the thread when it ends, and by the caller when it gives up. Whoever is second removes the thread from the
    // count.
    let is_over = Arc::new(AtomicBool::new(false));
    let thread = {
        let is_over = Arc::clone(&is_over);
        move || {
            // Nobody receives it if the caller gave up.
            let _ = sender.send(work());
            if is_over.swap(true, Ordering::AcqRel) {
                left_behind.fetch_sub(1, Ordering::Relaxed);
            }
        }
    };
    let builder = std::thread::Builder::new().name(THREAD.to_owned());
    builder.stack_size(STACK).spawn(thread)?;
    if let Ok(done) = receiver.recv_timeout(limit) {
        return Ok(Some(done));
    }
    left_behind.fetch_add(1, Ordering::Relaxed);
    if is_over.swap(true, Ordering::AcqRel) {
        // It ended in this moment.
        left_behind.fetch_sub(1, Ordering::Relaxed);
        return Ok(receiver.try_recv().ok());
    }
    Ok(None)
}

/// Its information dictionary. No error in it makes the file unreadable.
fn about(bytes: &[u8]) -> Map<String, Value> {
    let mut about = Map::new();
    let Ok(document) = Document::load_mem(bytes) else {
        return about;
    };
    let info = document.trailer.get(b"Info");
    let info = info.and_then(|info| document.dereference(info));
    let Ok(info) = info.and_then(|(_, info)| info.as_dict()) else {
        return about;
    };
    for (key, name) in [
        ("Title", "title"),
        ("Author", "author"),
        ("Keywords", "tags"),
        ("CreationDate", "date"),
    ] {
        let text = info.get(key.as_bytes()).ok();
        let text = text.and_then(|text| document.dereference(text).ok());
        let Some(Ok(text)) = text.map(|(_, text)| pdf_extract::decode_text_string(text)) else {
            continue;
        };
        let text = if name == "date" {
            day(&text)
        } else {
            Some(text)
        };
        // Word processors put their own file names there.
        let is_title = |text: &String| !(name == "title" && is_placeholder(text));
        let text = text.filter(|text| !text.trim().is_empty()).filter(is_title);
        about.extend(text.map(|text| (name.to_owned(), Value::from(text))));
    }
    about
}

fn is_placeholder(title: &str) -> bool {
    let title = title.trim().to_lowercase();
    title == "untitled"
        || title.starts_with("microsoft word - ")
        || [".doc", ".docx", ".tex", ".dvi", ".indd"]
            .iter()
            .any(|end| title.ends_with(end))
}

/// `D:20260102030405Z` is `2026-01-02`.
fn day(text: &str) -> Option<String> {
    let digits = text.strip_prefix("D:").unwrap_or(text);
    let part = |from: usize, to: usize| {
        digits
            .get(from..to)
            .filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    Some(format!("{}-{}-{}", part(0, 4)?, part(4, 6)?, part(6, 8)?))
}

/// Suppresses the reader's panic messages, as a refused file is reported otherwise. Other panics
/// are shown as before.
fn silence_its_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() != Some(THREAD) {
                before(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Waits until no thread is counted any more.
    fn are_gone(left_behind: &AtomicIsize) -> bool {
        let begun = Instant::now();
        while left_behind.load(Ordering::Relaxed) != 0 && begun.elapsed() < EXTRACTION_TIMEOUT {
            std::thread::yield_now();
        }
        left_behind.load(Ordering::Relaxed) == 0
    }

    #[test]
    fn who_takes_too_long_is_counted_until_it_ends() {
        static LEFT: AtomicIsize = AtomicIsize::new(0);
        let (end, may_end) = channel();
        let work = move || may_end.recv();
        let given_up = run_within(Duration::from_millis(1), &LEFT, work).unwrap();
        assert!(given_up.is_none());
        assert_eq!(LEFT.load(Ordering::Relaxed), 1);
        end.send(()).unwrap();
        assert!(are_gone(&LEFT));
    }

    #[test]
    fn who_ends_in_the_moment_in_which_it_is_given_up_is_not_counted() {
        static LEFT: AtomicIsize = AtomicIsize::new(0);
        let limit = Duration::from_micros(200);
        for _ in 0..500 {
            let begun = Instant::now();
            let work = move || {
                while begun.elapsed() < limit {
                    std::hint::spin_loop();
                }
            };
            run_within(limit, &LEFT, work).unwrap();
        }
        assert!(are_gone(&LEFT));
    }
}
