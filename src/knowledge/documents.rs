//! Documents: a text file becomes a document of sections and passages.
//!
//! Every format is converted to Markdown first, which is then split at its headings.

mod about;
#[cfg(feature = "formats")]
mod mail;
mod markdown;
mod markup;
mod notebook;
#[cfg(feature = "formats")]
mod office;
mod outline;
#[cfg(feature = "formats")]
mod package;
mod pdf;
#[cfg(feature = "formats")]
mod sheet;
mod table;
mod text;
mod xhtml;

use std::path::Path;

#[cfg(feature = "formats")]
use muninn_platform::count_with_noun;
use serde_json::{Map, Value, json};

use super::chunking::{MarkupKind, pieces};
use super::record::{
    Chunk, LinkEndpoint, Record, RecordLink, Rejection, RejectionLasts, SourceLocation, usable_link,
};
use crate::extract;
use crate::extract::html::HtmlError;
use crate::extract::pdf::PdfError;
use crate::graph::ingest::{INCLUDES, NEXT};
use outline::{Outline, Section};

pub(super) use self::text::links_of_html;
pub(super) use self::xhtml::html_of_xhtml;

pub const DOCUMENT: &str = "Document";
pub const SECTION: &str = "Section";

/// The label of chunks after a record's first chunk.
pub const PASSAGE: &str = "Passage";

/// Maximum bytes of a document: it is read into memory.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// The file format, by the file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Markdown,
    Text,
    Html,
    Xhtml,
    Pdf,
    Rst,
    AsciiDoc,
    Org,
    Notebook,
    Packed(Packed),
}

/// Formats that need a library of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packed {
    Docx,
    Odt,
    Pptx,
    Xlsx,
    Epub,
    Mail,
}

impl Format {
    /// Returns the format; `None` if it is no document.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "md" | "markdown" | "mdx" | "qmd" => Self::Markdown,
            "txt" | "text" => Self::Text,
            "html" | "htm" => Self::Html,
            "xhtml" => Self::Xhtml,
            "pdf" => Self::Pdf,
            "rst" => Self::Rst,
            "adoc" | "asciidoc" => Self::AsciiDoc,
            "org" => Self::Org,
            "ipynb" => Self::Notebook,
            "docx" | "docm" => Self::Packed(Packed::Docx),
            "odt" => Self::Packed(Packed::Odt),
            "pptx" | "pptm" => Self::Packed(Packed::Pptx),
            "xlsx" | "xlsm" => Self::Packed(Packed::Xlsx),
            "epub" => Self::Packed(Packed::Epub),
            "eml" => Self::Packed(Packed::Mail),
            _other => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Text => "text",
            Self::Html | Self::Xhtml => "html",
            Self::Pdf => "pdf",
            Self::Rst => "rst",
            Self::AsciiDoc => "asciidoc",
            Self::Org => "org",
            Self::Notebook => "notebook",
            Self::Packed(Packed::Docx) => "docx",
            Self::Packed(Packed::Odt) => "odt",
            Self::Packed(Packed::Pptx) => "pptx",
            Self::Packed(Packed::Xlsx) => "xlsx",
            Self::Packed(Packed::Epub) => "epub",
            Self::Packed(Packed::Mail) => "mail",
        }
    }
}

/// A document that was read.
#[derive(Debug)]
pub struct Document {
    pub record: Record,
    /// What was left out of its file, with the reason.
    pub warning: Option<Rejection>,
}

/// Reads a file; `key` is its name within the source. `link` is its address for people; without one
/// the key is used.
///
/// # Errors
/// Fails with the reason why the file is refused.
pub fn read(
    path: &Path,
    key: &str,
    link: Option<&str>,
    format: Format,
) -> Result<Document, Rejection> {
    let at = || SourceLocation::file(path);
    let refuse = |problem: Problem| Rejection {
        lasts: problem.lasts,
        ..at().refuse(problem.reason)
    };
    let size = std::fs::metadata(path)
        .map_err(|error| refuse(unreadable(&error)))?
        .len();
    if size > MAX_BYTES {
        let (size, most) = (size >> 20, MAX_BYTES >> 20);
        return Err(at().refuse(format!(
            "{size} MB is too much for one document; split it into files of at most {most} MB"
        )));
    }
    let bytes = std::fs::read(path).map_err(|error| refuse(unreadable(&error)))?;
    let outline = outline(bytes, format).map_err(refuse)?;
    let form = match format {
        Format::Text | Format::Pdf => MarkupKind::Plain,
        Format::Markdown
        | Format::Html
        | Format::Xhtml
        | Format::Rst
        | Format::AsciiDoc
        | Format::Org
        | Format::Notebook
        | Format::Packed(_) => MarkupKind::Markdown,
    };
    let problem = outline.problem.clone();
    let warning = problem.map(|problem| at().refuse(problem));
    let record = record(outline, key, path, format, form);
    let mut record = record.ok_or_else(|| at().refuse("it holds no text"))?;
    if let Some(link) = link.and_then(|link| usable_link(link.to_owned())) {
        for chunk in &mut record.chunks {
            chunk.properties.insert("link".to_owned(), json!(link));
        }
    }
    Ok(Document { record, warning })
}

