//! `muninn ingest` and `muninn catalog`.

mod gone;
pub(super) mod summary;

use anyhow::bail;
use muninn_platform::count_with_noun;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use muninn::graph;
use muninn::graph::GraphStore;
use muninn::graph::ingest::SourceOverview;
use muninn::knowledge::access::{EVERYBODY, channels_of, check_channels};
use muninn::knowledge::anonymise::key;
use muninn::knowledge::catalog::{text, warnings, with_unread};
use muninn::knowledge::changing;
use muninn::knowledge::folder::Filter;
use muninn::knowledge::ingest::{FileFate, Ingest, IngestSummary, ingest};
use muninn::knowledge::origins::Freshness;
use muninn::knowledge::source::{Gathered, Source, SourceSelection, counts, mapping};
use muninn::llm::Embedder;
use muninn::wiring::{Models, models};
use serde_json::{Value, json};

use super::args::ingest::{CatalogArgs, IngestArgs};
use super::context::Context;
use super::exit::Exit;
use super::freshness::freshness;
use super::paths::{ChangePath, whole};
use super::progress::Unit;
use super::prompt::{confirmed, unanswered};
use gone::gone;
use summary::{fate, in_words, patient, removed_as_json, show, summary_as_json};

impl IngestArgs {
    /// Returns the arguments for records of one file with a built-in mapping, as a source of the
    /// mapping's name.
    pub(super) fn mapped(path: PathBuf, mapping: &str) -> Self {
        Self {
            paths: vec![path],
            mapping: Some(mapping.to_owned()),
            name: Some(mapping.to_owned()),
            channels: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            anonymise: false,
            dry_run: false,
            yes: true,
            json: false,
        }
    }

    /// Changes its paths.
    ///
    /// # Errors
    /// Fails like `change`.
    pub(super) fn with_paths(self, change: ChangePath<'_>) -> io::Result<Self> {
        let paths = self.paths.into_iter().map(&mut *change);
        let paths = paths.collect::<io::Result<_>>()?;
        let mapping = self.mapping.map(|named| {
            let path = PathBuf::from(&named);
            // It may also be a name.
            match path.is_file() || path.is_absolute() {
                true => change(path).map(|path| path.display().to_string()),
                false => Ok(named),
            }
        });
        Ok(Self {
            paths,
            mapping: mapping.transpose()?,
            ..self
        })
    }
}

/// Ingests, and prints the results.
pub(super) async fn run(at: &Context, args: IngestArgs) -> anyhow::Result<Exit> {
    let config = &at.config;
    check_channels(&args.channels).map_err(anyhow::Error::msg)?;
    let gathered = gathered(at, &args).await?;
    // If nothing was ever ingested, nothing has to be emptied, and no graph created.
    if gathered.sources.is_empty() && !graph::exists(&config.graph) {
        return Err(gathered.nothing(&args.paths).into());
    }
    let Models { chat: _, embedder } = models(config)?;
    let store = at.graph_as(&patient(config)).await?;
    let ingesting = Ingesting {
        at,
        store: &store,
        embedder: &Arc::new(embedder),
        args: &args,
    };
    let done = ingesting.all(gathered).await;
    if !args.dry_run {
        at.prepare_search(&store).await;
    }
    store.close().await?;
    done
}

/// Looks for what to ingest, on a thread for that: the command may run in the bot that answers.
async fn gathered(at: &Context, args: &IngestArgs) -> anyhow::Result<Gathered> {
    let (paths, name, named) = (args.paths.clone(), args.name.clone(), args.mapping.clone());
    let filter = Filter {
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        data_dir: Some(at.config.data_dir.clone()),
        is_copy: false,
    };
    let looked = tokio::task::spawn_blocking(move || {
        Gathered::gather(SourceSelection {
            paths: &paths,
            name: name.as_deref(),
            mapping: named.as_deref().map(mapping).transpose()?,
            filter,
            reserved: &[],
        })
    });
    Ok(looked.await??)
}

/// What happens to sources of which nothing is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GoneFate {
    Removed,
    /// The user wants to keep them.
    Kept,
    /// Nobody is there to say whether to remove them.
    Unanswered,
    /// It is only a rehearsal.
    Rehearsed,
}

