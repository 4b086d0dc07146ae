//! The body of an answer for which a stream was requested: some services ignore that, some name another type than they
//! send, and some are no model service at all.

use std::io;

use futures::stream::BoxStream;
use futures::{Stream, StreamExt, future, stream};

/// Maximum bytes of an answer that comes as a whole although a stream was requested.
const WHOLE_BYTES: usize = 8 * 1024 * 1024;
/// The byte order mark, of which the client crate's parser of streams panics.
const BOM: &[u8] = b"\xef\xbb\xbf";
/// The last line of a stream.
const DONE: [&[u8]; 2] = [b"data: [DONE]", b"data:[DONE]"];
/// The field in which llama.cpp sent errors within a stream, until the end of 2025.
const ERROR: &[u8] = b"error:";

/// What a body shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// It is whole, although the answer in it may give no reason for its end.
    End,
    /// It is a page for a browser.
    WebPage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyKind {
    Events,
    /// JSON.
    Whole,
    WebPage,
}

/// Strips the byte order mark and blanks from the beginning of a body, and returns its kind; `None` if that takes more
/// of it.
fn kind_of(beginning: &mut Vec<u8>) -> Option<BodyKind> {
    if BOM.starts_with(beginning) && beginning.len() < BOM.len() {
        return None;
    }
    if beginning.starts_with(BOM) {
        beginning.drain(..BOM.len());
    }
    let blanks = beginning.len() - beginning.trim_ascii_start().len();
    beginning.drain(..blanks);
    match beginning.first()? {
        b'{' | b'[' => Some(BodyKind::Whole),
        b'<' => Some(BodyKind::WebPage),
        _ => Some(BodyKind::Events),
    }
}

/// A body as a stream of events. `show` is called with what it shows, before the events that follow from it.
pub(super) fn as_events<B, F>(
    bytes: impl Stream<Item = io::Result<B>> + Send + 'static,
    show: F,
) -> BoxStream<'static, io::Result<Vec<u8>>>
where
    B: AsRef<[u8]> + Send + 'static,
    F: Fn(Shown) + Send + 'static,
{
    let mut bytes = Box::pin(bytes.map(|part| part.map(|part| part.as_ref().to_vec())));
    let begun = async move {
        let mut beginning = Vec::new();
        let kind = loop {
            if let Some(kind) = kind_of(&mut beginning) {
                break kind;
            }
            match bytes.next().await {
                Some(Ok(part)) => beginning.extend(part),
                Some(Err(error)) => return stream::iter([Err(error)]).boxed(),
                None => return stream::empty().boxed(),
            }
        };
        let body = stream::iter([Ok(beginning)]).chain(bytes);
        match kind {
            BodyKind::Events => until_done(body, show).boxed(),
            BodyKind::Whole => as_event(body, show).boxed(),
            BodyKind::WebPage => {
                show(Shown::WebPage);
                stream::iter([Err(io::Error::other("a web page"))]).boxed()
            }
        }
    };
    stream::once(begun).flatten().boxed()
}

/// A JSON body as the only event of a stream. Line breaks would end the event; in JSON they are only white space.
fn as_event(
    body: impl Stream<Item = io::Result<Vec<u8>>>,
    show: impl Fn(Shown),
) -> impl Stream<Item = io::Result<Vec<u8>>> {
    let mut room = WHOLE_BYTES;
    let body = body.map(move |part| {
        let mut part = part?;
        let left = room.checked_sub(part.len());
        room = left.ok_or_else(|| io::Error::other("too long an answer"))?;
        for byte in &mut part {
            if matches!(byte, b'\r' | b'\n') {
                *byte = b' ';
            }
        }
        Ok(part)
    });
    let end = async move {
        show(Shown::End);
        Ok(b"\n\n".to_vec())
    };
    stream::iter([Ok(b"data: ".to_vec())])
        .chain(body)
        .chain(stream::once(end))
}

/// A stream of events, line by line. The last line is noticed, which the client crate keeps to itself, and an error in a
/// field of its own, which that crate passes over, becomes data.
fn until_done(
    body: impl Stream<Item = io::Result<Vec<u8>>>,
    show: impl Fn(Shown),
) -> impl Stream<Item = io::Result<Vec<u8>>> {
    let mut begun: Vec<u8> = Vec::new();
    let parts = body.map(Some).chain(stream::once(async { None }));
    let lines = parts.map(move |part| -> io::Result<Vec<u8>> {
        let end = match part {
            Some(part) => {
                begun.extend(part?);
                begun.iter().rposition(is_break).map_or(0, |at| at + 1)
            }
            // The last line may have no end.
            None => begun.len(),
        };
        let lines: Vec<u8> = begun.drain(..end).collect();
        Ok(read_lines(&lines, &show))
    });
    lines.filter(|lines| future::ready(!lines.as_ref().is_ok_and(Vec::is_empty)))
}

