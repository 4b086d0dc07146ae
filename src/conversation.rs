//! The path of one message from its arrival until it is answered and stored.
//!
//! The [`bot`] receives messages from the platforms. [`admission`] and [`attention`] decide whether a message becomes a turn;
//! [`hearing`] and the [`intake`] decide what is kept of what people say to one another. An accepted message is
//! [`pending`] until it is answered, in the graph or in the [`ledger`]. [`commands`] are answered at once. The [`turn`]
//! reads, recalls, asks the model and keeps the answer. The wording of failures is in [`notice`].

pub mod admission;
pub mod attachments;
pub mod attention;
pub mod audit;
pub mod backfill;
pub mod bot;
pub mod bot_connection;
pub mod catch_up;
pub mod channel_kind;
mod clock;
pub mod commands;
pub mod deliveries;
pub mod digest;
pub(crate) mod explain;
pub mod fine_tuning;
pub mod hearing;
pub mod in_flight;
pub mod intake;
pub mod interrupt;
pub mod ledger;
pub mod notice;
pub mod own_copy;
pub mod pages;
pub mod pending;
pub mod people;
mod prior;
pub mod readable;
pub mod retention;
pub mod stream;
pub mod summarizer;
pub mod tokens;
pub mod turn;
pub mod withdrawals;