/// Why a document is refused.
#[derive(Debug)]
struct Problem {
    reason: String,
    lasts: RejectionLasts,
}

impl From<String> for Problem {
    fn from(reason: String) -> Self {
        Self {
            reason,
            lasts: RejectionLasts::UntilItChanges,
        }
    }
}

impl From<PdfError> for Problem {
    fn from(error: PdfError) -> Self {
        Self {
            reason: error.to_string(),
            lasts: match error {
                PdfError::Busy | PdfError::NotStarted(_) | PdfError::Ended(_) => {
                    RejectionLasts::ForNow
                }
                PdfError::TimedOut => RejectionLasts::UntilReadAgain,
                PdfError::Refused(_) => RejectionLasts::UntilItChanges,
            },
        }
    }
}

impl From<HtmlError> for Problem {
    fn from(error: HtmlError) -> Self {
        Self {
            reason: error.to_string(),
            lasts: match error {
                HtmlError::TimedOut => RejectionLasts::UntilReadAgain,
                HtmlError::TooDeep | HtmlError::Refused(_) => RejectionLasts::UntilItChanges,
            },
        }
    }
}

/// A disk may be back soon, and a file may get other rights.
fn unreadable(error: &std::io::Error) -> Problem {
    Problem {
        reason: format!("it cannot be read: {error}"),
        lasts: RejectionLasts::ForNow,
    }
}

fn outline(bytes: Vec<u8>, format: Format) -> Result<Outline, Problem> {
    let decoded = |bytes: &[u8]| {
        let text = extract::text::decoded(bytes)?;
        Ok::<_, String>(extract::text::without_inline_files(&text).into_owned())
    };
    Ok(match format {
        Format::Markdown => {
            let text = decoded(&bytes)?;
            let front = about::front_matter(&text);
            Outline {
                problem: front.problem,
                ..titled(front.about, markdown::outline(front.body))
            }
        }
        Format::Text => Outline {
            opening: decoded(&bytes)?,
            ..Outline::default()
        },
        Format::Html => web_page(&text::as_html(&extract::text::decoded_page(&bytes)?))?,
        Format::Xhtml => web_page(&html_of_xhtml(&extract::text::decoded_page(&bytes)?))?,
        Format::Pdf => {
            let read = extract::pdf::read(bytes)?;
            titled(about::of(&read.about), pdf::outline(read.pages))
        }
        Format::Rst => marked(markup::rst::to_markdown(&decoded(&bytes)?)),
        Format::AsciiDoc => marked(markup::asciidoc::to_markdown(&decoded(&bytes)?)),
        Format::Org => marked(markup::org::to_markdown(&decoded(&bytes)?)),
        Format::Notebook => markdown::outline(&notebook::of_ipynb(&decoded(&bytes)?)?),
        Format::Packed(packed) => unpacked(bytes, packed)?,
    })
}

fn web_page(html: &str) -> Result<Outline, HtmlError> {
    let page = text::of_html(html)?;
    let outline = titled(page.about, markdown::outline(&page.markdown));
    Ok(match (text::html_title(html), &outline.title) {
        // The suffix that a site adds to each title says nothing about this page.
        (Some(page), Some(own)) if page.contains(own.as_str()) => outline,
        (Some(page), _) => outline.under(page),
        (None, _) => outline,
    })
}

#[cfg(feature = "formats")]
fn unpacked(bytes: Vec<u8>, packed: Packed) -> Result<Outline, String> {
    let with = |read, problem| Outline {
        problem,
        ..marked(read)
    };
    let read = match packed {
        Packed::Docx => office::of_docx(bytes),
        Packed::Odt => office::of_odt(bytes),
        Packed::Pptx => office::of_pptx(bytes),
        Packed::Xlsx => {
            let (read, cut) = sheet::of_xlsx(bytes)?;
            let cut = (cut > 0).then(|| count_with_noun(cut, "cell"));
            let problem = cut.map(|cut| {
                let most = sheet::CELL;
                format!(
                    "of {cut} only the first {most} characters were read, the rest was left out"
                )
            });
            return Ok(with(read, problem));
        }
        Packed::Epub => {
            let (read, missing) = office::of_epub(bytes)?;
            let missing = (missing > 0).then(|| count_with_noun(missing, "chapter"));
            let problem =
                missing.map(|missing| format!("{missing} of the book cannot be found in it"));
            return Ok(with(read, problem));
        }
        Packed::Mail => {
            let (read, deep) = mail::of_eml(&bytes)?;
            let deep = (deep > 0).then(|| count_with_noun(deep, "attached message"));
            let problem = deep.map(|deep| {
                format!(
                    "messages are attached to one another so deeply that {deep} in it was left out"
                )
            });
            return Ok(with(read, problem));
        }
    };
    read.map(marked)
}

