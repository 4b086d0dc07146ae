//! What does not fit into memory, on disk: files whose damage is noticed, tables that are sorted, and the lists of
//! words for BM25.
//!
//! Nothing here is mapped into memory: it is read where it is needed, and the machine keeps in its own cache what is read
//! often. Knows nothing of what the tables are about.

pub mod blocks;
pub mod bytes;
pub mod lists;
pub mod runs;
pub mod table;
pub mod words;
