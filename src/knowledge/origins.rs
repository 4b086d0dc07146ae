//! Origins: the folders, git repositories and websites from which sources are refreshed
//! automatically.
//!
//! Each is first brought into a folder (`git`, `site`) and then ingested like any other, with the
//! same versions: what is removed at the origin is removed from answers. A failed refresh changes
//! nothing, and its error is kept for the catalog (`state`).

mod git;
mod settings;
mod site;
mod state;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::Utc;
use private_files::{create_private_folder, try_lock};

pub use self::git::GitError;
pub use self::settings::{Configured, Every, Origin, SettingsError, SourcesFile, load};
pub use self::site::SiteError;
pub use self::state::{Due, LastRefresh};

use self::site::{Crawled, Site};
use self::state::RefreshResult;
use super::access::channels_of;
use super::changing;
use super::folder;
use super::ingest::{Ingest, IngestError, IngestSummary, Progress, ingest};
use super::source::{Gathered, SourceSelection, mapping, may_be_file_of};
use super::source_error::SourceError;
use crate::graph::GraphStore;
use crate::graph::ingest::SourceOverview;
use crate::llm::Embedder;

/// Why a source was not refreshed. The served version stays.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    #[error("{0} is being refreshed already; `muninn catalog` says when that is done")]
    Busy(String),
    #[error(
        "nothing is left to ingest in {origin}; what was read before is served still, and `muninn source remove {name}` removes it"
    )]
    Nothing { origin: String, name: String },
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Site(#[from] SiteError),
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Ingest(#[from] IngestError),
    #[error("a file of the data folder cannot be used")]
    Files(#[from] std::io::Error),
}

impl RefreshError {
    /// Whether another refresh is running, so that nothing is wrong.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy(_) | Self::Ingest(IngestError::Busy { .. }))
    }
}

/// The progress of a refresh.
#[derive(Clone, Copy, Debug)]
pub enum RefreshProgress {
    /// Git is running.
    Fetching,
    /// Pages of a site read, and their maximum.
    Pages(usize, usize),
    Ingesting(Progress),
}

type Tell<'a> = &'a mut (dyn FnMut(RefreshProgress) + Send);

/// What every refresh needs.
#[derive(Clone, Copy, Debug)]
pub struct Refresher<'a> {
    pub store: &'a Arc<GraphStore>,
    pub embedder: &'a Arc<Embedder>,
    pub data_dir: &'a Path,
}

/// The result of a refresh.
#[derive(Debug, Default)]
pub struct Refreshed {
    /// Each source with its summary; empty if the origin is unchanged.
    pub sources: Vec<(String, IngestSummary)>,
    /// Sources that became empty and were removed, with their previous number of chunks.
    pub removed: Vec<(String, u64)>,
    /// A note for people about the version.
    pub note: Option<String>,
}

impl Refreshed {
    /// Number of documents that could not be read and may be readable soon.
    fn unread(&self) -> u64 {
        let sources = self.sources.iter();
        sources.map(|(_, summary)| summary.unread).sum()
    }

    /// Adds what was made before of the same origin.
    fn after(mut self, applied: Self) -> Self {
        let mut sources = applied.sources;
        sources.retain(|(_, summary)| !summary.is_same);
        let is_told = |name: &String| sources.iter().any(|(told, _)| told == name);
        self.sources
            .retain(|(name, summary)| !summary.is_same || !is_told(name));
        sources.append(&mut self.sources);
        let removed = applied.removed.into_iter().chain(self.removed);
        Self {
            sources,
            removed: removed.collect(),
            note: self.note,
        }
    }

    /// Whether another version is served than before.
    pub fn has_changed(&self) -> bool {
        let is_new = |(_, summary): &(String, IngestSummary)| !summary.is_same;
        !self.removed.is_empty() || self.sources.iter().any(is_new)
    }
}

/// An origin brought into a folder.
struct FetchedOrigin {
    folder: PathBuf,
    /// The address of each file, by its name.
    links: HashMap<String, String>,
    note: Option<String>,
}

