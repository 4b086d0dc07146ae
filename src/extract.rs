//! Extracts text from files, whether people sent them in a chat or somebody ingests a folder.

pub(crate) mod html;
#[cfg(feature = "pdf")]
pub mod pdf;
/// Replaces the PDF reader in builds without it.
#[cfg(not(feature = "pdf"))]
pub mod pdf {
    use serde_json::{Map, Value};

    /// The content of a PDF.
    #[derive(Clone, Debug, Default)]
    pub struct Pdf {
        pub pages: Vec<String>,
        pub about: Map<String, Value>,
    }

    /// Why a PDF was not read; only the last one occurs.
    #[derive(Debug, thiserror::Error)]
    #[error("this muninn reads no PDF; build it with the cargo feature `pdf`")]
    pub enum PdfError {
        Busy,
        NotStarted(std::io::Error),
        Ended(i32),
        TimedOut,
        Refused(String),
    }

    fn refused() -> PdfError {
        PdfError::Refused(String::new())
    }

    /// # Errors
    /// Always fails; the error says what to do instead.
    pub fn read(_bytes: Vec<u8>) -> Result<Pdf, PdfError> {
        Err(refused())
    }

    /// # Errors
    /// Always fails; the error says what to do instead.
    pub fn pages(_bytes: Vec<u8>) -> Result<Vec<String>, PdfError> {
        Err(refused())
    }
}
pub(crate) mod settings;
pub mod text;
