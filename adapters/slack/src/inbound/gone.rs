//! Tells the bot that a channel was deleted, so that it forgets what was said there.

use std::sync::Arc;

use muninn_platform::{
    Addressed, Audience, Author, Body, Command, ConversationId, EventId, InboxClosed,
    IncomingMessage, Reply, SilentReply,
};

use super::SlackEventHandler;
use crate::ids;
use crate::name::NAME;
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
        let id = ids::audience(team, channel);
        tracing::info!(place = %id, "is gone: what was said there is forgotten");
        // Its threads are below it.
        let conversation = ConversationId::new(id.as_str());
        let audience = Audience {
            id,
            platform: NAME.to_owned(),
            workspace: team.clone(),
            name: String::new(),
            private_to: None,
        };
        // Slack does not always tell who deleted it, and it does not matter.
        let author = Author {
            id: ids::author(team, &hub.me.user),
            name: "somebody".to_owned(),
            is_admin: true,
            time_zone: None,
            language: None,
        };
        let body = Body::Command(Command::PlaceGone);
        let message = IncomingMessage {
            addressed: Addressed::InConversation,
            ..IncomingMessage::new(event.clone(), conversation, audience, author, body)
        };
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
