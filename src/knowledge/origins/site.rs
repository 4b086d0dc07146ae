//! Crawls a website into a folder: the pages of one host, within limits.
//!
//! Sends one request at a time, and none that `robots.txt` disallows. Unchanged pages are not
//! transferred again (`ETag`, `Last-Modified`). A page that is temporarily unavailable stays as it
//! was; one that is gone, or no longer linked, is removed.

mod client;
mod pages;
mod robots;
mod settings;
mod sitemap;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;
use tokio::time::{Instant, sleep};

use self::client::{Client, FetchOutcome, REDIRECTS, Redirect};
use self::pages::Pages;
use self::robots::Robots;
use self::sitemap::Sitemap;
use crate::knowledge::documents::links_of_html;

pub(super) use self::settings::Site;
pub use self::settings::SiteError;

/// The robot's name in requests and in `robots.txt`.
const ROBOT: &str = "muninn";

/// Maximum time of a crawl.
const CRAWL_TIMEOUT: Duration = Duration::from_secs(7_200);

/// Maximum bytes of all pages.
const BYTES: u64 = 512 * 1024 * 1024;

/// Pause between two requests: the default, and the maximum for a site that asks for more.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Consecutive failed pages after which the crawl is aborted.
const FAILURES: u32 = 10;

/// Maximum number of sitemaps in sitemap indexes.
const SITEMAPS: usize = 50;

/// Maximum length of the queue of addresses.
const MAX_QUEUED_LINKS: usize = 50_000;

/// The folder of a crawled site.
pub(super) struct Crawled {
    pub(super) folder: PathBuf,
    /// The address of each file in it.
    pub(super) links: HashMap<String, String>,
    /// What is missing, and why.
    pub(super) note: Option<String>,
}

impl Site {
    /// Returns what was read before; `None` if nothing was.
    pub(super) fn previous(place: &Path) -> std::io::Result<Option<Crawled>> {
        let crawled = |(folder, links)| Crawled {
            folder,
            links,
            note: None,
        };
        Ok(Pages::previous(place)?.map(crawled))
    }

    /// Crawls the site into a folder below `place`, which must not be used otherwise meanwhile.
    /// `tell` receives the number of pages so far.
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

/// The result of visiting an address.
enum Visited {
    /// A page, with its HTML if it is HTML.
    Page(Option<String>),
    Moved(Redirect),
    /// It is gone, or unavailable and not known from before.
    None(String),
}

struct Crawl<'a> {
    client: Client,
    site: &'a Site,
    robots: Robots,
    pages: Pages,
    /// Number of consecutive failed pages.
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
        // A site without the file forbids nothing; a server error may mean that all is forbidden.
        if status.is_client_error() {
            return Ok(Robots::default());
        }
        let unread = format!("{address} answers {status}, so that nothing may be read");
        Err(SiteError::Unreachable(unread))
    }

    /// Reads a page, and the pages linked from it below its folder.
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
                // Without the first page there are no links to follow.
                Visited::None(why) if is_first => return Err(SiteError::Unreachable(why)),
                Visited::None(_) => continue,
                Visited::Moved(redirect) if is_first => {
                    moves += 1;
                    if moves > REDIRECTS {
                        let on = format!("{} leads on and on", self.site.start);
                        return Err(SiteError::Unreachable(on));
                    }
                    folder = redirect.folder(&folder).ok_or_else(|| SiteError::Outside {
                        from: address.to_string(),
                        to: redirect.to.to_string(),
                        folder,
                    })?;
                    let was_page = self.pages.before(&address).is_some();
                    if was_page && !redirect.is_permanent {
                        return Err(SiteError::Replaced {
                            from: address.to_string(),
                            to: redirect.to.to_string(),
                        });
                    }
                    let to = redirect.to;
                    seen.insert(to.clone());
                    first = Some(to.clone());
                    waiting.push_front(to);
                    continue;
                }
                Visited::Moved(redirect) => vec![redirect.to],
                Visited::Page(html) => links(&address, html).await,
            };
            first = None;
            tell(self.pages.count());
            let own = found.into_iter().filter_map(|link| self.own(link, &folder));
            for link in own {
                if seen.len() < MAX_QUEUED_LINKS && seen.insert(link.clone()) {
                    waiting.push_back(link);
                }
            }
        }
        Ok(None)
    }

    /// Reads the pages named in a sitemap.
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
            if let Visited::Moved(redirect) = self.visit(&address).await?
                && seen.insert(redirect.to.clone())
            {
                waiting.push_back(redirect.to);
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
            let left = MAX_QUEUED_LINKS.saturating_sub(to.len());
            let named = named.iter().filter_map(|named| Url::parse(named).ok());
            to.extend(named.filter(is_own).take(left));
        }
        let mut once = HashSet::new();
        pages.retain(|page| once.insert(page.clone()));
        Ok(pages)
    }

    /// Whether a limit is reached; returns a note about it for people.
    fn is_enough(&self) -> Result<Option<String>, SiteError> {
        if self.began.elapsed() > CRAWL_TIMEOUT || self.pages.bytes() > BYTES {
            return Err(SiteError::TooLarge {
                mb: BYTES >> 20,
                hours: CRAWL_TIMEOUT.as_secs() / 3_600,
            });
        }
        let most = self.site.pages;
        let is_full = self.pages.count() >= most;
        Ok(is_full.then(|| {
            format!("only the first {most} pages are read; `pages` in the sources file allows more")
        }))
    }

    /// Reads a page into its file. A page that is unavailable stays as it was.
    async fn visit(&mut self, address: &Url) -> Result<Visited, SiteError> {
        let pause = self.robots.delay.unwrap_or(PAUSE);
        sleep(pause.clamp(PAUSE, LONGEST_PAUSE)).await;
        let before = self.pages.before(address);
        let (etag, modified) = match &before {
            Some(page) => (page.etag.as_deref(), page.modified.as_deref()),
            None => (None, None),
        };
        let answer = self.client.page(address, etag, modified).await;
        if let FetchOutcome::Failed(why) = &answer {
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
            (FetchOutcome::New(fresh), _) => Visited::Page(self.pages.put(address, fresh).await?),
            (FetchOutcome::Unchanged | FetchOutcome::Failed(_), Some(page)) => {
                Visited::Page(self.pages.keep(address, page).await?)
            }
            (FetchOutcome::Moved(redirect), _) => Visited::Moved(redirect),
            (FetchOutcome::Gone(why), _) | (FetchOutcome::Failed(why), None) => Visited::None(why),
            (FetchOutcome::Unchanged, None) => {
                Visited::None(format!("{address} answers as if it had been read before"))
            }
        })
    }

    /// Returns an address on the same host, below the start folder. Addresses with a query are left
    /// out: there may be endlessly many.
    fn own(&self, mut link: Url, folder: &str) -> Option<Url> {
        link.set_fragment(None);
        let is_own = link.origin() == self.site.start.origin()
            && link.path().starts_with(folder)
            && link.query().is_none();
        is_own.then_some(link)
    }
}