/// What all sources of one call need.
struct Ingesting<'a> {
    at: &'a Context,
    store: &'a Arc<GraphStore>,
    embedder: &'a Arc<Embedder>,
    args: &'a IngestArgs,
}

impl Ingesting<'_> {
    async fn all(&self, gathered: Gathered) -> anyhow::Result<Exit> {
        let known = self.store.sources().await?;
        let paths = self.paths()?;
        let gone = gone(&gathered, &paths, &known);
        if gathered.sources.is_empty() && gone.is_empty() {
            return Err(gathered.nothing(&self.args.paths).into());
        }
        let beside = beside(&gathered, &paths, &known);
        let replaced = replaced(&gathered, &paths, &known);
        self.allow_replacing(&replaced)?;
        let is_dry = self.args.dry_run;
        let is_json = self.args.json;
        let is_all_gone = gathered.sources.is_empty();
        let mut sources = Vec::new();
        for source in gathered.sources {
            let is_beside = |of: &SourceOverview| beside.contains(&of.name);
            let given = &self.args.channels;
            let call = &gathered.name;
            let channels = channels_of(&source.name, call, given, &known, is_beside);
            let (name, summary) = self.one(source, channels).await?;
            if is_json {
                sources.push(summary_as_json(&name, &summary, is_dry));
            } else {
                self.tell(&name, &summary).await?;
            }
        }
        let fate = self.fate_of(&gone)?;
        if is_all_gone && fate == GoneFate::Unanswered {
            return Err(unanswered(&question(&gone)));
        }
        let removed = self.finish(&gone, fate).await?;
        if is_json {
            let left_alone = gathered.left_alone.iter().map(|one| {
                json!({"path": one.path.display().to_string(), "reason": one.reason.sentence()})
            });
            let gone = match fate {
                GoneFate::Removed => Vec::new(),
                GoneFate::Kept | GoneFate::Unanswered | GoneFate::Rehearsed => gone,
            };
            let told = json!({
                "dry_run": is_dry,
                "sources": sources,
                "removed": removed_as_json(&removed),
                "gone": gone,
                "replaced": replaced.iter().map(|source| &source.name).collect::<Vec<_>>(),
                "left_alone": left_alone.collect::<Vec<_>>(),
            });
            return self.at.out.say_json(&told).await;
        }
        if !gathered.told_apart.is_empty() {
            let names = gathered.told_apart.join(", ");
            let line =
                format!("Several folders have documents of one name, which are named: {names}.");
            self.at.out.line(&line).await?;
        }
        if is_dry {
            for source in &replaced {
                let line = format!(
                    "{} would be asked about: it {}.",
                    source.name,
                    made_from(source)
                );
                self.at.out.line(&line).await?;
            }
            for one in &gathered.left_alone {
                self.at
                    .out
                    .line(&format!(
                        "left alone  {}: {}",
                        one.path.display(),
                        one.reason.sentence()
                    ))
                    .await?;
            }
        }
        let left = counts(&gathered.left_alone);
        if !left.is_empty() {
            self.at.out.line(&format!("Left alone: {left}.")).await?;
        }
        Ok(Exit::SUCCESS)
    }

    /// Asks whether sources of other paths may be replaced.
    ///
    /// # Errors
    /// Fails when they may not; nothing was ingested then.
    fn allow_replacing(&self, replaced: &[&SourceOverview]) -> anyhow::Result<()> {
        if self.args.dry_run || self.args.yes || replaced.is_empty() {
            return Ok(());
        }
        let told = replaced
            .iter()
            .map(|of| format!("{} {}", of.name, made_from(of)));
        let it = if replaced.len() == 1 { "it" } else { "them" };
        let question = format!(
            "{}; --as NAME gives what is ingested now another name. Replace {it}?",
            told.collect::<Vec<_>>().join(", ")
        );
        match confirmed(self.at, &question)? {
            Some(true) => Ok(()),
            Some(false) => bail!("nothing was ingested"),
            None => Err(unanswered(&question)),
        }
    }

    /// Decides about sources of which nothing is left, and asks if necessary.
    fn fate_of(&self, gone: &[String]) -> io::Result<GoneFate> {
        if self.args.dry_run {
            return Ok(GoneFate::Rehearsed);
        }
        if self.args.yes || gone.is_empty() {
            return Ok(GoneFate::Removed);
        }
        let answer = confirmed(self.at, &question(gone))?;
        Ok(match answer {
            Some(true) => GoneFate::Removed,
            Some(false) => GoneFate::Kept,
            None => GoneFate::Unanswered,
        })
    }

    /// Removes sources of which nothing is left, or says why they stay. Returns the removed ones,
    /// with their numbers of chunks.
    async fn finish(&self, gone: &[String], fate: GoneFate) -> anyhow::Result<Vec<(String, u64)>> {
        let mut removed = Vec::new();
        for name in gone {
            let nothing = "nothing is left to ingest of it";
            let line = match fate {
                GoneFate::Removed => {
                    let data_dir = &self.at.config.data_dir;
                    let chunks = changing::remove(self.store, data_dir, name).await?;
                    removed.push((name.clone(), chunks));
                    let chunks = count_with_noun(chunks, "chunk");
                    format!("{name} was removed, with {chunks}.")
                }
                GoneFate::Kept => format!("{name} stays as it is: {nothing}."),
                GoneFate::Unanswered => {
                    format!("{name} stays as it is: {nothing}; add --yes to remove it.")
                }
                GoneFate::Rehearsed => format!("{name} would be asked about: {nothing}."),
            };
            if !self.args.json {
                self.at.out.line(&line).await?;
            }
        }
        Ok(removed)
    }

    /// Returns the given paths, made absolute: they mean the same in every process.
    fn paths(&self) -> io::Result<Vec<PathBuf>> {
        self.args.paths.iter().map(|path| whole(path)).collect()
    }

    /// Anonymises a source if requested; the originals are saved first.
    async fn anonymised(&self, source: Source) -> anyhow::Result<Source> {
        if !self.args.anonymise {
            return Ok(source);
        }
        let (data_dir, name) = (&self.at.config.data_dir, source.name.clone());
        let known = key::load(data_dir, &name)?.unwrap_or_default();
        let learnt = tokio::task::spawn_blocking(move || source.anonymised(known));
        let (source, originals) = learnt.await??;
        if !self.args.dry_run {
            key::save(data_dir, &name, &originals)?;
        }
        Ok(source)
    }

    /// Ingests a source that these channels may see.
    async fn one(
        &self,
        source: Source,
        channels: Vec<String>,
    ) -> anyhow::Result<(String, IngestSummary)> {
        let source = self.anonymised(source).await?;
        let name = source.name.clone();
        let what = Ingest {
            paths: source.paths(&self.paths()?),
            source,
            channels,
            data_dir: &self.at.config.data_dir,
            is_dry: self.args.dry_run,
        };
        let bar = self.at.out.bar(Unit::Bytes);
        let mut tell = |far| show(&bar, far);
        let done = ingest(self.store, self.embedder, what, &mut tell).await;
        bar.clear();
        Ok((name, done?))
    }

    async fn tell(&self, name: &str, done: &IngestSummary) -> io::Result<()> {
        for (file, fate) in &done.files {
            self.at.out.line(&fate_in_words(file, fate)).await?;
        }
        let line = in_words(name, done, self.args.dry_run);
        self.at.out.line(&line).await?;
        if !done.channels.is_empty() && self.args.channels.is_empty() {
            let line = format!("It stays so; `--channels {EVERYBODY}` opens it to everybody.");
            self.at.out.line(&line).await?;
        }
        Ok(())
    }
}

