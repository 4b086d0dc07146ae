//! `muninn export --person`: exports what is kept of one person, as JSON and as Markdown.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use muninn::conversation::audit::{Audit, AuditAction, OPERATOR};
use muninn::conversation::own_copy::{CopyForm, write_copy};
use muninn_platform::AudienceId;
use private_files::private_file;
use uuid::Uuid;

use super::context::Context;
use super::exit::Exit;

/// Writes what is kept of a person to `path` as JSON, and beside it as Markdown, both atomically.
pub(super) async fn export(at: &Context, path: &Path, person: &str) -> anyhow::Result<Exit> {
    let readable = path.with_extension("md");
    if readable == path {
        bail!("name a file for the JSON, such as mine.json; the Markdown is written beside it");
    }
    let store = at.graph().await?;
    let paths = (path.to_owned(), readable.clone());
    let open = move |form, _| match form {
        CopyForm::Json => Partial::of(&paths.0),
        CopyForm::Markdown => Partial::of(&paths.1),
    };
    // Neither the person's language nor a place is known here.
    let nowhere = AudienceId::new("");
    let language = at.config.channels.language(&nowhere, None);
    let written = async {
        let linked = store.accounts_of(person).await?.into_iter();
        let others = linked.map(|it| it.account.id).filter(|it| it != person);
        let accounts: Vec<String> = std::iter::once(person.to_owned()).chain(others).collect();
        write_copy(&store, &accounts, CopyForm::ALL, u64::MAX, language, open).await
    };
    let written = written.await;
    store.close().await?;
    let copy = written?;
    let count = copy.count;
    if count == 0 {
        bail!(
            "nothing is kept of {person:?}; `author` in `muninn export` shows what people's ids look like"
        );
    }
    for file in copy.files {
        file.written.publish()?;
    }
    let audit = Audit::new(&at.config.data_dir);
    audit
        .record_action(OPERATOR, AuditAction::Exported, person, Some(count))
        .await;
    let said = format!(
        "{count} things written to {} and {}",
        path.display(),
        readable.display()
    );
    at.out.say(&said).await
}

/// The file that a path leads to, if it is one or can become one. A device, a pipe or a link would be replaced by the export.
fn target(path: &Path) -> anyhow::Result<PathBuf> {
    let named = path.display();
    if path == Path::new("-") {
        bail!("an export is a file that is whole or not there, so `-` does not work: name a file");
    }
    let Ok(found) = std::fs::symlink_metadata(path) else {
        // Whatever else is wrong is told when it is written.
        return Ok(path.to_owned());
    };
    let target = match found.is_symlink() {
        true => std::fs::canonicalize(path).with_context(|| format!("{named} leads nowhere"))?,
        false => path.to_owned(),
    };
    if !std::fs::metadata(&target)?.is_file() {
        bail!("{named} is no file, and an export would replace it: name a file");
    }
    Ok(target)
}

/// The end of a temporary file's name, after the name of the file that it becomes and an id.
const PARTIAL: &str = ".partial";

/// Removes what exports to this file left beside it when they were killed. Those of running exports are locked.
fn remove_left_over(path: &Path) {
    let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else {
        return;
    };
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file
            && is_partial_of(name, &entry.file_name())
            && let Err(error) = remove_unless_locked(&entry.path())
        {
            let (error, path) = (&error as &dyn std::error::Error, entry.path());
            tracing::warn!(error, path = %path.display(), "what an export left could not be removed");
        }
    }
}

/// Whether `other` is the name of a temporary file of the file with this name.
fn is_partial_of(name: &OsStr, other: &OsStr) -> bool {
    let rest = other.as_encoded_bytes();
    let rest = rest.strip_prefix(name.as_encoded_bytes());
    let rest = rest.and_then(|rest| rest.strip_prefix(b"."));
    let id = rest.and_then(|rest| rest.strip_suffix(PARTIAL.as_bytes()));
    id.is_some_and(|id| id.len() == 32 && Uuid::try_parse_ascii(id).is_ok())
}

