//! A Slack workspace that runs inside a test, on 127.0.0.1.
//!
//! [`Slack`] is the server: the Web API, Socket Mode, the Events API and what belongs to them. [`Person`] and [`Chat`]
//! are people in the workspace, and a test reads like their chat:
//!
//! ```no_run
//! # async fn test() {
//! let slack = loopback_slack::Slack::start().await;
//! // … a bot that calls `slack.api_url()` with `BOT_TOKEN` and `APP_TOKEN` …
//! let ann = slack.person("Ann");
//! let general = ann.in_channel(&slack.channel("general"));
//! let asked = general.ask("Who are Odin's ravens?");
//! general.in_thread(&asked).hears("Huginn and Muninn.").await;
//! slack.finish();
//! # }
//! ```
//!
//! It is strict. Every request is checked against what docs.slack.dev says of its method: arguments, types, limits,
//! scopes, membership, ownership. What Slack refuses is refused with Slack's error; and whatever breaks a documented
//! rule, refused or passed over, is a violation that fails the test in [`Slack::finish`], or when the server is dropped.
//!
//! What an app does is seen by people at once, and told to the app as Slack tells it: its own messages too. Waiting is
//! waiting for a condition, with [`PATIENCE`] as its bound; nothing sleeps.

mod api;
mod app;
mod blocks;
mod call;
mod channel;
mod check;
mod delivery;
mod events;
mod faults;
mod ids;
mod knock;
mod limits;
mod manifest;
mod methods;
mod outgoing;
mod person;
mod post;
mod responses;
mod server;
mod signature;
mod sockets;
mod state;
mod web;
mod workspace;

pub use app::{App, Surface};
pub use call::Call;
pub use channel::Channel;
pub use delivery::{Addresses, Attempt, Delivery, Outcome, Waits};
pub use faults::Fault;
pub use ids::{APP, APP_TOKEN, BOT, BOT_TOKEN, BOT_USER, OTHER_TEAM, SIGNING_SECRET, TEAM};
pub use knock::Knock;
pub use manifest::manifest_faults;
pub use outgoing::OutgoingKind;
pub use person::{Answered, Chat, Form, Home, Message, PATIENCE, Person, Thread};
pub use post::StreamState;
pub use server::Slack;
pub use signature::sign;
pub use workspace::ChannelKind;
