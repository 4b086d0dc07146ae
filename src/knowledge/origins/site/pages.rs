//! Stores the pages of a site as files: the previous crawl, and the current one in a folder beside
//! it, which replaces the previous one when it is complete.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::client::Fresh;
use crate::knowledge::documents::html_of_xhtml;

/// The index file beside the pages; hidden files are not ingested.
const INDEX: &str = ".pages.json";

/// File extensions of pages; `.htm` is stored as one of the others.
const ENDINGS: [&str; 6] = [".html", ".htm", ".xhtml", ".md", ".txt", ".pdf"];

/// A stored page.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct StoredPage {
    file: String,
    pub(super) etag: Option<String>,
    pub(super) modified: Option<String>,
}

/// Pages by address.
type Index = BTreeMap<String, StoredPage>;

pub(super) struct Pages {
    now: PathBuf,
    next: PathBuf,
    old: PathBuf,
    before: Index,
    index: Index,
    taken: HashSet<String>,
    bytes: u64,
}

impl Pages {
    /// Opens the previous crawl and begins an empty one.
    pub(super) fn begin(place: &Path) -> io::Result<Self> {
        let [now, next, old] = Self::folders(place);
        repair(&now, &old)?;
        remove(&old)?;
        remove(&next)?;
        std::fs::create_dir_all(&next)?;
        Ok(Self {
            before: index(&now).unwrap_or_default(),
            now,
            next,
            old,
            index: Index::new(),
            taken: HashSet::new(),
            bytes: 0,
        })
    }

    /// Returns the folder of the previous crawl, and the address of each file; `None` without one.
    pub(super) fn previous(place: &Path) -> io::Result<Option<(PathBuf, HashMap<String, String>)>> {
        let [now, _next, old] = Self::folders(place);
        repair(&now, &old)?;
        Ok(index(&now).map(|index| (now, links(index))))
    }

    fn folders(place: &Path) -> [PathBuf; 3] {
        ["pages", "pages.next", "pages.old"].map(|name| place.join(name))
    }

    /// Returns the page of this address in the previous crawl.
    pub(super) fn before(&self, address: &Url) -> Option<StoredPage> {
        let page = self.before.get(address.as_str())?;
        self.now.join(&page.file).is_file().then(|| page.clone())
    }

