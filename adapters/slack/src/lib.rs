//! The Slack adapter.
//!
//! Slack sends events over a `socket` that the bot opens, or by `http`. Both parse them into an
//! `event`; `inbound` decides with pure functions what it means (`intent`) and delivers it to the
//! bot. It is acknowledged to Slack only when the bot has it. The answer goes back through a
//! `reply` (or `ephemeral`, if only one person sees it): its `content` in `mrkdwn`, at the pace of
//! the `outbox`, through the Web API (`api`).

mod allow;
mod announce;
mod api;
mod background;
mod changed;
mod check;
mod content;
mod directory;
mod ephemeral;
mod errors;
mod event;
mod files;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gaps;
mod handing;
mod history;
mod history_limits;
mod home;
mod http;
mod hub;
mod ids;
mod inbound;
mod intent;
mod lines;
mod manifest;
mod membership;
mod missed;
mod mrkdwn;
mod name;
mod options;
mod outbox;
mod reply;
mod reply_target;
mod socket;
mod standing;
mod status;
#[cfg(test)]
mod testing;
mod text;
mod views;
mod wanted;
mod withdraw;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use muninn_platform::{Inbox, Platform, PlatformError, end_tasks};
use tokio_util::sync::CancellationToken;

use crate::membership::SlackMembership;

pub use allow::SlackAllowList;
pub use check::check;
pub use manifest::{Mode, manifest};
pub use options::{API_URL, EventDelivery, SlackArgs, SlackOptions};

use history::SlackHistory;
use hub::SlackHub;
use inbound::SlackEventHandler;
use name::NAME;

/// Maximum time at the end for background tasks and events in flight.
const CHORES: Duration = Duration::from_secs(20);

/// One app in one workspace.
#[derive(Debug)]
pub struct Slack {
    options: SlackOptions,
}

impl Slack {
    pub fn new(options: SlackOptions) -> Self {
        Self { options }
    }

    async fn serve(&self, inbox: Inbox, shutdown: &CancellationToken) -> Result<(), PlatformError> {
        let begun = Instant::now();
        let options = &self.options;
        options.allow.warn();
        let opening = SlackHub::open(options, inbox.is_shared());
        let Some(opened) = shutdown.run_until_cancelled(opening).await else {
            return Ok(());
        };
        let hub = opened?;
        let inbound = SlackEventHandler::new(Arc::clone(&hub), inbox);
        inbound.tell_connected();
        let history = SlackHistory::of(&inbound);
        options.histories.add(NAME, &history);
        let membership = SlackMembership::of(&hub);
        options.memberships.add(NAME, &membership);
        let left_over = inbound.inbox.deliver_left_over(NAME, &inbound);
        if left_over.await.is_err() {
            return Ok(());
        }
        let ready = || {
            inbound.read_missed(true, shutdown);
            tracing::info!(team = hub.me.team, user = hub.me.user, after = ?begun.elapsed(), "listening");
        };
        let following = tokio::spawn({
            let (inbound, shutdown) = (inbound.clone(), shutdown.clone());
            async move {
                let following = inbound.inbox.follow_left_over(NAME, &inbound);
                shutdown.run_until_cancelled(following).await
            }
        });
        let ended = match &options.entrance {
            EventDelivery::Socket { .. } => socket::listen(&inbound, shutdown, ready).await,
            EventDelivery::Http {
                signing_secret,
                address,
            } => http::listen(&inbound, *address, signing_secret, shutdown, ready).await,
        };
        // The inbox closes when all of its clones are dropped, and replies in flight need none.
        following.abort();
        hub.seen_until.save();
        drop((inbound, history, membership));
        end_tasks(&hub.chores, CHORES).await;
        ended
    }
}

#[async_trait]
impl Platform for Slack {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, inbox: Inbox, shutdown: CancellationToken) -> Result<(), PlatformError> {
        self.serve(inbox, &shutdown).await
    }
}
