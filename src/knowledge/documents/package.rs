//! Unpacks files of a zip archive within limits, and parses XML into events.

use std::collections::HashMap;
use std::io::Read as _;

use flate2::bufread::DeflateDecoder;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder};

/// Maximum unpacked bytes: of one file, and of all files that are read.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
const MAX_UNPACKED_BYTES: u64 = 256 * 1024 * 1024;

/// Maximum number of files in a package.
const FILES: usize = 20_000;

/// The first bytes of an Office file that is no zip archive: an old format, or one with a password.
const OLD_OFFICE: &[u8] = b"\xd0\xcf\x11\xe0";

/// A package that is read file by file.
#[derive(Debug)]
pub(super) struct Package {
    bytes: Vec<u8>,
    files: HashMap<String, ZipEntry>,
    left: u64,
}

#[derive(Clone, Copy, Debug)]
struct ZipEntry {
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    is_encrypted: bool,
}

impl Package {
    /// # Errors
    /// Fails with the reason, and what to do.
    pub(super) fn open(bytes: Vec<u8>) -> Result<Self, String> {
        if bytes.starts_with(OLD_OFFICE) {
            let what_to_do = "save it without a password in the newer format";
            return Err(format!(
                "it has a password, or is of an older Office; {what_to_do}"
            ));
        }
        let files = files(&bytes).map_err(|error| {
            format!("it is damaged, or of another kind than its name says: {error}")
        })?;
        Ok(Self {
            bytes,
            files,
            left: MAX_UNPACKED_BYTES,
        })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns a file's text; `None` if there is no such file.
    ///
    /// # Errors
    /// Fails with the reason: damaged, password-protected, too large.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        let Some(file) = self.files.get(name).copied() else {
            return Ok(None);
        };
        if file.is_encrypted {
            return Err("it has a password; save it without one".to_owned());
        }
        let wrong = |error: &dyn std::fmt::Display| format!("{name} in it is damaged: {error}");
        let archive = ZipArchive::from_slice(&self.bytes).map_err(|error| wrong(&error))?;
        let entry = archive
            .get_entry(file.place)
            .map_err(|error| wrong(&error))?;
        // The sizes that an archive declares may be wrong.
        let most = self.left.min(MAX_FILE_BYTES);
        let mut bytes = Vec::new();
        let read = match file.method {
            CompressionMethod::STORE => entry.data().take(most + 1).read_to_end(&mut bytes),
            CompressionMethod::DEFLATE => DeflateDecoder::new(entry.data())
                .take(most + 1)
                .read_to_end(&mut bytes),
            _other => return Err(format!("{name} in it is packed in a way that nobody uses")),
        };
        let read = read.map_err(|error| wrong(&error))? as u64;
        if read > most {
            let most = most >> 20;
            return Err(format!(
                "{name} in it unpacks to more than {most} MB; split it"
            ));
        }
        self.left -= read;
        Ok(Some(crate::extract::text::decoded(&bytes)?))
    }

    /// The same for a required file.
    pub(super) fn needed(&mut self, name: &str) -> Result<String, String> {
        let text = self.text(name)?;
        text.ok_or_else(|| format!("it is of another kind than its name says: it has no {name}"))
    }
}

fn files(bytes: &[u8]) -> Result<HashMap<String, ZipEntry>, rawzip::Error> {
    let archive = ZipArchive::from_slice(bytes)?;
    let (mut entries, mut files) = (archive.entries(), HashMap::new());
    while let Some(entry) = entries.next_entry()? {
        if files.len() >= FILES {
            break;
        }
        let name = String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned();
        let file = ZipEntry {
            place: entry.wayfinder(),
            method: entry.compression_method(),
            is_encrypted: entry.flags().is_encrypted(),
        };
        files.insert(name, file);
    }
    Ok(files)
}

/// An XML event, with names without prefixes.
#[derive(Debug)]
pub(super) enum Xml<'a> {
    Open(&'a str, &'a Attributes<'a>),
    Close(&'a str),
    Text(&'a str),
}

/// The attributes of an element.
#[derive(Debug)]
pub(super) struct Attributes<'a>(&'a BytesStart<'a>);

impl Attributes<'_> {
    /// Returns the value of an attribute, with any prefix.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let mut all = self.0.attributes().flatten();
        let found = all.find(|attribute| attribute.key.local_name().as_ref() == name)?;
        let value = found.value.into_owned();
        Some(quick_xml::escape::unescape(&value).map_or(value.clone(), |it| it.into_owned()))
    }
}

/// Calls `each` with the events of a text in order. Entities defined in the text are not expanded,
/// so they cannot grow.
///
/// # Errors
/// Fails when it is not XML.
pub(super) fn walk(xml: &str, each: &mut dyn FnMut(Xml<'_>)) -> Result<(), String> {
    let mut reader = Reader::from_str(xml);
    let wrong = |error: &dyn std::fmt::Display| format!("it is damaged: {error}");
    loop {
        match reader.read_event().map_err(|error| wrong(&error))? {
            Event::Start(start) => each(Xml::Open(&local(&start), &Attributes(&start))),
            Event::Empty(start) => {
                let name = local(&start);
                each(Xml::Open(&name, &Attributes(&start)));
                each(Xml::Close(&name));
            }
            Event::End(end) => {
                each(Xml::Close(end.local_name().as_ref()));
            }
            Event::Text(text) => each(Xml::Text(&text)),
            Event::CData(text) => each(Xml::Text(&text)),
            Event::GeneralRef(reference) => {
                let name: &str = &reference;
                let text =
                    quick_xml::escape::unescape(&format!("&{name};")).map(|it| it.into_owned());
                each(Xml::Text(&text.unwrap_or_default()));
            }
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn local(start: &BytesStart<'_>) -> String {
    start.local_name().as_ref().to_owned()
}