impl From<PathBuf> for FetchedOrigin {
    fn from(folder: PathBuf) -> Self {
        Self {
            folder,
            links: HashMap::new(),
            note: None,
        }
    }
}

impl From<Crawled> for FetchedOrigin {
    fn from(crawled: Crawled) -> Self {
        let Crawled {
            folder,
            links,
            note,
        } = crawled;
        Self {
            folder,
            links,
            note,
        }
    }
}

impl Refresher<'_> {
    /// Refreshes a source, and keeps the result.
    ///
    /// # Errors
    /// Fails with a [`RefreshError`]; the served version then stays unchanged.
    pub async fn refresh(
        &self,
        of: &Configured,
        tell: Tell<'_>,
    ) -> Result<Refreshed, RefreshError> {
        let folder = self.data_dir.join("sources");
        create_private_folder(&folder)?;
        let lock = try_lock(&folder.join(format!("{}.lock", of.name)))?;
        let lock = lock.ok_or_else(|| RefreshError::Busy(of.name.clone()))?;
        let done = self.try_refresh(of, tell).await;
        let came = match &done {
            Ok((mark, refreshed)) => RefreshResult::Read {
                mark: mark.clone(),
                note: refreshed.note.clone(),
                is_whole: refreshed.unread() == 0,
            },
            Err(error) if error.is_busy() => return done.map(|(_, refreshed)| refreshed),
            Err(error) => RefreshResult::Failed(muninn_platform::in_one_line(error)),
        };
        let written = state::write(self.data_dir, of, came);
        drop(lock);
        let (_, refreshed) = done?;
        written?;
        Ok(refreshed)
    }

    async fn try_refresh(
        &self,
        of: &Configured,
        tell: Tell<'_>,
    ) -> Result<(Option<String>, Refreshed), RefreshError> {
        let place = self.data_dir.join("sources").join(&of.name);
        let last = LastRefresh::read(self.data_dir, &of.name).unwrap_or_default();
        let applied = self.apply_settings(of, &last, &place, tell).await?;
        let mark = mark(of, &place, tell).await?;
        let is_same = mark.is_some() && last.mark == mark && last.incomplete == 0;
        let served = self.served(of, &last).await?;
        let is_served = |source: &SourceOverview| {
            let is_beside = |source: &SourceOverview| of.is_origin_of(source);
            let (name, given) = (&source.name, &of.channels);
            let channels = channels_of(name, &of.name, given, &served, is_beside);
            self.embedder.matches_name(&source.of.embedder) && source.of.channels == channels
        };
        if is_same && !served.is_empty() && served.iter().all(is_served) {
            return Ok((mark, applied.unwrap_or_default()));
        }
        let has_other_settings = of.differs_from(last.applied.as_deref());
        let was_read = last.succeeded.is_some() && (applied.is_some() || !has_other_settings);
        let brought = self.fetched(of, &place, was_read, tell).await?;
        let refreshed = self.ingest(of, brought, &served, tell).await?;
        Ok((mark, refreshed.after(applied.unwrap_or_default())))
    }

    /// Makes what is served anew by settings that have changed, from the copy of what was read last: who may not see
    /// it any more must not see it until its origin can be reached. Returns `None` if it could not, or need not.
    async fn apply_settings(
        &self,
        of: &Configured,
        last: &LastRefresh,
        place: &Path,
        tell: Tell<'_>,
    ) -> Result<Option<Refreshed>, RefreshError> {
        let served = self.served(of, last).await?;
        if served.is_empty() || !of.differs_from(last.applied.as_deref()) {
            return Ok(None);
        }
        let copy = match &of.origin {
            // It is read itself, without a copy.
            Origin::Folder(_) => None,
            Origin::Git(git) => git.copy(place).await.map(FetchedOrigin::from),
            Origin::Site(_) => Site::previous(place)?.map(FetchedOrigin::from),
        };
        let Some(copy) = copy else {
            return Ok(None);
        };
        match self.ingest(of, copy, &served, tell).await {
            Ok(applied) => {
                state::write(self.data_dir, of, RefreshResult::Applied)?;
                tracing::info!(source = of.name, "changed settings are applied");
                Ok(Some(applied))
            }
            Err(error) => {
                let error = muninn_platform::in_one_line(&error);
                tracing::warn!(
                    source = of.name,
                    error,
                    "changed settings are not applied yet"
                );
                Ok(None)
            }
        }
    }

    /// Brings the origin into a folder.
    async fn fetched(
        &self,
        of: &Configured,
        place: &Path,
        was_read: bool,
        tell: Tell<'_>,
    ) -> Result<FetchedOrigin, RefreshError> {
        Ok(match &of.origin {
            Origin::Folder(path) => path.clone().into(),
            Origin::Git(git) => git.fetch(place, was_read).await?.into(),
            Origin::Site(site) => {
                create_private_folder(place)?;
                let most = site.pages;
                let mut tell = |count| tell(RefreshProgress::Pages(count, most));
                site.crawl(place, &mut tell).await?.into()
            }
        })
    }

    async fn ingest(
        &self,
        of: &Configured,
        brought: FetchedOrigin,
        served: &[SourceOverview],
        tell: Tell<'_>,
    ) -> Result<Refreshed, RefreshError> {
        let gathered = gathered(of, brought.folder).await?;
        // A commit is proof that there is nothing; an empty folder or site may be a disk that is
        // not mounted.
        let is_sure = matches!(of.origin, Origin::Git(_));
        if gathered.sources.is_empty() && !is_sure {
            return Err(RefreshError::Nothing {
                origin: of.origin.to_string(),
                name: of.name.clone(),
            });
        }
        let mut refreshed = Refreshed {
            note: brought.note,
            ..Refreshed::default()
        };
        let known = self.store.sources().await.map_err(IngestError::from)?;
        // What is made again from another place is replaced by what is made now.
        let made = gathered.sources.iter().map(|source| source.name.clone());
        let made: HashSet<String> = made.collect();
        let is_beside =
            |source: &SourceOverview| of.is_origin_of(source) || made.contains(&source.name);
        for source in gathered.sources {
            let name = source.name.clone();
            let what = Ingest {
                channels: channels_of(&name, &of.name, &of.channels, &known, is_beside),
                source: source.linked(&brought.links),
                paths: vec![of.origin.to_string()],
                data_dir: self.data_dir,
                is_dry: false,
            };
            let mut tell = |far| tell(RefreshProgress::Ingesting(far));
            let done = ingest(self.store, self.embedder, what, &mut tell).await?;
            refreshed.sources.push((name, done));
        }
        let is_there = |source: &SourceOverview| {
            refreshed
                .sources
                .iter()
                .any(|(name, _)| *name == source.name)
        };
        for source in served.iter().filter(|source| !is_there(source)) {
            let chunks = changing::remove(self.store, self.data_dir, &source.name).await?;
            refreshed.removed.push((source.name.clone(), chunks));
        }
        let unread = refreshed.unread();
        if unread > 0 {
            let unread = muninn_platform::count_with_noun(unread, "document");
            let told = format!(
                "{unread} could not be read, so what was read before is served, and they are tried again"
            );
            let notes = refreshed.note.into_iter().chain([told]);
            refreshed.note = Some(notes.collect::<Vec<_>>().join("; "));
        }
        Ok(refreshed)
    }

    /// Returns the served sources of a section, also those from the origin that it had before.
    async fn served(
        &self,
        of: &Configured,
        last: &LastRefresh,
    ) -> Result<Vec<SourceOverview>, RefreshError> {
        let known = self.store.sources().await.map_err(IngestError::from)?;
        let is_own = |source: &SourceOverview| {
            let before = last.origin.as_deref();
            of.is_origin_of(source) || before.is_some_and(|origin| of.has_from(source, origin))
        };
        let own = known.into_iter().filter(is_own);
        Ok(own.filter(|source| source.version > 0).collect())
    }
}

