//! Rewrites XHTML so that an HTML parser reads it as it is meant.

use quick_xml::Reader;
use quick_xml::events::Event;

/// Elements that never have content in HTML; they need no end.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// Whether a page begins as XML does.
pub(super) fn is_declared(page: &str) -> bool {
    let page = page.trim_start_matches('\u{feff}');
    page.trim_start().starts_with("<?xml")
}

/// Ends empty elements by a tag of their own: to an HTML parser `<script/>` and `<title/>` only
/// begin an element, which then contains the rest of the page. What is not well-formed stays as it
/// is written.
pub(in crate::knowledge) fn html_of_xhtml(xhtml: &str) -> String {
    let xhtml = xhtml.trim_start_matches('\u{feff}');
    let mut reader = Reader::from_str(xhtml);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let (mut html, mut done) = (String::with_capacity(xhtml.len()), 0);
    loop {
        let event = reader.read_event();
        let until = usize::try_from(reader.buffer_position()).unwrap_or(xhtml.len());
        let written = xhtml.get(done..until).unwrap_or_default();
        match event {
            Ok(Event::Eof) | Err(_) => break,
            Ok(Event::Empty(tag)) => html.push_str(&ended(written, tag.name().as_ref())),
            // HTML knows no such sections.
            Ok(Event::CData(text)) => html.push_str(&quick_xml::escape::escape(&*text)),
            Ok(_) => html.push_str(written),
        }
        done = until;
    }
    html.push_str(xhtml.get(done..).unwrap_or_default());
    html
}

/// Converts `<a id="x"/>` to `<a id="x"></a>`.
fn ended(tag: &str, name: &str) -> String {
    let is_void = VOID.iter().any(|void| void.eq_ignore_ascii_case(name));
    match tag.strip_suffix("/>").filter(|_| !is_void) {
        Some(tag) => format!("{tag}></{name}>"),
        None => tag.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_elements_end_where_they_are_written() {
        for (xhtml, html) in [
            (
                "<?xml version='1.0'?><head><title/><script src=\"a/>b\" /></head>",
                "<?xml version='1.0'?><head><title></title><script src=\"a/>b\" ></script></head>",
            ),
            (
                "<p>One<br/>two<IMG src='x'/><a id=\"p1\"/> &amp; &nbsp; & so on</p>",
                "<p>One<br/>two<IMG src='x'/><a id=\"p1\"></a> &amp; &nbsp; & so on</p>",
            ),
            (
                "<!-- <b/> --><svg:g/><p><![CDATA[a < b]]></p>",
                "<!-- <b/> --><svg:g></svg:g><p>a &lt; b</p>",
            ),
            ("\u{feff}<p/>Ü<i/>", "<p></p>Ü<i></i>"),
            // What is not well-formed.
            ("</p><i/><b></i>x", "</p><i></i><b></i>x"),
            ("<i/>1 < 2 and <b", "<i></i>1 < 2 and <b"),
            ("", ""),
        ] {
            assert_eq!(html_of_xhtml(xhtml), html, "{xhtml}");
        }
        assert!(is_declared("\u{feff}\n<?xml version='1.0'?><html/>"));
        assert!(!is_declared("<!DOCTYPE html><html></html>"));
    }
}
