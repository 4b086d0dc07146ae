//! Converts HTML to Markdown: the page's own content, without what every page of its site repeats.

use std::borrow::Cow;
use std::rc::Rc;

use html2text::{Element, Handle};
use serde_json::{Map, Value, json};

use super::about;
use super::xhtml::{html_of_xhtml, is_declared};
use crate::extract::html::{HtmlError, parse};

/// Line width for tables; running text is not wrapped.
const WIDTH: usize = 10_000;

/// Elements without content of their own, anywhere in the page.
/// A form stays, as some systems wrap each page in one.
const NEVER: &[&str] = &[
    "button", "datalist", "dialog", "input", "select", "textarea", "iframe", "nav", "noscript",
    "script", "style", "svg", "template",
];

/// Elements of a site that are not the page's own content.
const NEVER_OF_SITES: &[&str] = &["footer"];

/// Elements that belong to the text only within its main part.
const WITHIN: &[&str] = &["aside", "header"];

const NEVER_ROLES: &[&str] = &[
    "alertdialog",
    "banner",
    "complementary",
    "contentinfo",
    "dialog",
    "navigation",
    "search",
];

/// Classes that sites use in place of these elements and roles.
const NEVER_CLASSES: &[&str] = &[
    "breadcrumb",
    "breadcrumbs",
    "cookie-banner",
    "headerlink",
    "navbar",
    "sidebar",
    "site-footer",
    "site-header",
    "skip-link",
];

/// What a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageKind {
    /// A site, which repeats navigation, banners and footers on every page.
    OfSite,
    /// A book, in which titles stand in headers, and notes and boxes beside the text.
    #[cfg(feature = "formats")]
    OfBook,
}

/// A page.
#[derive(Debug, Default)]
pub(super) struct HtmlPage {
    pub(super) markdown: String,
    pub(super) about: Map<String, Value>,
}

/// Converts headings, lists, tables and paragraphs of a page to Markdown.
///
/// # Errors
/// As [`parse`].
pub(super) fn of_html(html: &str) -> Result<HtmlPage, HtmlError> {
    converted(html, PageKind::OfSite)
}

/// Converts a chapter of a book, which is XHTML.
///
/// # Errors
/// As [`parse`].
#[cfg(feature = "formats")]
pub(super) fn of_chapter(xhtml: &str) -> Result<HtmlPage, HtmlError> {
    converted(&html_of_xhtml(xhtml), PageKind::OfBook)
}

fn converted(html: &str, kind: PageKind) -> Result<HtmlPage, HtmlError> {
    let config = html2text::config::plain().link_footnotes(false);
    let dom = parse(html.as_bytes())?;
    let about = meta(&dom.document);
    let render = || {
        let tree = config.dom_to_render_tree(&dom)?;
        config.render_to_string(tree, WIDTH)
    };
    prune(&dom.document, kind);
    unlink(&dom.document);
    fence(&dom.document);
    let body = find(&dom.document, |name, _| name == "body");
    if kind == PageKind::OfSite
        && let (Some(body), Some(main)) = (&body, main_part(&dom.document))
        && !Rc::ptr_eq(body, &main)
    {
        let all = body.children.replace(vec![main]);
        let text = render().map_err(HtmlError::Refused)?;
        if !text.trim().is_empty() {
            return Ok(HtmlPage {
                markdown: with_tables(&text),
                about,
            });
        }
        body.children.replace(all);
    }
    Ok(HtmlPage {
        markdown: with_tables(&render().map_err(HtmlError::Refused)?),
        about,
    })
}

/// The links of a page, as written.
#[derive(Debug, Default, PartialEq)]
pub(in crate::knowledge) struct PageLinks {
    /// Includes links of the navigation, which lead to other pages.
    pub(in crate::knowledge) links: Vec<String>,
    /// Their base, if it is not the page itself.
    pub(in crate::knowledge) base: Option<String>,
}

pub(in crate::knowledge) fn links_of_html(html: &str) -> PageLinks {
    let Ok(dom) = parse(as_html(html).as_bytes()) else {
        return PageLinks::default();
    };
    let all = elements(&dom.document);
    let of = |element: &'static str| {
        let nodes = all.iter().filter(move |node| name(node) == Some(element));
        nodes.filter_map(|node| attribute(node, "href"))
    };
    PageLinks {
        links: of("a").collect(),
        base: of("base").next(),
    }
}

/// Rewrites a page that says that it is XML.
pub(super) fn as_html(page: &str) -> Cow<'_, str> {
    match is_declared(page) {
        true => Cow::Owned(html_of_xhtml(page)),
        false => Cow::Borrowed(page),
    }
}

/// Returns an element's name, and one of its attributes.
fn name(node: &Handle) -> Option<&str> {
    match &node.data {
        Element { name, .. } => Some(&*name.local),
        _other => None,
    }
}

fn attribute(node: &Handle, sought: &str) -> Option<String> {
    let Element { attrs, .. } = &node.data else {
        return None;
    };
    let attrs = attrs.borrow();
    let found = attrs.iter().find(|attr| &*attr.name.local == sought);
    found.map(|attr| attr.value.to_string())
}

/// Returns the elements in document order, without recursion: a page may be nested deeper than the
/// stack allows.
fn elements(root: &Handle) -> Vec<Handle> {
    let (mut found, mut open) = (Vec::new(), vec![Rc::clone(root)]);
    while let Some(node) = open.pop() {
        open.extend(node.children.borrow().iter().rev().cloned());
        found.push(node);
    }
    found
}

