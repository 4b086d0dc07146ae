//! Converts texts and slides of Office and `OpenDocument`, and EPUB books, to Markdown.

mod writer;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use self::writer::MarkdownWriter;
use super::about;
use super::package::{Attributes, Package, Xml, walk};

/// The converted document: metadata and text.
pub(super) type Marked = (Map<String, Value>, String);

/// Author names that libraries write when nobody set one.
const TOOLS: &[&str] = &["openpyxl", "python-docx", "XlsxWriter"];

/// Converts a Word document.
pub(super) fn of_docx(bytes: Vec<u8>) -> Result<Marked, String> {
    let mut package = Package::open(bytes)?;
    let document = package.needed("word/document.xml")?;
    let styles = package.text("word/styles.xml")?.unwrap_or_default();
    let footnotes = package.text("word/footnotes.xml")?.unwrap_or_default();
    let endnotes = package.text("word/endnotes.xml")?.unwrap_or_default();
    let mut reader = DocxReader {
        levels: heading_styles(&styles)?,
        footnotes: notes_of_docx(&footnotes)?,
        endnotes: notes_of_docx(&endnotes)?,
        ..DocxReader::default()
    };
    let mut shown = ShownText::default();
    walk(&document, &mut |event| {
        if shown.has(&event) {
            reader.read(&event);
        }
    })?;
    Ok((core_properties(&mut package)?, reader.writer.markdown))
}

/// Tells which parts of a Word document are shown.
#[derive(Debug, Default)]
struct ShownText {
    is_text: bool,
    hidden: usize,
}

impl ShownText {
    /// Whether this event, which is the next one, belongs to what is shown.
    fn has(&mut self, event: &Xml<'_>) -> bool {
        match event {
            // Moved text stands in its new place, too, and a fallback repeats what is before it.
            Xml::Open("moveFrom" | "Fallback", _) => self.hidden += 1,
            Xml::Close("moveFrom" | "Fallback") => self.hidden = self.hidden.saturating_sub(1),
            Xml::Open("t", _) => self.is_text = true,
            Xml::Close("t") => self.is_text = false,
            Xml::Text(_) => return self.is_text && self.hidden == 0,
            Xml::Open(..) | Xml::Close(_) => {}
        }
        self.hidden == 0
    }
}

#[derive(Debug, Default)]
struct DocxReader {
    levels: HashMap<String, usize>,
    /// Notes by their ids. Each is written where it is first referred to.
    footnotes: HashMap<String, String>,
    endnotes: HashMap<String, String>,
    writer: MarkdownWriter,
    /// The level of each open paragraph, and whether it is an item.
    open: Vec<(Option<usize>, bool)>,
}

impl DocxReader {
    fn read(&mut self, event: &Xml<'_>) {
        match event {
            Xml::Open("p", _) => {
                self.writer.open_paragraph();
                self.open.push((None, false));
            }
            Xml::Close("p") => {
                let (level, is_item) = self.open.pop().unwrap_or_default();
                self.writer.close_paragraph(level, is_item);
            }
            Xml::Open(name @ ("pStyle" | "outlineLvl" | "numPr"), of) => self.style(name, of),
            Xml::Open("tab" | "br" | "cr", _) => self.writer.say(" "),
            Xml::Open("noBreakHyphen", _) => self.writer.say("-"),
            Xml::Open("footnoteReference", of) => {
                let note = self.footnotes.remove(&of.get("id").unwrap_or_default());
                self.writer.note(&note.unwrap_or_default());
            }
            Xml::Open("endnoteReference", of) => {
                let note = self.endnotes.remove(&of.get("id").unwrap_or_default());
                self.writer.note(&note.unwrap_or_default());
            }
            Xml::Open("tbl", _) => self.writer.open_table(),
            Xml::Open("tr", _) => self.writer.open_row(),
            Xml::Open("tc", _) => self.writer.open_cell(),
            Xml::Close("tbl") => self.writer.close_table(),
            Xml::Text(text) => self.writer.say(text),
            Xml::Open(..) | Xml::Close(_) => {}
        }
    }

    fn style(&mut self, name: &str, of: &Attributes<'_>) {
        let Some((level, is_item)) = self.open.last_mut() else {
            return;
        };
        let value = of.get("val").unwrap_or_default();
        match name {
            "pStyle" => *level = self.levels.get(&value).copied(),
            "outlineLvl" => {
                let own = value.parse::<usize>().ok().filter(|it| *it < 9);
                *level = own.map(|it| it + 1).or(*level);
            }
            _num_pr => *is_item = true,
        }
    }
}

