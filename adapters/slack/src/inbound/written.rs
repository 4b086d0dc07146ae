//! Handles what people write: messages, and their edits and deletions.

use std::mem::discriminant;

use chrono::{DateTime, Utc};
use muninn_platform::{
    Addressed, Addressees, Body, Command, EventId, InboxClosed, Incoming, IncomingMessage, Reply,
    Request, clamp_platform_time,
};

use super::SlackEventHandler;
use super::actor::Actor;
use crate::ephemeral::EphemeralTarget;
use crate::event::{SlackChannelKind, SlackMessage};
use crate::files;
use crate::ids::{self, SlackPlace};
use crate::intent::{Heard, HeardEdit};
use crate::reply::take_away_all;
use crate::reply_target::SlackReplyTarget;
use crate::text::{mentions, names_people};

impl SlackEventHandler {
    pub(crate) async fn deliver_message(
        &self,
        message: &SlackMessage,
        heard: Heard,
        is_late: bool,
    ) -> Result<(), InboxClosed> {
        let hub = &self.hub;
        let Heard {
            addressed,
            said,
            place,
            files,
        } = heard;
        let Some(user) = message.user.as_deref() else {
            return Ok(());
        };
        // A mention arrives as a message and as a mention event, with two event ids.
        let event = ids::message_event(&hub.me.team, &message.channel, &message.ts);
        if hub.has_heard(&event, addressed) {
            return Ok(());
        }
        let doer = Actor::nameless(user, message.team.as_deref());
        let is_direct = ids::is_direct(&place.channel);
        if is_direct {
            hub.remember_direct(user, &place.channel);
        }
        let who = self
            .who_and_where(&doer, &place, &message.text, is_direct)
            .await;
        if who.0.is_bot {
            return Ok(());
        }
        let conversation = place.conversation(&hub.me.team);
        hub.remember_conversation(event.clone(), conversation);
        let said = match said {
            Request::Text(text) => Request::Text(text),
            Request::Command(command) => {
                let plain = self.plain(&message.text);
                Request::Command(named(command, &plain, message.thread.is_some()))
            }
        };
        let (body, reply) = match (addressed, said) {
            (Addressed::Overheard, Request::Text(text)) => (Body::Text(self.plain(&text)), None),
            (_, said) => {
                let (body, reply) = self.answered(message, user, said, &place, is_late);
                (body, Some(reply))
            }
        };
        let message = IncomingMessage {
            also_recalls: self.looked_at(&place, user).await,
            addressed,
            // Slack has no replies within a thread.
            toward: Addressees {
                names_people: names_people(&message.text, &hub.me.user),
                answers_person: false,
                omits_bot: !mentions(&message.text, &hub.me.user)
                    && message.kind == SlackChannelKind::Channel,
            },
            attachments: files.iter().map(files::attachment).collect(),
            link: Some(hub.link(&message.channel, &message.ts, message.thread.as_deref())),
            sent_at: clamp_platform_time(message.sent_at()),
            ..self.message(event.clone(), &place, &doer, who, body)
        };
        let incoming = match reply {
            Some(reply) => Incoming::Message { message, reply },
            None => Incoming::Overheard(message),
        };
        self.inbox.deliver(incoming).await?;
        hub.record_received_as(event, addressed);
        Ok(())
    }

    /// Builds a message and its reply: a command is answered to its author alone.
    fn answered(
        &self,
        message: &SlackMessage,
        user: &str,
        said: Request,
        place: &SlackPlace,
        is_late: bool,
    ) -> (Body, Box<dyn Reply>) {
        let question = ids::message_event(&self.hub.me.team, &message.channel, &message.ts);
        match said {
            Request::Text(text) => {
                let text = self.plain(&text);
                let target = self.target(message, user, place.clone(), question, is_late);
                self.entitle(place, user);
                (Body::Text(text), self.channel_reply(target))
            }
            Request::Command(command) => {
                if matches!(command, Command::Forget(_)) {
                    self.reset_title(place, user);
                }
                let thread = place.thread().map(str::to_owned);
                let whisper = EphemeralTarget {
                    channel: message.channel.clone(),
                    user: user.to_owned(),
                    thread: thread.filter(|_| message.thread.is_some()),
                    response_url: None,
                    question,
                    is_command: true,
                    may_be_shared: false,
                };
                (Body::Command(command), self.ephemeral_reply(whisper))
            }
        }
    }

    fn target(
        &self,
        message: &SlackMessage,
        user: &str,
        place: SlackPlace,
        question: EventId,
        may_be_repetition: bool,
    ) -> SlackReplyTarget {
        let team = message.team.clone();
        SlackReplyTarget {
            place,
            question,
            question_ts: Some(message.ts.clone()),
            asker: user.to_owned(),
            team: team.unwrap_or_else(|| self.hub.me.team.clone()),
            may_be_repetition,
        }
    }

