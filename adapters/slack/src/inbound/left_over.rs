//! Creates replies for messages that an earlier process accepted and did not answer.

use async_trait::async_trait;
use muninn_platform::{Body, Command, ForgetWhat, IncomingMessage, Readdress, Reply};

use super::SlackEventHandler;
use crate::ephemeral::EphemeralTarget;
use crate::ids::{self, PlaceInChannel, SlackPlace};
use crate::reply_target::SlackReplyTarget;

#[async_trait]
impl Readdress for SlackEventHandler {
    async fn reply_again(&self, message: &IncomingMessage) -> Option<Box<dyn Reply>> {
        if message.body == Body::Command(Command::PlaceGone) {
            return Some(self.silent());
        }
        let reply = self.readdressed(message)?;
        let conversation = message.conversation.clone();
        self.hub
            .conversations
            .insert(message.event.clone(), conversation);
        self.hub.record_received(message.event.clone());
        Some(reply)
    }
}

impl SlackEventHandler {
    fn readdressed(&self, message: &IncomingMessage) -> Option<Box<dyn Reply>> {
        let place = SlackPlace::parse(message.conversation.as_str())?;
        let user = ids::user_of(&message.author.id)?.to_owned();
        let is_home = matches!(
            message.body,
            Body::Command(Command::About | Command::Forget(ForgetWhat::Audience))
        ) && place.within == PlaceInChannel::Main
            && ids::is_direct(&place.channel)
            // Also in direct messages between people.
            && message.audience.private_to.is_some();
        if is_home {
            return Some(self.home_reply(&user, &place.channel));
        }
        let is_command = matches!(message.body, Body::Command(_));
        if is_command || matches!(place.within, PlaceInChannel::Private(_)) {
            // Slack shows it in no thread that the command would only begin.
            let thread = place.thread();
            let thread = thread.filter(|root| ids::ts_of(&message.event) != Some(*root));
            let thread = thread.map(str::to_owned);
            return Some(self.ephemeral_reply(EphemeralTarget {
                channel: place.channel,
                user,
                thread,
                response_url: None,
                question: message.event.clone(),
                is_command,
                // Checked when somebody presses the button.
                may_be_shared: true,
            }));
        }
        let question_ts = match &message.body {
            Body::Edit { of, .. } | Body::Deletion { of } => ids::ts_of(of),
            Body::Text(_) | Body::Command(_) => ids::ts_of(&message.event),
        };
        Some(self.channel_reply(SlackReplyTarget {
            place,
            question: message.event.clone(),
            question_ts: question_ts.map(str::to_owned),
            asker: user,
            team: self.hub.me.team.clone(),
            may_be_repetition: true,
        }))
    }
}