fn read_lines(lines: &[u8], show: &impl Fn(Shown)) -> Vec<u8> {
    let mut read = Vec::with_capacity(lines.len());
    for line in lines.split_inclusive(is_break) {
        if DONE.iter().any(|done| line.starts_with(done)) {
            show(Shown::End);
        }
        let error = line.strip_prefix(ERROR).map(<[u8]>::trim_ascii);
        match error.filter(|error| error.starts_with(b"{")) {
            Some(error) => {
                read.extend_from_slice(b"data: {\"error\":");
                read.extend_from_slice(error);
                read.push(b'}');
                read.extend(line.last().filter(|byte| is_break(byte)));
            }
            None => read.extend_from_slice(line),
        }
    }
    read
}

fn is_break(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// The events of a body that arrives in these parts, and what it shows.
    /// The parts of a body, the events it is read as, and what is shown of it.
    type BodyCase = (
        &'static [&'static [u8]],
        Option<&'static [u8]>,
        Option<Shown>,
    );

    async fn events(parts: &[&'static [u8]]) -> (Option<Vec<u8>>, Option<Shown>) {
        let shown = Arc::new(Mutex::new(None));
        let show = {
            let shown = Arc::clone(&shown);
            move |what| *shown.lock().unwrap() = Some(what)
        };
        let parts: Vec<_> = parts.iter().map(|part| Ok(*part)).collect();
        let events: Vec<_> = as_events(stream::iter(parts), show).collect().await;
        let events = events.into_iter().collect::<io::Result<Vec<_>>>();
        let shown = *shown.lock().unwrap();
        (events.ok().map(|it| it.concat()), shown)
    }

    #[tokio::test]
    async fn a_body_is_taken_for_what_it_is() {
        let end = Some(Shown::End);
        let stream: &'static [u8] = b"data: {}\n\ndata: [DONE]\n\n";
        let error: &'static [u8] = b"data: {\"error\":{\"code\":400}}\r\n\r\ndata: [DONE]\n\n";
        let table: [BodyCase; 11] = [
            (
                &[b"{\r\n  \"a\":", b"1\n}"],
                Some(b"data: {    \"a\":1 }\n\n"),
                end,
            ),
            (&[b"\xef\xbb\xbf", b" {}"], Some(b"data: {}\n\n"), end),
            (&[b"data: {}\n\ndata: [DONE]\n\n"], Some(stream), end),
            (
                &[b"\xef", b"\xbb\xbf\ndata: {}\n\nda", b"ta: [DO", b"NE]\n\n"],
                Some(stream),
                end,
            ),
            (
                &[b": hi\r\n\r\ndata:[DONE]"],
                Some(b": hi\r\n\r\ndata:[DONE]"),
                end,
            ),
            (
                &[b"data: \"data: [DONE]\""],
                Some(b"data: \"data: [DONE]\""),
                None,
            ),
            (
                &[b"data: {\"a long line\": ", b"data: [DONE]"],
                Some(b"data: {\"a long line\": data: [DONE]"),
                None,
            ),
            (
                &[b"error: {\"code\":400}\r\n\r\ndata: [DONE]\n\n"],
                Some(error),
                end,
            ),
            (
                &[b"data: {}\n\nerr", b"or: {\"code\":4", b"00}"],
                Some(b"data: {}\n\ndata: {\"error\":{\"code\":400}}"),
                None,
            ),
            (&[b"\n<!doctype html>"], None, Some(Shown::WebPage)),
            (&[b" "], Some(b""), None),
        ];
        for (parts, expected, shown) in table {
            let got = events(parts).await;
            assert_eq!((got.0.as_deref(), got.1), (expected, shown), "{parts:?}");
        }
    }

    #[tokio::test]
    async fn a_body_has_a_greatest_size() {
        static MUCH: [u8; WHOLE_BYTES - 1] = [b' '; WHOLE_BYTES - 1];
        assert!(events(&[b"{", &MUCH]).await.0.is_some());
        assert!(events(&[b"{", &MUCH, b"}"]).await.0.is_none());
    }
}
