//! Detects when a graph has become too large for the embedded engine.
//!
//! That engine holds the whole graph in memory and reads all of it at the start. It still works beyond
//! these limits, with ever slower starts, so they are only recommendations.

use std::fmt;
use std::path::Path;

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
/// container has a limit.
pub(in crate::graph) fn memory() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.as_deref().and_then(of_meminfo);
    let group = std::fs::read_to_string(Path::new("/sys/fs/cgroup/memory.max")).ok();
    // "max" if there is no limit.
    let group = group.and_then(|limit| limit.trim().parse().ok());
    machine.into_iter().chain(group).min()
}

fn of_meminfo(text: &str) -> Option<u64> {
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
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
    fn the_memory_of_the_machine_is_read_as_the_system_writes_it() {
        let text = "MemTotal:       24689340 kB\nMemFree:         9876543 kB\n";
        assert_eq!(of_meminfo(text), Some(24_689_340 * 1024));
        assert_eq!(of_meminfo("MemTotal: much"), None);
        assert_eq!(of_meminfo(""), None);
    }

    #[test]
    fn it_says_what_to_do() {
        let told = StoreAdvice::Turns(60_000).to_string();
        assert!(told.contains("60000 turns"), "{told}");
        assert!(told.contains("`muninn export FILE`"), "{told}");
    }
}
