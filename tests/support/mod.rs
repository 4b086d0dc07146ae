//! What several test binaries share.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test binary uses a part of it"
)]

pub mod bot;
pub mod model_server;
