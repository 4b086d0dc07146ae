//! Writes what is kept of a person to files for them to take along: everything as JSON, and everything as Markdown.
//!
//! Platforms limit the size of files, so each form is split into as many files as needed. Each file can be read by itself.

use std::io::{self, Write};

use muninn_texts::{Language, Text, text};
use tokio::sync::mpsc;

use crate::graph::own_copy::OwnRecord;
use crate::graph::{GraphStore, StoreError};

/// Maximum number of items buffered between the graph and the files.
const IN_FLIGHT: usize = 100;
/// Maximum number of files per form; more are impractical in a chat.
pub const MOST_PARTS: usize = 50;

/// The format of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyForm {
    /// For programs.
    Json,
    /// For people.
    Markdown,
}

impl CopyForm {
    /// All forms.
    pub const ALL: &'static [Self] = &[Self::Json, Self::Markdown];

    pub fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Markdown => "md",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Markdown => "text/markdown",
        }
    }

    fn before_all(self, who: &str, part: usize, language: Language) -> String {
        match (self, part) {
            (Self::Json, _) => "[\n".to_owned(),
            (Self::Markdown, 1) => heading(&text!("copy-title", who), language),
            (Self::Markdown, part) => heading(&text!("copy-title-part", who, part), language),
        }
    }

    fn between(self) -> &'static str {
        match self {
            Self::Json => ",\n",
            Self::Markdown => "\n",
        }
    }

    fn behind_all(self) -> &'static str {
        match self {
            Self::Json => "\n]\n",
            Self::Markdown => "",
        }
    }

    fn write(self, record: &OwnRecord, language: Language) -> io::Result<String> {
        match self {
            Self::Json => Ok(serde_json::to_string(record)?),
            Self::Markdown => Ok(record.to_markdown(language)),
        }
    }
}

fn heading(of: &Text, language: Language) -> String {
    format!("# {}\n\n", of.in_language(language))
}

/// A finished copy.
#[derive(Debug)]
pub struct OwnCopy<W> {
    /// Number of items in it.
    pub count: usize,
    /// The files, those of the first form first; empty if nothing is kept.
    pub files: Vec<CopyFile<W>>,
}

/// One file of a copy.
#[derive(Debug)]
pub struct CopyFile<W> {
    pub form: CopyForm,
    /// Counted from 1.
    pub part: usize,
    /// The writer, completely written and flushed.
    pub written: W,
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error(transparent)]
    Graph(#[from] StoreError),
    #[error("a file could not be written")]
    File(#[source] io::Error),
    #[error("it needs more than {MOST_PARTS} files")]
    TooMuch,
}

/// Writes what is kept of these accounts, in these forms and in this language, to files that `open` opens. Each has at most `largest`
/// bytes, unless a single item is larger. Memory use does not grow with the amount.
///
/// # Errors
/// Fails when the graph cannot be read or a file cannot be written. The files are then incomplete.
pub async fn write_copy<W: Write + Send + 'static>(
    store: &GraphStore,
    accounts: &[String],
    forms: &'static [CopyForm],
    largest: u64,
    language: Language,
    open: impl FnMut(CopyForm, usize) -> io::Result<W> + Send + 'static,
) -> Result<OwnCopy<W>, CopyError> {
    let (sender, records) = mpsc::channel::<OwnRecord>(IN_FLIGHT);
    let who = accounts.join(", ");
    let writing = tokio::task::spawn_blocking(move || {
        write_all(records, (&who, language), forms, largest, open)
    });
    let reading = async move {
        for account in accounts {
            store.own_records(account, sender.clone()).await?;
        }
        Ok::<(), StoreError>(())
    };
    let (read, written) = tokio::join!(reading, writing);
    let copy = written.map_err(|error| CopyError::File(io::Error::other(error)))??;
    read?;
    Ok(copy)
}

fn write_all<W: Write>(
    mut records: mpsc::Receiver<OwnRecord>,
    (who, language): (&str, Language),
    forms: &[CopyForm],
    largest: u64,
    mut open: impl FnMut(CopyForm, usize) -> io::Result<W>,
) -> Result<OwnCopy<W>, CopyError> {
    let mut forms: Vec<Parts<W>> = forms.iter().copied().map(Parts::new).collect();
    let mut count = 0;
    while let Some(record) = records.blocking_recv() {
        for parts in &mut forms {
            parts.put(&record, (who, language), largest, &mut open)?;
        }
        count += 1;
    }
    let mut files = Vec::new();
    for parts in forms {
        files.extend(parts.end()?);
    }
    Ok(OwnCopy { count, files })
}

