//! Muninn: a chat bot for teams that remembers.
//!
//! # The path of one message
//!
//! 1. An adapter (a [`Platform`](muninn_platform::Platform)) turns an event into an
//!    [`IncomingMessage`](muninn_platform::IncomingMessage), with the
//!    [`Reply`](muninn_platform::Reply) through which its answer goes back.
//! 2. It comes through the bounded [`Inbox`](muninn_platform::Inbox) to the [`bot`], where
//!    [`limits`] decide whether it becomes a turn, it is kept [until it is answered](pending), in the graph or the [`ledger`], and
//!    [`commands`] are answered. Edits, deletions and stops reach it while it is [in flight](in_flight).
//! 3. The [`session`] is locked: one turn at a time in each, in the order of the messages.
//! 4. The [`turn`] reads window, summary and news in one round trip to the [`graph`], through the
//!    [archive](memory::Archive) that still has something when the graph is away.
//! 5. Meanwhile the message, without its [secrets](redact), is embedded by [`llm`]; its files are
//!    [read](attachments).
//! 6. [`memory`] recalls earlier turns of the audience.
//! 7. The [`agent`] assembles the [prompt](agent::prompt) from the [`prompts`] and asks the model,
//!    which may call [tools](agent::tools); what comes next is decided by a
//!    [pure run](agent::run). One of them [searches](knowledge::search) what was ingested. The text is [shown as it grows](stream).
//! 8. The turn is kept in one transaction, or in the [`journal`] while the graph is away.
//! 9. Then the final text goes out. What is said of a failure stands in [`notice`].
//! 10. Turns that fell out of the window are [summarised](summarizer) afterwards.
//!
//! Arrows go one way: adapters know the platform contract only, and so does everything here; the
//! binary wires both.

pub mod agent;
pub mod attachments;
pub mod bot;
pub mod commands;
pub mod config;
pub mod demo;
pub mod errors;
mod explain;
pub mod extract;
pub mod files;
pub mod graph;
pub mod http;
pub mod in_flight;
pub mod interrupt;
pub mod journal;
pub mod knowledge;
pub mod ledger;
pub mod limits;
pub mod line_log;
pub mod llm;
pub mod memory;
pub mod notice;
pub mod pending;
pub mod prompts;
pub mod session;
pub mod stream;
pub mod summarizer;
pub mod tasks;
#[cfg(test)]
mod testing;
pub mod turn;
pub mod wiring;
pub mod withdrawals;

pub use muninn_platform::redact;
