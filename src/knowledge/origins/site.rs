//! A website as a folder: the pages of one host, within bounds.
//!
//! One request at a time, and none that `robots.txt` does not want. A page that has not changed since
//! the last time is not sent again (`ETag`, `Last-Modified`). A page that cannot be had just now stays
//! as it was; one that is gone, or that nothing leads to any more, is gone.

mod client;
mod pages;
mod robots;
mod sitemap;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;
use tokio::time::{Instant, sleep};

use self::client::{Answer, Client, REDIRECTS};
use self::pages::Pages;
use self::robots::Robots;
use self::sitemap::Sitemap;
use crate::knowledge::documents::links_of_html;

/// As which it is known to sites, and in `robots.txt`.
const ROBOT: &str = "muninn";

/// How long all requests may take.
const LONGEST: Duration = Duration::from_secs(7_200);

/// Bytes of all pages at most.
const BYTES: u64 = 512 * 1024 * 1024;

/// Between two requests, where the site asks for no longer, and at most.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Pages in a row that cannot be had: then the site is left alone.
const FAILURES: u32 = 10;

/// Sitemaps that sitemaps may name.
const SITEMAPS: usize = 50;

/// Addresses that wait at most.
const WAITING: usize = 50_000;

/// A site, from a page or a sitemap on.
#[derive(Clone, Debug)]
pub struct Site {
    pub(super) start: Url,
    pub(super) pages: usize,
    /// Its name may lead to this machine or network.
    pub(super) is_private_allowed: bool,
}

/// Why it cannot be read. What was read before stays.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    #[error(transparent)]
    NotAsked(#[from] guarded_http::NotAsked),
    #[error("{0}")]
    Unreachable(String),
    #[error(
        "{from} leads to {to}, which is not on the host that was named; name that address instead"
    )]
    Elsewhere { from: String, to: String },
    #[error("the site's robots.txt does not want {0} to be read")]
    Forbidden(String),
    #[error("{address} is no sitemap: {problem}")]
    NoSitemap { address: String, problem: String },
    #[error("{0} names no page of its own host that can be read")]
    NoPages(String),
    #[error("the site has more than {mb} MB, or takes longer than {hours} h; lower `pages`")]
    TooLarge { mb: u64, hours: u64 },
    #[error("the site's copy in DATA_DIR cannot be used")]
    Files(#[from] std::io::Error),
}

/// A site as a folder.
pub(super) struct Crawled {
    pub(super) folder: PathBuf,
    /// The address of each file in it.
    pub(super) links: HashMap<String, String>,
    /// What is not there, and why.
    pub(super) note: Option<String>,
}

impl Site {
    /// Reads the site into a folder below `place`, which nobody else uses meanwhile. `tell` is told how
    /// many pages there are so far.
    pub(super) async fn crawl(
        &self,
        place: &Path,
        tell: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Crawled, SiteError> {
        let mut crawl = Crawl {
            client: Client::new(self).await?,
            site: self,
            robots: Robots::default(),
            pages: Pages::begin(place)?,
            failures: 0,
            began: Instant::now(),
        };
        crawl.robots = crawl.robots().await?;
        let note = if self.start.path().to_ascii_lowercase().ends_with(".xml") {
            crawl.named(tell).await?
        } else {
            crawl.linked(tell).await?
        };
        let (folder, links) = crawl.pages.finish()?;
        Ok(Crawled {
            folder,
            links,
            note,
        })
    }
}

/// What became of an address.
enum Visited {
    /// Its HTML, where it is such a page.
    Page(Option<String>),
    Moved(Url),
    /// It is gone, or cannot be had just now and was not there before.
    None(String),
}

struct Crawl<'a> {
    client: Client,
    site: &'a Site,
    robots: Robots,
    pages: Pages,
    /// Pages in a row that could not be had.
    failures: u32,
    began: Instant,
}

