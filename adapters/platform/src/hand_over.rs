//! Hands files over to one person alone.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::PathBuf;

use muninn_texts::{Language, Value, text};

use crate::RequestFailure;

/// A file for one person. It is unlinked, so it disappears with this value, also when the process
/// is killed.
#[derive(Debug)]
pub struct OwnFile {
    /// The name that the person sees: `muninn-2026-04-13.json`.
    pub name: String,
    pub media_type: &'static str,
    /// In bytes.
    pub size: u64,
    content: File,
}

impl OwnFile {
    /// Wraps an open file.
    ///
    /// # Errors
    /// Fails when its size cannot be read.
    pub fn new(name: String, media_type: &'static str, content: File) -> io::Result<Self> {
        let size = content.metadata()?.len();
        Ok(Self {
            name,
            media_type,
            size,
            content,
        })
    }

    /// Returns the whole content. It is no larger than
    /// [`Reply::largest_file`](crate::Reply::largest_file) said.
    ///
    /// # Errors
    /// Fails when it cannot be read on this machine.
    pub async fn read(&self) -> Result<Vec<u8>, NotHandedOver> {
        self.read_all().await.map_err(|error| {
            NotHandedOver::new(text!("no-copy-unreadable", error = error.to_string()))
        })
    }

    async fn read_all(&self) -> io::Result<Vec<u8>> {
        let mut content = self.content.try_clone()?;
        let reading = tokio::task::spawn_blocking(move || {
            content.rewind()?;
            let mut all = Vec::new();
            content.read_to_end(&mut all)?;
            Ok(all)
        });
        reading.await.map_err(io::Error::other).flatten()
    }

    /// Copies the content to another file, of any size.
    ///
    /// # Errors
    /// Fails when it cannot be read or written.
    pub async fn copy_to(&self, mut other: File) -> io::Result<()> {
        let mut content = self.content.try_clone()?;
        let copying = tokio::task::spawn_blocking(move || {
            content.rewind()?;
            io::copy(&mut content, &mut other)?;
            other.sync_all()
        });
        copying.await.map_err(io::Error::other).flatten()
    }
}

/// Where somebody finds the files that were handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandedOver {
    /// In a direct message.
    Directly,
    /// Where they asked, visible to them alone.
    Here,
    /// In these files, on their own machine.
    At(Vec<PathBuf>),
}

/// Why nothing was handed over, as the end of a sentence after "because", with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.in_language(Language::English))]
pub struct NotHandedOver(pub Value);

impl NotHandedOver {
    pub fn new(why: impl Into<Value>) -> Self {
        Self(why.into())
    }

    /// The platform did not take the files. `why`: what it said.
    pub fn after(failure: RequestFailure, platform: &'static str, why: String) -> Self {
        Self::new(match failure {
            RequestFailure::Limited(_) | RequestFailure::Away => {
                text!("no-copy-away", platform, why)
            }
            RequestFailure::LoggedOut | RequestFailure::Refused => {
                text!("no-copy-refused", platform, why)
            }
        })
    }
}