/// Returns the served sources that would be replaced by other paths than they were made from.
fn replaced<'a>(
    gathered: &Gathered,
    paths: &[PathBuf],
    known: &'a [SourceOverview],
) -> Vec<&'a SourceOverview> {
    let is_below = are_below(paths);
    let again = known.iter().filter(|of| is_made_again(gathered, of));
    again.filter(|of| !is_below(of)).collect()
}

/// Returns the names of the served sources that come from these paths, or are made from them now.
fn beside(gathered: &Gathered, paths: &[PathBuf], known: &[SourceOverview]) -> HashSet<String> {
    let is_below = are_below(paths);
    let beside = known
        .iter()
        .filter(|of| is_made_again(gathered, of) || is_below(of));
    beside.map(|of| of.name.clone()).collect()
}

fn is_made_again(gathered: &Gathered, of: &SourceOverview) -> bool {
    let mut sources = gathered.sources.iter();
    of.version > 0 && sources.any(|source| source.name == of.name)
}

/// Returns whether a source was made from nothing but these paths, and what is below them.
fn are_below(paths: &[PathBuf]) -> impl Fn(&SourceOverview) -> bool + use<> {
    let real = |path: &Path| path.canonicalize().or_else(|_| whole(path));
    let paths: Vec<PathBuf> = paths.iter().filter_map(|path| real(path).ok()).collect();
    move |of: &SourceOverview| {
        let is_below = |path: &String| {
            let path = real(Path::new(path));
            path.is_ok_and(|path| paths.iter().any(|given| path.starts_with(given)))
        };
        of.of.paths.iter().all(is_below)
    }
}

