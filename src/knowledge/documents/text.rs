//! HTML as Markdown.

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
