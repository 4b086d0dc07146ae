//! Data that does not fit into memory, on disk: files with checksums, sorted tables, and word lists for BM25.
//!
//! Nothing is memory-mapped: data is read when it is needed, and the operating system caches what is read often. This
//! module knows nothing of the content of the tables.

pub mod blocks;
pub mod bytes;
pub mod lists;
pub mod runs;
pub mod table;
pub mod words;
