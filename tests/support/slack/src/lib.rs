//! A Slack workspace on 127.0.0.1, for tests.
//!
//! [`Slack`] is the server: the Web API, Socket Mode, the Events API and what belongs to them.
//! [`SlackPerson`] and [`Chat`] are people in the workspace, so a test reads like their chat:
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
//! The server is strict. It checks every request against the method's documentation at
//! docs.slack.dev: arguments, types, limits, scopes, membership, ownership. What Slack refuses is
//! refused with Slack's error. Breaking a documented rule, whether Slack refuses or ignores it, is
//! a violation that fails the test in [`Slack::finish`], or when the server is dropped.
//!
//! People see at once what an app does, and the app receives its own messages as Slack's events
//! too. Tests wait for conditions, at most for [`TIMEOUT`]; nothing sleeps.

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

pub use app::{SlackApp, Surface};
pub use call::Call;
pub use channel::SlackChannel;
pub use delivery::{Addresses, Delivery, DeliveryAttempt, DeliveryStatus, DeliveryTimings};
pub use faults::ResponseFault;
pub use ids::{APP, APP_TOKEN, BOT, BOT_TOKEN, BOT_USER, OTHER_TEAM, SIGNING_SECRET, TEAM};
pub use knock::Knock;
pub use manifest::manifest_faults;
pub use outgoing::OutgoingKind;
pub use person::{Answered, AssistantThread, Chat, Form, HomeTab, Message, SlackPerson, TIMEOUT};
pub use post::StreamState;
pub use server::Slack;
pub use signature::sign;
pub use workspace::ChannelKind;
