//! The pages of a PDF.
//!
//! The reader panics on odd files and may not come to an end on hostile ones, so it runs on a
//! thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::markdown::Section;

const THREAD: &str = "pdf-reader";

/// Deeply nested files need more than a thread has.
const STACK: usize = 32 * 1024 * 1024;

/// How long a file may take; then its thread is left behind.
const LONGEST: Duration = Duration::from_secs(60);

/// A section a page.
pub(super) fn pages(bytes: Vec<u8>) -> Result<Vec<Section>, String> {
    silence_its_panics();
    let (sender, receiver) = channel();
    let read = move || {
        let read = || pdf_extract::extract_text_from_mem_by_pages(&bytes);
        let result = match catch_unwind(AssertUnwindSafe(read)) {
            Ok(Ok(pages)) => Ok(pages),
            Ok(Err(error)) => Err(format!("it is no PDF that can be read: {error}")),
            Err(_panic) => Err("it is no PDF that can be read: its parts do not fit".to_owned()),
        };
        // Nobody waits any more if it took too long.
        let _ = sender.send(result);
    };
    let thread = std::thread::Builder::new()
        .name(THREAD.to_owned())
        .stack_size(STACK);
    thread.spawn(read).map_err(|error| error.to_string())?;
    let pages = receiver
        .recv_timeout(LONGEST)
        .map_err(|_| format!("reading it took longer than {} s", LONGEST.as_secs()))??;
    if pages.iter().all(|page| page.trim().is_empty()) {
        return Err("the PDF has no text; perhaps it is a scan".to_owned());
    }
    let section = |(at, body): (usize, String)| Section {
        level: 1,
        heading: format!("Page {}", at + 1),
        body,
        is_page: true,
        page: at + 1,
    };
    Ok(pages.into_iter().enumerate().map(section).collect())
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
