//! Tells the bot that a channel was deleted, so that it forgets what was said there.

use std::sync::Arc;

use muninn_platform::{EventId, InboxClosed, IncomingMessage, Reply, SilentReply};

use super::SlackEventHandler;
use crate::ids;
use crate::withdraw::SlackWithdrawer;

impl SlackEventHandler {
    pub(super) async fn deliver_gone(
        &self,
        event: EventId,
        channel: &str,
    ) -> Result<(), InboxClosed> {
        let hub = &self.hub;
        if hub.seen.has(&event) {
            return Ok(());
        }
        let team = &hub.me.team;
        let place = ids::audience(team, channel);
        tracing::info!(%place, "is gone: what was said there is forgotten");
        let me = ids::author(team, &hub.me.user);
        let message = IncomingMessage::place_gone(event.clone(), place, team.clone(), me);
        self.deliver(message, self.silent()).await?;
        hub.record_received(event);
        Ok(())
    }

    /// Returns a reply that posts nothing, for there is no channel to post in.
    pub(super) fn silent(&self) -> Box<dyn Reply> {
        Box::new(SilentReply(Arc::new(SlackWithdrawer(Arc::clone(
            &self.hub,
        )))))
    }
}