fn made_from(source: &SourceOverview) -> String {
    format!("was made from {}", source.of.paths.join(", "))
}

fn question(gone: &[String]) -> String {
    let (source, it) = match gone {
        [_one] => ("source", "it"),
        _several => ("sources", "them"),
    };
    let names = gone.join(", ");
    format!("Nothing is left to ingest of the {source} {names}. Remove {it}?")
}

fn fate_in_words(file: &str, of: &FileFate) -> String {
    let (word, reason) = fate(of);
    let colon = if reason.is_empty() { "" } else { ": " };
    format!("{word:<10}  {file}{colon}{reason}")
}

/// Lists the sources.
pub(super) async fn catalog(at: &Context, args: &CatalogArgs) -> anyhow::Result<Exit> {
    let Models { chat: _, embedder } = models(&at.config)?;
    let store = at.graph_as(&patient(&at.config)).await?;
    let sources = store.sources().await?;
    store.close().await?;
    let (fresh, problem) = match freshness(&at.config).await {
        Ok(fresh) => (fresh, None),
        Err(problem) => (Vec::new(), Some(problem)),
    };
    let sources = with_unread(sources, &fresh);
    if args.json {
        let sources = sources.iter().map(|source| {
            let fresh = fresh
                .iter()
                .find(|fresh| fresh.configured.is_origin_of(source));
            as_json(source, &embedder, fresh)
        });
        return at.out.say_json(&sources.collect::<Vec<_>>()).await;
    }
    if let Some(problem) = problem {
        let line = format!("! sources are not refreshed: {problem}");
        at.out.line(&line).await?;
    }
    if sources.is_empty() {
        let nothing =
            "Nothing was ingested yet. `muninn ingest PATH` takes in documents and records.";
        return at.out.say(nothing).await;
    }
    let text = text(&sources, &embedder, &fresh);
    at.out.say(text.trim_end()).await
}

fn as_json(source: &SourceOverview, embedder: &Embedder, fresh: Option<&Freshness>) -> Value {
    let of = &source.of;
    let refresh = fresh.map(|fresh| {
        let last = fresh.last.clone().unwrap_or_default();
        json!({
            "from": fresh.configured.origin.to_string(),
            "every": fresh.configured.every.to_string(),
            "tried": fresh.last.as_ref().map(|last| last.tried),
            "succeeded": last.succeeded,
            "error": last.error,
            "failures": last.failures,
            "note": last.note,
            "lag": fresh.lag,
        })
    });
    json!({
        "name": source.name,
        "kind": of.kind,
        "version": source.version,
        "since": source.since,
        "paths": of.paths,
        "mapping": of.mapping,
        "channels": of.channels,
        "embedder": of.embedder,
        "records": of.records,
        "chunks": source.chunks,
        "rejected": of.rejected,
        "holder": source.holder,
        "refresh": refresh,
        "warnings": warnings(source, embedder),
    })
}
