//! Keeps links in a file until all records are known.
//!
//! Decides which links have to be made: those with a new end. A cycle in the hierarchy is cut.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Seek as _, Write as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use super::record::{Hash, LinkEndpoint, Record, RecordLink, Rejection, SourceLocation, key_hash};
use crate::graph::ingest::{INCLUDES, NewLink};

/// A record's links as a line.
#[derive(Debug, Serialize, Deserialize)]
struct RecordLinks {
    record: String,
    file: PathBuf,
    line: Option<u64>,
    links: Vec<(String, SpoolError, SpoolError)>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum SpoolError {
    Own(usize),
    Record(Vec<String>),
}

/// A file of links, removed with the process.
#[derive(Debug)]
pub(super) struct LinkSpool(BufWriter<File>);

/// Spooled links, for reading.
#[derive(Debug)]
pub(super) struct SpooledLinks {
    file: BufReader<File>,
    /// Records whose hierarchy link was refused.
    cut: HashMap<Hash, Rejection>,
}

/// The links to make for a record.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Resolved {
    pub(super) links: Vec<NewLink>,
    /// Number of links to records that do not exist.
    pub(super) dangling: u64,
}

impl LinkSpool {
    pub(super) fn new() -> io::Result<Self> {
        let mut path = std::env::temp_dir();
        path.push(format!("muninn-links-{}", uuid::Uuid::new_v4()));
        let file = private_files::private_file()
            .read(true)
            .write(true)
            .open(&path)?;
        // It exists as long as it is open.
        std::fs::remove_file(&path)?;
        Ok(Self(BufWriter::new(file)))
    }

    pub(super) fn add(&mut self, record: &Record) -> io::Result<()> {
        if record.links.is_empty() {
            return Ok(());
        }
        let ended = |end: &LinkEndpoint| match end {
            LinkEndpoint::Own(at) => SpoolError::Own(*at),
            LinkEndpoint::Record(keys) => SpoolError::Record(keys.clone()),
        };
        let links = record.links.iter();
        let line = RecordLinks {
            record: record.key.clone(),
            file: record.at.file.clone(),
            line: record.at.line,
            links: links
                .map(|link| (link.kind.clone(), ended(&link.from), ended(&link.to)))
                .collect(),
        };
        serde_json::to_writer(&mut self.0, &line)?;
        self.0.write_all(b"\n")
    }

    /// Ends writing, and finds cycles in the hierarchy.
    pub(super) fn finish(self, plan: &Plan) -> io::Result<SpooledLinks> {
        let mut file = self.0.into_inner().map_err(|error| error.into_error())?;
        file.rewind()?;
        let mut waiting = SpooledLinks {
            file: BufReader::new(file),
            cut: HashMap::new(),
        };
        let mut parents = Vec::new();
        while let Some(line) = waiting.line()? {
            for (kind, from, to) in &line.links {
                if kind == INCLUDES
                    && let (SpoolError::Record(above), SpoolError::Own(0)) = (from, to)
                    && let Some(parent) = above.iter().find(|key| plan.has(key))
                {
                    let is_new = plan.is_new(&line.record);
                    parents.push((key_hash(&line.record), key_hash(parent), is_new));
                }
            }
        }
        let circles = circles(&parents);
        waiting.file.rewind()?;
        while let Some(line) = waiting.line()? {
            let key = key_hash(&line.record);
            if circles.contains(&key) {
                let place = SourceLocation {
                    file: line.file,
                    line: line.line,
                };
                let reason = format!(
                    "{} stands above itself in the hierarchy; it was taken in without what is above it",
                    line.record
                );
                waiting.cut.insert(key, place.refuse(reason));
            }
        }
        waiting.file.rewind()?;
        Ok(waiting)
    }
}

/// The links to what is above, in the order of the records below. A map of a million of them took 150 MB more.
struct Hierarchy<'a> {
    links: &'a [(Hash, Hash, bool)],
    by_child: Vec<u32>,
}

impl<'a> Hierarchy<'a> {
    fn of(links: &'a [(Hash, Hash, bool)]) -> Self {
        let mut by_child: Vec<u32> = (0..).take(links.len()).collect();
        by_child.sort_by_key(|&at| links[at as usize].0);
        Self { links, by_child }
    }