fn remove_unless_locked(path: &Path) -> io::Result<()> {
    let removed = match OpenOptions::new().write(true).open(path) {
        // Locked until it is removed: whoever made it just now then makes another.
        Ok(file) => match file.try_lock() {
            Ok(()) => std::fs::remove_file(path),
            Err(TryLockError::WouldBlock) => Ok(()),
            Err(TryLockError::Error(error)) => Err(error),
        },
        Err(error) => Err(error),
    };
    match removed {
        // It became the export, or somebody else removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// A temporary file that is renamed when it is complete, and otherwise removed: if the process was killed, by the next export to
/// the same file. It is locked while it is written.
pub(super) struct Partial {
    out: BufWriter<File>,
    beside: PathBuf,
    path: PathBuf,
    is_published: bool,
}

impl Partial {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let path = &target(path).map_err(io::Error::other)?;
        remove_left_over(path);
        let (file, beside) = loop {
            // A name that nobody else has: an existing file keeps its owner and its rights, and another export may be writing to it.
            let mut beside = path.as_os_str().to_owned();
            beside.push(format!(".{}{PARTIAL}", Uuid::new_v4().simple()));
            let beside = PathBuf::from(beside);
            let file = private_file().write(true).create_new(true).open(&beside);
            let file = file.map_err(|error| {
                let why = format!("cannot write {}: {error}", beside.display());
                io::Error::new(error.kind(), why)
            })?;
            // Another export that begins may remove it until it is locked. Some file systems have no locks.
            if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && beside.exists() {
                break (file, beside);
            }
        };
        Ok(Self {
            out: BufWriter::new(file),
            beside,
            path: path.to_owned(),
            is_published: false,
        })
    }

    pub(super) fn publish(mut self) -> anyhow::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        let path = &self.path;
        std::fs::rename(&self.beside, path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        self.is_published = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // It holds what people said, and nobody asked for half of it.
        if !self.is_published
            && let Err(error) = std::fs::remove_file(&self.beside)
        {
            let (error, path) = (&error as &dyn std::error::Error, self.beside.display());
            tracing::warn!(error, %path, "an incomplete file could not be removed");
        }
    }
}

impl Write for Partial {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn an_export_writes_into_no_file_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("theirs"), "theirs").unwrap();
        symlink(at("theirs"), at("mine.json.partial")).unwrap();
        let mut one = Partial::of(&at("mine.json")).unwrap();
        let mut other = Partial::of(&at("mine.json")).unwrap();
        one.write_all(b"all of one").unwrap();
        other.write_all(b"all of the other").unwrap();
        other.publish().unwrap();
        one.publish().unwrap();
        assert_eq!(std::fs::read(at("mine.json")).unwrap(), b"all of one");
        assert_eq!(std::fs::read(at("theirs")).unwrap(), b"theirs");
        let mode = std::fs::metadata(at("mine.json")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        assert!(at("mine.json.partial").is_symlink());
        drop(Partial::of(&at("mine.json")).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn an_export_removes_what_a_killed_one_to_the_same_file_left_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let id = Uuid::new_v4().simple();
        std::fs::write(at(&format!("mine.json.{id}.partial")), "half").unwrap();
        let others = [
            format!("yours.json.{id}.partial"),
            format!("mine.{id}.partial"),
            format!("mine.json.{id}"),
            "mine.json.partial".to_owned(),
            "mine.json.old.partial".to_owned(),
        ];
        for other in &others {
            std::fs::write(at(other), "theirs").unwrap();
        }
        let mut running = Partial::of(&at("mine.json")).unwrap();
        assert!(!at(&format!("mine.json.{id}.partial")).exists());
        running.write_all(b"all of it").unwrap();
        // It is not in the way of one that runs.
        Partial::of(&at("mine.json")).unwrap().publish().unwrap();
        running.publish().unwrap();
        assert_eq!(std::fs::read(at("mine.json")).unwrap(), b"all of it");
        assert!(others.iter().all(|other| at(other).exists()));
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            others.len() + 1
        );
    }
}
