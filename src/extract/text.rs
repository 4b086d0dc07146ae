//! Decodes bytes as text, in any encoding.

use std::borrow::Cow;
use std::sync::LazyLock;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};
use regex::bytes::Regex;

/// Bytes at the beginning of a page that may declare its encoding. Browsers look at the first 1,024,
/// which long heads exceed.
const DECLARED: usize = 4_096;

/// `<meta charset="…">`, `<meta content="text/html; charset=…">` and `<?xml encoding="…"?>`
static DECLARATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i-u)(?:<meta\s[^>]*?charset\s*=|^\s*<\?xml\s[^>]*?encoding\s*=)[\s"']*([a-z0-9_:.+-]+)"#,
    )
    .expect("a pattern of this program")
});

/// A file that is written into a text as an address, such as an image in Markdown. Short ones are
/// left: somebody may write about them.
static INLINE_FILE: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(r"data:[\w.+/-]*(?:;[\w.=+-]+)*;base64,[A-Za-z0-9+/_%=-]{64,}")
        .expect("a pattern of this program")
});

/// Replaces files that are written into a text: as words they say nothing, and bury the rest.
pub fn without_inline_files(text: &str) -> Cow<'_, str> {
    INLINE_FILE.replace_all(text, "data:")
}

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
    b"BZh91AY&SY",
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
    b"\0asm",
];

/// Magic numbers with which a text may begin, too. In a file of that kind NUL or control characters
/// follow within [`HEADER`] bytes: sizes and versions.
const MAYBE_TEXT: &[&[u8]] = &[
    b"GIF8",
    b"OggS",
    b"fLaC",
    b"ID3",
    b"RIFF",
    b"SQLite format 3",
];

/// Bytes of the header of such a file.
const HEADER: usize = 32;

/// Whether it is not text, judging by its beginning and its control characters.
fn is_binary(bytes: &[u8]) -> bool {
    let is_control = |byte: &&u8| matches!(byte, 0x01..=0x08 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let controls = bytes.iter().filter(is_control).count();
    let begins_with = |magic: &[&[u8]]| magic.iter().any(|begins| bytes.starts_with(begins));
    let mut header = bytes.iter().take(HEADER);
    let mut is_header = || header.any(|byte| *byte == 0 || is_control(&byte));
    begins_with(NO_TEXT)
        || (begins_with(MAYBE_TEXT) && is_header())
        || controls * 100 > bytes.len() * CONTROLS
}

/// Decodes a file. Valid UTF-8 is used as it is; otherwise the encoding is guessed.
///
/// # Errors
/// Says why it is not text.
pub fn decoded(bytes: &[u8]) -> Result<String, String> {
    decoded_by(bytes, guessed)
}

/// Decodes a page of HTML or XHTML, which may declare its encoding.
///
/// # Errors
/// Says why it is not text.
pub(crate) fn decoded_page(bytes: &[u8]) -> Result<String, String> {
    decoded_by(bytes, |bytes| {
        declared(bytes).unwrap_or_else(|| guessed(bytes))
    })
}

/// Recodes a text as UTF-8 from the encoding that its sender names, unless it says by itself that it
/// is Unicode.
pub(crate) fn recoded(bytes: Vec<u8>, encoding: &str) -> Vec<u8> {
    let is_unicode = Encoding::for_bom(&bytes).is_some() || std::str::from_utf8(&bytes).is_ok();
    match labelled(encoding.as_bytes()).filter(|_| !is_unicode) {
        Some(encoding) => encoding.decode(&bytes).0.into_owned().into_bytes(),
        None => bytes,
    }
}

fn decoded_by(bytes: &[u8], encoding_of: fn(&[u8]) -> &'static Encoding) -> Result<String, String> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
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
    Ok(encoding_of(bytes).decode(bytes).0.replace("\r\n", "\n"))
}

/// The encoding that a page declares at its beginning.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(DECLARED)];
    let found = DECLARATION.captures(head)?;
    let (_, [label]) = found.extract();
    labelled(label)
}

/// An encoding by its name, except those of which the bytes are already known not to be.
fn labelled(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    (encoding != UTF_8 && encoding.is_ascii_compatible()).then_some(encoding)
}

/// Guesses the encoding of a text that is no UTF-8.
pub(crate) fn guessed(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_a_text_are_left_out_and_nothing_else() {
        let image = "iVBORw0KGgo".repeat(20);
        for (text, expected) in [
            (
                format!("![x](data:image/png;base64,{image}==) a"),
                "![x](data:) a",
            ),
            (
                format!("[i]: <data:image/svg+xml;charset=utf-8;base64,{image}>"),
                "[i]: <data:>",
            ),
            (
                format!("<img src=\"data:;base64,{image}\" alt=\"b\">"),
                "<img src=\"data:\" alt=\"b\">",
            ),
            (
                "data:image/png;base64,iVBORw0KGgo=".to_owned(),
                "data:image/png;base64,iVBORw0KGgo=",
            ),
            ("the data:text we keep".to_owned(), "the data:text we keep"),
        ] {
            assert_eq!(without_inline_files(&text), expected);
        }
    }

    #[test]
    fn a_page_is_read_in_the_encoding_that_it_declares() {
        for (label, text) in [
            ("shift_jis", "港の潮"),
            ("gbk", "港口的潮汐"),
            ("euc-kr", "항구의 조수"),
            ("iso-8859-15", "4 € für Œuvres"),
            ("iso-8859-9", "Liman İşi"),
        ] {
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            for page in [
                format!("<html><head><meta charset={label}></head>{text}"),
                format!(
                    "<META http-equiv=Content-Type\ncontent=\"text/html; charset = {label}\">{text}"
                ),
                format!("<?xml version='1.0' encoding='{label}'?><p>{text}</p>"),
            ] {
                let (bytes, _, _) = encoding.encode(&page);
                assert_eq!(decoded_page(&bytes).as_ref(), Ok(&page));
                assert_eq!(decoded_page(page.as_bytes()).as_ref(), Ok(&page));
            }
            let (bytes, _, _) = encoding.encode(text);
            assert_eq!(recoded(bytes.to_vec(), label), text.as_bytes());
            assert_eq!(recoded(text.into(), label), text.as_bytes());
            assert_eq!(recoded(bytes.to_vec(), "unknown"), *bytes);
        }
        // What a page declares wrongly is guessed.
        for label in ["utf-8", "utf-16", "unknown"] {
            let page = b"<meta charset=LABEL>Gr\xfc\xdfe aus K\xf6ln, sch\xf6n";
            let page = [b"<meta charset=", label.as_bytes(), &page[19..]].concat();
            let read = decoded_page(&page).unwrap();
            assert!(read.ends_with(">Grüße aus Köln, schön"), "{read}");
        }
    }

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
            (
                b"ID3\x04\0\0a long run of letters, which may be a title",
                None,
            ),
            (b"RIFF\x24\x08\0\0WAVEfmt a long run of letters", None),
            (
                b"GIF89a\x20\x03\x20\x03 a long run of letters and more",
                None,
            ),
            (b"ID3 is an algorithm.", Some("ID3 is an algorithm.")),
            (b"RIFF, GIF89a\tand\nOggS", Some("RIFF, GIF89a\tand\nOggS")),
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
