//! Muninn: a chat bot for teams that remembers.
//!
//! # The path of one message
//!
//! 1. An adapter (a [`Platform`](muninn_platform::Platform)) turns an event into an
//!    [`IncomingMessage`](muninn_platform::IncomingMessage), with the
//!    [`Reply`](muninn_platform::Reply) through which its answer goes back.
//! 2. It comes through the bounded [`Inbox`](muninn_platform::Inbox) to the [`bot`](conversation::bot), where
//!    [admission](conversation::admission) decides whether it becomes a turn. It is kept
//!    [until it is answered](conversation::pending), in the graph or in the [`ledger`](conversation::ledger).
//!    [`commands`](conversation::commands) are answered at once. Edits, deletions and stops reach it while it is
//!    [in flight](conversation::in_flight).
//! 3. The [session](graph::session) is locked: one turn at a time in each, in the order of the messages. What
//!    does not name the bot is answered if it is [heard](conversation::attention) to be meant for it.
//! 4. The [`turn`](conversation::turn) reads window, summary and news in one round trip to the [`graph`], through the
//!    [archive](memory::Archive) that still has something when the graph is away.
//! 5. Meanwhile the message, without its [secrets](muninn_platform::redact), is embedded by [`llm`]; its files are
//!    [read](conversation::attachments).
//! 6. [`memory`] recalls earlier turns of the audience.
//! 7. The [`agent`] assembles the [prompt](agent::prompt) from the [prompts](agent::prompts) and asks the model,
//!    which may call [tools](agent::tools); what comes next is decided by a [pure run](agent::run). One of them
//!    [searches](knowledge::search) what was ingested. The text is [shown as it grows](conversation::stream).
//! 8. The turn is kept in one transaction, or in the [journal](memory::journal) while the graph is away.
//! 9. Then the final text goes out. What is said of a failure stands in [`notice`](conversation::notice).
//! 10. Turns that fell out of the window are [summarised](conversation::summarizer) afterwards.
//!
//! Arrows go one way: adapters know the platform contract only, and so does everything here; the
//! binary wires both. Which room may import which, `docs/ARCHITECTURE.md` says and a test checks.

pub mod agent;
pub mod config;
pub mod conversation;
pub mod demo;
pub mod extract;
pub mod graph;
#[cfg(feature = "http")]
pub mod http;
pub mod knowledge;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod memory;
#[cfg(test)]
mod testing;
#[cfg(feature = "web")]
pub mod web;
pub mod wiring;

pub use muninn_llm as llm;
pub use muninn_retrieval as retrieval;
