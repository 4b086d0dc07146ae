//! Bytes as text, in whatever encoding; HTML as Markdown.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// As many NUL bytes in a thousand are no text.
const NULS: usize = 1;

/// The text of a file. UTF-8 is taken at its word; what is not is guessed.
pub(super) fn decoded(bytes: &[u8]) -> Result<String, String> {
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

/// Columns of the lines that tables are set in; running text is not broken.
const WIDTH: usize = 10_000;

/// Headings, lists and paragraphs of a page as Markdown; scripts and styles are no part of it.
pub(super) fn of_html(html: &str) -> Result<String, String> {
    html2text::config::plain()
        .link_footnotes(false)
        .no_table_borders()
        .string_from_read(html.as_bytes(), WIDTH)
        .map_err(|error| format!("it is no HTML that can be read: {error}"))
}

/// What stands in `<title>`.
pub(super) fn html_title(html: &str) -> Option<String> {
    // ASCII lower case keeps every offset.
    let small = html.to_ascii_lowercase();
    let open = small.find("<title")?;
    let start = open + small[open..].find('>')? + 1;
    let end = start + small[start..].find("</title")?;
    let title = of_html(&html[start..end]).ok()?;
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}
