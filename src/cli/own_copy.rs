//! `muninn export --person`: what is kept of one person, as JSON and as Markdown.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use muninn::graph::GraphStore;
use muninn::graph::own_copy::OwnRecord;
use private_files::private_file;
use tokio::sync::mpsc;

use super::context::Context;
use super::output::Exit;

/// How many wait between the graph and the files.
const IN_FLIGHT: usize = 100;

/// Writes what is kept of a person to `path` as JSON, and beside it as Markdown, both whole or not at all.
pub(super) async fn export(at: &Context, path: &Path, person: &str) -> anyhow::Result<Exit> {
    let readable = path.with_extension("md");
    if readable == path {
        bail!("name a file for the JSON, such as mine.json; the Markdown is written beside it");
    }
    let store = at.graph().await?;
    let written = write_both(&store, person, path, &readable).await;
    store.close().await?;
    let count = written?;
    if count == 0 {
        bail!(
            "nothing is kept of {person:?}; `author` in `muninn export` shows what people's ids look like"
        );
    }
    let said = format!(
        "{count} things written to {} and {}",
        path.display(),
        readable.display()
    );
    at.out.say(&said).await
}

async fn write_both(
    store: &Arc<GraphStore>,
    person: &str,
    path: &Path,
    readable: &Path,
) -> anyhow::Result<usize> {
    let (mut json, mut markdown) = (Partial::of(path)?, Partial::of(readable)?);
    let (sender, mut records) = mpsc::channel::<OwnRecord>(IN_FLIGHT);
    let write = async {
        let mut count = 0;
        json.out.write_all(b"[")?;
        writeln!(markdown.out, "# What Muninn keeps of {person}\n")?;
        while let Some(record) = records.recv().await {
            json.out
                .write_all(if count == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut json.out, &record)?;
            writeln!(markdown.out, "{}", record.to_markdown())?;
            count += 1;
        }
        json.out.write_all(b"\n]\n")?;
        // What is read after a failed write goes nowhere.
        records.close();
        Ok::<usize, anyhow::Error>(count)
    };
    let (read, written) = tokio::join!(store.own_records(person, sender), write);
    let count = written?;
    read?;
    if count > 0 {
        json.publish()?;
        markdown.publish()?;
    } else {
        json.discard()?;
        markdown.discard()?;
    }
    Ok(count)
}

/// A file that takes its place when it is whole.
struct Partial {
    out: BufWriter<File>,
    beside: PathBuf,
    path: PathBuf,
}

impl Partial {
    fn of(path: &Path) -> anyhow::Result<Self> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".partial");
        let beside = PathBuf::from(beside);
        let file = private_file().write(true).truncate(true).open(&beside);
        let file = file.with_context(|| format!("cannot write {}", beside.display()))?;
        Ok(Self {
            out: BufWriter::new(file),
            beside,
            path: path.to_owned(),
        })
    }

    fn publish(mut self) -> anyhow::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        let path = &self.path;
        std::fs::rename(&self.beside, path)
            .with_context(|| format!("cannot write {}", path.display()))
    }

    fn discard(self) -> anyhow::Result<()> {
        Ok(std::fs::remove_file(&self.beside)?)
    }
}