/// Returns the links of a page.
async fn links(address: &Url, html: Option<String>) -> Vec<Url> {
    let Some(html) = html else {
        return Vec::new();
    };
    let address = address.clone();
    // Parsing a large page takes long.
    let read = tokio::task::spawn_blocking(move || {
        let found = links_of_html(&html);
        let base = found.base.and_then(|base| address.join(&base).ok());
        let base = base.unwrap_or(address);
        let links = found.links.iter().filter_map(|link| base.join(link).ok());
        links.collect()
    });
    read.await.unwrap_or_default()
}

impl Redirect {
    /// Returns the folder to read when the page of a folder leads here; `None` if this is not meant. A page for
    /// signing in must not replace what was named, and no redirect may widen it.
    fn folder(&self, named: &str) -> Option<String> {
        let own = folder_of(&self.to);
        if own.starts_with(named) {
            return Some(own);
        }
        // `/guide/` is `/guide` there.
        if named.strip_suffix('/') == Some(self.to.path()) {
            return Some(named.to_owned());
        }
        (self.is_permanent && !named.starts_with(&own)).then_some(own)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_of_the_first_page_widens_nothing() {
        for (named, to, temporary, permanent) in [
            ("/", "/en/latest/", Some("/en/latest/"), Some("/en/latest/")),
            (
                "/guide/",
                "/guide/en/a.html",
                Some("/guide/en/"),
                Some("/guide/en/"),
            ),
            ("/guide/", "/guide/start", Some("/guide/"), Some("/guide/")),
            ("/guide/", "/guide", Some("/guide/"), Some("/guide/")),
            ("/guide/", "/manual/", None, Some("/manual/")),
            ("/guide/", "/guides/", None, Some("/guides/")),
            ("/guide/", "/login", None, None),
            ("/guide/", "/", None, None),
            ("/docs/guide/", "/docs/login", None, None),
        ] {
            for (is_permanent, expected) in [(false, temporary), (true, permanent)] {
                let to = Url::parse("https://x.org").unwrap().join(to).unwrap();
                let redirect = Redirect { to, is_permanent };
                assert_eq!(
                    redirect.folder(named).as_deref(),
                    expected,
                    "{named} {redirect:?}"
                );
            }
        }
    }
}
