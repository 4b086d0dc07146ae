//! Builds messages for the bot from who did something, and where.

use std::sync::Arc;

use muninn_platform::{
    Audience, Author, Body, EventId, InboxClosed, Incoming, IncomingMessage, Reply,
};

use super::SlackEventHandler;
use super::actor::Actor;
use crate::directory::Person;
use crate::ephemeral::{EphemeralReply, EphemeralTarget};
use crate::hub::SlackHub;
use crate::ids::{self, PlaceInChannel, SlackPlace};
use crate::name::NAME;
use crate::reply::reply;
use crate::reply_target::SlackReplyTarget;
use crate::text::{mentioned, plain};

/// Maximum names looked up of people mentioned in one message.
const MENTIONED: usize = 5;

impl SlackEventHandler {
    pub(super) fn channel_reply(&self, target: SlackReplyTarget) -> Box<dyn Reply> {
        Box::new(reply(Arc::clone(&self.hub), target))
    }

    pub(super) fn ephemeral_reply(&self, whisper: EphemeralTarget) -> Box<dyn Reply> {
        Box::new(EphemeralReply::new(Arc::clone(&self.hub), whisper))
    }

    /// Looks up the author and the audience. Names that are not known in time are ids.
    /// `is_direct`: the place is in the bot's direct messages with the author.
    pub(super) async fn who_and_where(
        &self,
        doer: &Actor<'_>,
        place: &SlackPlace,
        text: &str,
        is_direct: bool,
    ) -> (Person, Audience) {
        let SlackHub {
            api, directory, me, ..
        } = &*self.hub;
        let channel = async {
            if ids::is_direct(&place.channel) {
                return None;
            }
            directory.channel(api, &place.channel).await
        };
        let (person, channel, _) = tokio::join!(
            directory.person(api, doer.user),
            channel,
            self.look_up_mentioned(text)
        );
        let person = person.unwrap_or_else(|| Person {
            name: doer.name.unwrap_or(doer.user).to_owned(),
            ..Person::default()
        });
        let named = channel
            .map(|channel| channel.name)
            .filter(|name| !name.is_empty());
        let channel = named.unwrap_or_else(|| place.channel.clone());
        let name = match &place.within {
            PlaceInChannel::Private(_) => format!("{} in {channel}", person.name),
            PlaceInChannel::Thread(_) | PlaceInChannel::Main if is_direct => {
                format!("direct messages with {}", person.name)
            }
            PlaceInChannel::Thread(_) | PlaceInChannel::Main => channel,
        };
        // Nobody else is in a direct message with the bot, or sees private answers.
        let is_alone = is_direct || matches!(place.within, PlaceInChannel::Private(_));
        let audience = Audience {
            id: place.audience(&me.team),
            platform: NAME.to_owned(),
            workspace: me.team.clone(),
            name,
            private_to: is_alone.then(|| ids::author(&me.team, doer.user)),
        };
        (person, audience)
    }

    /// Looks up the names of those who are mentioned.
    pub(super) async fn look_up_mentioned(&self, text: &str) {
        let SlackHub {
            api, directory, me, ..
        } = &*self.hub;
        let others = mentioned(text, MENTIONED).into_iter();
        let others = others.filter(|user| *user != me.user);
        futures::future::join_all(others.map(|user| directory.person(api, user))).await;
    }

    pub(super) fn plain(&self, text: &str) -> String {
        let name_of = |user: &str| self.hub.directory.name_of(user);
        let plain = plain(text, &self.hub.me.user, &name_of);
        // "@Muninn: when?"
        plain.trim_start_matches([':', ',']).trim_start().to_owned()
    }

    /// Builds a message to the bot.
    pub(super) fn message(
        &self,
        event: EventId,
        place: &SlackPlace,
        doer: &Actor<'_>,
        (person, audience): (Person, Audience),
        body: Body,
    ) -> IncomingMessage {
        let team = &self.hub.me.team;
        let author = Author {
            id: ids::author(team, doer.user),
            name: person.name,
            is_admin: person.is_admin,
            time_zone: person.time_zone,
            language: person.language,
        };
        let conversation = place.conversation(team);
        IncomingMessage::new(event, conversation, audience, author, body)
    }

    pub(super) async fn deliver(
        &self,
        message: IncomingMessage,
        reply: Box<dyn Reply>,
    ) -> Result<(), InboxClosed> {
        self.inbox
            .deliver(Incoming::Message { message, reply })
            .await
    }
}
