//! Decodes bytes as text, in any encoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// Per thousand bytes: this many NUL bytes mean that it is not text.
const NULS: usize = 1;

/// Per hundred bytes: the maximum of control characters in a text.
const CONTROLS: usize = 1;

/// Magic numbers of archives, programs and media, as small ones have hardly any NUL bytes.
const NO_TEXT: &[&[u8]] = &[
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"\x1f\x9d",
    b"BZh9",
    b"\xfd7zXZ",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18",
    b"\x7fELF",
    b"\xca\xfe\xba\xbe",
    b"\xd0\xcf\x11\xe0",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"OggS",
    b"fLaC",
    b"ID3",
    b"RIFF",
    b"SQLite format 3",
    b"\0asm",
];

/// Whether it is not text, judging by its beginning and its control characters.
fn is_binary(bytes: &[u8]) -> bool {
    let is_control = |byte: &&u8| matches!(byte, 0x01..=0x08 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let controls = bytes.iter().filter(is_control).count();
    NO_TEXT.iter().any(|begins| bytes.starts_with(begins))
        || controls * 100 > bytes.len() * CONTROLS
}

/// Decodes a file. Valid UTF-8 is used as it is; otherwise the encoding is guessed.
///
/// # Errors
/// Says why it is not text.
pub fn decoded(bytes: &[u8]) -> Result<String, String> {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(bytes) {
        return Ok(encoding.decode(bytes).0.into_owned());
    }
    if is_binary(bytes) {
        return Err("it is no text, but an archive, a program or the like".to_owned());
    }
    let nuls = bytes.iter().filter(|byte| **byte == 0).count();
    if nuls * 1_000 > bytes.len() * NULS {
        return Err("it is no text: it is full of NUL bytes".to_owned());
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text.replace("\r\n", "\n"));
    }
    Ok(guessed(bytes).decode(bytes).0.replace("\r\n", "\n"))
}

/// Guesses the encoding of a text that is no UTF-8.
pub(crate) fn guessed(bytes: &[u8]) -> &'static encoding_rs::Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_in_its_encoding() {
        for (bytes, text) in [
            (&b"plain"[..], Some("plain")),
            ("Grüße".as_bytes(), Some("Grüße")),
            (
                b"Gr\xfc\xdfe aus K\xf6ln, sch\xf6n",
                Some("Grüße aus Köln, schön"),
            ),
            (b"\xff\xfeh\0i\0", Some("hi")),
            (b"\xef\xbb\xbfmarked", Some("marked")),
            (b"two\r\nlines", Some("two\nlines")),
            (b"", Some("")),
            (b"PK\x03\x04\0\0\0\x08", None),
            (b"PK\x03\x04\x14\x08stored text", None),
            (b"\x1f\x8b\x08\x08a long run of letters", None),
            (b"BZh91AY&SY", None),
            (b"\x01\x02random\x15\x12\xe3", None),
            (
                b"\x1b[31mred\x1b[0m and a page\x0c",
                Some("\x1b[31mred\x1b[0m and a page\x0c"),
            ),
        ] {
            assert_eq!(decoded(bytes).ok().as_deref(), text, "{bytes:?}");
        }
    }
}