    pub(super) async fn deliver_edit(
        &self,
        event: EventId,
        now: &SlackMessage,
        at: Option<DateTime<Utc>>,
        edited: HeardEdit,
        is_late: bool,
    ) -> Result<(), InboxClosed> {
        let (hub, of) = (&self.hub, now.ts.as_str());
        let HeardEdit {
            addressed,
            place,
            text,
        } = edited;
        let Some(user) = now.user.as_deref() else {
            return Ok(());
        };
        if hub.has_seen(&event) {
            return Ok(());
        }
        let place = self.place_of(of, place);
        let doer = Actor::nameless(user, now.team.as_deref());
        let is_direct = ids::is_direct(&place.channel);
        let who = self.who_and_where(&doer, &place, &text, is_direct).await;
        let body = Body::Edit {
            of: ids::message_event(&hub.me.team, &now.channel, of),
            text: self.plain(&text),
        };
        let message = IncomingMessage {
            addressed,
            attachments: now.files.iter().map(files::attachment).collect(),
            link: Some(hub.link(&now.channel, of, now.thread.as_deref())),
            sent_at: at.map_or_else(Utc::now, clamp_platform_time),
            ..self.message(event.clone(), &place, &doer, who, body)
        };
        let target = self.target(now, user, place, event.clone(), is_late);
        self.deliver(message, self.channel_reply(target)).await?;
        hub.record_received(event);
        Ok(())
    }

    /// Returns the original place of an earlier question.
    fn place_of(&self, question: &str, otherwise: SlackPlace) -> SlackPlace {
        let event = ids::message_event(&self.hub.me.team, &otherwise.channel, question);
        let known = self.hub.conversation_of(&event);
        let known = known.and_then(|known| SlackPlace::parse(known.as_str()));
        known.unwrap_or(otherwise)
    }

    pub(super) async fn deliver_deletion(
        &self,
        event: EventId,
        user: &str,
        of: &str,
        place: SlackPlace,
    ) -> Result<(), InboxClosed> {
        let hub = &self.hub;
        if hub.has_seen(&event) {
            return Ok(());
        }
        let place = self.place_of(of, place);
        let doer = Actor::nameless(user, None);
        let is_direct = ids::is_direct(&place.channel);
        let who = self.who_and_where(&doer, &place, "", is_direct).await;
        self.reset_title(&place, user);
        let gone = ids::message_event(&hub.me.team, &place.channel, of);
        let target = SlackReplyTarget {
            place: place.clone(),
            question: gone.clone(),
            question_ts: Some(of.to_owned()),
            asker: user.to_owned(),
            team: hub.me.team.clone(),
            may_be_repetition: false,
        };
        // Also if its answer was given up or unknown, and the bot has none.
        if hub.conversation_of(&gone).is_some() {
            take_away_all(hub, &target);
        }
        let body = Body::Deletion { of: gone };
        let message = IncomingMessage {
            addressed: Addressed::InConversation,
            ..self.message(event.clone(), &place, &doer, who, body)
        };
        self.deliver(message, self.channel_reply(target)).await?;
        hub.record_received(event);
        Ok(())
    }
}

/// Returns a command with the names of whom it mentions, which are not known yet when an event
/// arrives. `plain`: the text of the message with them.
fn named(command: Command, plain: &str, is_in_thread: bool) -> Command {
    let named = match Command::parse(plain) {
        named if is_in_thread => named,
        named => named.beside_threads(),
    };
    // A name makes no other command of it.
    let is_same = discriminant(&named) == discriminant(&command);
    if is_same { named } else { command }
}

#[cfg(test)]
mod tests {
    use muninn_platform::Scope;

    use super::*;

    #[test]
    fn a_name_in_a_command_makes_no_other_command_of_it() {
        let note = |text: &str| Command::Note(text.to_owned());
        for (command, plain, is_in_thread, expected) in [
            (
                note("@U1 owns it"),
                "remember that @Ann owns it",
                true,
                note("@Ann owns it"),
            ),
            // A name that makes a question of it, and another command.
            (
                note("it is of @U1"),
                "remember that it is of @Ann?",
                true,
                note("it is of @U1"),
            ),
            (note("@U1"), "forget channel", true, note("@U1")),
            (
                Command::OffTheRecord(Scope::Audience),
                "off",
                false,
                Command::OffTheRecord(Scope::Audience),
            ),
        ] {
            assert_eq!(named(command, plain, is_in_thread), expected, "{plain}");
        }
    }
}
