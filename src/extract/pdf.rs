//! Extracts the pages of a PDF.
//!
//! The reader panics on odd files, and may never finish or use all memory on hostile ones. `muninn`
//! runs it in a [process] of its own, which has limits. Within that process, and in programs that use
//! this library, it runs on a separate thread.

pub mod process;
mod thread;

pub use self::thread::{Pdf, PdfError};

/// Returns the text of each page, as [`read`] does.
///
/// # Errors
/// Says why there is no text.
pub fn pages(bytes: Vec<u8>) -> Result<Vec<String>, PdfError> {
    read(bytes).map(|read| read.pages)
}

/// Returns the text of each page, and the file's metadata. Blocks for at most a minute, and for
/// another one while other files are read.
///
/// # Errors
/// Says why there is no text.
pub fn read(bytes: Vec<u8>) -> Result<Pdf, PdfError> {
    match process::program() {
        Some(program) => process::read(program, &bytes),
        None => thread::read_here(bytes),
    }
}