    /// The link of a record; the last one, if it has several.
    fn link_of(&self, child: &Hash) -> Option<usize> {
        let child_at = |at: &u32| &self.links[*at as usize].0;
        let end = self.by_child.partition_point(|at| child_at(at) <= child);
        let last = self.by_child[..end]
            .last()
            .filter(|at| child_at(at) == child);
        last.map(|&at| at as usize)
    }

    /// The link of what is above a link.
    fn above(&self, link: usize) -> Option<usize> {
        self.link_of(&self.links[link].1)
    }
}

/// Returns for each cycle the record whose link is cut: the last new one.
fn circles(parents: &[(Hash, Hash, bool)]) -> Vec<Hash> {
    let hierarchy = Hierarchy::of(parents);
    // The walk in which each link was visited, counted from 1.
    let mut met = vec![0_u32; parents.len()];
    let mut cut = Vec::new();
    for (walk, (start, ..)) in (1..).zip(parents) {
        let mut next = hierarchy.link_of(start);
        while let Some(link) = next.filter(|&link| met[link] == 0) {
            met[link] = walk;
            next = hierarchy.above(link);
        }
        let Some(at) = next.filter(|&link| met[link] == walk) else {
            continue;
        };
        // Visited again in the same walk: goes round once to choose the record.
        let step = |&link: &usize| hierarchy.above(link).filter(|&link| link != at);
        let members = std::iter::successors(Some(at), step);
        let last = members.max_by_key(|&link| (parents[link].2, link));
        cut.extend(last.map(|link| parents[link].0));
    }
    cut
}

impl SpooledLinks {
    fn line(&mut self) -> io::Result<Option<RecordLinks>> {
        let mut bytes = Vec::new();
        if self.file.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&bytes)?))
    }

    /// Returns the refused hierarchy links.
    pub(super) fn refused(&self) -> impl Iterator<Item = &Rejection> {
        self.cut.values()
    }

    /// Starts reading from the first one.
    pub(super) fn rewind(&mut self) -> io::Result<()> {
        self.file.rewind()
    }

    /// Returns the links to make of the next record. With `all_above` every hierarchy link is made
    /// again.
    pub(super) fn next(&mut self, plan: &Plan, all_above: bool) -> io::Result<Option<Resolved>> {
        let Some(line) = self.line()? else {
            return Ok(None);
        };
        let is_cut = self.cut.contains_key(&key_hash(&line.record));
        let mut resolved = Resolved::default();
        for (kind, from, to) in line.links {
            let is_above = kind == INCLUDES
                && matches!((&from, &to), (SpoolError::Record(_), SpoolError::Own(0)));
            if is_above && is_cut {
                continue;
            }
            let is_anew = is_above && all_above;
            let link = RecordLink {
                kind,
                from: from.into(),
                to: to.into(),
            };
            match resolve(&line.record, link, plan, is_anew) {
                LinkResolution::Link(link) => resolved.links.push(link),
                LinkResolution::Dangling => resolved.dangling += 1,
                LinkResolution::There => {}
            }
        }
        Ok(Some(resolved))
    }
}

impl From<SpoolError> for LinkEndpoint {
    fn from(ended: SpoolError) -> Self {
        match ended {
            SpoolError::Own(at) => Self::Own(at),
            SpoolError::Record(keys) => Self::Record(keys),
        }
    }
}

enum LinkResolution {
    Link(NewLink),
    /// Its target record does not exist.
    Dangling,
    /// Both ends are already served, and linked.
    There,
}