impl Configured {
    /// Whether a source comes from this origin: files of records in it are sources of their own.
    pub fn is_origin_of(&self, source: &SourceOverview) -> bool {
        let is_begun = source.version == 0 && source.name == self.name;
        is_begun || self.has_from(source, &self.origin.to_string())
    }

    /// Whether a source is one of this section's, from this origin.
    fn has_from(&self, source: &SourceOverview, origin: &str) -> bool {
        let comes_from = |name: &str, origin: &str| {
            may_be_file_of(&source.name, name) && source.of.paths == [origin]
        };
        let mut nested = self.nested.iter();
        comes_from(&self.name, origin) && !nested.any(|(name, origin)| comes_from(name, origin))
    }

    /// Returns a fingerprint of the origin's current state and of everything that affects the
    /// result.
    fn fingerprint(&self, origin: &str) -> std::io::Result<String> {
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part(env!("CARGO_PKG_VERSION").as_bytes());
        part(&self.settings);
        part(origin.as_bytes());
        for (name, _) in &self.nested {
            part(name.as_bytes());
        }
        if let Some(mapping) = self.mapping.as_ref().filter(|mapping| mapping.is_file()) {
            part(&std::fs::read(mapping)?);
        }
        Ok(hasher.finalize().to_hex()[..32].to_owned())
    }

