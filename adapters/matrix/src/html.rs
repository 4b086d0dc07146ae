//! Converts Markdown to the HTML of Matrix clients.
//!
//! The output contains only tags of the specification's subset, and only links that are safe to
//! click. Everything else (raw HTML, images, unused definitions) is shown as text.

use std::ops::Range;

use pulldown_cmark::{
    BrokenLink, CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
};

/// Maximum nesting of lists and quotes; deeper ones are shown without a frame, because clients drop
/// them.
const DEEPEST: usize = 20;

/// Converts a text in Markdown.
pub(crate) fn html(markdown: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let no_link: Option<fn(BrokenLink<'_>) -> Option<_>> = None;
    let parser = Parser::new_with_broken_link_callback(markdown, options, no_link);
    let mut definitions: Vec<(String, Range<usize>)> = parser
        .reference_definitions()
        .iter()
        .map(|(label, definition)| (label.to_lowercase(), definition.span.clone()))
        .collect();
    definitions.sort_by_key(|(_, span)| span.start);
    let mut writer = HtmlWriter::default();
    let mut read: Vec<Range<usize>> = definitions.iter().map(|(_, span)| span.clone()).collect();
    for (event, range) in parser.into_offset_iter() {
        if !is_frame(&event) {
            read.push(range.clone());
        }
        match event {
            Event::End(TagEnd::TableCell) => writer.cell_end = range.end,
            // Cells beyond the header's columns are not part of the table, but must not be lost.
            Event::End(TagEnd::TableRow) if writer.cell_end < range.end => {
                let rest = &markdown[writer.cell_end..range.end];
                writer.surplus(rest.trim_matches(|c: char| c == '|' || c.is_whitespace()));
            }
            _ => {}
        }
        writer.write(event);
    }
    definitions.retain(|(label, _)| !writer.referenced.contains(label));
    let unused = definitions.into_iter().map(|(_, span)| &markdown[span]);
    for text in unused.chain(repeated_definitions(markdown, read)) {
        writer.out.push_str("<p>");
        writer.text(text.trim_end());
        writer.out.push_str("</p>\n");
    }
    writer.out.trim_end().to_owned()
}

/// Whether the event spans content whose parts arrive as events of their own.
fn is_frame(event: &Event<'_>) -> bool {
    match event {
        Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_)) => false,
        Event::Start(_) | Event::End(_) => true,
        Event::Text(_)
        | Event::Code(_)
        | Event::InlineMath(_)
        | Event::DisplayMath(_)
        | Event::Html(_)
        | Event::InlineHtml(_)
        | Event::FootnoteReference(_)
        | Event::SoftBreak
        | Event::HardBreak
        | Event::Rule
        | Event::TaskListMarker(_) => false,
    }
}

/// Returns definitions of a label that was defined before: the parser reports only the first.
/// `read` is what it reported.
fn repeated_definitions(markdown: &str, mut read: Vec<Range<usize>>) -> Vec<&str> {
    read.push(markdown.len()..markdown.len());
    read.sort_by_key(|range| range.start);
    let mut definitions = Vec::new();
    let mut end = 0;
    for range in read {
        let untold = markdown.get(end..range.start).unwrap_or_default();
        if let Some(at) = untold.find('[').filter(|at| untold[*at..].contains("]:")) {
            definitions.push(&untold[at..]);
        }
        end = end.max(range.end);
    }
    definitions
}

#[derive(Default)]
struct HtmlWriter {
    out: String,
    /// The closing text of each open tag of the source; empty if none was written.
    open: Vec<String>,
    in_table_head: bool,
    /// Where the last cell ended in the source.
    cell_end: usize,
    in_code_block: bool,
    /// A line of a raw HTML block was written.
    in_html_lines: bool,
    /// Labels of definitions that a link used, in lower case.
    referenced: Vec<String>,
}