/// Returns footnotes or endnotes by their ids.
fn notes_of_docx(xml: &str) -> Result<HashMap<String, String>, String> {
    let mut notes = HashMap::new();
    let mut open: Option<(String, String)> = None;
    let mut shown = ShownText::default();
    walk(xml, &mut |event| {
        if !shown.has(&event) {
            return;
        }
        match (event, &mut open) {
            (Xml::Open("footnote" | "endnote", of), open) => {
                // The line between text and notes has a type.
                let is_own = of.get("type").is_none_or(|kind| kind == "normal");
                *open = of
                    .get("id")
                    .filter(|_| is_own)
                    .map(|id| (id, String::new()));
            }
            (Xml::Close("footnote" | "endnote"), open) => notes.extend(open.take()),
            (Xml::Open("tab" | "br" | "cr", _) | Xml::Close("p"), Some((_, note))) => {
                note.push(' ');
            }
            (Xml::Text(text), Some((_, note))) => note.push_str(text),
            (Xml::Open(..) | Xml::Close(_) | Xml::Text(_), _) => {}
        }
    })?;
    Ok(notes)
}

/// Returns the levels of heading styles by style id: names differ between languages.
fn heading_styles(styles: &str) -> Result<HashMap<String, usize>, String> {
    let mut levels = HashMap::new();
    let mut id = String::new();
    walk(styles, &mut |event| {
        let Xml::Open(name, of) = event else { return };
        let value = of.get("val").unwrap_or_default();
        match name {
            "style" => id = of.get("styleId").unwrap_or_default(),
            "name" => {
                let level = value.to_lowercase();
                let level = match level.as_str() {
                    "title" => Some(1),
                    other => other
                        .strip_prefix("heading ")
                        .and_then(|it| it.parse().ok()),
                };
                if let Some(level) = level {
                    levels.insert(id.clone(), level);
                }
            }
            "outlineLvl" => {
                if let Ok(level) = value.parse::<usize>() {
                    levels.entry(id.clone()).or_insert(level + 1);
                }
            }
            _other => {}
        }
    })?;
    Ok(levels)
}

/// Returns title, author and the like, which every Office file has.
pub(super) fn core_properties(package: &mut Package) -> Result<Map<String, Value>, String> {
    let Some(core) = package.text("docProps/core.xml")? else {
        return Ok(Map::new());
    };
    fields(&core)
}

/// Parses fields of Dublin Core and similar vocabularies.
fn fields(xml: &str) -> Result<Map<String, Value>, String> {
    let mut fields: Map<String, Value> = Map::new();
    let mut open: Option<(&str, String)> = None;
    walk(xml, &mut |event| match event {
        Xml::Open(name, _) => {
            let field = match name {
                "title" => "title",
                "creator" | "initial-creator" => "author",
                "modified" | "date" => "date",
                "keywords" | "keyword" => "tags",
                _other => return,
            };
            open = Some((field, String::new()));
        }
        Xml::Text(text) => {
            if let Some((_, said)) = &mut open {
                said.push_str(text);
            }
        }
        Xml::Close(_) => {
            if let Some((field, said)) = open.take().filter(|(_, said)| !said.trim().is_empty()) {
                // Templates and libraries write their own name.
                if !TOOLS.contains(&said.trim()) {
                    fields
                        .entry(field)
                        .or_insert_with(|| json!(day(field, &said)));
                }
            }
        }
    })?;
    Ok(about::of(&fields))
}

/// Reduces a time to its day, which is all a reader needs.
fn day<'a>(field: &str, said: &'a str) -> &'a str {
    match field {
        "date" => said.split('T').next().unwrap_or(said),
        _other => said,
    }
}

