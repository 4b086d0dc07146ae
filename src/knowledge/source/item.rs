//! What reading a source returns.

use std::ops::ControlFlow;

use crate::knowledge::record::{Record, Rejection};

/// An item from reading.
#[derive(Debug)]
pub(in crate::knowledge) enum SourceItem {
    Record(Record),
    Refused(Rejection),
    /// Part of a record was left out; the record itself follows too.
    Warned(Rejection),
    /// Number of further bytes read.
    Read(u64),
}

pub(in crate::knowledge) type Sink<'a> = &'a mut dyn FnMut(SourceItem) -> ControlFlow<()>;