    /// Returns the current fingerprint of a folder. Checks the metadata of every file, and reads
    /// none.
    ///
    /// # Errors
    /// Fails when the folder does not exist or cannot be read.
    pub fn folder_mark(&self) -> Result<String, RefreshError> {
        let Origin::Folder(path) = &self.origin else {
            return Ok(String::new());
        };
        Ok(self.fingerprint(&folder::listing(path, &self.filter)?)?)
    }
}

/// Returns the current fingerprint of an origin; `None` for a site, which has none.
async fn mark(
    of: &Configured,
    place: &Path,
    tell: Tell<'_>,
) -> Result<Option<String>, RefreshError> {
    Ok(match &of.origin {
        Origin::Folder(_) => {
            let of = of.clone();
            let looked = tokio::task::spawn_blocking(move || of.folder_mark());
            Some(looked.await.map_err(std::io::Error::other)??)
        }
        Origin::Git(git) => {
            tell(RefreshProgress::Fetching);
            create_private_folder(place)?;
            Some(of.fingerprint(&git.remote_fingerprint(place).await?)?)
        }
        Origin::Site(_) => None,
    })
}

async fn gathered(of: &Configured, folder: PathBuf) -> Result<Gathered, RefreshError> {
    let of = of.clone();
    let looked = tokio::task::spawn_blocking(move || {
        let by = of.mapping.as_ref().map(|named| named.to_string_lossy());
        let mut filter = of.filter;
        filter.is_copy = !matches!(of.origin, Origin::Folder(_));
        let reserved: Vec<String> = of.nested.into_iter().map(|(name, _)| name).collect();
        Gathered::gather(SourceSelection {
            paths: std::slice::from_ref(&folder),
            name: Some(&of.name),
            mapping: by.as_deref().map(mapping).transpose()?,
            filter,
            reserved: &reserved,
        })
    });
    Ok(looked.await.map_err(std::io::Error::other)??)
}

/// A refreshed source, and its freshness.
#[derive(Clone, Debug)]
pub struct Freshness {
    pub configured: Configured,
    pub last: Option<LastRefresh>,
    /// Why it is not as fresh as it should be.
    pub lag: Option<String>,
}

impl Freshness {
    /// Returns the freshness of every source in the file. Checks the files of folders.
    ///
    /// # Errors
    /// Fails when the file is invalid.
    pub fn all(file: &SourcesFile, data_dir: &Path) -> Result<Vec<Self>, SettingsError> {
        let now = Utc::now();
        let of = |configured: Configured| {
            let last = LastRefresh::read(data_dir, &configured.name);
            let is_watched = configured.every == Every::Change;
            let read = last.as_ref().and_then(|last| last.mark.as_ref());
            let mark = is_watched.then(|| configured.folder_mark().ok()).flatten();
            let is_changed = read.is_some_and(|read| mark.is_some_and(|mark| mark != *read));
            Self {
                lag: configured.lag(last.as_ref(), is_changed, now),
                configured,
                last,
            }
        };
        Ok(load(file, data_dir)?.into_iter().map(of).collect())
    }

    /// Whether the last try failed.
    pub fn has_failed(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.error.is_some())
    }
}
