//! When a graph has become too large for the engine in our own process.
//!
//! That engine holds the whole graph in memory and reads all of it when it starts. It goes on
//! working beyond these limits, ever slower to start, so they are told and not enforced.

use std::fmt;
use std::path::Path;

/// Turns from which Neo4j is recommended: the most at which a turn cost what it does at 1,000 on a
/// machine that other work shares. There it cost twice as much at 50,000, and four times at 100,000;
/// on a quiet machine it did not grow. Measured by `benches/size.py` (docs/figures.md, "A turn at size").
const MANY_TURNS: usize = 25_000;

/// What the embedded graph takes of memory for each byte of its file: 1.6 to 2.3 measured at 100,000
/// turns, on top of what an empty one takes; 4 while it is imported.
const MEMORY_OF_A_BYTE: u64 = 3;

/// The share of this machine's memory from which Neo4j is recommended: people have other programs,
/// and an import holds two graphs.
const SHARE_OF_MEMORY: u64 = 4;

/// Why another store is recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outgrown {
    /// It holds so many turns that starts and commits become slow.
    Turns(usize),
    /// It needs so many bytes of so many bytes of memory.
    Memory { needed: u64, memory: u64 },
}

/// How large an embedded graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) turns: usize,
    /// Of the file and its log.
    pub(super) bytes: u64,
}

/// Whether the graph should move to a server, on a machine with so many bytes of memory, if that is
/// known.
pub(super) fn outgrown(size: Size, memory: Option<u64>) -> Option<Outgrown> {
    let Size { turns, bytes } = size;
    let needed = bytes.saturating_mul(MEMORY_OF_A_BYTE);
    let tight = memory.filter(|memory| needed > memory / SHARE_OF_MEMORY);
    if let Some(memory) = tight {
        return Some(Outgrown::Memory { needed, memory });
    }
    (turns >= MANY_TURNS).then_some(Outgrown::Turns(turns))
}

impl fmt::Display for Outgrown {
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

/// Bytes of memory that this process may have, where the system says it: of the machine, or less
/// where a container has a limit.
pub(super) fn memory() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.as_deref().and_then(of_meminfo);
    let group = std::fs::read_to_string(Path::new("/sys/fs/cgroup/memory.max")).ok();
    // "max" where there is no limit.
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
            Some(Outgrown::Turns(MANY_TURNS))
        );
        // Knowledge fills memory too, without a single turn.
        assert_eq!(
            told(0, GIB, Some(8 * GIB)),
            Some(Outgrown::Memory {
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
        let told = Outgrown::Turns(60_000).to_string();
        assert!(told.contains("60000 turns"), "{told}");
        assert!(told.contains("`muninn export FILE`"), "{told}");
    }
}