/// The files of one form.
struct Parts<W> {
    form: CopyForm,
    ended: Vec<CopyFile<W>>,
    /// The file being written, and its size in bytes.
    growing: Option<(W, u64)>,
}

impl<W: Write> Parts<W> {
    fn new(form: CopyForm) -> Self {
        Self {
            form,
            ended: Vec::new(),
            growing: None,
        }
    }

    fn part(&self) -> usize {
        self.ended.len() + 1
    }

    fn put(
        &mut self,
        record: &OwnRecord,
        (who, language): (&str, Language),
        largest: u64,
        open: &mut impl FnMut(CopyForm, usize) -> io::Result<W>,
    ) -> Result<(), CopyError> {
        let form = self.form;
        let text = form.write(record, language).map_err(CopyError::File)?;
        let rest = form.between().len() + text.len() + form.behind_all().len();
        let is_full = |size: u64| size.saturating_add(rest as u64) > largest;
        if self
            .growing
            .as_ref()
            .is_some_and(|(_, size)| is_full(*size))
        {
            self.end_part().map_err(CopyError::File)?;
        }
        let before = match &self.growing {
            Some(_) => form.between().to_owned(),
            None if self.part() > MOST_PARTS => return Err(CopyError::TooMuch),
            None => form.before_all(who, self.part(), language),
        };
        let growing = match self.growing.take() {
            Some(growing) => Ok(growing),
            None => open(form, self.part()).map(|file| (file, 0)),
        };
        let (mut file, size) = growing.map_err(CopyError::File)?;
        for piece in [&before, &text] {
            file.write_all(piece.as_bytes()).map_err(CopyError::File)?;
        }
        let size = size + (before.len() + text.len()) as u64;
        self.growing = Some((file, size));
        Ok(())
    }

    fn end_part(&mut self) -> io::Result<()> {
        let part = self.part();
        if let Some((mut written, _)) = self.growing.take() {
            written.write_all(self.form.behind_all().as_bytes())?;
            written.flush()?;
            let form = self.form;
            self.ended.push(CopyFile {
                form,
                part,
                written,
            });
        }
        Ok(())
    }

    fn end(mut self) -> Result<Vec<CopyFile<W>>, CopyError> {
        self.end_part().map_err(CopyError::File)?;
        Ok(self.ended)
    }
}

#[cfg(test)]
mod tests {
    use chrono::Utc;

    use super::*;
    use crate::graph::own_copy::OwnWords;

    fn noted(text: &str) -> OwnRecord {
        OwnRecord::Noted(OwnWords {
            at: Utc::now(),
            platform: "test".to_owned(),
            place: "general".to_owned(),
            conversation: "test/general/a".to_owned(),
            text: text.to_owned(),
            link: None,
            corrected_at: None,
        })
    }

    fn copy_of(records: usize, largest: u64) -> Result<OwnCopy<Vec<u8>>, CopyError> {
        let (sender, receiver) = mpsc::channel(records.max(1));
        for number in 0..records {
            sender.try_send(noted(&format!("note {number}"))).unwrap();
        }
        drop(sender);
        write_all(
            receiver,
            ("ann", Language::English),
            CopyForm::ALL,
            largest,
            |_, _| Ok(Vec::new()),
        )
    }

    #[test]
    fn every_file_is_whole_and_no_larger_than_it_may_be() {
        for (records, largest, is_one) in [(1, 10, true), (50, u64::MAX, true), (50, 2_000, false)]
        {
            let copy = copy_of(records, largest).unwrap();
            let of = |form| copy.files.iter().filter(move |file| file.form == form);
            let mut notes = 0;
            for (at, file) in of(CopyForm::Json).enumerate() {
                assert_eq!(file.part, at + 1);
                let read: Vec<serde_json::Value> = serde_json::from_slice(&file.written).unwrap();
                assert!(read.len() == 1 || file.written.len() as u64 <= largest);
                notes += read.len();
            }
            assert_eq!((notes, copy.count), (records, records));
            let markdown: Vec<String> = of(CopyForm::Markdown)
                .map(|file| String::from_utf8(file.written.clone()).unwrap())
                .collect();
            assert!(
                markdown
                    .iter()
                    .all(|text| text.starts_with("# What Muninn keeps of ann"))
            );
            assert_eq!(markdown.concat().matches("I had noted").count(), records);
            assert_eq!(copy.files.len() == 2, is_one, "{largest}");
        }
    }

    #[test]
    fn nothing_makes_no_file_and_too_much_is_said() {
        assert!(copy_of(0, 10).unwrap().files.is_empty());
        assert!(matches!(
            copy_of(MOST_PARTS + 1, 1),
            Err(CopyError::TooMuch)
        ));
    }
}
