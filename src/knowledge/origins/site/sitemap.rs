//! Parses sitemaps, which list pages, and sitemap indexes, which list sitemaps.

use quick_xml::Reader;
use quick_xml::events::Event;

/// The content of a sitemap file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sitemap {
    Pages(Vec<String>),
    /// Further sitemaps.
    Index(Vec<String>),
}

/// Parses a sitemap.
///
/// # Errors
/// Fails when it is not a sitemap.
pub(super) fn read(xml: &str) -> Result<Sitemap, String> {
    let mut reader = Reader::from_str(xml);
    let (mut is_index, mut named) = (None, Vec::new());
    // The open elements; images have a `loc` as well, in another namespace.
    let mut open: Vec<String> = Vec::new();
    let mut location = String::new();
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(start) => {
                let name: &str = start.name().into_inner();
                is_index = is_index.or(match name {
                    "urlset" => Some(false),
                    "sitemapindex" => Some(true),
                    _other => None,
                });
                open.push(name.to_owned());
                location.clear();
            }
            Event::End(_) => {
                let path: Vec<&str> = open.iter().map(String::as_str).collect();
                if matches!(path.as_slice(), [_, "url" | "sitemap", "loc"]) {
                    named.push(location.trim().to_owned());
                }
                open.pop();
            }
            Event::Text(text) => location.push_str(&text),
            Event::CData(text) => location.push_str(&text),
            Event::GeneralRef(reference) => {
                let name: &str = &reference;
                let text =
                    quick_xml::escape::unescape(&format!("&{name};")).map(|it| it.into_owned());
                location.push_str(&text.unwrap_or_default());
            }
            Event::Eof => break,
            Event::Empty(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => {}
        }
    }
    match is_index {
        Some(true) => Ok(Sitemap::Index(named)),
        Some(false) => Ok(Sitemap::Pages(named)),
        None => Err("it has neither <urlset> nor <sitemapindex>".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_indexes_are_told_apart() {
        let pages = "<?xml version=\"1.0\"?><urlset xmlns:image=\"i\"><url>\n <loc> https://x/a?b=1&amp;c=2 </loc>\
                     <image:image><image:loc>https://x/a.png</image:loc></image:image></url>\
                     <url><loc><![CDATA[https://x/b]]></loc></url></urlset>";
        let named = ["https://x/a?b=1&c=2", "https://x/b"].map(str::to_owned);
        assert_eq!(read(pages).unwrap(), Sitemap::Pages(named.to_vec()));
        let index = "<sitemapindex><sitemap><loc>https://x/1.xml</loc></sitemap></sitemapindex>";
        let named = vec!["https://x/1.xml".to_owned()];
        assert_eq!(read(index).unwrap(), Sitemap::Index(named));
        for none in ["<html><loc>x</loc></html>", "", "<urlset><url>"] {
            let read = read(none);
            assert!(
                read.is_err() || read == Ok(Sitemap::Pages(Vec::new())),
                "{none}"
            );
        }
    }
}