impl HtmlWriter {
    fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Html(text) => {
                // A block arrives line by line, each with its line end.
                if self.in_html_lines {
                    self.out.push_str("<br>\n");
                }
                self.in_html_lines = true;
                self.text(text.trim_end_matches('\n'));
            }
            Event::Text(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(&text),
            Event::Code(text) => {
                self.out.push_str("<code>");
                self.escape(&text);
                self.out.push_str("</code>");
            }
            // Line breaks of the source stay visible.
            Event::SoftBreak | Event::HardBreak => self.out.push_str("<br>\n"),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::TaskListMarker(is_done) => {
                self.out.push_str(if is_done { "☑ " } else { "☐ " })
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let close = match tag {
            Tag::Paragraph => self.tag("<p>", "</p>\n"),
            Tag::Heading { level, .. } => {
                let level = heading(level);
                self.out.push_str(&format!("<h{level}>"));
                format!("</h{level}>\n")
            }
            Tag::BlockQuote(_) => self.nested("<blockquote>\n", "</blockquote>\n"),
            Tag::CodeBlock(kind) => self.code_block(&kind),
            Tag::List(None) => self.nested("<ul>\n", "</ul>\n"),
            Tag::List(Some(1)) => self.nested("<ol>\n", "</ol>\n"),
            Tag::List(Some(first)) => self.nested(&format!("<ol start=\"{first}\">\n"), "</ol>\n"),
            Tag::Item => self.nested("<li>", "</li>\n"),
            Tag::Table(_) => self.nested("<table>\n", "</tbody>\n</table>\n"),
            Tag::TableHead => {
                self.in_table_head = true;
                self.tag("<thead>\n<tr>", "</tr>\n</thead>\n<tbody>\n")
            }
            Tag::TableRow => self.tag("<tr>", "</tr>\n"),
            Tag::TableCell if self.in_table_head => self.tag("<th>", "</th>"),
            Tag::TableCell => self.tag("<td>", "</td>"),
            Tag::Emphasis => self.tag("<em>", "</em>"),
            Tag::Strong => self.tag("<strong>", "</strong>"),
            Tag::Strikethrough => self.tag("<del>", "</del>"),
            Tag::Superscript => self.tag("<sup>", "</sup>"),
            Tag::Subscript => self.tag("<sub>", "</sub>"),
            Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }
            | Tag::Image {
                link_type,
                dest_url,
                title,
                id,
            } => self.link(link_type, &dest_url, &title, &id),
            Tag::HtmlBlock => {
                self.in_html_lines = false;
                self.tag("<p>", "</p>\n")
            }
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => self.tag("<p>", "</p>\n"),
        };
        self.open.push(close);
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::TableHead => self.in_table_head = false,
            TagEnd::CodeBlock => self.in_code_block = false,
            _ => {}
        }
        let close = self.open.pop().unwrap_or_default();
        self.out.push_str(&close);
    }

    fn tag(&mut self, open: &str, close: &str) -> String {
        self.out.push_str(open);
        close.to_owned()
    }

    fn nested(&mut self, open: &str, close: &str) -> String {
        if self.open.len() >= DEEPEST {
            return String::new();
        }
        self.tag(open, close)
    }

    fn code_block(&mut self, kind: &CodeBlockKind<'_>) -> String {
        self.in_code_block = true;
        let info = match kind {
            CodeBlockKind::Fenced(info) => info.trim(),
            CodeBlockKind::Indented => "",
        };
        if info.is_empty() {
            self.out.push_str("<pre><code>");
        } else if info.chars().all(is_language) {
            self.out
                .push_str(&format!("<pre><code class=\"language-{info}\">"));
        } else {
            // More than a language: it is shown, so that nothing is lost.
            self.out
                .push_str(&format!("<pre><code>{}\n", escaped(info)));
        }
        "</code></pre>\n".to_owned()
    }

    fn link(&mut self, kind: LinkType, url: &str, title: &str, id: &str) -> String {
        if matches!(
            kind,
            LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut
        ) {
            self.referenced.push(id.to_lowercase());
        }
        let title = match title {
            "" => String::new(),
            title => format!(" ({})", escaped(title)),
        };
        if kind == LinkType::Email {
            self.out
                .push_str(&format!("<a href=\"mailto:{}\">", escaped(url)));
            "</a>".to_owned()
        } else if is_harmless(url) {
            self.out.push_str(&format!("<a href=\"{}\">", escaped(url)));
            format!("</a>{title}")
        } else if url.is_empty() {
            title
        } else {
            format!(" ({}){title}", escaped(url))
        }
    }

    fn surplus(&mut self, cells: &str) {
        if !cells.is_empty() {
            self.out.push_str("<td>");
            self.text(cells);
            self.out.push_str("</td>");
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_code_block {
            self.escape(text);
        } else {
            self.out.push_str(&escaped(text).replace('\n', "<br>\n"));
        }
    }

    fn escape(&mut self, text: &str) {
        self.out.push_str(&escaped(text));
    }
}

fn heading(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

fn is_language(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '#' | '.')
}

fn is_harmless(url: &str) -> bool {
    let lower = url.trim().to_ascii_lowercase();
    ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| lower.starts_with(scheme))
}

/// Escapes quotes too, for use in attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
