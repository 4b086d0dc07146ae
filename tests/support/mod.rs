//! Support shared by several test binaries.
#![allow(
    clippy::unwrap_used,
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "a test may panic, and each test binary uses a part of this"
)]

pub mod bot;
pub mod browser;
pub mod chat;
pub mod files;
pub mod graph;
pub mod http_server;
pub mod mcp;
pub mod model_server;
pub mod pdf;
pub mod program;
pub mod proxy;