/// Converts an `OpenDocument` text.
pub(super) fn of_odt(bytes: Vec<u8>) -> Result<Marked, String> {
    let mut package = Package::open(bytes)?;
    let manifest = package.text("META-INF/manifest.xml")?.unwrap_or_default();
    if manifest.contains("encryption-data") {
        return Err("it has a password; save it without one".to_owned());
    }
    let content = package.needed("content.xml")?;
    let mut writer = MarkdownWriter::default();
    let (mut items, mut hidden, mut note) = (0_usize, 0_usize, None);
    // The levels of open paragraphs. Text is only within these; the rest is layout.
    let mut levels: Vec<Option<usize>> = Vec::new();
    walk(&content, &mut |event| match event {
        Xml::Open("annotation" | "tracked-changes" | "sequence-decls" | "note-citation", _) => {
            hidden += 1
        }
        Xml::Close("annotation" | "tracked-changes" | "sequence-decls" | "note-citation") => {
            hidden = hidden.saturating_sub(1);
        }
        Xml::Open("note", _) => note = Some(String::new()),
        Xml::Close("note") => writer.note(&note.take().unwrap_or_default()),
        Xml::Open(name @ ("h" | "p"), of) => {
            writer.open_paragraph();
            let level = of.get("outline-level").and_then(|it| it.parse().ok());
            levels.push((name == "h").then(|| level.unwrap_or(1)));
        }
        Xml::Close("h" | "p") => {
            let level = levels.pop().flatten();
            match &mut note {
                Some(note) => note.push_str(&format!(" {}", writer.take_paragraph())),
                None => writer.close_paragraph(level, items > 0),
            }
        }
        Xml::Open("list-item", _) => items += 1,
        Xml::Close("list-item") => items = items.saturating_sub(1),
        Xml::Open("s" | "tab" | "line-break", _) => writer.say(" "),
        Xml::Open("table", _) => writer.open_table(),
        Xml::Open("table-row", _) => writer.open_row(),
        Xml::Open("table-cell", _) => writer.open_cell(),
        Xml::Close("table") => writer.close_table(),
        Xml::Text(text) if hidden == 0 && !levels.is_empty() => writer.say(text),
        Xml::Open(..) | Xml::Close(_) | Xml::Text(_) => {}
    })?;
    let about = match package.text("meta.xml")? {
        Some(meta) => fields(&meta)?,
        None => Map::new(),
    };
    Ok((about, writer.markdown))
}

/// Converts slides: one section each, with its notes.
pub(super) fn of_pptx(bytes: Vec<u8>) -> Result<Marked, String> {
    let mut package = Package::open(bytes)?;
    let number = |name: &str| {
        let name = name.strip_prefix("ppt/slides/slide")?;
        name.strip_suffix(".xml")?.parse::<u32>().ok()
    };
    let mut numbers: Vec<u32> = package.names().filter_map(number).collect();
    numbers.sort_unstable();
    if numbers.is_empty() {
        package.needed("ppt/presentation.xml")?;
    }
    let mut markdown = String::new();
    for (at, number) in numbers.into_iter().enumerate() {
        let (title, text) = slide(&package.needed(&format!("ppt/slides/slide{number}.xml"))?)?;
        let heading = format!("Slide {}", at + 1);
        let heading = if title.is_empty() {
            heading
        } else {
            format!("{heading}: {title}")
        };
        markdown.push_str(&format!("\n## {heading}\n\n{text}\n"));
        let relations = package.text(&format!("ppt/slides/_rels/slide{number}.xml.rels"))?;
        if let Some(notes) = relations.and_then(|it| notes_of(&it))
            && let Some(notes) = package.text(&notes)?
        {
            let (_, notes) = slide(&notes)?;
            if !notes.trim().is_empty() {
                markdown.push_str(&format!("\nNotes: {}\n", notes.trim()));
            }
        }
    }
    Ok((core_properties(&mut package)?, markdown))
}

/// Returns the path of a slide's notes.
fn notes_of(relations: &str) -> Option<String> {
    let mut found = None;
    let walked = walk(relations, &mut |event| {
        if let Xml::Open("Relationship", of) = event {
            let target = of.get("Target").unwrap_or_default();
            let name = target.rsplit('/').next().unwrap_or_default();
            if target.contains("notesSlides/") {
                found = Some(format!("ppt/notesSlides/{name}"));
            }
        }
    });
    walked.ok().and(found)
}

