//! What reading a source returns.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::knowledge::record::{Record, Rejection};

/// An item from reading.
#[derive(Debug)]
pub(in crate::knowledge) enum SourceItem {
    Record(Record),
    Refused(Rejection),
    /// The document of this key could not be read: an earlier version of it is still good.
    Unread {
        key: String,
        refused: Rejection,
    },
    /// Reading a file of many records ended early, so that nobody knows which of them are gone.
    Broken(PathBuf, io::Error),
    /// Part of a record was left out; the record itself follows too.
    Warned(Rejection),
    /// Number of further bytes read.
    Read(u64),
}

pub(in crate::knowledge) type Sink<'a> = &'a mut dyn FnMut(SourceItem) -> ControlFlow<()>;
