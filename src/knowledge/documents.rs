//! Documents: a file of Markdown, text, HTML or PDF becomes a document of sections and passages.

mod markdown;
mod pdf;
mod text;

use std::path::Path;

use serde_json::{Map, Value, json};

use self::markdown::Section;
use super::chunking::{Form, pieces};
use super::record::{Chunk, End, Link, Place, Record, Rejection};
use crate::extract;
use crate::graph::ingest::{INCLUDES, NEXT};

pub const DOCUMENT: &str = "Document";
pub const SECTION: &str = "Section";

/// What goes on where a record's first chunk ends.
pub const PASSAGE: &str = "Passage";

/// Bytes of a document at most: it is read as a whole.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// What kind of file a name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Markdown,
    Text,
    Html,
    Pdf,
}

impl Format {
    /// None for what is no document.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "md" | "markdown" => Some(Self::Markdown),
            "txt" | "text" | "rst" | "adoc" => Some(Self::Text),
            "html" | "htm" | "xhtml" => Some(Self::Html),
            "pdf" => Some(Self::Pdf),
            _other => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Text => "text",
            Self::Html => "html",
            Self::Pdf => "pdf",
        }
    }
}

/// A document before it is chunked.
#[derive(Clone, Debug, Default, PartialEq)]
struct Outline {
    title: Option<String>,
    /// What stands before the first heading.
    opening: String,
    sections: Vec<Section>,
}

/// Reads a file; `key` names it within its source.
///
/// # Errors
/// Says why the file is refused.
pub fn read(path: &Path, key: &str, format: Format) -> Result<Record, Rejection> {
    let at = || Place::file(path);
    let size = std::fs::metadata(path)
        .map_err(|error| at().refuse(unreadable(&error)))?
        .len();
    if size > MAX_BYTES {
        let (size, most) = (size >> 20, MAX_BYTES >> 20);
        return Err(at().refuse(format!(
            "{size} MB is too much for one document; split it into files of at most {most} MB"
        )));
    }
    let bytes = std::fs::read(path).map_err(|error| at().refuse(unreadable(&error)))?;
    let outline = outline(bytes, format).map_err(|reason| at().refuse(reason))?;
    let form = match format {
        Format::Markdown | Format::Html => Form::Markdown,
        Format::Text | Format::Pdf => Form::Plain,
    };
    record(outline, key, path, format, form).ok_or_else(|| at().refuse("it holds no text"))
}

fn unreadable(error: &std::io::Error) -> String {
    format!("it cannot be read: {error}")
}

fn outline(bytes: Vec<u8>, format: Format) -> Result<Outline, String> {
    Ok(match format {
        Format::Markdown => markdown::outline(&extract::text::decoded(&bytes)?),
        Format::Text => Outline {
            opening: extract::text::decoded(&bytes)?,
            ..Outline::default()
        },
        Format::Html => {
            let html = extract::text::decoded(&bytes)?;
            let mut outline = markdown::outline(&text::of_html(&html)?);
            outline.title = text::html_title(&html).or(outline.title);
            outline
        }
        Format::Pdf => Outline {
            sections: pdf::pages(bytes)?,
            ..Outline::default()
        },
    })
}

/// What is written while a document's chunks are made.
struct Draft {
    chunks: Vec<Chunk>,
    links: Vec<Link>,
    form: Form,
}

impl Draft {
    /// Adds a text as a chunk of its own label and passages that go on with it. Gives back the
    /// first one's place.
    fn add(
        &mut self,
        label: &str,
        under: &str,
        text: &str,
        fallback: &str,
        properties: &Map<String, Value>,
    ) -> usize {
        let mut pieces = pieces(text, self.form);
        if pieces.is_empty() {
            pieces.push(fallback.to_owned());
        }
        let first = self.chunks.len();
        for (number, text) in pieces.into_iter().enumerate() {
            let at = self.chunks.len();
            let label = if number == 0 { label } else { PASSAGE };
            if number > 0 {
                self.include(first, at);
            }
            self.chunks.push(Chunk {
                label: label.to_owned(),
                embedded: format!("{under}\n{text}"),
                text,
                properties: properties.clone(),
            });
        }
        first
    }

    fn include(&mut self, whole: usize, part: usize) {
        self.links.push(Link {
            kind: INCLUDES.to_owned(),
            from: End::Own(whole),
            to: End::Own(part),
        });
    }
}

/// Ties each chunk to the next.
pub(super) fn in_order(chunks: usize) -> impl Iterator<Item = Link> {
    (1..chunks).map(|at| Link {
        kind: NEXT.to_owned(),
        from: End::Own(at - 1),
        to: End::Own(at),
    })
}

/// None where there is no text at all.
fn record(outline: Outline, key: &str, path: &Path, format: Format, form: Form) -> Option<Record> {
    let has_text = |text: &str| text.chars().any(|c| !c.is_whitespace());
    let sections = &outline.sections;
    let is_empty = !has_text(&outline.opening)
        && sections.iter().all(|s| !has_text(&s.body) && s.is_page)
        && (sections.iter().all(|s| s.is_page) || sections.is_empty());
    if is_empty {
        return None;
    }
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let title = outline.title.or(stem).unwrap_or_else(|| key.to_owned());
    let common = json!({"title": title, "path": key, "link": key});
    let common = common.as_object().cloned().unwrap_or_default();
    let mut of_document = common.clone();
    of_document.insert("format".to_owned(), json!(format.name()));
    let mut draft = Draft {
        chunks: Vec::new(),
        links: Vec::new(),
        form,
    };
    draft.add(DOCUMENT, &title, &outline.opening, &title, &of_document);
    // The sections that are open, each with its level, place and heading.
    let mut open: Vec<(usize, usize, String)> = Vec::new();
    for section in outline.sections {
        if section.is_page && !has_text(&section.body) {
            continue;
        }
        open.retain(|(level, ..)| *level < section.level);
        let above: Vec<&str> = open
            .iter()
            .map(|(_, _, heading)| heading.as_str())
            .collect();
        let under = [&[title.as_str()], above.as_slice(), &[&section.heading]].concat();
        let mut properties = common.clone();
        properties.insert("heading".to_owned(), json!(section.heading));
        if section.is_page {
            properties.insert("page".to_owned(), json!(section.page));
        }
        let under = under.join(" > ");
        let at = draft.add(
            SECTION,
            &under,
            &section.body,
            &section.heading,
            &properties,
        );
        draft.include(open.last().map_or(0, |(_, at, _)| *at), at);
        open.push((section.level, at, section.heading));
    }
    draft.links.extend(in_order(draft.chunks.len()));
    Some(Record {
        key: key.to_owned(),
        at: Place::file(path),
        chunks: draft.chunks,
        links: draft.links,
    })
}

#[cfg(test)]
mod tests;
