//! Detects when a graph has become too large for the embedded engine.
//!
//! That engine holds the whole graph in memory and reads all of it at the start. It still works beyond
//! these limits, with ever slower starts, so they are only recommendations.

use std::fmt;
use std::path::{Component, Path, PathBuf};

/// Number of turns from which Neo4j is recommended: up to here a turn costs what it does at 1,000, on a
/// machine that other work shares. There it cost twice as much at 50,000, and four times at 100,000; on a
/// quiet machine it did not grow. Measured by `benches/size.py` (docs/figures.md, "A turn at size").
const MANY_TURNS: usize = 25_000;

/// Memory of the embedded graph per byte of its file: 1.6 to 2.3 bytes measured at 100,000 turns, in
/// addition to an empty one; 4 during an import.
const MEMORY_OF_A_BYTE: u64 = 3;

/// The fraction of this machine's memory (one in …) from which Neo4j is recommended: other programs need
/// memory, and an import holds two graphs.
const SHARE_OF_MEMORY: u64 = 4;

/// Why another store is recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreAdvice {
    /// It has so many turns that starts and commits become slow.
    Turns(usize),
    /// It needs a large part of the memory; both in bytes.
    Memory { needed: u64, memory: u64 },
}

/// The size of an embedded graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::graph) struct Size {
    pub(in crate::graph) turns: usize,
    /// Of the file and its log.
    pub(in crate::graph) bytes: u64,
}

/// Whether the graph should move to a server, given the machine's memory in bytes, if known.
pub(in crate::graph) fn outgrown(size: Size, memory: Option<u64>) -> Option<StoreAdvice> {
    let Size { turns, bytes } = size;
    let needed = bytes.saturating_mul(MEMORY_OF_A_BYTE);
    let tight = memory.filter(|memory| needed > memory / SHARE_OF_MEMORY);
    if let Some(memory) = tight {
        return Some(StoreAdvice::Memory { needed, memory });
    }
    (turns >= MANY_TURNS).then_some(StoreAdvice::Turns(turns))
}

impl fmt::Display for StoreAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns(turns) => write!(
                f,
                "it holds {turns} turns; from {MANY_TURNS} each turn takes longer in the embedded graph"
            )?,
            Self::Memory { needed, memory } => write!(
                f,
                "it needs about {} MB of this machine's {} MB of memory",
                needed / 1_000_000,
                memory / 1_000_000
            )?,
        }
        write!(
            f,
            ": move to Neo4j with `muninn export FILE`, GRAPH_URL set to a server, and `muninn import FILE`"
        )
    }
}

/// Memory available to this process in bytes, if the system tells: that of the machine, or less if a
/// container or a service has a limit.
pub(in crate::graph) fn memory() -> Option<u64> {
    let group = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = limits_of_cgroup(&group).into_iter().filter_map(|file| {
        // "max" if there is no limit.
        std::fs::read_to_string(file).ok()?.trim().parse().ok()
    });
    limits.chain(memory_of_machine()).min()
}

/// The kernel is asked: a service may not see `/proc/meminfo`.
#[cfg(target_os = "linux")]
fn memory_of_machine() -> Option<u64> {
    nix::sys::sysinfo::sysinfo().ok().map(|it| it.ram_total())
}

#[cfg(not(target_os = "linux"))]
fn memory_of_machine() -> Option<u64> {
    None
}

/// The files with the memory limits of a process, by its `/proc/self/cgroup`: of its group and of those
/// above it. A container sees its own group as the root.
fn limits_of_cgroup(text: &str) -> Vec<PathBuf> {
    let group = text.lines().find_map(|line| line.strip_prefix("0::/"));
    let path = Path::new(group.unwrap_or_default());
    // A group outside of what the process sees.
    let is_seen = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let path = if is_seen { path } else { Path::new("") };
    let groups = path.ancestors();
    let file = |group: &Path| Path::new("/sys/fs/cgroup").join(group).join("memory.max");
    groups.map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_graph_moves_by_its_turns_or_by_the_memory_of_its_machine() {
        let told = |turns, bytes, memory| outgrown(Size { turns, bytes }, memory);
        assert_eq!(told(0, 0, Some(GIB)), None);
        assert_eq!(told(MANY_TURNS - 1, 50_000_000, Some(8 * GIB)), None);
        assert_eq!(
            told(MANY_TURNS, 50_000_000, Some(8 * GIB)),
            Some(StoreAdvice::Turns(MANY_TURNS))
        );
        // Knowledge fills memory too, even without any turns.
        assert_eq!(
            told(0, GIB, Some(8 * GIB)),
            Some(StoreAdvice::Memory {
                needed: GIB * MEMORY_OF_A_BYTE,
                memory: 8 * GIB
            })
        );
        assert_eq!(told(0, GIB, None), None, "the memory is not known");
    }

    #[test]
    fn the_memory_of_the_machine_is_known() {
        assert_eq!(memory().is_some(), cfg!(target_os = "linux"));
    }

    #[test]
    fn a_limit_of_memory_is_that_of_the_group_or_of_one_above_it() {
        let root = "/sys/fs/cgroup/memory.max";
        let unit = [
            "/sys/fs/cgroup/system.slice/muninn.service/memory.max",
            "/sys/fs/cgroup/system.slice/memory.max",
            root,
        ];
        for (text, files) in [
            ("0::/system.slice/muninn.service\n", &unit[..]),
            ("1:cpu:/x\n0::/system.slice/muninn.service\n", &unit),
            ("0::/\n", &[root]),
            ("0::/../other\n", &[root]),
            ("", &[root]),
        ] {
            let found = limits_of_cgroup(text);
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            assert_eq!(found, files, "{text:?}");
        }
    }

    #[test]
    fn it_says_what_to_do() {
        let told = StoreAdvice::Turns(60_000).to_string();
        assert!(told.contains("60000 turns"), "{told}");
        assert!(told.contains("`muninn export FILE`"), "{told}");
    }
}
