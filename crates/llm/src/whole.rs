//! An answer that comes as a whole although a stream was requested: some services ignore that.

use futures::{Stream, StreamExt, stream};
use http::{HeaderMap, header};

/// Maximum bytes of an answer that comes as a whole although a stream was requested.
const WHOLE_BYTES: usize = 8 * 1024 * 1024;

/// Whether a body is JSON and no stream of events.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_start()
        .to_ascii_lowercase()
        .starts_with("application/json")
}

/// A JSON body as the only event of a stream, for services that ignore the request for a stream. Line breaks would end
/// the event; in JSON they are only white space.
pub(super) fn as_event<B: AsRef<[u8]>>(
    bytes: impl Stream<Item = std::io::Result<B>>,
) -> impl Stream<Item = std::io::Result<Vec<u8>>> {
    let fixed = |text: &'static [u8]| stream::iter([Ok(text.to_vec())]);
    let mut room = WHOLE_BYTES;
    let body = bytes.map(move |part| {
        let mut part = part?.as_ref().to_vec();
        let left = room.checked_sub(part.len());
        room = left.ok_or_else(|| std::io::Error::other("too long an answer"))?;
        for byte in &mut part {
            if matches!(byte, b'\r' | b'\n') {
                *byte = b' ';
            }
        }
        Ok(part)
    });
    fixed(b"data: ").chain(body).chain(fixed(b"\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn event(parts: &[&'static [u8]]) -> Option<Vec<u8>> {
        let parts: Vec<_> = parts.iter().map(|part| Ok(*part)).collect();
        let lines: Vec<_> = as_event(stream::iter(parts)).collect().await;
        lines
            .into_iter()
            .collect::<std::io::Result<Vec<_>>>()
            .ok()
            .map(|it| it.concat())
    }

    #[tokio::test]
    async fn a_body_is_one_event() {
        let body = event(&[b"{\r\n  \"a\":", b"1\n}"]).await;
        assert_eq!(body.unwrap(), b"data: {    \"a\":1 }\n\n");
        static MUCH: [u8; WHOLE_BYTES] = [b' '; WHOLE_BYTES];
        assert!(event(&[&MUCH]).await.is_some());
        assert!(event(&[&MUCH, b"{"]).await.is_none());
    }
}
