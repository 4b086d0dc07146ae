//! The pages of a PDF.
//!
//! The reader panics on odd files and may not come to an end on hostile ones, so it runs on a
//! thread of its own. One that takes too long is left behind; as long as several are, no further
//! PDF is read, so that nobody can keep all processors busy with them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

const THREAD: &str = "pdf-reader";

/// Deeply nested files need more than a thread has.
const STACK: usize = 32 * 1024 * 1024;

/// How long a file may take; then its thread is left behind.
const LONGEST: Duration = Duration::from_secs(60);

/// Threads that may be left behind.
const MOST_LEFT_BEHIND: isize = 2;

static LEFT_BEHIND: AtomicIsize = AtomicIsize::new(0);

/// The text of each page. Blocks, a minute at most.
///
/// # Errors
/// Why there is none, in words.
pub fn pages(bytes: Vec<u8>) -> Result<Vec<String>, String> {
    if LEFT_BEHIND.load(Ordering::Relaxed) >= MOST_LEFT_BEHIND {
        return Err("earlier PDFs keep the reader busy; try again later".to_owned());
    }
    silence_its_panics();
    let (sender, receiver) = channel();
    let read = move || {
        let read = || pdf_extract::extract_text_from_mem_by_pages(&bytes);
        let result = match catch_unwind(AssertUnwindSafe(read)) {
            Ok(Ok(pages)) => Ok(pages),
            Ok(Err(error)) => Err(format!("it is no PDF that can be read: {error}")),
            Err(_panic) => Err("it is no PDF that can be read: its parts do not fit".to_owned()),
        };
        if sender.send(result).is_err() {
            // Nobody waited any more.
            LEFT_BEHIND.fetch_sub(1, Ordering::Relaxed);
        }
    };
    let thread = std::thread::Builder::new()
        .name(THREAD.to_owned())
        .stack_size(STACK);
    thread.spawn(read).map_err(|error| error.to_string())?;
    let Ok(pages) = receiver.recv_timeout(LONGEST) else {
        // From here on the thread learns that nobody waits, and counts itself out at its end.
        drop(receiver);
        LEFT_BEHIND.fetch_add(1, Ordering::Relaxed);
        return Err(format!(
            "reading it took longer than {} s",
            LONGEST.as_secs()
        ));
    };
    let pages = pages?;
    if pages.iter().all(|page| page.trim().is_empty()) {
        return Err("the PDF has no text; perhaps it is a scan".to_owned());
    }
    Ok(pages)
}

/// A refused file is told of in words; everybody else's panics are shown as before.
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