fn find(root: &Handle, is_it: impl Fn(&str, &Handle) -> bool) -> Option<Handle> {
    let mut all = elements(root).into_iter();
    all.find(|node| name(node).is_some_and(|name| is_it(name, node)))
}

/// Returns the element with the main text, if the page marks it.
fn main_part(root: &Handle) -> Option<Handle> {
    let is_main = |name: &str, node: &Handle| {
        name == "main" || attribute(node, "role").is_some_and(|role| role == "main")
    };
    if let Some(main) = find(root, is_main) {
        return Some(main);
    }
    let articles = elements(root).into_iter();
    let mut articles = articles.filter(|node| name(node) == Some("article"));
    articles.next().filter(|_| articles.next().is_none())
}

/// Removes elements that are not text of the page.
fn prune(root: &Handle, kind: PageKind) {
    let mut open = vec![(Rc::clone(root), false)];
    while let Some((node, is_within)) = open.pop() {
        node.children
            .borrow_mut()
            .retain(|child| !is_furniture(child, is_within, kind));
        for child in node.children.borrow().iter() {
            let begins = matches!(name(child), Some("main" | "article"))
                || attribute(child, "role").is_some_and(|role| role == "main");
            open.push((Rc::clone(child), is_within || begins));
        }
    }
}

fn is_furniture(node: &Handle, is_within: bool, kind: PageKind) -> bool {
    let Some(name) = name(node) else {
        return false;
    };
    let has = |attr: &str, values: &[&str]| {
        let value = attribute(node, attr).unwrap_or_default();
        value.split_whitespace().any(|word| values.contains(&word))
    };
    let is_of_site = || {
        NEVER_OF_SITES.contains(&name)
            || (!is_within && WITHIN.contains(&name))
            || has("role", NEVER_ROLES)
            || has("class", NEVER_CLASSES)
    };
    NEVER.contains(&name)
        || (kind == PageKind::OfSite && is_of_site())
        || has("aria-hidden", &["true"])
        || attribute(node, "hidden").is_some()
}

/// Replaces links by their words: targets are left out, and brackets around headings are not part
/// of the title.
fn unlink(root: &Handle) {
    for node in elements(root) {
        let is_link = |child: &Handle| name(child) == Some("a");
        while node.children.borrow().iter().any(is_link) {
            let children = node.children.take();
            let of = |child: Handle| match is_link(&child) {
                true => child.children.take(),
                false => vec![child],
            };
            node.children
                .replace(children.into_iter().flat_map(of).collect());
        }
    }
}

/// Puts preformatted text into fences, as plain text: a comment in code is not a heading.
fn fence(root: &Handle) {
    let all = elements(root).into_iter();
    for block in all.filter(|node| name(node) == Some("pre")) {
        let mut lines = text_node("```\n");
        for node in elements(&block) {
            match name(&node) {
                Some("br") => lines.extend(text_node("\n")),
                Some(_) => {}
                None => lines.push(node),
            }
        }
        lines.extend(text_node("\n```\n"));
        block.children.replace(lines);
    }
}

/// Creates a text node: parsed as a title, which keeps blanks and line breaks.
fn text_node(text: &str) -> Vec<Handle> {
    let page = format!("<title>{text}</title>");
    let Ok(page) = html2text::config::plain().parse_html(page.as_bytes()) else {
        return Vec::new();
    };
    // Extracted while the page exists: dropping a node removes the children of all nodes below it.
    let title = find(&page.document, |name, _| name == "title");
    title.map_or_else(Vec::new, |title| title.children.take())
}

/// Returns the metadata in the page's head.
fn meta(root: &Handle) -> Map<String, Value> {
    let mut found = Map::new();
    for node in elements(root) {
        if name(&node) != Some("meta") {
            continue;
        }
        let what = attribute(&node, "name").or_else(|| attribute(&node, "property"));
        let (Some(what), Some(content)) = (what, attribute(&node, "content")) else {
            continue;
        };
        let field = match what.to_ascii_lowercase().as_str() {
            "author" | "dc.creator" | "dcterms.creator" | "article:author" => "author",
            "keywords" => "tags",
            "date" | "dc.date" | "dcterms.date" | "article:published_time" => "date",
            _other => continue,
        };
        found.entry(field).or_insert_with(|| json!(content));
    }
    about::of(&found)
}

/// Converts tables drawn with lines to Markdown.
fn with_tables(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len());
    let mut rows: Option<usize> = None;
    for line in text.lines() {
        let is_border = line.len() >= 3 && line.chars().all(|c| matches!(c, '─' | '┬' | '┴' | '┼'));
        let is_row = line.contains('│');
        match (rows, is_border) {
            (None, true) => rows = Some(0),
            (Some(_), true) => {}
            (Some(count), false) if is_row => {
                let cells: Vec<&str> = line.split('│').map(str::trim).collect();
                markdown.push_str(&format!("| {} |\n", cells.join(" | ")));
                if count == 0 {
                    markdown.push_str(&format!("|{}\n", " --- |".repeat(cells.len())));
                }
                rows = Some(count + 1);
            }
            (_, false) => {
                if rows.take().is_some() {
                    markdown.push('\n');
                }
                markdown.push_str(line);
                markdown.push('\n');
            }
        }
    }
    markdown
}

/// Returns the content of `<title>`.
pub(super) fn html_title(html: &str) -> Option<String> {
    // ASCII lower case keeps all offsets.
    let small = html.to_ascii_lowercase();
    let open = small.find("<title")?;
    let start = open + small[open..].find('>')? + 1;
    let end = start + small[start..].find("</title")?;
    let title = of_html(&html[start..end]).ok()?.markdown;
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}