/// Returns a slide's title and its other text.
fn slide(xml: &str) -> Result<(String, String), String> {
    let mut writer = MarkdownWriter::default();
    let (mut title, mut kind, mut is_text) = (String::new(), String::new(), false);
    walk(xml, &mut |event| match event {
        Xml::Open("sp" | "graphicFrame", _) => kind.clear(),
        Xml::Open("ph", of) => kind = of.get("type").unwrap_or_default(),
        Xml::Open("t", _) => is_text = true,
        Xml::Close("t") => is_text = false,
        Xml::Open("br", _) => writer.say(" "),
        Xml::Text(text) if is_text => writer.say(text),
        Xml::Close("p") => match kind.as_str() {
            "title" | "ctrTitle" => {
                let said = std::mem::take(&mut writer.paragraph);
                title = format!("{title} {}", said.trim()).trim().to_owned();
            }
            // Slide numbers, dates and footers, which repeat on every slide.
            "sldNum" | "dt" | "ftr" | "hdr" => writer.paragraph.clear(),
            _other => writer.end(None, false),
        },
        Xml::Open("tbl", _) => writer.open_table(),
        Xml::Open("tr", _) => writer.open_row(),
        Xml::Open("tc", _) => writer.open_cell(),
        Xml::Close("tbl") => writer.close_table(),
        Xml::Open(..) | Xml::Close(_) | Xml::Text(_) => {}
    })?;
    Ok((title, writer.markdown))
}

/// Converts a book: its chapters in order, and how many of them are missing.
pub(super) fn of_epub(bytes: Vec<u8>) -> Result<(Marked, usize), String> {
    let mut package = Package::open(bytes)?;
    let protected = package.text("META-INF/encryption.xml")?.unwrap_or_default();
    if protected.contains("html\"") {
        return Err(
            "it is protected against copying; only the shop's reader can open it".to_owned(),
        );
    }
    let mut root = None;
    walk(&package.needed("META-INF/container.xml")?, &mut |event| {
        if let Xml::Open("rootfile", of) = event {
            root = root.take().or(of.get("full-path"));
        }
    })?;
    let root = root.ok_or("it is damaged: it does not say where its content is")?;
    let content = package.needed(&root)?;
    let (mut files, mut order) = (HashMap::new(), Vec::new());
    walk(&content, &mut |event| match event {
        Xml::Open("item", of) => {
            let is_list = of
                .get("properties")
                .is_some_and(|it| it.split(' ').any(|it| it == "nav"));
            if let (Some(id), Some(href)) = (of.get("id"), of.get("href")) {
                files.insert(id, (!is_list).then_some(href));
            }
        }
        Xml::Open("itemref", of) => order.extend(of.get("idref")),
        Xml::Open(..) | Xml::Close(_) | Xml::Text(_) => {}
    })?;
    let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (mut markdown, mut missing) = (String::new(), 0);
    for id in order {
        let href = match files.get(&id) {
            Some(Some(href)) => href,
            // The table of contents.
            Some(None) => continue,
            None => {
                missing += 1;
                continue;
            }
        };
        match package.text(&path_of(folder, href))? {
            Some(chapter) => {
                let page = super::text::of_chapter(&chapter).map_err(|error| error.to_string())?;
                markdown.push_str(&page.markdown);
                markdown.push_str("\n\n");
            }
            None => missing += 1,
        }
    }
    Ok(((fields(&content)?, markdown), missing))
}

/// Returns the path of a file in a package, from its address relative to a folder.
fn path_of(folder: &str, href: &str) -> String {
    let href = href.split(['#', '?']).next().unwrap_or_default();
    let href = percent_encoding::percent_decode_str(href).decode_utf8_lossy();
    let folder = if href.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(href.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_in_a_book_is_a_path_in_its_package() {
        for (folder, href, expected) in [
            ("OEBPS", "ch1.xhtml", "OEBPS/ch1.xhtml"),
            ("", "ch1.xhtml", "ch1.xhtml"),
            ("OEBPS", "Kapitel%201.xhtml", "OEBPS/Kapitel 1.xhtml"),
            ("OEBPS", "%C3%9Cber.xhtml", "OEBPS/Über.xhtml"),
            ("OEBPS/opf", "../Text/./ch1.xhtml", "OEBPS/Text/ch1.xhtml"),
            ("OEBPS", "../../../ch1.xhtml", "ch1.xhtml"),
            ("OEBPS", "/Text/ch1.xhtml", "Text/ch1.xhtml"),
            ("OEBPS", "ch1.xhtml#part%202", "OEBPS/ch1.xhtml"),
        ] {
            assert_eq!(path_of(folder, href), expected, "{folder} {href}");
        }
    }
}
