//! tokio-tungstenite 0.24 under the version that serenity asks for: `Cargo.toml` says why.

pub use newer::*;
