//! Encodes payloads: plain, compressed one by one, or as one compressed stream.

use std::io::Write;

use axum::body::Bytes;
use axum::extract::ws::{Message, Utf8Bytes};
use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Minimum size in bytes of a payload that is compressed, if the client allows it.
const LARGE: usize = 4_096;

#[derive(Debug)]
pub(super) enum Encoding {
    Plain,
    /// The client asked for it in its identify.
    Large,
    /// The client asked for it in the URL.
    Stream(ZlibEncoder<Vec<u8>>),
}

impl Encoding {
    pub(super) fn stream() -> Self {
        Self::Stream(ZlibEncoder::new(Vec::new(), Compression::fast()))
    }

    pub(super) fn write(&mut self, payload: Utf8Bytes) -> Message {
        match self {
            Self::Plain => Message::Text(payload),
            Self::Large if payload.len() < LARGE => Message::Text(payload),
            Self::Large => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
                encoder
                    .write_all(payload.as_bytes())
                    .expect("memory takes it");
                Message::Binary(Bytes::from(encoder.finish().expect("memory takes it")))
            }
            Self::Stream(encoder) => {
                encoder
                    .write_all(payload.as_bytes())
                    .expect("memory takes it");
                encoder.flush().expect("memory takes it");
                Message::Binary(Bytes::from(std::mem::take(encoder.get_mut())))
            }
        }
    }
}
