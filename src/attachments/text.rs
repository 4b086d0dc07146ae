//! The text of a file.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// Why a file has no text.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("it is neither text nor a kind I know")]
    Kind,
    #[error("the PDF has no text, or none that can be read")]
    Pdf,
}

/// The text of a file of this media type; whatever looks like text is taken for it.
///
/// # Errors
/// When there is none.
pub(super) async fn text_of(bytes: Vec<u8>, media_type: String) -> Result<String, Unreadable> {
    let is_pdf = media_type == "application/pdf" || bytes.starts_with(b"%PDF-");
    // A PDF can take seconds, and the reader of PDFs panics on some that are damaged.
    let read = tokio::task::spawn_blocking(move || match is_pdf {
        true => pdf(&bytes),
        false => plain(&bytes),
    });
    let text = read.await.unwrap_or(Err(Unreadable::Pdf))?;
    match (text.trim().is_empty(), is_pdf) {
        (true, true) => Err(Unreadable::Pdf),
        (true | false, _) => Ok(text),
    }
}

fn pdf(bytes: &[u8]) -> Result<String, Unreadable> {
    pdf_extract::extract_text_from_mem(bytes).map_err(|_| Unreadable::Pdf)
}

/// Text in whatever encoding it is.
fn plain(bytes: &[u8]) -> Result<String, Unreadable> {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(bytes) {
        return Ok(encoding.decode(bytes).0.into_owned());
    }
    if looks_binary(bytes) {
        return Err(Unreadable::Kind);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text.to_owned());
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Allow);
    Ok(encoding.decode(bytes).0.into_owned())
}

/// Whether the beginning holds what no text does.
fn looks_binary(bytes: &[u8]) -> bool {
    const LOOKED_AT: usize = 8_192;
    let beginning = &bytes[..bytes.len().min(LOOKED_AT)];
    let odd = beginning
        .iter()
        .filter(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace() && **byte != 0x1b)
        .count();
    beginning.contains(&0) || odd * 20 > beginning.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn text_is_read_in_its_encoding() {
        for (bytes, text) in [
            (b"plain".to_vec(), Some("plain")),
            ("Grüße".as_bytes().to_vec(), Some("Grüße")),
            (
                b"Gr\xfc\xdfe aus K\xf6ln, sch\xf6n".to_vec(),
                Some("Grüße aus Köln, schön"),
            ),
            (b"\xff\xfeh\0i\0".to_vec(), Some("hi")),
            (b"\xef\xbb\xbfmarked".to_vec(), Some("marked")),
            (Vec::new(), Some("")),
            (b"PK\x03\x04\0\0\0\x08".to_vec(), None),
            (b"%PDF-1.7 damaged".to_vec(), None),
        ] {
            let read = text_of(bytes.clone(), String::new()).await.ok();
            assert_eq!(read.as_deref(), text, "{bytes:?}");
        }
    }
}