#[cfg(not(feature = "formats"))]
fn unpacked(_bytes: Vec<u8>, _packed: Packed) -> Result<Outline, String> {
    Err(
        "this program was built without the feature `formats`; save it as PDF, HTML or text"
            .to_owned(),
    )
}

fn marked((about, markdown): (Map<String, Value>, String)) -> Outline {
    titled(about, markdown::outline(&markdown))
}

/// Adds the metadata; a title in it takes precedence over the first heading.
fn titled(mut about: Map<String, Value>, outline: Outline) -> Outline {
    let outline = match about.remove("title") {
        Some(Value::String(title)) => outline.under(title),
        Some(_) | None => outline,
    };
    Outline { about, ..outline }
}

/// A document whose chunks are being made.
struct Draft {
    chunks: Vec<Chunk>,
    links: Vec<RecordLink>,
    form: MarkupKind,
}

impl Draft {
    /// Adds a text as a chunk of its own label, continued by passages. Returns the index of the
    /// first chunk.
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

    /// Adds sections, each below the one that contains it. The document has to be added first.
    /// `common` is added to the properties of all.
    fn add_sections(&mut self, title: &str, sections: Vec<Section>, common: &Map<String, Value>) {
        // The open sections, each with level, index and heading.
        let mut open: Vec<(usize, usize, String)> = Vec::new();
        for section in sections {
            if section.is_page && !has_text(&section.body) {
                continue;
            }
            open.retain(|(level, ..)| *level < section.level);
            let above: Vec<&str> = open
                .iter()
                .map(|(_, _, heading)| heading.as_str())
                .collect();
            let under = [&[title], above.as_slice(), &[&section.heading]].concat();
            let mut properties = common.clone();
            properties.insert("heading".to_owned(), json!(section.heading));
            if section.is_page {
                properties.insert("page".to_owned(), json!(section.page));
            }
            let under = under.join(" > ");
            let at = self.add(
                SECTION,
                &under,
                &section.body,
                &section.heading,
                &properties,
            );
            self.include(open.last().map_or(0, |(_, at, _)| *at), at);
            open.push((section.level, at, section.heading));
        }
    }

    fn include(&mut self, whole: usize, part: usize) {
        self.links.push(RecordLink {
            kind: INCLUDES.to_owned(),
            from: LinkEndpoint::Own(whole),
            to: LinkEndpoint::Own(part),
        });
    }
}

/// Links each chunk to the next.
pub(super) fn in_order(chunks: usize) -> impl Iterator<Item = RecordLink> {
    (1..chunks).map(|at| RecordLink {
        kind: NEXT.to_owned(),
        from: LinkEndpoint::Own(at - 1),
        to: LinkEndpoint::Own(at),
    })
}

fn has_text(text: &str) -> bool {
    text.chars().any(|c| !c.is_whitespace())
}

/// Builds the record; `None` if there is no text at all.
fn record(
    outline: Outline,
    key: &str,
    path: &Path,
    format: Format,
    form: MarkupKind,
) -> Option<Record> {
    // The document itself has all of its metadata.
    let about = outline.about.clone();
    let outline = outline.with_short_titles();
    let sections = &outline.sections;
    let is_empty = !has_text(&outline.opening)
        && sections.iter().all(|s| !has_text(&s.body) && s.is_page)
        && (sections.iter().all(|s| s.is_page) || sections.is_empty());
    // A title, an author and a date are informative by themselves.
    if is_empty && outline.about.is_empty() {
        return None;
    }
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let title = outline.title.or(stem).unwrap_or_else(|| key.to_owned());
    let common = json!({"title": title, "path": key, "link": key});
    let mut common = common.as_object().cloned().unwrap_or_default();
    let own = about::lines(&about);
    // Copied to all chunks: a section has the date and subject of its document.
    for name in ["date", "tags"] {
        common.extend(
            outline
                .about
                .get(name)
                .map(|value| (name.to_owned(), value.clone())),
        );
    }
    let mut of_document = common.clone();
    of_document.extend(about);
    of_document.insert("format".to_owned(), json!(format.name()));
    let mut draft = Draft {
        chunks: Vec::new(),
        links: Vec::new(),
        form,
    };
    let opening = match own.is_empty() {
        true => outline.opening,
        false => format!("{own}\n{}", outline.opening),
    };
    draft.add(DOCUMENT, &title, &opening, &title, &of_document);
    draft.add_sections(&title, outline.sections, &common);
    draft.links.extend(in_order(draft.chunks.len()));
    Some(Record {
        key: key.to_owned(),
        at: SourceLocation::file(path),
        chunks: draft.chunks,
        is_shared: false,
        links: draft.links,
    })
}

#[cfg(test)]
mod tests;
