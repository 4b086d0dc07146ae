//! Bytes as text, in whatever encoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// As many NUL bytes in a thousand are no text.
const NULS: usize = 1;

/// The text of a file. UTF-8 is taken at its word; what is not is guessed.
///
/// # Errors
/// Why it is none, in words.
pub fn decoded(bytes: &[u8]) -> Result<String, String> {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(bytes) {
        return Ok(encoding.decode(bytes).0.into_owned());
    }
    let nuls = bytes.iter().filter(|byte| **byte == 0).count();
    if nuls * 1_000 > bytes.len() * NULS {
        return Err("it is no text: it is full of NUL bytes".to_owned());
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text.replace("\r\n", "\n"));
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    Ok(encoding.decode(bytes).0.replace("\r\n", "\n"))
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
        ] {
            assert_eq!(decoded(bytes).ok().as_deref(), text, "{bytes:?}");
        }
    }
}
