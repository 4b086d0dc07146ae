//! Reads files with one record per line, or one row per utterance of a transcript.

use std::ops::ControlFlow;
use std::path::Path;

use serde_json::Value;

use super::item::{Sink, SourceItem};
use crate::knowledge::record::{Record, Rejection, SourceLocation};
use crate::knowledge::rows::values;
use crate::knowledge::transcripts::{MAX_TABLE, Transcripts};

type Make<'a> = &'a dyn Fn(&Value, u64) -> Result<Vec<Record>, Rejection>;

pub(super) fn read_lines(path: &Path, make: Make<'_>, sink: Sink<'_>) -> ControlFlow<()> {
    // Two closures share it, one after the other.
    let sink = std::cell::RefCell::new(sink);
    let each = &mut |line: Result<Value, Rejection>, number| {
        let mut sink = sink.borrow_mut();
        match line.and_then(|value| make(&value, number)) {
            Ok(records) => records
                .into_iter()
                .map(SourceItem::Record)
                .try_for_each(&mut **sink),
            Err(refused) => sink(SourceItem::Refused(refused)),
        }
    };
    let read = values(path, each, &mut |bytes| {
        (sink.borrow_mut())(SourceItem::Read(bytes))
    });
    match read {
        Ok(flow) => flow,
        Err(error) => (sink.borrow_mut())(SourceItem::Broken(path.to_owned(), error)),
    }
}

/// Reads the transcripts of a table, which are assembled from all of its rows.
pub(super) fn read_transcripts(path: &Path, bytes: u64, sink: Sink<'_>) -> ControlFlow<()> {
    if bytes > MAX_TABLE {
        let most = MAX_TABLE >> 20;
        let reason =
            format!("a table of transcripts of more than {most} MB; divide it by transcripts");
        sink(SourceItem::Refused(
            SourceLocation::file(path).refuse(reason),
        ))?;
        return sink(SourceItem::Read(bytes));
    }
    let mut transcripts = Transcripts::default();
    let mut refused = Vec::new();
    let each = &mut |line: Result<Value, Rejection>, number| {
        let taken = line.and_then(|row| transcripts.push(&row, path, number));
        refused.extend(taken.err());
        ControlFlow::Continue(())
    };
    let read = values(path, each, &mut |bytes| sink(SourceItem::Read(bytes)));
    match read {
        Ok(flow) => flow?,
        Err(error) => sink(SourceItem::Broken(path.to_owned(), error))?,
    }
    for refused in refused {
        sink(SourceItem::Refused(refused))?;
    }
    for record in transcripts.into_records() {
        sink(record.map_or_else(SourceItem::Refused, SourceItem::Record))?;
    }
    ControlFlow::Continue(())
}
