//! Text out of files, whoever sent them: people in a chat, or whoever ingests a folder.

#[cfg(feature = "pdf")]
pub mod pdf;
/// In the place of the PDF reader, where it was left out.
#[cfg(not(feature = "pdf"))]
pub mod pdf {
    use serde_json::{Map, Value};

    /// What a PDF says.
    #[derive(Clone, Debug, Default)]
    pub struct Pdf {
        pub pages: Vec<String>,
        pub about: Map<String, Value>,
    }

    /// # Errors
    /// Always: what to do instead.
    pub fn read(_bytes: Vec<u8>) -> Result<Pdf, String> {
        Err("this muninn reads no PDF; build it with the cargo feature `pdf`".to_owned())
    }

    /// # Errors
    /// Always: what to do instead.
    pub fn pages(_bytes: Vec<u8>) -> Result<Vec<String>, String> {
        Err("this muninn reads no PDF; build it with the cargo feature `pdf`".to_owned())
    }
}
pub mod text;