impl Crawl<'_> {
    async fn robots(&self) -> Result<Robots, SiteError> {
        let address = self.site.start.join("/robots.txt");
        let address = address.map_err(|error| SiteError::Unreachable(error.to_string()))?;
        let (status, text) = self.client.file(&address).await?;
        if status.is_success() {
            return Ok(Robots::parse(&text, ROBOT));
        }
        // A site without the file forbids nothing; one that cannot tell may forbid all.
        if status.is_client_error() {
            return Ok(Robots::default());
        }
        let unread = format!("{address} answers {status}, so that nothing may be read");
        Err(SiteError::Unreachable(unread))
    }

    /// Reads a page, and what it leads to below its folder.
    async fn linked(
        &mut self,
        tell: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Option<String>, SiteError> {
        let mut first = Some(self.site.start.clone());
        let mut waiting = VecDeque::from([self.site.start.clone()]);
        let mut seen: HashSet<Url> = waiting.iter().cloned().collect();
        let mut moves = 0;
        let mut folder = folder_of(&self.site.start);
        while let Some(address) = waiting.pop_front() {
            if let Some(note) = self.is_enough()? {
                return Ok(Some(note));
            }
            let is_first = first.as_ref() == Some(&address);
            if !self.robots.allow(&path_of(&address)) {
                match is_first {
                    true => return Err(SiteError::Forbidden(address.to_string())),
                    false => continue,
                }
            }
            let found = match self.visit(&address).await? {
                // Without the first page there is nothing to go on from.
                Visited::None(why) if is_first => return Err(SiteError::Unreachable(why)),
                Visited::None(_) => continue,
                Visited::Moved(to) if is_first => {
                    moves += 1;
                    if moves > REDIRECTS {
                        let on = format!("{} leads on and on", self.site.start);
                        return Err(SiteError::Unreachable(on));
                    }
                    folder = folder_of(&to);
                    seen.insert(to.clone());
                    first = Some(to.clone());
                    waiting.push_front(to);
                    continue;
                }
                Visited::Moved(to) => vec![to],
                Visited::Page(html) => links(&address, html).await,
            };
            first = None;
            tell(self.pages.count());
            let own = found.into_iter().filter_map(|link| self.own(link, &folder));
            for link in own {
                if seen.len() < WAITING && seen.insert(link.clone()) {
                    waiting.push_back(link);
                }
            }
        }
        Ok(None)
    }

    /// Reads the pages that a sitemap names.
    async fn named(
        &mut self,
        tell: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Option<String>, SiteError> {
        let mut waiting = self.sitemaps().await?;
        let mut seen: HashSet<Url> = waiting.iter().cloned().collect();
        while let Some(address) = waiting.pop_front() {
            if let Some(note) = self.is_enough()? {
                return Ok(Some(note));
            }
            if !self.robots.allow(&path_of(&address)) {
                continue;
            }
            if let Visited::Moved(to) = self.visit(&address).await?
                && seen.insert(to.clone())
            {
                waiting.push_back(to);
            }
            tell(self.pages.count());
        }
        if self.pages.count() == 0 {
            return Err(SiteError::NoPages(self.site.start.to_string()));
        }
        Ok(None)
    }

    async fn sitemaps(&self) -> Result<VecDeque<Url>, SiteError> {
        let start = &self.site.start;
        let (mut pages, mut lists) = (VecDeque::new(), VecDeque::from([start.clone()]));
        let mut seen = HashSet::new();
        while let Some(list) = lists.pop_front() {
            if seen.len() >= SITEMAPS || !seen.insert(list.clone()) {
                continue;
            }
            let (status, text) = self.client.file(&list).await?;
            if !status.is_success() {
                return Err(SiteError::Unreachable(format!("{list} answers {status}")));
            }
            let named = sitemap::read(&text).map_err(|problem| SiteError::NoSitemap {
                address: list.to_string(),
                problem,
            })?;
            let is_own = |url: &Url| url.origin() == start.origin();
            let (named, to) = match named {
                Sitemap::Pages(named) => (named, &mut pages),
                Sitemap::Index(named) => (named, &mut lists),
            };
            let left = WAITING.saturating_sub(to.len());
            let named = named.iter().filter_map(|named| Url::parse(named).ok());
            to.extend(named.filter(is_own).take(left));
        }
        let mut once = HashSet::new();
        pages.retain(|page| once.insert(page.clone()));
        Ok(pages)
    }

    /// Whether no further page is read, and what people should know of that.
    fn is_enough(&self) -> Result<Option<String>, SiteError> {
        if self.began.elapsed() > LONGEST || self.pages.bytes() > BYTES {
            return Err(SiteError::TooLarge {
                mb: BYTES >> 20,
                hours: LONGEST.as_secs() / 3_600,
            });
        }
        let most = self.site.pages;
        let is_full = self.pages.count() >= most;
        Ok(is_full.then(|| {
            format!("only the first {most} pages are read; `pages` in the sources file allows more")
        }))
    }

    /// Reads a page into its file. One that cannot be had stays as it was.
    async fn visit(&mut self, address: &Url) -> Result<Visited, SiteError> {
        let pause = self.robots.delay.unwrap_or(PAUSE);
        sleep(pause.clamp(PAUSE, LONGEST_PAUSE)).await;
        let before = self.pages.before(address);
        let (etag, modified) = match &before {
            Some(page) => (page.etag.as_deref(), page.modified.as_deref()),
            None => (None, None),
        };
        let answer = self.client.page(address, etag, modified).await;
        if let Answer::Failed(why) = &answer {
            tracing::debug!(why, "a page cannot be read now");
            self.failures += 1;
            if self.failures >= FAILURES {
                let why = format!("{FAILURES} pages in a row could not be read; the last: {why}");
                return Err(SiteError::Unreachable(why));
            }
        } else {
            self.failures = 0;
        }
        Ok(match (answer, before) {
            (Answer::New(fresh), _) => Visited::Page(self.pages.put(address, fresh).await?),
            (Answer::Unchanged | Answer::Failed(_), Some(page)) => {
                Visited::Page(self.pages.keep(address, page).await?)
            }
            (Answer::Moved(to), _) => Visited::Moved(to),
            (Answer::Gone(why), _) | (Answer::Failed(why), None) => Visited::None(why),
            (Answer::Unchanged, None) => {
                Visited::None(format!("{address} answers as if it had been read before"))
            }
        })
    }

    /// An address of the same host, below the folder that was begun in. One with a question mark may
    /// be one of endlessly many.
    fn own(&self, mut link: Url, folder: &str) -> Option<Url> {
        link.set_fragment(None);
        let is_own = link.origin() == self.site.start.origin()
            && link.path().starts_with(folder)
            && link.query().is_none();
        is_own.then_some(link)
    }
}

/// Where a page leads.
async fn links(address: &Url, html: Option<String>) -> Vec<Url> {
    let Some(html) = html else {
        return Vec::new();
    };
    let address = address.clone();
    // A page may be large.
    let read = tokio::task::spawn_blocking(move || {
        let found = links_of_html(&html);
        let base = found.base.and_then(|base| address.join(&base).ok());
        let base = base.unwrap_or(address);
        let links = found.links.iter().filter_map(|link| base.join(link).ok());
        links.collect()
    });
    read.await.unwrap_or_default()
}

fn folder_of(address: &Url) -> String {
    let path = address.path();
    let end = path.rfind('/').map_or(0, |at| at + 1);
    path[..end].to_owned()
}

fn path_of(address: &Url) -> String {
    match address.query() {
        Some(query) => format!("{}?{query}", address.path()),
        None => address.path().to_owned(),
    }
}