    pub(super) fn count(&self) -> usize {
        self.index.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Stores a received page. Returns its HTML, if it is HTML or XHTML.
    pub(super) async fn put(&mut self, address: &Url, fresh: Fresh) -> io::Result<Option<String>> {
        let Fresh {
            kind,
            bytes,
            etag,
            modified,
        } = fresh;
        let page = StoredPage {
            file: self.free(address, kind),
            etag,
            modified,
        };
        self.write(address, page, bytes).await
    }

    /// Keeps the previous page. Returns its HTML, if it is HTML or XHTML.
    pub(super) async fn keep(
        &mut self,
        address: &Url,
        page: StoredPage,
    ) -> io::Result<Option<String>> {
        let bytes = tokio::fs::read(self.now.join(&page.file)).await?;
        let file = if self.taken.contains(&page.file) {
            let kind = page.file.rsplit_once('.').map_or("html", |(_, kind)| kind);
            self.free(address, kind)
        } else {
            page.file.clone()
        };
        self.write(address, StoredPage { file, ..page }, bytes)
            .await
    }

    async fn write(
        &mut self,
        address: &Url,
        page: StoredPage,
        bytes: Vec<u8>,
    ) -> io::Result<Option<String>> {
        let path = self.next.join(&page.file);
        let folder = path.parent().unwrap_or(&self.next);
        tokio::fs::create_dir_all(folder).await?;
        tokio::fs::write(&path, &bytes).await?;
        self.bytes += bytes.len() as u64;
        let html = || String::from_utf8_lossy(&bytes).into_owned();
        let html = match page.file.rsplit_once('.') {
            Some((_, "html")) => Some(html()),
            Some((_, "xhtml")) => Some(html_of_xhtml(&html())),
            Some(_) | None => None,
        };
        self.taken.insert(page.file.clone());
        self.index.insert(address.to_string(), page);
        Ok(html)
    }

    /// Returns a unique file name for a page, derived from its address.
    fn free(&self, address: &Url, kind: &str) -> String {
        let parts = address.path_segments().into_iter().flatten();
        let mut parts: Vec<String> = parts.map(fitting).collect();
        if let Some((last, folders)) = parts.split_last_mut() {
            if last == "-" {
                "index".clone_into(last);
            }
            // A folder must not have the name of a file.
            let named_so = folders.iter_mut();
            let named_so = named_so.filter(|part| ENDINGS.iter().any(|it| part.ends_with(it)));
            named_so.for_each(|part| part.push('-'));
        }
        let named = parts.join("/");
        let bare = ENDINGS.iter().find_map(|ending| named.strip_suffix(ending));
        let bare = bare.unwrap_or(&named);
        let plain = format!("{bare}.{kind}");
        let is_free = !self.taken.contains(&plain);
        if is_free && address.query().is_none() && bare.len() <= 200 {
            return plain;
        }
        let own = blake3::hash(address.as_str().as_bytes()).to_hex();
        let bare: String = bare.chars().take(100).collect();
        format!("{bare}-{}.{kind}", &own[..12])
    }

    /// Replaces the previous crawl by this one. Returns the folder, and the address of each file.
    pub(super) fn finish(self) -> io::Result<(PathBuf, HashMap<String, String>)> {
        std::fs::write(self.next.join(INDEX), serde_json::to_vec(&self.index)?)?;
        if self.now.exists() {
            std::fs::rename(&self.now, &self.old)?;
        }
        std::fs::rename(&self.next, &self.now)?;
        remove(&self.old)?;
        Ok((self.now, links(self.index)))
    }
}

/// Restores the previous crawl after a process was killed between the two steps of the exchange.
fn repair(now: &Path, old: &Path) -> io::Result<()> {
    if !now.exists() && old.exists() {
        std::fs::rename(old, now)?;
    }
    Ok(())
}

/// Reads the index of a crawl; `None` if it has none that can be read.
fn index(folder: &Path) -> Option<Index> {
    let index = std::fs::read(folder.join(INDEX)).ok()?;
    serde_json::from_slice(&index).ok()
}

fn links(index: Index) -> HashMap<String, String> {
    let pages = index.into_iter();
    pages.map(|(address, page)| (page.file, address)).collect()
}

/// Removes a folder with its contents, if it exists.
fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Makes a path component safe: neither hidden nor leading out of the folder.
fn fitting(part: &str) -> String {
    let part = part.trim_start_matches('.');
    let fits = |c: char| {
        if c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '%' | '~') {
            c
        } else {
            '-'
        }
    };
    let part: String = part.chars().take(80).map(fits).collect();
    if part.is_empty() {
        "-".to_owned()
    } else {
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(text: &str) -> Fresh {
        Fresh {
            kind: "html",
            bytes: text.into(),
            etag: Some(format!("\"{text}\"")),
            modified: None,
        }
    }

    #[test]
    fn parts_of_paths_lead_nowhere_else() {
        assert_eq!(
            ["..", ".git", "a b", "x.html", ""].map(fitting),
            ["-", "git", "a-b", "x.html", "-"]
        );
    }

    #[tokio::test]
    async fn every_address_has_a_file_of_its_own_and_a_killed_exchange_is_put_right() {
        let place = tempfile::tempdir().unwrap();
        let address = |path: &str| Url::parse("https://x.org").unwrap().join(path).unwrap();
        let paths = [
            "/",
            "/index",
            "/a",
            "/a.html",
            "/a/",
            "/a/b?c=1",
            "/a/b?c=2",
            "/%2e%2e/x",
            "/a.html/b",
        ];
        let mut pages = Pages::begin(place.path()).unwrap();
        for path in paths {
            let put = pages.put(&address(path), fresh(path)).await.unwrap();
            assert_eq!(put.as_deref(), Some(path));
        }
        let (folder, links) = pages.finish().unwrap();
        assert_eq!(links.len(), paths.len(), "{links:?}");
        for (file, address) in &links {
            let text = std::fs::read_to_string(folder.join(file)).unwrap();
            assert_eq!(address_of(&text), *address, "{file}");
        }

        // Killed after the first step: the previous crawl is restored.
        let begun = Pages::begin(place.path()).unwrap();
        std::fs::rename(&begun.now, &begun.old).unwrap();
        drop(begun);
        let mut pages = Pages::begin(place.path()).unwrap();
        let previous = Pages::previous(place.path()).unwrap().unwrap();
        assert_eq!(previous, (folder, links));
        let kept = pages.before(&address("/a")).unwrap();
        assert_eq!(kept.etag.as_deref(), Some("\"/a\""));
        // A file that another page has taken meanwhile remains that page's.
        pages.put(&address("/a.html"), fresh("new")).await.unwrap();
        pages.keep(&address("/a"), kept).await.unwrap();
        let (folder, links) = pages.finish().unwrap();
        let texts: Vec<String> = links
            .keys()
            .map(|file| std::fs::read_to_string(folder.join(file)).unwrap())
            .collect();
        assert!(
            texts.contains(&"new".to_owned()) && texts.contains(&"/a".to_owned()),
            "{texts:?}"
        );
    }

    #[tokio::test]
    async fn links_of_xhtml_are_not_lost_in_an_empty_element() {
        let place = tempfile::tempdir().unwrap();
        let mut pages = Pages::begin(place.path()).unwrap();
        let fresh = Fresh {
            kind: "xhtml",
            ..fresh("<title/><a href='b'>B</a>")
        };
        let address = Url::parse("https://x.org/a.xhtml").unwrap();
        let html = pages.put(&address, fresh).await.unwrap();
        assert_eq!(html.as_deref(), Some("<title></title><a href='b'>B</a>"));
        let (_, links) = pages.finish().unwrap();
        assert_eq!(links.keys().collect::<Vec<_>>(), ["a.xhtml"]);
    }

    fn address_of(path: &str) -> String {
        Url::parse("https://x.org")
            .unwrap()
            .join(path)
            .unwrap()
            .to_string()
    }
}