fn resolve(record: &str, link: RecordLink, plan: &Plan, is_anew: bool) -> LinkResolution {
    let mut has_moved = plan.is_new(record);
    let mut has_choice = false;
    let mut end = |end: LinkEndpoint| match end {
        LinkEndpoint::Own(at) => Some((record.to_owned(), at)),
        LinkEndpoint::Record(keys) => {
            has_moved |= keys.iter().any(|key| plan.has_moved(key));
            has_choice |= keys.len() > 1;
            keys.into_iter()
                .find(|key| plan.has(key))
                .map(|key| (key, 0))
        }
    };
    let (Some(from), Some(to)) = (end(link.from), end(link.to)) else {
        return LinkResolution::Dangling;
    };
    if !has_moved && !is_anew {
        return LinkResolution::There;
    }
    LinkResolution::Link(NewLink {
        kind: link.kind,
        is_among_new: plan.is_new(&from.0) && plan.is_new(&to.0),
        from,
        to,
        // It may be linked to another alternative so far.
        replaces: !plan.is_new(record) && (has_choice || is_anew),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn child(key: &str, above: &[&str]) -> Record {
        Record {
            key: key.to_owned(),
            at: SourceLocation::line(Path::new("f"), 1),
            chunks: Vec::new(),
            is_shared: false,
            links: vec![RecordLink {
                kind: INCLUDES.to_owned(),
                from: LinkEndpoint::Record(above.iter().map(|key| (*key).to_owned()).collect()),
                to: LinkEndpoint::Own(0),
            }],
        }
    }

    /// Returns the parent and child of each link that is made, given what was served before.
    fn made(before: &[&str], after: &[Record]) -> (Vec<(String, String, bool)>, Vec<String>) {
        let mut plan = Plan::default();
        let mut spool = LinkSpool::new().unwrap();
        before.iter().for_each(|key| plan.add_served(key, [1; 16]));
        for record in after {
            plan.add_record(&record.key, [1; 16]);
            spool.add(record).unwrap();
        }
        let mut waiting = spool.finish(&plan).unwrap();
        let cut = waiting
            .refused()
            .map(|refused| refused.reason.clone())
            .collect();
        let mut links = Vec::new();
        while let Some(resolved) = waiting.next(&plan, false).unwrap() {
            let found = resolved.links.into_iter();
            links.extend(found.map(|link| (link.from.0, link.to.0, link.replaces)));
        }
        (links, cut)
    }

    fn tie(from: &str, to: &str, replaces: bool) -> (String, String, bool) {
        (from.to_owned(), to.to_owned(), replaces)
    }

    #[test]
    fn the_nearest_that_is_there_stands_above() {
        let all = [child("c", &["b", "a"]), child("b", &["a"]), child("a", &[])];
        assert_eq!(
            made(&[], &all).0,
            [tie("b", "c", false), tie("a", "b", false)]
        );
        assert_eq!(made(&["a", "b", "c"], &all).0, []);
        // A new record in between replaces the previous parent.
        assert_eq!(
            made(&["a", "c"], &all).0,
            [tie("b", "c", true), tie("a", "b", false)]
        );
        let without = [child("c", &["b", "a"]), child("a", &[])];
        assert_eq!(made(&["a", "b", "c"], &without).0, [tie("a", "c", true)]);
    }

    #[test]
    fn circles_are_cut_once() {
        let round = [child("a", &["b"]), child("b", &["c"]), child("c", &["a"])];
        let (links, cut) = made(&[], &round);
        assert_eq!(links, [tie("b", "a", false), tie("c", "b", false)]);
        assert_eq!(cut.len(), 1, "{cut:?}");
        assert!(cut[0].starts_with("c stands above itself"), "{cut:?}");
        let (links, cut) = made(&[], &[child("a", &["a"]), child("x", &["a"])]);
        assert_eq!((links, cut.len()), (vec![tie("a", "x", false)], 1));
    }

    proptest::proptest! {
        /// In a graph in which each has at most one above, each cycle is cut at one of its members, the last new one.
        #[test]
        fn each_cycle_is_cut_once(
            above in proptest::collection::vec((0..12_u8, proptest::bool::ANY), 0..12),
        ) {
            let parents: Vec<(Hash, Hash, bool)> = (0..)
                .zip(&above)
                .map(|(child, (parent, is_new))| ([child; 16], [*parent; 16], *is_new))
                .collect();
            let cycle_of = |start: usize| -> Vec<usize> {
                let step = |at: &usize| Some(usize::from(above.get(*at)?.0));
                let walk: Vec<usize> =
                    std::iter::successors(Some(start), step).take(above.len() + 1).collect();
                let end = walk[1..].iter().position(|at| *at == start);
                end.map_or(Vec::new(), |end| walk[..=end].to_vec())
            };
            let mut expected: Vec<u8> = (0..above.len())
                .filter_map(|start| {
                    let cycle = cycle_of(start);
                    cycle.into_iter().max_by_key(|&at| (above[at].1, at))
                })
                .map(|last| u8::try_from(last).unwrap())
                .collect();
            expected.sort_unstable();
            expected.dedup();
            let mut cut: Vec<u8> = circles(&parents).into_iter().map(|hash| hash[0]).collect();
            cut.sort_unstable();
            proptest::prop_assert_eq!(cut, expected);
        }
    }
}
